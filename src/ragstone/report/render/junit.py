"""JUnit: a page as XML for build servers, with one test case for each row with a verdict."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ragstone.core.escape import xml
from ragstone.core.messages import in_shell, throughout
from ragstone.report import page as pages
from ragstone.report.figures import percent
from ragstone.report.page import plain
from ragstone.report.words import words

from .cells import written


def as_junit(page: pages.Page) -> bytes:
    """One test suite, in UTF-8.

    A requirement that fails is a ``failure``. So is an undecided one: a build must not go on as if
    it held, and a skipped test counts as passed. Missing scores are an ``error``, because the
    requirement was not measured.
    """
    page = throughout(page, in_shell)
    cases = [(table, row) for table in page.tables for row in table.rows if row.verdict]
    outcomes = [_tag(row) for _, row in cases]
    counts = {
        "tests": len(cases),
        "failures": outcomes.count("failure"),
        "errors": outcomes.count("error"),
        "skipped": 0,
    }
    totals = {name: str(count) for name, count in counts.items()} | {"time": "0"}
    root = Element("testsuites", {"name": f"ragstone {page.name}", **totals})
    name = xml(f"ragstone {page.name} {page.title}")
    suite = SubElement(root, "testsuite", {"name": name, **totals})
    properties = SubElement(suite, "properties")
    record = throughout(page.record(), in_shell)
    for key, value in record.items() if isinstance(record, dict) else ():
        if isinstance(value, str | int | float):
            SubElement(properties, "property", {"name": key, "value": xml(_plain(value))})
    for table, row in cases:
        _case(suite, page, table, row)
    notes = [in_shell(words(note)) for note in page.notes]
    SubElement(suite, "system-out").text = xml("\n".join([page.said, *notes]))
    indent(root)
    written_out: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written_out + b"\n"


def _tag(row: pages.Row) -> str:
    tone = row.verdict.tone if row.verdict else ""
    return {"good": "system-out", "missing": "error"}.get(tone, "failure")


def _case(suite: Element, page: pages.Page, table: pages.Table, row: pages.Row) -> None:
    name, *more = row.names
    names = {"classname": ".".join(["ragstone", page.name, *more]), "name": name, "time": "0"}
    case = SubElement(suite, "testcase", {key: xml(value) for key, value in names.items()})
    message = "; ".join(filter(None, [row.why, ", ".join(_figures(table, row))]))
    outcome = SubElement(case, _tag(row))
    if _tag(row) == "system-out" or row.verdict is None:
        outcome.text = xml(message)
        return
    outcome.set("type", row.verdict.code)
    outcome.set("message", xml(message))
    below = [plain(words) for words in row.below if plain(words) != row.why]
    lines = [line for item in row.detail for line in _lines(item, "")]
    outcome.text = xml("\n".join([message, *below, *lines]))


def _figures(table: pages.Table, row: pages.Row) -> Iterator[str]:
    """The numbers of the row, each with the heading of its column."""
    for column, cell in zip(table.columns, row.cells, strict=True):
        if isinstance(cell, pages.RowName | pages.Verdict) or not written(cell).text:
            continue
        figure = written(cell).text
        if isinstance(cell, pages.IntervalCell) and column.level is not None:
            figure = figure.replace("(", f"({percent(column.level)} interval ", 1)
        yield f"{column.head} {figure}"


def _lines(item: pages.OutlineItem, lead: str) -> Iterator[str]:
    yield f"{lead}{f'{item.lead}  ' if item.lead else ''}{plain(item.words)}"
    for one in item.inner:
        yield from _lines(one, f"{lead}  ")


def _plain(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
