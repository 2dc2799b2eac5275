"""Settings reader: values checked by pydantic, times and lengths, and faults by line."""

import json
import re
import tomllib
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from ragstone.core.errors import InputError
from ragstone.core.escape import single_line
from ragstone.core.messages import argument
from ragstone.data.json_text import shown
from ragstone.metrics import Metric, parse_metric

SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(s|min|m|h|d|w)")
# The end of the year 9999, in seconds since the epoch.
LAST = 253_402_300_799.0


def read_length(text: str, name: str) -> float:
    """Return seconds of ``30s``, ``15min``, ``2h``, ``7d`` or ``1w``."""
    match = LENGTH.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{argument(name, text)} is no length of time: write 30s, 15min, 2h, 7d or 1w."
        )
    return float(match[1]) * SECONDS[match[2]]


def read_moment(text: str, name: str, now: float) -> float:
    """Return seconds since the epoch of ``2026-11-23``, ``2026-11-23T16:20`` or ``24h``, which is
    ago.

    A time without a zone is UTC.
    """
    if LENGTH.fullmatch(text.strip()):
        return now - read_length(text, name)
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"{argument(name, text)} is no time: write 2026-11-23, 2026-11-23T16:20 (UTC), or 24h "
            "for a day ago."
        ) from None


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """One thing wrong.

    Attributes:
        key: Such as ``[[rule]] bar``.
    """

    line: int
    key: str
    text: str


class FaultySettings(InputError):
    """A file of settings with faults: all of them, in the order of the file."""

    def __init__(self, file: Path, faults: Sequence[SettingsFault]) -> None:
        self.file = file
        self.faults = tuple(sorted(faults, key=lambda item: item.line))
        many = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
        lines = [
            f"  {file}:{fault.line}  {fault.key}  {single_line(fault.text)}"
            for fault in self.faults
        ]
        super().__init__("\n".join([f"{file} has {many}.", *lines]))


KeyPath = tuple[str | int, ...]

TOKEN = re.compile(
    r"#[^\n]*"
    r'|"""(?:\\.|[^\\])*?(?:"{3,5}|(?P<text>\Z))'
    r"|'''.*?(?:'{3,5}|(?P<literal>\Z))"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|[][{}]",
    re.DOTALL,
)
CLOSING = {"[": "]", "{": "}"}


def line_of(text: str, path: KeyPath) -> int:
    """Return the line, from 1, on which a table, a key or an element of a list begins.

    Python's TOML reader tells no lines: the line is the first up to which the text, with what is
    open at its end closed, has the path.

    >>> line_of('a = 1\\n[[rule]]\\nmetric = "x"\\n', ("rule", 0, "metric"))
    3
    """
    lines = text.split("\n")

    def has_path(number: int) -> bool:
        value: Any = _document(lines[:number])
        for step in path:
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    return bisect(range(1, len(lines)), False, key=has_path) + 1


def _document(lines: list[str]) -> dict[str, Any]:
    while lines:
        text = "\n".join(lines) + "\n"
        for end in ("", _closing(text)):
            try:
                return tomllib.loads(text + end)
            except ValueError:
                continue
        lines = lines[:-1]
    return {}


def _closing(text: str) -> str:
    brackets: list[str] = []
    for token in TOKEN.finditer(text):
        if token["text"] is not None or token["literal"] is not None:
            return "".join([token[0][:3], *reversed(brackets)])
        if token[0] in CLOSING:
            brackets.append(CLOSING[token[0]])
        elif token[0] in CLOSING.values():
            brackets.pop()
    return "".join(reversed(brackets))


@dataclass(slots=True)
class FileContext:
    """The facts of the file that validators know beside their value."""

    folder: Path
    judged: list[str]
    names: set[tuple[str, str]] = field(default_factory=set)


def context_of(info: ValidationInfo) -> FileContext:
    """Return what is known of the file beside the value."""
    return cast("FileContext", info.context)


