"""Documents: pages as HTML, Markdown and JUnit."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

from ragstone.report import full_page
from ragstone.report.page import (
    Banner,
    Bar,
    BarPart,
    Count,
    Facts,
    Group,
    Heading,
    IntervalCell,
    Note,
    Number,
    Outline,
    OutlineItem,
    P,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Scale,
    Section,
    Step,
    Table,
    Tone,
    Verbatim,
    Verdict,
    Waterfall,
    Why,
    quiet,
    strong,
    table,
)
from ragstone.report.render.documents import as_html, as_junit, as_markdown

PageOf = Callable[..., Page]
VOID = {"meta", "br"}
HOSTILE = "<script>alert(1)</script>\" onload='x' \x1b[31m @all"


class Reader(HTMLParser):
    """What is in a page, and that what opens closes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID and tag not in ("line", "rect", "circle", "polyline", "polygon"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("line", "rect", "circle", "polyline", "polygon"):
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open or "title" in self.open:
            return
        self.words.append(data)
        if "tr" in self.open:
            self.rows[-1][-1] += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert not reader.open
    return reader


def test_a_table_has_a_cell_a_fact(page_of: PageOf) -> None:
    columns = (Heading("metric", key=True), Heading("system", several=True),
               Heading("value", level=0.95), Heading("n"), Heading("p"))  # fmt: skip
    name = RowName("hit", "+")
    rows = [
        Row((name, RowName("a"), IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)), Count(8), P(0.5))),
        Row((name, RowName("b"), Why("undefined", "no claims"), Count(0), P(None)), ("a note",)),
    ]
    assert read(as_html(page_of(table(columns, rows)))).rows == [
        ["metric", "system", "value", "95 % interval", "01", "n", "p"],
        ["hit\xa0↑", "a", "0.500", "0.250 – 0.750", "", "8", "0.500"],
        ["", "b", "no claims", "0", ""],
        ["", "a note"],
    ]
    html = as_html(page_of(table(columns, rows)))
    assert '<td colspan="3">' in html, "of value, interval and what is drawn"
    assert '<td class="below"></td><td colspan="6" class="below">a note' in html, "of seven"


def test_a_name_that_all_rows_share_is_not_said(page_of: PageOf) -> None:
    columns = (Heading("metric"), Heading("system", several=True))
    page = page_of(
        table(columns, [Row((RowName("hit"), RowName("a"))), Row((RowName("mrr"), RowName("a")))])
    )
    assert read(as_html(page)).rows == [["metric"], ["hit"], ["mrr"]]


def test_zero_undefined_and_missing_look_different(page_of: PageOf) -> None:
    cells = (
        IntervalCell(0.0, None, None),
        Why("undefined", "undefined"),
        Why("missing", "missing"),
    )
    page = page_of(table((Heading("value"),), [Row((cell,)) for cell in cells]))
    html = as_html(page)
    assert "<b>0.000</b>" in html
    assert '<span class="undefined">undefined</span>' in html
    assert '<span class="missing">missing</span>' in html


def test_of_a_slice_it_is_said_in_a_word_where_there_is_no_mean(page_of: PageOf) -> None:
    cells = (Number(0.5, n=7), Why("undefined"), Number(None))
    page = page_of(table((Heading("mean"),), [Row((cell,)) for cell in cells]))
    html = as_html(page)
    assert '<td class="n">0.500 <span class="quiet">7</span></td>' in html
    assert '<td class="n"><span class="undefined">undef.</span></td>' in html
    assert '<td class="n">–</td>' in html


def test_intervals_without_a_scale_have_no_column_to_be_drawn_in(page_of: PageOf) -> None:
    columns = (Heading("a", level=0.9), Heading("b"))
    row = Row((IntervalCell(0.5, 0.25, 0.75), IntervalCell(1, 0, 2, Scale(0, 2))))
    assert read(as_html(page_of(table(columns, [row])))).rows == [
        ["a", "90 % interval", "b", "interval", "02"],
        ["0.500", "0.250 – 0.750", "1.000", "0.000 – 2.000", ""],
    ]


def test_nothing_in_the_data_is_html(page_of: PageOf) -> None:
    columns = (Heading(HOSTILE), Heading(HOSTILE, fill=1), Heading(HOSTILE), Heading(HOSTILE))
    cells = (RowName(HOSTILE, about=HOSTILE), Bar((BarPart(1, 0, HOSTILE),), 1),
             Verdict(HOSTILE, HOSTILE, "bad"),
             IntervalCell(0.5, 0, 1, Scale(0, 1), word=HOSTILE))  # fmt: skip
    behind = OutlineItem(HOSTILE, lead=HOSTILE)
    page = page_of(
        Banner(HOSTILE, "bad", (HOSTILE, HOSTILE)),
        Facts((Note(HOSTILE, HOSTILE),)),
        Table(columns, (Group((Row(cells, (HOSTILE,), detail=(behind,)),), HOSTILE),), HOSTILE),
        Outline((OutlineItem(Phrase(HOSTILE, "text"), (OutlineItem(HOSTILE),)),)),
        Paragraphs((HOSTILE,)),
        Waterfall(1, (Step(HOSTILE, 1),), HOSTILE),
        title=HOSTILE, name=HOSTILE, notes=(HOSTILE,),
    )  # fmt: skip
    reader = read(as_html(page))
    assert "script" not in reader.tags
    assert not {"onload", "style", "href", "src"} & reader.attributes
    assert "\x1b" not in as_html(page)
    assert "@all" not in as_html(page)


