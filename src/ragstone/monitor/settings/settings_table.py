"""Settings reader: TOML tables with checked values, times and lengths, and faults by line.

Python's TOML reader does not report lines, so a second pass over the text locates each key. The
text is already known to be valid TOML, and this pass does not check it again.
"""

import re
import tomllib
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, cast, overload

from ragstone.core.errors import InputError
from ragstone.core.escape import single_line
from ragstone.core.messages import argument
from ragstone.data.json_text import shown

SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(s|min|m|h|d|w)")
LAST = 253_402_300_799.0
"""The end of the year 9999, in seconds since the epoch."""


def read_length(text: str, name: str) -> float:
    """Seconds of ``30s``, ``15min``, ``2h``, ``7d`` or ``1w``.

    Args:
        text: What was written.
        name: The argument's.

    Raises:
        InputError: It is none of these.
    """
    found = LENGTH.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"{argument(name, text)} is no length of time: write 30s, 15min, 2h, 7d or 1w."
        )
    return float(found[1]) * SECONDS[found[2]]


def read_moment(text: str, name: str, now: float) -> float:
    """Seconds since the epoch of ``2026-11-23``, ``2026-11-23T16:20`` or ``24h``, which is ago.

    A time without a zone is UTC.

    Args:
        text: What was written.
        name: The argument's.
        now: Seconds since the epoch.

    Raises:
        InputError: It is none of these.
    """
    if LENGTH.fullmatch(text.strip()):
        return now - read_length(text, name)
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"{argument(name, text)} is no time: write 2026-11-23, 2026-11-23T16:20 (UTC), or 24h "
            "for a day ago."
        ) from None


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """One thing wrong.

    Attributes:
        line: Of the file, from 1.
        key: Such as ``[[rule]] bar``.
        text: What is wrong and what to do, as a sentence.
    """

    line: int
    key: str
    text: str


class FaultySettings(InputError):
    """A file of settings with faults: all of them, in the order of the file.

    Attributes:
        file: Where it lies.
        faults: What is wrong.
    """

    def __init__(self, file: Path, faults: Sequence[SettingsFault]) -> None:
        self.file = file
        self.faults = tuple(sorted(faults, key=lambda one: one.line))
        many = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
        lines = [f"  {file}:{one.line}  {one.key}  {single_line(one.text)}" for one in self.faults]
        super().__init__("\n".join([f"{file} has {many}.", *lines]))


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


