"""What is printed, and what must not be."""

from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pytest

from ragstone.report import full_page, picture, show
from ragstone.report.console import terminal
from ragstone.report.page import Count, Heading, Page, Paragraphs, Row, RowName, Section, table


def test_data_cannot_steer_the_terminal() -> None:
    stream = StringIO()
    block = Paragraphs(("a\x1b[31mred\x1b]0;title\x07\tb\nc",))
    show(Page("test", "", (Section((block,)),)), stream)
    printed = stream.getvalue()
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert "red" in printed
    assert printed.count("\n") == 2


def test_text_is_printed_as_it_is() -> None:
    """No [words] are looks, no :words: are pictures, and no figure has a colour."""
    stream = StringIO()
    show("[bold]x[/bold] :smile: 12 'a'", stream)
    assert stream.getvalue() == "[bold]x[/bold] :smile: 12 'a'\n"


@pytest.mark.parametrize(
    ("columns", "width"), [("72", 72), ("", 120), ("0", 120), ("-5", 120), ("wide", 120)]
)
def test_a_pipe_is_as_wide_as_told_or_120(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal(StringIO()).width == width


def test_what_is_wider_than_the_console_runs_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = StringIO()
    columns = (Heading("metric"), Heading("n"))
    row = Row((RowName("semantic_similarity"), Count(12_345)))
    show(Page("test", "", (Section((table(columns, [row]),)),)), stream)
    assert "semantic_similarity  12,345" in stream.getvalue()


def test_a_closed_pipe_is_for_whoever_prints() -> None:
    with pytest.raises(BrokenPipeError):
        terminal(StringIO()).on_broken_pipe()


def test_a_picture_loses_nothing_where_it_is_narrow(estimate: Any, made_run: Any) -> None:
    name = "semantic_similarity"
    ones = (estimate(name, 0.625, low=0.5, high=0.75, method="cluster_wilson", n=12_345),)
    words = "".join(ElementTree.fromstring(picture(full_page(made_run(ones)), width=12)).itertext())
    for said in (name, "0.625", "0.500", "0.750", "12,345"):
        assert said in words.replace("\xa0", " ")