def test_the_stylesheet_stands_once_and_nothing_is_loaded(page_of: PageOf) -> None:
    html = as_html(page_of(Paragraphs(("a",)), Paragraphs(("b",))))
    assert html.count("<style>") == 1
    for outside in ("http", "<script", "<link", "url(", "@import", "style="):
        assert outside not in html
    rules = html[html.index("<style>") : html.index("</style>")]
    for line in rules.splitlines():
        if line.startswith("."):
            assert line.startswith((".ragstone", ".vscode-")), "no rule leaves its page"


def test_equal_names_of_facts_are_said_once_and_small_print_is_small(page_of: PageOf) -> None:
    facts = (Note("judged by", "a"), Note("judged by", "b"))
    assert '<dl class="small"><dt>judged by</dt><dd>a</dd><dt></dt><dd>b</dd></dl>' in as_html(
        page_of(Facts(facts, small=True))
    )


def test_details_of_what_is_broken_lie_open(page_of: PageOf) -> None:
    row = Row(
        (RowName("hit > 1"), Verdict("fail", "broken", "bad")),
        detail=(OutlineItem("q1", lead="Q"),),
    )
    html = as_html(page_of(Table((Heading(), Heading()), (Group((row,)),), "Worst")))
    assert "<details open><summary>Worst <b>hit &gt; 1</b></summary>" in html


def test_a_section_without_blocks_has_no_heading() -> None:
    page = Page("t", "", (Section((), "Empty"), Section((Paragraphs(("a",)),), "Full")))
    assert "Empty" not in as_html(page)
    assert "<h2>Full</h2><p>a</p>" in as_html(page)


def test_a_run_shows_its_page(estimate: Callable[..., Any], made_run: Callable[..., Any]) -> None:
    html = as_html(
        full_page(made_run((
            estimate("precision", 0.5, low=0.25, high=0.75, method="t", group={"system": "<b>"}),
            estimate("helpfulness", n_missing=4, reasons={"needs <someone>": 4}),
        )))
    )  # fmt: skip
    rows = read(html).rows
    assert ["precision\xa0↑", "0.500", "0.250 – 0.750", "", "83", "0", "0", "t"] in rows
    assert "missing (needs &lt;someone&gt;)" not in html, "over systems, which have none"


def test_what_is_to_be_copied_stays_as_it_is(page_of: PageOf) -> None:
    assert "<pre>a\tb &lt;c&gt;</pre>" in as_html(page_of(Verbatim(("a\tb <c>",))))


def test_what_goes_on_takes_the_columns_of_the_last_cell(page_of: PageOf) -> None:
    """An interval has two columns where it is not drawn, so the words span three."""
    columns = (Heading("a"), Heading("n"), Heading("b"), Heading("c"))
    rows = [
        Row((RowName("x"), Count(2), Count(1), IntervalCell(0.5, 0, 1))),
        Row((RowName("y"), Count(3), Why("unknown", "too few"), None)),
    ]
    html = as_html(page_of(table(columns, rows)))
    assert '<td colspan="3"><span class="caution">too few</span></td>' in html
    assert html.count("<bdi>y</bdi>") == 1


def test_only_items_that_lead_have_a_lead(page_of: PageOf) -> None:
    items = (OutlineItem("asked", lead="Q"), OutlineItem("plain"))
    html = as_html(page_of(Outline(items, "A title")))
    assert '<p class="quiet">A title</p>' in html
    assert '<li class="led"><span class="lead">Q</span><div dir="auto">asked</div></li>' in html
    assert '<li><div dir="auto">plain</div></li>' in html


def test_a_name_is_said_again_where_it_is_no_key(page_of: PageOf) -> None:
    rows = [Row((RowName("hit"), Count(1))), Row((RowName("hit"), Count(2)))]
    assert read(as_html(page_of(table((Heading("a"), Heading("n")), rows)))).rows[1:] == [
        ["hit", "1"], ["hit", "2"],
    ]  # fmt: skip
    keyed = read(as_html(page_of(table((Heading("a", key=True), Heading("n")), rows))))
    assert keyed.rows[1:] == [["hit", "1"], ["", "2"]]
    nameless = table((Heading("a", key=True), Heading("n")), [Row(("", Count(1)))] * 2)
    assert read(as_html(page_of(nameless))).rows[1:] == [["", "1"]] * 2


