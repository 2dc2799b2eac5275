"""Posted examples: answers sent as JSON or JSON lines; also the types of a folded trace."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from itertools import islice
from math import isfinite
from string import hexdigits
from typing import Any

from pydantic_core import from_json

from ragstone.core.messages import reason
from ragstone.data.example import SESSION, Example, id_text
from ragstone.data.json_text import (
    BadJsonError,
    Problem,
    changed_texts,
    decode,
    shown,
    syntax_problem,
    whole_texts,
)
from ragstone.data.records import RecordReader, own_example
from ragstone.data.write_examples import as_record

from .redaction import Redaction
from .spans import (
    CUT,
    Fault,
    ReceivedBody,
    SpanLimits,
    TracePart,
    UnreadableBody,
    all_aside,
    too_many,
)
from .value_counts import check_json


@dataclass(frozen=True, slots=True)
class TracedExample:
    """One answer that was given, as its trace tells it.

    Attributes:
        id: ``TRACE``, or ``TRACE:SPAN`` where a trace holds several answers.
        span: The span that gave the answer as a whole; empty for an example that was sent as one.
        error: What went wrong, where the answer failed.
    """

    id: str
    trace: str
    span: str
    at: float
    ended: float
    example: Example
    session: str | None = None
    user: str | None = None
    version: str | None = None
    system: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None
    error: str | None = None

    def with_facts(self, *names: str) -> Example:
        """Return the example with these facts in its ``meta``, as far as they are known."""
        facts = {name: fact for name in names if (fact := getattr(self, name)) is not None}
        return replace(self.example, meta={**self.example.meta, **facts}) if facts else self.example


FACTS = ("session", "user", "version", "model", "input_tokens", "output_tokens", "latency", "error")
_TEXTS = ("trace", "span", "session", "user", "version", "model", "error")
_NUMBERS = ("at", "latency", "input_tokens", "output_tokens")
_ALIASES = {
    "session_id": "session",
    "user_id": "user",
    "trace_id": "trace",
    "span_id": "span",
    "timestamp": "at",
}
_LONGEST_NAME = 300
_EARLIEST, _LATEST = 946_684_800.0, 4_102_444_800.0
_EXPECTED_TIME = "a time from 2000 to 2099, in seconds since 1970 or ISO 8601"
_MOST = 1e12
_FIELDS = 100
_UNITS = (1.0, 1e3, 1e6, 1e9)
# What may be the escape of half a surrogate pair.
_HALF = re.compile(r"\\[uU][dD][89a-fA-F]")


_LINES = re.compile(rb"[^\n]+")
_LARGE = 1_000_000
# Begins a character for which Python takes four bytes for each one of a text.
_WIDE = re.compile(rb"[\xf0-\xf4]|\\u[dD]")


def read_examples(
    body: bytes,
    *,
    redaction: Redaction | None = None,
    limits: SpanLimits = SpanLimits(),  # noqa: B008
    now: float = 0.0,
) -> ReceivedBody:
    """Read examples as ``ragstone.read`` understands them, and facts about them: ``session``,
    ``user``, ``version``, ``model``, ``trace``, ``span``, ``at`` (seconds since the epoch, or ISO
    8601), ``latency`` (seconds), ``input_tokens``, ``output_tokens``, ``error``.

    An example is known by its trace, or else its id, or else what it says: the same one sent again
    is the same.

    Raises:
        UnreadableBody: It is none of these.
    """
    body = body.removeprefix(BOM_UTF8)
    check_json(body, limits.values)
    reader = RecordReader({})
    parts: list[TracePart] = []
    faults: list[Fault] = []
    items = _items(body, limits.examples)
    # Each is let go once it is read, for its texts may be large.
    items.reverse()
    while items:
        item = items.pop()
        part: TracePart | Fault
        if isinstance(item, Mapping):
            part = _part(item, reader, redaction, limits, now)
        else:
            part = "body_not_json", partial(_redacted, str(item), redaction)
        if isinstance(part, TracePart):
            parts.append(part)
        else:
            faults.append(part)
    return ReceivedBody(tuple(parts), all_aside(faults))


def _items(body: bytes, most: int) -> list[Any]:
    """Return the records of a body; a line that is no JSON comes as its text."""
    try:
        items: list[Any] | None
        try:
            value = _value(body)
            items = value if isinstance(value, list) else [value]
        except BadJsonError:
            items = None
        # Behind the handler, for its error would hold a text of the whole body.
        if items is None:
            lines = (match[0] for match in _LINES.finditer(body))
            items = [_line(line) for line in islice(filter(bytes.strip, lines), most + 1)]
            if not any(isinstance(item, dict) for item in items):
                raise UnreadableBody(
                    "The body is neither a JSON object, nor a list of them, nor JSON lines.",
                    "body_not_json",
                )
    except UnicodeDecodeError:
        raise UnreadableBody("The body is no text in UTF-8.", "body_not_json") from None
    if len(items) > most or _listed(items) > most:
        raise too_many(most, "examples, contexts and turns")
    return items


def _listed(value: Any) -> int:
    """Count what takes time: all in lists but numbers, and very many fields; at any depth."""
    if isinstance(value, list):
        return sum(1 + _listed(item) for item in value if not isinstance(item, (int, float)))
    if isinstance(value, dict):
        return max(0, len(value) - _FIELDS) + sum(map(_listed, value.values()))
    return 0


def _line(line: bytes) -> Any:
    try:
        return _value(line)
    except BadJsonError:
        return line.decode()


def _value(raw: bytes) -> Any:
    """Return the value of JSON, without a text of all of it where that would be large.

    Raises:
        BadJsonError: It is none, or is nested too deeply.
        UnicodeDecodeError: It is no UTF-8.
    """
    if len(raw) > _LARGE and _WIDE.search(raw):
        with suppress(ValueError):
            return from_json(raw)
    return _decoded(raw.decode())


def _decoded(text: str) -> object:
    try:
        return decode(text)
    except BadJsonError:
        if _HALF.search(text) is None:
            raise
    try:
        return decode(json.dumps(whole_texts(json.loads(text))))
    except (ValueError, RecursionError) as error:
        raise BadJsonError(syntax_problem(error, text)) from None


def _part(
    item: Mapping[str, Any],
    reader: RecordReader,
    redaction: Redaction | None,
    limits: SpanLimits,
    now: float,
) -> TracePart | Fault:
    """Return what is kept of a record."""
    length = 0
    for text in _texts(item):
        length += len(text)
        if length > limits.span_length:
            return "span_too_long", partial(_redacted, text[:20_000], redaction)
    written = json.dumps(item, ensure_ascii=False)
    if len(written) > limits.span_length:
        return "span_too_long", partial(_redacted, written[:20_000], redaction)
    if "\\u0000" in written:
        # PostgreSQL takes no null characters.
        item = changed_texts(item, lambda text: text.replace("\0", ""))
    facts, record = _facts(item)
    problems: list[Problem] = []
    known = _known(facts, problems)
    has_id = reader.has_id(record)
    example = reader.read(record, 1, problems)
    if example is None or problems:
        first = problems[0]
        got = first.got if redaction is None else redaction.redact(first.got)
        why = reason("faulty_example", field=first.field, expected=first.expected, got=got)
        return why, partial(_redacted, written, redaction)
    id = example.id if has_id else None
    if redaction is not None:
        id = None if id is None else redaction.redact_id(id)
        known |= {name: redaction.redact_id(known[name]) for name in _NAMED if name in known}
    trace = known.get("trace") or id or blake2b(written.encode(), digest_size=16).hexdigest()
    fields = {
        **known,
        "trace": trace,
        "key": known.get("span") or (id if known.get("trace") and id != trace else None),
        "at": known.get("at", now),
        "record": as_record(example),
    }
    if redaction is not None:
        fields |= {name: redaction.redact_in(fields[name]) for name in fields if name not in _IDS}
    fields["record"] = _cut(fields["record"], limits.attribute_length)
    return TracePart(trace, "example", json.dumps(fields, ensure_ascii=False).encode(), 1)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


_NAMED = ("trace", "span", "session", "user")
_IDS = (*_NAMED, "key")


def _redacted(text: str, redaction: Redaction | None) -> bytes:
    return (text if redaction is None else redaction.redact(text)).encode("utf-8", "replace")


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else value[:most] + CUT
    if isinstance(value, list):
        return [_cut(item, most) for item in value]
    if isinstance(value, dict):
        return {name: _cut(item, most) for name, item in value.items()}
    return value


def _facts(item: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    facts: dict[str, Any] = {}
    record: dict[str, Any] = {}
    for name, value in item.items():
        known = _ALIASES.get(name, name)
        if known in _TEXTS or known in _NUMBERS:
            facts.setdefault(known, value)
        else:
            record[name] = value
    return {name: value for name, value in facts.items() if value is not None}, record


def _known(facts: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for name, value in facts.items():
        if name in _TEXTS:
            if value == "" or id_text(value) is not None:
                if text := (id_text(value) or "").strip()[:_LONGEST_NAME]:
                    known[name] = _protocol_id(text) if name in ("trace", "span") else text
            else:
                problems.append(Problem(name, "a text", shown(value)))
        elif name == "at":
            at = _time(value)
            if at is None:
                problems.append(Problem(name, _EXPECTED_TIME, shown(value)))
            else:
                known[name] = at
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST:
            known[name] = float(value) if name == "latency" else int(value)
        else:
            problems.append(Problem(name, f"a number from 0, below {_MOST:g}", shown(value)))
    return known


def _protocol_id(text: str) -> str:
    """Return the id as spans have it, where it is one of theirs, however it is written."""
    digits = text.replace("-", "").removeprefix("0x").lower()
    is_id = len(digits) in (16, 32) and not set(digits) - set(hexdigits)
    return digits if is_id else text


def _time(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        value = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return next((value / unit for unit in _UNITS if _EARLIEST <= value / unit < _LATEST), None)


def sent_examples(parts: Sequence[TracePart]) -> list[TracedExample]:
    """Return the examples of a trace that came as such, each once, as it was sent last."""
    last: dict[str, tuple[float, bytes, dict[str, Any]]] = {}
    for part in parts:
        if part.kind != "example":
            continue
        content = json.loads(part.body)
        key = content["key"] or ""
        if key not in last or (content["at"], part.body) > last[key][:2]:
            last[key] = (content["at"], part.body, content)
    traced = [_traced(item, alone=len(last) == 1) for _, (*_, item) in sorted(last.items())]
    return sorted(traced, key=lambda item: (item.at, item.id))


def _traced(item: Mapping[str, Any], *, alone: bool) -> TracedExample:
    trace, span = item["trace"], item.get("span") or ""
    id = trace if alone or not item["key"] else f"{trace}:{item['key']}"
    example = own_example(item["record"])
    facts = {name: item.get(name) for name in FACTS}
    origin = {"trace": trace, "span": span or None}
    origin |= {"version": facts["version"], "model": facts["model"]}
    meta = {**example.meta, **{name: value for name, value in origin.items() if value is not None}}
    slices = {**example.slices, **({SESSION: item["session"]} if item.get("session") else {})}
    at, ended = item["at"], item["at"] + (facts["latency"] or 0.0)
    example = replace(example, id=id, slices=slices, meta=meta)
    return TracedExample(id, trace, span, at, ended, example, system=example.system, **facts)