def wrong(text: str, *within: str | int) -> PydanticCustomError:
    """Return the error of a value, or of what lies within it."""
    return PydanticCustomError("faulty", "faulty", {"faults": [(within, text)]})


def refuse_if(*checks: tuple[object, str, str]) -> None:
    """Refuse a table by the checks that hold, each with a key or nothing, and the text."""
    faults = [((key,) if key else (), text) for is_wrong, key, text in checks if is_wrong]
    if faults:
        raise PydanticCustomError("faulty", "faulty", {"faults": faults})


def checked(read: Callable[[str], object]) -> AfterValidator:
    """Return a validator that keeps a text which a reader of another room takes."""

    def check(text: str) -> str:
        try:
            read(text)
        except InputError as error:
            raise wrong(str(error)) from None
        return text

    return AfterValidator(check)


def judged_metric(name: str) -> Metric:
    """Read the name of a metric."""
    try:
        return parse_metric(name)
    except InputError as error:
        raise wrong(str(error)) from None


def that(is_right: Callable[[Any], object], text: str) -> AfterValidator:
    """Return a validator; ``text`` has ``{}`` where it may repeat a value that is not right."""

    def check(value: Any) -> Any:
        if not is_right(value):
            raise wrong(text.format(value))
        return value

    return AfterValidator(check)


def matching(pattern: re.Pattern[str], text: str) -> AfterValidator:
    """Return a validator of texts that match as a whole; ``text`` is as for :func:`that`."""
    return that(pattern.fullmatch, text)


def is_known(info: ValidationInfo, what: str, name: str) -> bool:
    """Tell whether another ``what`` of the file has this name, and remember the name."""
    names = context_of(info).names
    before = len(names)
    names.add((what, name))
    return len(names) == before


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise PydanticCustomError("no_text", "no text")


def _path(value: object, info: ValidationInfo) -> Path:
    return Path(context_of(info).folder / _text(value))


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


MOST = 1e12


