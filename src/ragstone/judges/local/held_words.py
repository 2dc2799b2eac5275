"""Held words: which sentences hold the words of a proposition, as bits.

A word is an integer whose bit n says whether sentence n holds it, so that spans of sentences are
counted all at once, with a few operations per word. This is fast for long texts too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

WINDOW = 3
"""Neighbouring sentences that are read together."""


@dataclass(frozen=True, slots=True)
class Held:
    """The sentences of each word, as bits, the words in the proposition's order."""

    words: tuple[int, ...]

    @property
    def anywhere(self) -> int:
        """The sentences that hold any word, as bits."""
        return reduce(or_, self.words, 0)

    def of(self, sentence: int) -> int:
        """The words that a sentence holds, as bits."""
        return sum((word >> sentence & 1) << bit for bit, word in enumerate(self.words))

    def best_window(self) -> tuple[tuple[int, ...], int]:
        """The window with most words: its sentences, most words first, and its number of words.

        Of equal windows, that whose first sentence holds the proposition's earliest word; then the
        first.
        """
        most, among = 0, self.anywhere
        for bit, plane in reversed(list(enumerate(self._counts()))):
            if among & plane:
                among &= plane
                most |= 1 << bit
        first = next((_lowest(word & among) for word in self.words if word & among), None)
        if first is None:
            return (), 0
        held = {sentence: self.of(sentence) for sentence in range(first, first + WINDOW)}
        chosen: list[int] = []
        words = 0
        for sentence in sorted(held, key=lambda number: (-held[number].bit_count(), number)):
            if held[sentence] & ~words:
                chosen.append(sentence)
                words |= held[sentence]
        return tuple(chosen), most

    def in_windows_with(self, least: int) -> int:
        """The sentences with words, in all windows with at least ``least`` words, as bits."""
        planes = self._counts()
        more, equal = 0, self.anywhere
        for bit in reversed(range(max(len(planes), least.bit_length()))):
            plane = planes[bit] if bit < len(planes) else 0
            if least >> bit & 1:
                equal &= plane
            else:
                more |= equal & plane
                equal &= ~plane
        windows = more | equal
        return reduce(or_, (windows << step for step in range(WINDOW))) & self.anywhere

    def _counts(self) -> list[int]:
        """The number of words in the window from each sentence: its binary digits, lowest first."""
        planes: list[int] = []
        for word in self.words:
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
