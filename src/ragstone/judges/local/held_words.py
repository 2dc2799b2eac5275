"""Held words: which sentences hold the words of a proposition, as bits.

A word is an integer whose bit n says whether sentence n holds it, so that spans of sentences are
counted all at once, with a few operations per word. This is fast for long texts too. Words are in
the order of the proposition.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

# Neighbouring sentences that are read together.
WINDOW = 3


def words_of(sentence: int, words: Sequence[int]) -> int:
    """The words that a sentence holds, as bits."""
    return sum((word >> sentence & 1) << bit for bit, word in enumerate(words))


def best_window(words: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The window with most words: its sentences, most words first, and its number of words.

    Of equal windows, that whose first sentence holds the proposition's earliest word; then the
    first.
    """
    most, among = 0, reduce(or_, words, 0)
    for bit, plane in reversed(list(enumerate(_counts(words)))):
        if among & plane:
            among &= plane
            most |= 1 << bit
    first = next((_lowest(word & among) for word in words if word & among), None)
    if first is None:
        return (), 0
    held = {sentence: words_of(sentence, words) for sentence in range(first, first + WINDOW)}
    chosen: list[int] = []
    known = 0
    for sentence in sorted(held, key=lambda number: (-held[number].bit_count(), number)):
        if held[sentence] & ~known:
            chosen.append(sentence)
            known |= held[sentence]
    return tuple(chosen), most


def in_windows_with(words: Sequence[int], least: int) -> int:
    """The sentences with words, in all windows with at least ``least`` words, as bits."""
    planes = _counts(words)
    more, equal = 0, reduce(or_, words, 0)
    for bit in reversed(range(max(len(planes), least.bit_length()))):
        plane = planes[bit] if bit < len(planes) else 0
        if least >> bit & 1:
            equal &= plane
        else:
            more |= equal & plane
            equal &= ~plane
    windows = more | equal
    return reduce(or_, (windows << step for step in range(WINDOW))) & reduce(or_, words, 0)


def _counts(words: Sequence[int]) -> list[int]:
    """The number of words in the window from each sentence: its binary digits, lowest first."""
    planes: list[int] = []
    for word in words:
        carry = word
        for step in range(1, WINDOW):
            carry |= word >> step
        for bit, plane in enumerate(planes):
            planes[bit], carry = plane ^ carry, plane & carry
        if carry:
            planes.append(carry)
    return planes


def numbers_of(bits: int, most: int) -> Iterable[int]:
    """The positions of the set bits, at most the first ``most``."""
    for _ in range(most):
        if not bits:
            return
        yield _lowest(bits)
        bits &= bits - 1


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
