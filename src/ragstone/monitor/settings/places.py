"""Places: on which line each key of a TOML file stands, which Python's reader does not tell.

The text has been read as valid TOML before, so it is only walked along here, not checked.
"""

import re
import tomllib
from bisect import bisect
from collections import defaultdict

KeyPath = tuple[str | int, ...]

BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
SPACE = re.compile(r"[ \t]*")
TEXT = re.compile(
    r'"""(?:\\.|(?!""")[^\\])*"{3,5}'
    r"|'''(?:(?!''').)*'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
KEY = re.compile(
    r"[A-Za-z0-9_-]+"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
)
PLAIN = re.compile(r"[^,\]}\n#]*")
"""A number, a date or a truth value; a date may have a space in it."""


def places(text: str) -> dict[KeyPath, int]:
    """The line, from 1, of each table, key and element of a list, by its path.

    >>> places('a = 1\\n[[rule]]\\nmetric = "x"\\n')[("rule", 0, "metric")]
    3

    Args:
        text: Valid TOML.
    """
    walk = _Walk(text)
    walk.document()
    return walk.lines


class _Walk:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._ends = [at for at, one in enumerate(text) if one == "\n"]
        self._tables: defaultdict[KeyPath, int] = defaultdict(int)
        self.lines: dict[KeyPath, int] = {}

    def document(self) -> None:
        here: KeyPath = ()
        self._go(BLANK.match(self._text, self._at))
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                here = self._header()
            else:
                self._pair(here)
            self._go(BLANK.match(self._text, self._at))

    def _header(self) -> KeyPath:
        start = self._at
        several = self._text.startswith("[[", start)
        self._at += 1 + several
        names = self._key()
        self._at += 1 + several
        here: KeyPath = ()
        for name in names[:-1]:
            self.lines.setdefault((*here, name), self._line(start))
            here = self._within((*here, name))
        here = (*here, names[-1])
        if several:
            self.lines.setdefault(here, self._line(start))
            self._tables[here] += 1
            here = self._within(here)
        self.lines.setdefault(here, self._line(start))
        return here

    def _within(self, path: KeyPath) -> KeyPath:
        """The last table of a list of tables, or the table itself."""
        return (*path, self._tables[path] - 1) if path in self._tables else path

    def _pair(self, here: KeyPath) -> None:
        line = self._line(self._at)
        for name in self._key():
            here = (*here, name)
            self.lines.setdefault(here, line)
        self._at += 1
        self._value(here)

    def _key(self) -> list[str]:
        """The names of a key, up to what follows it."""
        names = []
        while True:
            self._go(SPACE.match(self._text, self._at))
            start = self._at
            self._go(KEY.match(self._text, start))
            (name,) = tomllib.loads(f"{self._text[start : self._at]} = 0")
            names.append(name)
            self._go(SPACE.match(self._text, self._at))
            if self._text[self._at] != ".":
                return names
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        self._go(BLANK.match(self._text, self._at))
        self.lines.setdefault(path, self._line(self._at))
        match self._text[self._at]:
            case "[":
                self._list(path)
            case "{":
                self._inline(path)
            case '"' | "'":
                self._go(TEXT.match(self._text, self._at))
            case _:
                self._go(PLAIN.match(self._text, self._at))

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        while not self._over("]"):
            self._value((*path, number))
            number += 1

    def _inline(self, path: KeyPath) -> None:
        self._at += 1
        while not self._over("}"):
            self._pair(path)

    def _over(self, end: str) -> bool:
        """Go past blanks and one comma; whether the end was passed."""
        self._go(BLANK.match(self._text, self._at))
        if self._text[self._at] == ",":
            self._at += 1
            self._go(BLANK.match(self._text, self._at))
        if self._text[self._at] != end:
            return False
        self._at += 1
        return True

    def _go(self, found: "re.Match[str] | None") -> None:
        if found:
            self._at = found.end()

    def _line(self, at: int) -> int:
        return bisect(self._ends, at - 1) + 1
