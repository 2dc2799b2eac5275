"""Batches: each distinct text once, and texts of about the same length together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.models.encoder import batches, distinct

LENGTHS = st.lists(st.integers(1, 300), max_size=60)


def parts(lengths: list[int], tokens: int) -> list[list[int]]:
    return [batch.tolist() for batch in batches(np.array(lengths, np.int32), tokens)]


def test_each_text_stands_once_in_the_order_of_its_first_place() -> None:
    once, places = distinct(["a", "b", "a", "", "b"])
    assert once == ["a", "b", ""]
    assert places.tolist() == [0, 1, 0, 2, 1]


def test_no_texts_have_no_places() -> None:
    once, places = distinct(list[str]())
    assert once == []
    assert places.shape == (0,)


@given(st.lists(st.text(max_size=2)))
def test_the_places_give_the_texts_back(texts: list[str]) -> None:
    once, places = distinct(texts)
    assert [once[place] for place in places] == texts
    assert len(set(once)) == len(once)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], []),
        ([5], [[0]]),
        ([2, 4, 3], [[1, 2], [0]]),
        ([1, 1, 1, 1, 1, 1, 1, 1, 1], [[0, 1, 2, 3, 4, 5, 6, 7], [8]]),
        ([20, 3], [[0], [1]]),
    ],
)
def test_batches_of_eight_tokens(lengths: list[int], expected: list[list[int]]) -> None:
    assert parts(lengths, 8) == expected


@given(LENGTHS)
def test_every_text_is_in_one_batch(lengths: list[int]) -> None:
    assert sorted(number for batch in parts(lengths, 256) for number in batch) == list(
        range(len(lengths))
    )


@given(LENGTHS)
def test_lengths_only_fall(lengths: list[int]) -> None:
    read = [lengths[number] for batch in parts(lengths, 256) for number in batch]
    assert read == sorted(lengths, reverse=True)


@given(LENGTHS)
def test_a_batch_is_within_its_tokens_or_one_text(lengths: list[int]) -> None:
    for batch in parts(lengths, 256):
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= 256
