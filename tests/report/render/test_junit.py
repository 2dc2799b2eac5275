"""Small pages made by hand, as JUnit XML."""

from collections.abc import Callable
from xml.etree import ElementTree

from ragstone.report.page import (
    Count,
    Group,
    Heading,
    IntervalCell,
    OutlineItem,
    P,
    Page,
    Row,
    RowName,
    Table,
    Tone,
    Verdict,
)
from ragstone.report.render.documents import as_junit

PageOf = Callable[..., Page]
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
