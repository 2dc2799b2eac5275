"""Small pages made by hand, as Markdown."""

from collections.abc import Callable

from ragstone.report.page import (
    Banner,
    Count,
    Facts,
    Group,
    Heading,
    IntervalCell,
    Note,
    Outline,
    OutlineItem,
    P,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Section,
    Table,
    Tone,
    Verbatim,
    Verdict,
    Why,
    strong,
    table,
)
from ragstone.report.render.documents import as_markdown

PageOf = Callable[..., Page]


def test_a_table_writes_intervals_in_figures(page_of: PageOf) -> None:
    columns = (
        Heading("metric"),
        Heading("value", level=0.95),
        Heading("n"),
        Heading("p"),
        Heading(),
    )
    rows = [
        Row((RowName("hit", "+"), IntervalCell(0.656, 0.6, 0.72), Count(1234), P(1e-9),
             Verdict("pass", "holds", "good"))),
        Row((RowName("mrr", "-"), IntervalCell(0.0, None, None), Count(0), P(None),
             Verdict("fail", "broken", "bad")), ("a note",)),
        Row((RowName("f1"), Why("undefined", "no claims"), Count(0), P(None), "")),
    ]  # fmt: skip
    assert as_markdown(page_of(table(columns, rows))).splitlines() == [
        "# runs/a",
        "",
        "| metric | value (95 % interval) | n | p |  |",
        "|---|--:|--:|--:|---|",
        "| hit ↑ | **0.656** (0.600 – 0.720) | 1,234 | &lt;0.001 | ✅ holds |",
        "| mrr ↓ | **0.000** | 0 |  | ❌ broken |",
        "| f1 | no claims | 0 |  |  |",
        "",
        "- mrr: a note",
    ]


def test_nothing_in_the_data_is_markdown_or_html(page_of: PageOf) -> None:
    hostile = "a | b\n<script>alert(1)</script> [x](http://y) *c* @all \x1b[31m"
    columns = (Heading(hostile), Heading("n"))
    cells = (RowName(hostile), Verdict("fail", "broken", "bad"))
    row = Row(cells, (hostile,), detail=(OutlineItem(hostile),))
    page = page_of(
        Banner("FAIL", "bad", (hostile, hostile)),
        Facts((Note(hostile, (strong(hostile), hostile)),)),
        Facts((Note(hostile, hostile),), small=True),
        Table(columns, (Group((row,), hostile),), "Worst"),
        Outline((OutlineItem(hostile, (OutlineItem(hostile),)),)),
        Paragraphs((hostile,)),
        title=hostile,
        notes=(hostile,),
    )  # fmt: skip
    written = as_markdown(page)
    assert "<script" not in written
    assert "\x1b" not in written
    assert "@all" not in written
    read = [line for line in written.splitlines() if not line.startswith("<details")]
    assert not [line for line in read if "[x](" in line or "*c*" in line.replace(r"\*", "")]
    rows = [line.replace("\\|", "") for line in read if line.startswith("|")]
    assert {row.count("|") for row in rows} == {3}


def test_details_are_folded_and_the_worst_lie_open_and_first(page_of: PageOf) -> None:
    tones: tuple[tuple[str, Tone], ...] = (("open", "caution"), ("broken", "bad"))
    rows = tuple(
        Row(
            (RowName(f"<{word}>"), Verdict(word, word, tone)),
            detail=(OutlineItem("Q1", (OutlineItem("x"),)),),
        )
        for word, tone in tones
    )
    columns = (Heading("requirement"), Heading())
    written = as_markdown(page_of(Table(columns, (Group(rows),), "Worst examples")))
    assert written.split("|---|---|\n")[1].splitlines()[3:] == [
        "<details open><summary>❌ Worst examples of <b>&lt;broken&gt;</b></summary>",
        "", "- Q1", "  - x", "", "</details>", "",
        "<details><summary>❔ Worst examples of <b>&lt;open&gt;</b></summary>",
        "", "- Q1", "  - x", "", "</details>",
    ]  # fmt: skip


def test_a_page_reads_from_the_verdict_to_the_notes() -> None:
    sections = (
        Section((Banner("PASS", "good", ("1 holds", "Go on.")),)),
        Section((Facts((Note("run", (strong("a"), " b")),)),), "About"),
        Section((Outline((OutlineItem(Phrase("said", "caution"), lead="Q"),)),)),
        Section((Facts((Note("holds", "all of it"),), small=True),)),
    )
    page = Page("gate", "runs/a", sections, notes=("One note.",))
    assert as_markdown(page).splitlines() == [
        "## ✅ PASS: runs/a", "", "**1 holds.** Go on.", "",
        "## About", "", "| | |", "|---|---|", "| run | **a** b |", "",
        "- Q: said", "", "<sub>Holds: all of it.</sub>", "", "- One note.",
    ]  # fmt: skip


def test_an_empty_table_is_its_head(page_of: PageOf) -> None:
    assert (
        as_markdown(page_of(table((Heading("metric"),), []))) == "# runs/a\n\n| metric |\n|---|\n"
    )


def test_what_is_to_be_copied_stays_as_it_is(page_of: PageOf) -> None:
    assert as_markdown(page_of(Verbatim(("a\tb *c*\x1b",)))).endswith("\n    a\tb *c*␛\n")
