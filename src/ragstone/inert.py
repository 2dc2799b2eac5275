"""Inert: what data says, at each door out, can be read and does nothing.

An id, a system, an answer or a reply may hold what steers a terminal, turns the direction of
writing, or is a tag, a link or a formula to whoever reads it. Each door has its function here, and
every word from outside goes through it.

    seen        a terminal, a message, a log: nothing but what is seen
    on_one_line the same without line ends
    markdown    a cell or line of Markdown
    html        HTML, also within quotes
    xml         what XML has a place for; its library escapes the rest
    json_text   a JSON text that a terminal shows, the same value
    cell        a cell of CSV, which ``cell_read`` reads back as it was; csv_table a table of them
"""

import html as _html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters but line feed and tab, what turns the direction of writing, tags, line
separators, and halves of characters."""

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no place for, not even escaped."""

MARKS = re.compile(r"([\\`*_\[\]|~])")
"""What Markdown reads as more than itself, wherever it stands."""

OPENING = re.compile(r"^(\d{1,9}(?=[.)](?: |$))|(?=[#+=-]))")
"""What makes a line of Markdown a heading, a rule or a list."""

FORMULA = re.compile("'*[=+@\t\r\n＝＋－＠-]")
"""How a cell begins that a spreadsheet may compute, or that was made inert before."""

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def seen(text: str) -> str:
    """A sign in place of each character that is not seen: its picture, or U+FFFD.

    One for one, so that what was aligned stays aligned.

    >>> seen("a\\x1b[31mred")
    'a␛[31mred'
    """
    return UNSEEN.sub(_picture, text) if UNSEEN.search(text) else text


def on_one_line(text: str) -> str:
    """The text as it is seen, its white space as single spaces."""
    return " ".join(seen(" ".join(text.split())).split())


def markdown(text: str) -> str:
    """One line in which nothing is Markdown, HTML, a link or a mention.

    >>> markdown("a | b <br> *c*")
    'a \\\\| b &lt;br&gt; \\\\*c\\\\*'
    """
    plain = _html.escape(on_one_line(text), quote=False).replace("@", "&#64;")
    return OPENING.sub(r"\1\\", MARKS.sub(r"\\\1", plain))


def html(text: str) -> str:
    """Text of a page or of an attribute, in which nobody is mentioned."""
    return _html.escape(seen(text)).replace("@", "&#64;")


def xml(text: str) -> str:
    """Text that an XML library may be given."""
    return NOT_XML.sub("\ufffd", seen(text))


def json_text(text: str) -> str:
    """The JSON text with what is not seen written as escapes: the same value.

    >>> json_text('"\\u202e"')
    '"\\\\u202e"'
    """
    return UNSEEN.sub(_escape, text) if UNSEEN.search(text) else text


def cell(text: str) -> str:
    """A cell of CSV that no spreadsheet computes: an apostrophe before what could be a formula.

    A number stays one.

    >>> cell("=1+1"), cell("-1.5"), cell("'=1")
    ("'=1+1", '-1.5', "''=1")
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def cell_read(text: str) -> str:
    """What a cell was before ``cell`` made it inert."""
    if text.startswith("'") and FORMULA.match(text):
        return text[1:]
    return text


def csv_table(table: "pl.DataFrame") -> "pl.DataFrame":
    """The table, flat, with every text and name as ``cell`` makes it."""
    import polars as pl

    texts = [name for name, dtype in table.schema.items() if dtype == pl.String]
    cells = table.with_columns(
        pl.col(name).map_elements(cell, return_dtype=pl.String) for name in texts
    )
    return cells.rename({name: cell(name) for name in table.columns})


def _picture(unseen: re.Match[str]) -> str:
    code = ord(unseen.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\ufffd"


def _escape(unseen: re.Match[str]) -> str:
    code = ord(unseen.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