def test_the_title_of_a_group_heads_its_first_column_alone(page_of: PageOf) -> None:
    groups = (
        Group((Row((RowName("hit"), Count(1))),), "Retrieval"),
        Group((Row((RowName("f1"), Count(2))),), "Answer"),
    )
    html = as_html(page_of(Table((Heading("metric"), Heading("n")), groups)))
    assert read(html).rows == [["Retrieval", "n"], ["hit", "1"], ["Answer", "n"], ["f1", "2"]]
    assert html.count('<th class="title">') == 2
    assert html.count('<th class="n">n</th>') == 2


def test_words_of_a_tone_are_marked_and_strong_ones_bold(page_of: PageOf) -> None:
    html = as_html(page_of(Paragraphs((("a  b\n", quiet("c"), strong("d", "bad")),))))
    assert (
        '<p>a&ensp;b<br><span class="quiet">c</span><span class="bad"><b>d</b></span></p>' in html
    )


def test_an_interval_is_read_in_words_beside_its_value(page_of: PageOf) -> None:
    cells = (IntervalCell(0.5, None, None, word="fair"),
             IntervalCell(0.5, None, None, strong=False))  # fmt: skip
    html = as_html(page_of(table((Heading("v"),), [Row((one,)) for one in cells])))
    assert '<td class="n"><b>0.500</b> <span class="quiet">fair</span></td>' in html
    assert '<td class="n">0.500</td>' in html


def test_notes_stand_at_the_end(page_of: PageOf) -> None:
    html = as_html(page_of(Paragraphs(("a",)), notes=("A note.", "No <b>.")))
    assert html.endswith("<p>A note.</p><p>No &lt;b&gt;.</p></div>")


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


def test_what_is_to_be_copied_stays_as_it_is_in_markdown(page_of: PageOf) -> None:
    assert as_markdown(page_of(Verbatim(("a\tb *c*\x1b",)))).endswith("\n    a\tb *c*␛\n")


COLUMNS = (Heading("requirement"), Heading("system"), Heading(), Heading("value", level=0.9),
           Heading("n"), Heading("p broken"))  # fmt: skip


def row(word: str, tone: Tone, p: float | None = None, system: str = "a") -> Row:
    interval = IntervalCell(0.836, 0.792, 0.872)
    cells = (
        RowName("hit > 1"),
        RowName(system),
        Verdict(word, word, tone),
        interval,
        Count(83),
        P(p),
    )
    return Row(
        cells, ("a note",), "because", (OutlineItem("0.1  q1", (OutlineItem("Why?", lead="Q"),)),)
    )


def suite(page: Page) -> ElementTree.Element:
    root = ElementTree.fromstring(as_junit(page))
    assert root.tag == "testsuites"
    return root[0]


def test_open_is_a_failure_and_missing_an_error(page_of: PageOf) -> None:
    tones: tuple[tuple[str, Tone], ...] = (
        ("pass", "good"), ("fail", "bad"), ("cannot_tell", "caution"), ("missing", "missing"),
    )  # fmt: skip
    rows = tuple(row(word, tone) for word, tone in tones)
    found = suite(page_of(Table(COLUMNS, (Group(rows),))))
    counts = {name: found.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "2", "errors": "1", "skipped": "0"}
    assert [case[0].tag for case in found.iter("testcase")] == [
        "system-out", "failure", "failure", "error",
    ]  # fmt: skip
    assert [case[0].get("type") for case in found.iter("testcase")] == [
        None, "fail", "cannot_tell", "missing",
    ]  # fmt: skip


def test_a_case_says_why_with_its_figures_and_what_lies_behind_it(page_of: PageOf) -> None:
    page = page_of(Table(COLUMNS, (Group((row("fail", "bad", 0.01),)),)), name="gate")
    (case,) = suite(page).iter("testcase")
    assert (case.get("classname"), case.get("name")) == ("ragstone.gate.a", "hit > 1")
    message = "because; value 0.836 (90 % interval 0.792 – 0.872), n 83, p broken 0.010"
    assert case[0].get("message") == message
    assert case[0].text == f"{message}\na note\n0.1  q1\n  Q  Why?"


def test_the_suite_has_the_plain_facts_of_the_record(page_of: PageOf) -> None:
    page = page_of(title="runs/a", said="FAIL: it is", notes=("A note.",),
                   record=lambda: {"on": "point", "level": 0.05, "notes": ["x"]})  # fmt: skip
    found = suite(page)
    assert found.get("name") == "ragstone test runs/a"
    assert {one.get("name"): one.get("value") for one in found.iter("property")} == {
        "on": "point", "level": "0.05",
    }  # fmt: skip
    assert found.findtext("system-out") == "FAIL: it is\nA note."


def test_what_xml_has_no_place_for_is_replaced(page_of: PageOf) -> None:
    page = page_of(Table(COLUMNS, (Group((row("fail", "bad", system="a\x00\x1b<b>"),)),)),
                   title="\ud800")  # fmt: skip
    (case,) = suite(page).iter("testcase")
    assert case.get("classname") == "ragstone.test.a␀␛<b>"
    assert suite(page).get("name") == "ragstone test \ufffd"
