"""Pages as data: words, scales, rows and tables."""

import pytest

from ragstone.report.page import (
    Bar,
    BarPart,
    Count,
    Group,
    Heading,
    IntervalCell,
    Mark,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Table,
    Verdict,
    parts,
    plain,
    quiet,
    section,
    strong,
    table,
)


def test_words_may_be_a_text_a_phrase_or_several() -> None:
    assert parts("a") == (Phrase("a"),)
    assert parts(quiet("a")) == (Phrase("a", "quiet"),)
    assert parts(["a", strong("b", "bad")]) == (Phrase("a"), Phrase("b", "bad", strong=True))
    assert plain(("a ", quiet("b"), "c")) == "a bc"
    assert (parts(()), plain("")) == ((), "")


@pytest.mark.parametrize(
    ("low", "high", "drawable"),
    [(0, 1, True), (-1, 1, True), (1, 1, False), (1, 0, False), (0, float("inf"), False),
     (float("-inf"), 0, False), (float("nan"), 1, False)],
)  # fmt: skip
def test_a_scale_is_drawn_between_two_ends(low: float, high: float, drawable: bool) -> None:
    assert Scale(low, high).drawable is drawable


def test_a_scale_about_a_bar_has_nothing_else_on_it() -> None:
    bar, zero = Mark(0.8, "bar"), Mark(0, "zero")
    assert Scale(0, 1, (bar,)).about_bar
    assert Scale(0, 1, (bar, Mark(0.9, "bar"))).about_bar
    assert not Scale(0, 1, (bar, zero)).about_bar
    assert not Scale(0, 1).about_bar


def test_a_row_has_the_names_and_the_verdict_of_its_cells() -> None:
    verdict = Verdict("pass", "holds", "good")
    row = Row((RowName("hit"), Count(3), RowName("a"), verdict, Verdict("fail", "x", "bad")))
    assert (row.names, row.verdict) == (["hit", "a"], verdict)
    assert (Row((Count(3),)).names, Row(("pass",)).verdict) == ([], None)


def two(*cells: IntervalCell | Bar | Count | RowName) -> Table:
    return table((Heading("a"),), [Row((one,)) for one in cells])


def test_a_column_is_drawn_where_any_of_its_cells_is() -> None:
    drawn = IntervalCell(0.5, 0, 1, Scale(0, 1))
    assert two(Count(1), drawn).draws(0)
    assert two(Bar((BarPart(1, 0),), 1)).draws(0)
    assert not two(IntervalCell(0.5, 0, 1), IntervalCell(0.5, 0, 1, Scale(1, 1))).draws(0)
    assert not two().draws(0)


def test_a_column_holds_what_any_of_its_cells_is() -> None:
    assert two(Count(1), RowName("a")).holds(0, RowName)
    assert two(Count(1)).holds(0, RowName, Count)
    assert not two(Count(1)).holds(0, RowName)


def test_a_column_for_several_says_nothing_where_all_have_one_name() -> None:
    def shown(several: bool, *names: str) -> bool:
        rows = [Row((RowName(name),)) for name in names]
        return table((Heading("system", several=several),), rows).tells(0)

    assert shown(True, "a", "b", "a")
    assert not shown(True, "a", "a")
    assert not shown(True)
    assert shown(False, "a", "a")


def test_a_table_has_the_rows_of_all_its_groups_and_a_page_its_tables_in_order() -> None:
    rows = [Row((Count(at),)) for at in range(3)]
    grouped = Table((Heading(),), (Group((rows[0],), "A"), Group((rows[1], rows[2]), "B")))
    alone = table((Heading(),), rows[:1], "T")
    assert grouped.rows == rows
    assert alone.groups == (Group((rows[0],), "T"),)
    page = Page("t", "", (section(Paragraphs(("x",)), grouped), section(alone, title="Last")))
    assert page.tables == [grouped, alone]
    assert page.sections[1] == Section((alone,), "Last")
    assert page.record() == {}
