"""Citation markers and the contexts they name."""

import pytest

from ragstone.data import Context
from ragstone.judges.markers import markers

TWO = (Context("doc-7", "x", 1), Context("doc-9", "y", 2))
FOUR = tuple(Context(str(n), "x", n) for n in range(1, 5))


def named(answer: str, contexts: tuple[Context, ...] = FOUR) -> list[str | None]:
    return [marker.context for marker in markers(answer, contexts)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It rained [1].", ["1"]),
        ("It rained [1, 3].", ["1", "3"]),
        ("It rained [1; 3].", ["1", "3"]),
        ("It rained [1-3].", ["1", "2", "3"]),
        ("It rained [1–2, 4].", ["1", "2", "4"]),
        ("It rained [1][2].", ["1", "2"]),
        ("It rained [^2].", ["2"]),
        ("It rained 【3】.", ["3"]),
        ("It rained [ 2 ].", ["2"]),
        ("It rained [9].", [None]),
        ("It rained [1, 9].", ["1", None]),
        ("It rained [citation needed].", []),
        ("It rained [sic].", []),
        ("It rained []. It rained (1).", []),
        ("It rained.", []),
        ("", []),
    ],
)
def test_numbers_name_contexts_by_rank(answer: str, expected: list[str | None]) -> None:
    assert named(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It rained [doc-7].", ["doc-7"]),
        ("It rained [doc-7, doc-9].", ["doc-7", "doc-9"]),
        ("It rained [2].", ["doc-9"]),
        ("It rained [doc-8].", [None]),
        ("It rained [9].", [None]),
    ],
)
def test_ids_name_contexts_and_numbers_still_do(answer: str, expected: list[str | None]) -> None:
    assert named(answer, TWO) == expected


def test_a_number_that_is_an_id_is_not_a_rank() -> None:
    contexts = (Context("2", "x", 1), Context("1", "y", 2))
    assert named("It rained [1].", contexts) == ["1"]


def test_without_contexts_every_marker_names_nothing() -> None:
    assert named("It rained [1].", ()) == [None]


def test_a_marker_knows_its_words_and_its_place() -> None:
    [marker] = markers("It rained [1].", FOUR)
    assert (marker.text, marker.place) == ("[1]", 10)


def test_another_pattern_finds_other_markers() -> None:
    [marker] = markers("It rained (1) [2].", FOUR, r"\((\d+)\)")
    assert (marker.text, marker.context) == ("(1)", "1")


@pytest.mark.parametrize(
    "text",
    ["It rose in [2023].", "p lies in [0, 1]", "arr[0]", "about [3.5]", "[COVID-19]", "[1-400]"],
)
def test_brackets_that_are_no_citation_are_left_alone(text: str) -> None:
    assert markers(text, [Context("a", None, 1)]) == []
