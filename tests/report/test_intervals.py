"""What pages show of an interval, and of how it was made."""

from ragstone.report.number_format import interval_cell, method_notes, scale_for
from ragstone.report.page import Heading, IntervalCell, Note, Row, RowName, Scale, strong, table
from ragstone.stats import Interval


def test_a_value_stands_with_its_interval_or_alone() -> None:
    found = interval_cell(0.5, Interval(0.25, 0.75, 0.95, "wilson"), Scale(0, 1), tone="good")
    assert found == IntervalCell(0.5, 0.25, 0.75, Scale(0, 1), tone="good")
    assert interval_cell(0.5, None) == IntervalCell(0.5, None, None)


def test_a_metric_is_drawn_on_its_whole_range() -> None:
    assert scale_for("precision") == Scale(0, 1)
    assert scale_for("embedding_context_relevance") == Scale(-1, 1)
    assert scale_for("somebodys_own") is None


def test_each_method_is_explained_once_and_in_other_words_where_these_are_given() -> None:
    found = list(method_notes(["t", None, "new", "t"], {"t": "a mean difference"}))
    assert found == [
        Note("intervals", (strong("t"), "  a mean difference")),
        Note("intervals", (strong("new"), "  ")),
    ]


def test_a_word_is_a_heading_of_which_nothing_else_is_said() -> None:
    row = Row((RowName("a"), "b"))
    named = Heading("name", key=True)
    assert table((named, "n"), [row]).columns == (named, Heading("n"))
