"""What is printed, and what must not be."""

from io import StringIO

from ragstone.report import show
from ragstone.report.page import Page, Paragraphs, Section


def test_data_cannot_steer_the_terminal() -> None:
    stream = StringIO()
    block = Paragraphs(("a\x1b[31mred\x1b]0;title\x07\tb\nc",))
    show(Page("test", "", (Section((block,)),)), stream)
    printed = stream.getvalue()
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert "red" in printed
    assert printed.count("\n") == 2
