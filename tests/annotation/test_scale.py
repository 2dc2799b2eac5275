"""Which scale a column is on: names, ranks or amounts, as the pages on judges and labels say."""

from collections.abc import Sequence
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.annotation import labels_of
from ragstone.annotation.label_names import SCALES, Scale, scale_of
from ragstone.judgements import KINDS

WHOLE = tuple(range(1, 11))


def scale(kind: str, column: str, numbers: Sequence[float | None]) -> Scale:
    return scale_of(kind, column, pl.Series(numbers, dtype=pl.Float64))


@pytest.mark.parametrize(
    ("kind", "column", "numbers", "expected"),
    [
        ("own", "tone", [1, 2, 3], "ordinal"),
        ("own", "tone", WHOLE, "ordinal"),
        ("own", "tone", [*WHOLE, 11], "interval"),
        ("own", "tone", [*WHOLE, *WHOLE], "ordinal"),
        ("own", "tone", [-3, 0, 7], "ordinal"),
        ("own", "tone", [1, 2, 2.5], "interval"),
        ("own", "tone", [1, 5], "nominal"),
        ("own", "tone", [0.5, 0.25], "nominal"),
        ("own", "tone", [1, 1, 1], "nominal"),
        ("own", "tone", [1, 2, None], "nominal"),
        ("own", "tone", [None, None], "nominal"),
        ("own", "tone", [], "nominal"),
        ("rating", "clarity", [1, 2, 3], "ordinal"),
        ("rating", "clarity", [1, 5], "ordinal"),
        ("rating", "clarity", [4], "ordinal"),
        ("rating", "clarity", [0.5, 1], "interval"),
        ("rating", "clarity", [*WHOLE, 11], "interval"),
        ("rating", "clarity", [1, None], "nominal"),
        ("rating", "score", [1, 2, 3], "ordinal"),
        ("metric", "faithfulness", [0, 1], "nominal"),
        ("metric", "faithfulness", [1, 1], "nominal"),
        ("metric", "faithfulness", [0, 1, 0.5], "interval"),
        ("metric", "mean_rank", [1, 2, 3], "interval"),
        ("metric", "answer_outcome", [0, 0.5, 1], "nominal"),
        ("metric", "faithfulness", [0.5, None], "nominal"),
        ("relevance", "grade", [0, 1], "ordinal"),
        ("relevance", "grade", [], "ordinal"),
        ("relevance", "grade", [None], "ordinal"),
        ("relevance", "relevant", [0, 1], "nominal"),
        ("quality", "helpful", [0, 1, 1], "nominal"),
        ("critique", "harm", [0, 1], "nominal"),
        ("critique", "grade", [0, 1, 2], "nominal"),
        ("support", "verdict", [None, None], "nominal"),
        ("preference", "b", [None], "nominal"),
    ],
)
def test_a_column_is_of_names_ranks_or_amounts(
    kind: str, column: str, numbers: Sequence[float | None], expected: Scale
) -> None:
    assert scale(kind, column, numbers) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_what_people_label_with_words_or_yes_and_no_is_of_names(kind: str) -> None:
    """Of all that people label grades alone are ranks, whatever stands in the file."""
    for column in KINDS[kind].labels():
        expected = "ordinal" if column == "grade" else "nominal"
        for numbers in ([], [0, 1], [1, 2, 3], [0.25, 0.5, 1]):
            assert scale(kind, column, numbers) == expected


@given(st.lists(st.integers(-5, 30), min_size=1), st.randoms(use_true_random=False))
def test_neither_order_nor_how_often_a_number_was_said_counts(
    numbers: list[float], draw: Random
) -> None:
    shuffled = [*numbers, *numbers]
    draw.shuffle(shuffled)
    for kind in ("own", "rating", "metric"):
        assert scale(kind, "tone", shuffled) == scale(kind, "tone", numbers)


def test_scales_are_named_from_the_weakest_to_the_strongest() -> None:
    assert SCALES == ("nominal", "ordinal", "interval")


def test_one_who_says_something_else_makes_names_of_numbers() -> None:
    rows = [{"id": f"q{at}", "labels": {"tone": at}} for at in range(4)]
    key = ("own", "tone")
    assert labels_of(rows).scales == {key: "ordinal"}
    assert labels_of([*rows, {"id": "x", "labels": {"tone": "dry"}}]).scales == {key: "nominal"}
