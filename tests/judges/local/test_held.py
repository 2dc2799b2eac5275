"""Held: the best window is found by bits as it is by looking at each."""

import random

import pytest

from ragstone.judges.local.held_words import best_window, in_windows_with, numbers_of

WINDOW = 3


def looked_at(sentences: list[set[int]], first: int) -> int:
    """How many words the window from a sentence holds."""
    return len(set().union(*sentences[first : first + WINDOW]))


def drawn(seed: int) -> tuple[list[set[int]], tuple[int, ...]]:
    """A few words in a few sentences, and the same as bits."""
    draw = random.Random(seed)
    n, words = draw.randint(1, 12), draw.randint(1, 9)
    share = draw.choice([0.05, 0.3, 0.7])
    sentences = [{word for word in range(words) if draw.random() < share} for _ in range(n)]
    bits = (sum((word in held) << at for at, held in enumerate(sentences)) for word in range(words))
    return sentences, tuple(bits)


@pytest.mark.parametrize("seed", range(200))
def test_the_best_window_holds_most_words_and_the_earliest_of_them(seed: int) -> None:
    sentences, held = drawn(seed)
    some = [at for at, words in enumerate(sentences) if words]
    best, most = best_window(held)
    if not some:
        assert (best, most) == ((), 0)
        return
    assert most == max(looked_at(sentences, at) for at in some)
    equal = [at for at in some if looked_at(sentences, at) == most]
    first = min(equal, key=lambda at: (min(sentences[at]), at))
    assert first <= min(best)
    assert max(best) < first + WINDOW
    assert len(set().union(*(sentences[at] for at in best))) == most
    assert best[0] == max(
        range(first, min(first + WINDOW, len(sentences))), key=lambda at: (len(sentences[at]), -at)
    )


@pytest.mark.parametrize("seed", range(200))
def test_sentences_of_the_windows_that_hold_enough(seed: int) -> None:
    sentences, held = drawn(seed)
    for least in range(1, 11):
        expected = {
            one
            for at, words in enumerate(sentences)
            if words and looked_at(sentences, at) >= least
            for one in range(at, min(at + WINDOW, len(sentences)))
            if sentences[one]
        }
        assert set(numbers_of(in_windows_with(held, least), 99)) == expected


def test_the_first_places_are_given_and_no_more() -> None:
    assert list(numbers_of(0b10110, 2)) == [1, 2]
    assert list(numbers_of(0b10110, 9)) == [1, 2, 4]
