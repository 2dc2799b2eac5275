"""Escaping of untrusted text, one function for each kind of output.

An id, a system name, an answer or a model's reply may contain terminal escape sequences, characters
that change the writing direction, or what the reading program takes for a tag, a link or a formula.
Every text from outside passes through the function for its output:

    visible     terminal, message, log: invisible characters are replaced
    single_line the same, on one line
    markdown    a cell or line of Markdown
    html        HTML, also inside quoted attributes
    xml         replaces what XML cannot represent; the XML library escapes the rest
    json_text   JSON shown in a terminal, with the same value
    cell        a CSV cell, which ``cell_read`` restores exactly; ``csv_table`` does a whole table
"""

import html as _html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Control characters except line feed and tab, characters that change the writing direction, tag
# characters, line separators, and lone surrogates.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

# Characters that XML 1.0 cannot represent, not even escaped.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Characters that are Markdown syntax anywhere in a line.
MARKS = re.compile(r"([\\`*_\[\]|~])")

# Characters that make a line a heading, a rule or a list if they begin it.
OPENING = re.compile(r"^(\d{1,9}(?=[.)](?: |$))|(?=[#+=-]))")

# The beginning of a cell that a spreadsheet may evaluate, or that was already escaped.
FORMULA = re.compile("'*[=+@\t\r\n＝＋－＠-]")

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def visible(text: str) -> str:
    """Replace each invisible character by its control picture, or by U+FFFD.

    The number of characters stays the same, so aligned text stays aligned.

    >>> visible("a\\x1b[31mred")
    'a␛[31mred'
    """
    return UNSEEN.sub(_picture, text) if UNSEEN.search(text) else text


def single_line(text: str) -> str:
    """Return the text as ``visible`` does, with white space collapsed to single spaces."""
    return " ".join(visible(" ".join(text.split())).split())


def markdown(text: str) -> str:
    """Escape the text on one line so that no Markdown, HTML, link or @-mention remains.

    >>> markdown("a | b <br> *c*")
    'a \\\\| b &lt;br&gt; \\\\*c\\\\*'
    """
    plain = _html.escape(single_line(text), quote=False).replace("@", "&#64;")
    return OPENING.sub(r"\1\\", MARKS.sub(r"\\\1", plain))


def html(text: str) -> str:
    """Escape the text for HTML content or an attribute, without @-mentions."""
    return _html.escape(visible(text)).replace("@", "&#64;")


def xml(text: str) -> str:
    """Replace characters that XML cannot represent; the rest is not yet escaped."""
    return NOT_XML.sub("\ufffd", visible(text))


def json_text(text: str) -> str:
    """Write invisible characters of JSON text as escapes; its value is unchanged.

    >>> json_text('"\\u202e"')
    '"\\\\u202e"'
    """
    return UNSEEN.sub(_escape, text) if UNSEEN.search(text) else text


def cell(text: str) -> str:
    """Make a CSV cell that no spreadsheet evaluates: an apostrophe precedes possible formulas.

    Numbers are left unchanged.

    >>> cell("=1+1"), cell("-1.5"), cell("'=1")
    ("'=1+1", '-1.5', "''=1")
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def cell_read(text: str) -> str:
    """Undo ``cell``."""
    if text.startswith("'") and FORMULA.match(text):
        return text[1:]
    return text


def csv_table(table: "pl.DataFrame") -> "pl.DataFrame":
    """Apply ``cell`` to every text and column name of a flat table."""
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
