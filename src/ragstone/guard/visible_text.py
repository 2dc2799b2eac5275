"""Visible text: what a reader sees of a text, in plain letters, and what no check can read.

Characters that are not shown are left out (`n\\u200bot` is *not*), and letters in another shape are
letters (𝐍, Ⓝ, Ｎ, 🅝, ɴ). Letters spelled out as flags, and Cyrillic or Greek letters that look like
Latin ones, are read as what they are. Characters that a reader may understand but no check can read
(braille, several private-use characters side by side, tags outside a flag, reversed direction, runs
of hidden characters) leave the check ``answer`` not judged.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from ragstone.data import Context

from .assessment import AnswerSpan

# Characters that are not shown: Unicode's default ignorables.
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

_HIDDEN_ONE = re.compile(f"[{_HIDDEN}]")

# Where letters and digits stand in another shape, such as 𝐍, Ⓝ, Ｎ, 🅝 or ɴ.
_OTHER_LETTERS = re.compile(
    "[\u02b0-\u02b8\u1d2c-\u1d6a\u2071\u207f\u2090-\u209c\u2100-\u214f\u24b6-\u24e9\uf900-\ufaff"
    "\ufb50-\ufdff\ufe70-\ufefe\uff10-\uffdc\U0001d400-\U0001d7ff\U0001f110-\U0001f169"
    "\U0001f170-\U0001f189\U0002f800-\U0002fa1f\u0250-\u02af\u1d00-\u1d2b\ua730\ua731]+"
)

_NEGATIVE = "\U0001f150-\U0001f169\U0001f170-\U0001f189"
_NEGATIVE_WORD = re.compile(rf"[{_NEGATIVE}]{{2,}}|[{_NEGATIVE}](?=[^\W_])")
_NEGATIVE_CAPITALS = {first + at: 65 + at for first in (0x1F150, 0x1F170) for at in range(26)}

_SMALL = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
_SMALL_WORD = re.compile(f"[{_SMALL}]{{3,}}")
_SMALL_CAPITALS = str.maketrans(_SMALL, "ABCDEFGHIJKLMNOPRSTUVWYZ")

# What may say something that no check reads: braille, characters without a meaning of their own,
# a reversed direction, tags outside of a flag, and runs of what is not shown.
_BRAILLE = "\u2801-\u28ff"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010fffd"
_REVERSED = "\u202d\u202e"
_FLAG, _TAG = "\U0001f3f4", "\U000e0020-\U000e007e"
_VARIANT = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_UNSEEN = "\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_NOT_TEXT = re.compile(
    # Begins with one set of characters: re then passes over all other text at once.
    f"[{_BRAILLE}{_PRIVATE}{_REVERSED}{_FLAG}{_TAG}{_VARIANT}{_UNSEEN}](?:"
    rf"(?<=[{_BRAILLE}])[{_BRAILLE}]"
    rf"|(?<=[{_PRIVATE}])[{_PRIVATE}]{{2}}"
    rf"|(?<=[{_REVERSED}])"
    rf"|(?<=[{_TAG}])(?<![{_FLAG}{_TAG}].)"
    rf"|(?<={_FLAG})[{_TAG}]{{7}}"
    rf"|(?<=[{_VARIANT}])[{_VARIANT}]"
    rf"|(?<=[{_UNSEEN}])[{_UNSEEN}]{{3}})"
)


def as_read(text: str) -> str:
    """Return a text as a reader sees it: without what is not shown, letters in their plain shape.

    Compatibility forms become what they stand for (NFKC) where that is one letter or digit. The
    text keeps its length: it ends with a space for each character that is not shown.

    >>> as_read("n\\u200bot 𝐍𝐚𝐩𝐨𝐥𝐞𝐨𝐧")
    'not Napoleon '
    """
    if text.isascii():
        return text
    visible, n = _HIDDEN_ONE.subn("", text)
    if n:
        text = visible + " " * n
    if not _OTHER_LETTERS.search(text):
        return text
    text = _NEGATIVE_WORD.sub(lambda run: run.group().translate(_NEGATIVE_CAPITALS), text)
    text = _SMALL_WORD.sub(lambda run: run.group().translate(_SMALL_CAPITALS), text)
    return _OTHER_LETTERS.sub(lambda run: "".join(map(_plain, run.group())), text)


class WrittenText:
    """A text as it was written, with its places as it is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = as_read(text)
        self._order: Sequence[int] = range(len(text))
        self._n_visible = len(text)
        if self.plain is not text:
            hidden = {match.start() for match in _HIDDEN_ONE.finditer(text)}
            self._order = sorted(self._order, key=hidden.__contains__)
            self._n_visible -= len(hidden)

    def part(self, start: int, end: int) -> AnswerSpan:
        """Return what stands at a place of the plain text, as it was written."""
        first = self._order[start] if start < end else start
        last = self._order[end - 1] + 1 if start < end else end
        first, last = min(first, last), max(first, last)
        return AnswerSpan(first, last, self.text[first:last])

    def place(self, written: int) -> int:
        """Return the place in the plain text of what is written here."""
        return bisect_left(self._order, written, hi=self._n_visible)


def as_read_context(context: Context) -> Context:
    """Return a context with its text as a reader sees it."""
    text = context.text or ""
    plain = as_read(text)
    return context if plain is text else replace(context, text=plain)


def unreadable(text: str) -> str | None:
    """Return the first character that may say something and no check reads; else None."""
    strange = None if text.isascii() else _NOT_TEXT.search(text)
    return None if strange is None else strange.group()[0]


def as_text(value: object) -> str:
    """Return a question or an answer, whatever it is, as text."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return value if isinstance(value, str) else "" if value is None else str(value)


@cache
def _plain(letter: str) -> str:
    """Return the letter or digit that one in another shape stands for; exponents stay."""
    plain = unicodedata.normalize("NFKC", letter)
    is_raised = not letter.isalpha() and unicodedata.decomposition(letter)[:5] in ("<supe", "<sub>")
    return plain if len(plain) == 1 and plain.isalnum() and not is_raised else letter