MOST = 1e12
LONGEST = 1e9
"""Of a length of time, in seconds: some 31 years."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
T = TypeVar("T")


class SettingsTable:
    """One table. What it is asked for, it knows; anything else in it is a fault.

    A value that is wrong is noted, and the default is given in its place, so that all faults are
    found at once.

    Args:
        values: What stands in it.
        path: Where it is.
        lines: Of each path.
        faults: Where faults are noted.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        path: KeyPath,
        lines: Mapping[KeyPath, int],
        faults: list[SettingsFault],
    ) -> None:
        self._values, self._path = values, path
        self._lines, self._faults = lines, faults
        self._asked: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def names(self) -> list[str]:
        """Every key in it, in the order of the file."""
        return list(self._values)

    def fault(self, name: str | None, text: str, *within: str | int) -> None:
        """Note a fault of a key, or of the whole table, or of what lies within a key."""
        self._note(self._key(name), text, *(() if name is None else (name, *within)))

    def _note(self, key: str, text: str, *within: str | int) -> None:
        path = (*self._path, *within)
        while path and path not in self._lines:
            path = path[:-1]
        self._faults.append(SettingsFault(self._lines.get(path, 1), key, text))

    def text(self, name: str, default: str | None = None, *, must: str = "") -> str | None:
        """A text that is not empty.

        Args:
            name: Of the key.
            default: Where it is not there.
            must: What to write, where it has to be there.
        """
        value = self._get(name, must)
        if value is None:
            return default
        if isinstance(value, str) and value.strip():
            return value.strip()
        self.fault(name, _no_text("is", value))
        return default

    def variable(self, name: str, *, must: str = "") -> str | None:
        """The name of an environment variable that holds a secret."""
        value = self.text(name, must=must)
        if value is not None and not VARIABLE.fullmatch(value):
            # What was written may be the secret itself.
            self.fault(
                name,
                "is no name of an environment variable: write the name of one, such as "
                "MONITOR_SECRET, and put the secret into that. No secret belongs in this file.",
            )
            return None
        return value

    def choice(self, name: str, known: Sequence[str], default: str) -> str:
        """One of several words."""
        value = self.text(name, default)
        if value not in known:
            self.fault(name, f"is {value!r}; there are {', '.join(known)}.{_guess(value, known)}")
            return default
        return cast("str", value)

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self._get(name)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.fault(name, f"is {shown(value)}; write true or false.")
        return default

    @overload
    def number(
        self, name: str, default: float, *, low: float = ..., high: float = ..., above: bool = ...
    ) -> float: ...

    @overload
    def number(
        self, name: str, default: None, *, low: float = ..., high: float = ..., above: bool = ...
    ) -> float | None: ...

    def number(
        self,
        name: str,
        default: float | None,
        *,
        low: float = 0.0,
        high: float = MOST,
        above: bool = False,
    ) -> float | None:
        """A number from ``low`` to ``high``; with ``above``, not ``low`` itself."""
        value = self._get(name)
        if value is None:
            return default
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if right and low <= value <= high and not (above and value == low):
            return float(value)
        ends = f"above {low:g}" if above else f"from {low:g}"
        top = f" to {high:g}" if high < MOST or (right and value > high) else ""
        self.fault(name, f"is {shown(value)}; write a number {ends}{top}.")
        return default

    def whole(self, name: str, default: int, *, low: int = 1, high: int = 10**9) -> int:
        """A whole number from ``low`` to ``high``."""
        value = self._get(name)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self.fault(name, f"is {shown(value)}; write a whole number from {low:,} to {high:,}.")
        return default

    def seconds(self, name: str, default: float) -> float:
        """A length of time: a number of seconds, or a text such as ``15min``."""
        value = self._get(name)
        if value is None:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < LONGEST:
            return float(value)
        try:
            found = read_length(value, name) if isinstance(value, str) else 0.0
        except InputError:
            found = 0.0
        right = 0 < found < LONGEST
        if not right:
            self.fault(
                name,
                f'is {shown(value)}; write "30s", "15min", "2h" or "7d", above 0 and below '
                f"{LONGEST / 86_400:,.0f}d.",
            )
        return found if right else default

    def texts(self, name: str, default: Sequence[str] = (), *, must: str = "") -> tuple[str, ...]:
        """A list of texts; one alone may stand without brackets."""
        value = self._get(name, must)
        if value is None:
            return tuple(default)
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list):
            self.fault(name, f'is {shown(value)}; write a list of texts: {name} = ["…"].')
            return tuple(default)
        found = []
        for number, one in enumerate(given):
            if isinstance(one, str) and one.strip():
                found.append(one.strip())
            else:
                self.fault(name, _no_text("holds", one), number)
        return tuple(found)

    def table(self, name: str) -> "SettingsTable":
        """The table of this name; an empty one where there is none."""
        header = self._header((name,))
        value = self._get(name, header=header)
        if value is not None and not isinstance(value, dict):
            self.fault(name, f"is {shown(value)}; write a table: {header}")
        return self._below(value if isinstance(value, dict) else {}, name)

    def tables(self, name: str) -> list["SettingsTable"]:
        """The tables of this name, in order."""
        value = self._get(name, header=f"[{self._header((name,))}]")
        given = [value] if isinstance(value, dict) else value
        if given is None:
            return []
        if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
            self.fault(name, f"is {shown(value)}; write a table for each: [[{name}]]")
            return []
        if isinstance(value, dict):
            self.fault(name, f"can stand several times: write [[{name}]] in place of [{name}].")
            return []
        return [self._below(one, name, number) for number, one in enumerate(given)]

    def checked(self, name: str, read: Callable[[], T], *within: str | int) -> T | None:
        """What a reader of another room gives; None where it raises, and its words are noted."""
        try:
            return read()
        except InputError as error:
            self.fault(name, str(error), *within)
            return None

    def end(self) -> None:
        """Note every key that was not asked for, with the nearest that there is."""
        there = ", ".join(self._asked.values())
        for name, value in self._values.items():
            if name not in self._asked:
                key = self._key(name)
                if isinstance(value, dict):
                    key = self._header((name,))
                elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
                    key = f"[{self._header((name,))}]"
                known = f"is not known here.{_guess(name, self._asked)} There are: {there}."
                self._note(key, known, name)

    def _get(self, name: str, must: str = "", *, header: str = "") -> Any:
        self._asked.setdefault(name, header or name)
        value = self._values.get(name)
        if value is None and must:
            self.fault(None, f"has no {name}: {must}")
        return value

    def _below(self, values: Mapping[str, Any], *path: str | int) -> "SettingsTable":
        return SettingsTable(values, (*self._path, *path), self._lines, self._faults)

    def _key(self, name: str | None) -> str:
        header = self._header()
        return " ".join(filter(None, [header, name]))

    def _header(self, more: tuple[str, ...] = ()) -> str:
        path = (*self._path, *more)
        names = [one for one in path if isinstance(one, str)]
        if not names:
            return ""
        several = isinstance(path[-1], int)
        return f"[[{'.'.join(names)}]]" if several else f"[{'.'.join(names)}]"


def _no_text(has: str, value: object) -> str:
    """What is wrong with what stands in the place of a text."""
    if isinstance(value, str):
        return "must not be empty." if has == "is" else "holds a text that is empty."
    return f"{has} {shown(value)}; write {'a text' if has == 'is' else 'texts'} in quotes."


def _guess(name: str | None, known: Iterable[str]) -> str:
    close = get_close_matches(name or "", list(known), n=1)
    return f" Did you mean {close[0]}?" if close else ""
