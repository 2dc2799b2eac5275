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
        ("It rained [doc-2], [Doc2].", [None, None]),
        ("It rained [9].", [None]),
    ],
)
def test_ids_name_contexts_and_numbers_still_do(answer: str, expected: list[str | None]) -> None:
    assert named(answer, TWO) == expected


THREE = (Context("d1", "x", 1), Context("guide.pdf", "y", 2), Context("London", "z", 3))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It rained [citation:1].", ["d1"]),
        ("It rained [citation:1, citation:3].", ["d1", "London"]),
        ("It rained [citation:1][Citation: 2].", ["d1", "guide.pdf"]),
        ("It rained [citation:9].", [None]),
        ("It rained 【4:0†source】.", ["d1"]),
        ("It rained 【4:2†guide.pdf】.", ["guide.pdf"]),
        ("It rained 【4:9†source】.", [None]),
        ("It rained [1†L1-L4].", ["d1"]),
        ("It rained [^1^][^2^].", ["d1", "guide.pdf"]),
        ("It rained [^9^].", [None]),
        ("下雨了［1］。", ["d1"]),
        ("下雨了［１，２］。", ["d1", "guide.pdf"]),
        ("下雨了［９］。", [None]),
        ("下雨了[来源：2]。", ["guide.pdf"]),
        ("هطل المطر [١].", ["d1"]),
        ("Es regnete [Quelle 2].", ["guide.pdf"]),
        ("It rained (d1).", ["d1"]),
        ("It rained (d1, guide.pdf).", ["d1", "guide.pdf"]),
        ("It rained (Source: d1).", ["d1"]),
        ("It rained (source 2).", ["guide.pdf"]),
        ("下雨了（d1）。", ["d1"]),
        ("It rained (see [1]).", ["d1"]),
        ("Es regnete (siehe [1] und [guide.pdf]).", ["d1", "guide.pdf"]),
        ("下雨了（参见［2］）。", ["guide.pdf"]),
        ("下雨了〔2〕。", ["guide.pdf"]),
        ("It rained [1 and 2].", ["d1", "guide.pdf"]),
        ("Es regnete [1 und 9].", ["d1", None]),
        ("It rained [Context_1].", ["d1"]),
        ("It rained [source-2][chunk9].", ["guide.pdf", None]),
        ("It rained [id:d1].", ["d1"]),
        ("It rained<sup>1</sup>.", ["d1"]),
        ("It rained.<sup>1, 2</sup>", ["d1", "guide.pdf"]),
        ("It rained[^a].\n\n[^a]: See guide.pdf, p. 3.", ["guide.pdf"]),
        ("It rained[^2].\n\n[^2]: Of the town.", ["guide.pdf"]),
    ],
)
def test_citations_are_read_as_systems_write_them(answer: str, expected: list[str | None]) -> None:
    assert named(answer, THREE) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "It rained (d9).",
        "It rained (source 9).",
        "It rained (1), (1859), (B12), (London).",
        "It rained<sup>9</sup> and on the 1<sup>st</sup>.",
        "It has 10<sup>1</sup> km<sup>2</sup>, and x<sup>2</sup>.",
        "It rained[^9].\n\n[^9]: The town's paper of 1859.",
    ],
)
def test_a_form_that_is_not_certain_is_a_citation_only_of_a_context(answer: str) -> None:
    assert named(answer, THREE) == []


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