def number_fault(value: Any, *, low: float = 0.0, high: float = MOST, above: bool = False) -> str:
    """Return what is wrong with a number from ``low`` to ``high``; ``above``: not ``low``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and low <= value <= high and not (above and value == low):
        return ""
    ends = f"above {low:g}" if above else f"from {low:g}"
    top = f" to {high:g}" if high < MOST or (is_number and value > high) else ""
    return f"is {shown(value)}; write a number {ends}{top}."


def number(**limits: Any) -> BeforeValidator:
    """Return a validator of a number within the limits of ``number_fault``."""

    def check(value: Any) -> float:
        if fault := number_fault(value, **limits):
            raise wrong(fault)
        return float(value)

    return BeforeValidator(check)


def whole(*, low: int = 1, high: int = 10**9) -> BeforeValidator:
    """Return a validator of a whole number from ``low`` to ``high``."""

    def check(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise wrong(f"is {shown(value)}; write a whole number from {low:,} to {high:,}.")

    return BeforeValidator(check)


# A length of time, in seconds: some 31 years.
LONGEST = 1e9


def _seconds(value: Any) -> float:
    if isinstance(value, str) and LENGTH.fullmatch(value.strip()):
        seconds = read_length(value, "")
    else:
        seconds = 0.0 if number_fault(value) else float(value)
    if 0 < seconds < LONGEST:
        return seconds
    raise wrong(
        f'is {shown(value)}; write "30s", "15min", "2h" or "7d", above 0 and below '
        f"{LONGEST / 86_400:,.0f}d."
    )


Text = Annotated[str, BeforeValidator(_text)]
# A list; one value alone may stand without brackets.
LISTED = BeforeValidator(_listed)

FilePath = Annotated[Path, BeforeValidator(_path)]
Seconds = Annotated[float, BeforeValidator(_seconds)]
Variable = Annotated[
    Text,
    # What was written may be the secret itself, so it is not repeated.
    matching(
        re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
        "is no name of an environment variable: write the name of one, such as MONITOR_SECRET, "
        "and put the secret into that. No secret belongs in this file.",
    ),
]
T = TypeVar("T")


def read_tables(
    adapter: TypeAdapter[T], file: Path, values: Mapping[str, Any], text: str, context: FileContext
) -> T:
    """Read the tables of a file."""
    try:
        return adapter.validate_python(values, context=context)
    except ValidationError as error:
        faults = []
        for details in error.errors(include_url=False):
            for path, fault in _worded(adapter, details):
                inside, value = _in_file(values, path)
                faults.append(SettingsFault(line_of(text, inside), _key(inside, value), fault))
        raise FaultySettings(file, faults) from None


def _in_file(value: Any, path: KeyPath) -> tuple[KeyPath, Any]:
    inside: list[str | int] = []
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):  # What is missing, or the kind of a union.
            continue
        inside.append(step)
    return tuple(inside), value


def _key(path: KeyPath, value: object) -> str:
    if isinstance(value, dict):
        return _header(path)
    if path and isinstance(path[-1], int):
        path = path[:-1]
    return " ".join(filter(None, [_header(path[:-1]), *map(str, path[-1:])]))


def _header(path: KeyPath) -> str:
    name = ".".join(step for step in path if isinstance(step, str))
    if not name:
        return ""
    return f"[[{name}]]" if isinstance(path[-1], int) else f"[{name}]"


def _worded(adapter: TypeAdapter[Any], details: ErrorDetails) -> Iterator[tuple[KeyPath, str]]:
    path, value, facts = details["loc"], details["input"], details.get("ctx", {})
    name = path[-1]
    is_now = f"{'holds' if isinstance(name, int) else 'is'} {shown(value)}"
    match details["type"]:
        case "faulty":
            for within, text in facts["faults"]:
                yield (*path, *within), text
        case "unexpected_keyword_argument":
            nodes = _schema_at(adapter, path[:-1])["properties"]
            known = [_as_written(key, node) for key, node in nodes.items()]
            guess = _guess(name, [key.strip("[]") for key in known])
            yield path, f"is not known here.{guess} There are: {', '.join(known)}."
        case "missing":
            (example,) = _schema_at(adapter, path)["examples"]
            yield path, f"has no {name}: write {name} = {json.dumps(example)}."
        case "no_text" if isinstance(value, str):
            yield path, "must not be empty."
        case "no_text":
            yield path, f"{is_now}; write a text in quotes."
        case "union_tag_not_found":
            kinds = ", ".join(_schema_at(adapter, path)["discriminator"]["mapping"])
            yield path, f"has no kind: write kind, one of {kinds}."
        case "union_tag_invalid":
            yield (*path, "kind"), _no_choice(facts["tag"], facts["expected_tags"])
        case "literal_error":
            yield path, _no_choice(value, facts["expected"])
        case "bool_type":
            yield path, f"{is_now}; write true or false."
        case "tuple_type" if isinstance(value, dict):
            yield path, f"can stand several times: write [[{name}]] in place of [{name}]."
        case "tuple_type":
            yield path, f"{is_now}; write a list in brackets."
        case _:
            yield path, f"{is_now}; write a table: {_header(path)}"


def _as_written(key: str, node: Mapping[str, Any]) -> str:
    if "$ref" not in str(node):
        return key
    return f"[[{key}]]" if node.get("type") == "array" else f"[{key}]"


def _no_choice(value: object, expected: str) -> str:
    known = re.findall("'([^']*)'", expected)
    return f"is {value!r}; there are {', '.join(known)}.{_guess(value, known)}"


def _guess(name: object, known: list[str]) -> str:
    close = get_close_matches(str(name), known, n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _schema_at(adapter: TypeAdapter[Any], path: KeyPath) -> dict[str, Any]:
    schema = adapter.json_schema()
    node: dict[str, Any] = schema
    for step in path:
        if isinstance(step, int):
            node = node["items"]
        elif "discriminator" in node:
            node = {"$ref": node["discriminator"]["mapping"][step]}
        else:
            node = node["properties"][step]
        node = node["anyOf"][0] if "anyOf" in node else node
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]] | node
    return node
