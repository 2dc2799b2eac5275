"""Reading: a body becomes what is written of it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragstone.core.messages import worded
from ragstone.monitor.traces.otlp import read_logs, read_traces
from ragstone.monitor.traces.received import (
    Malformed,
    ReceivedBody,
    TracePart,
    UnreadableBody,
    put_aside,
)
from ragstone.monitor.traces.redaction import Redaction
from ragstone.monitor.traces.sent import read_examples

from .group_commit import Taken
from .replies import Reply, examples_reply, logs_reply, traces_reply
from .settings import IntakeSettings

LONGEST_TRACE = 1_000
"""Bytes of the name of a trace; PostgreSQL has no index over longer ones."""

SHOWN = 3
_BEGINNING = 16_000


@dataclass(frozen=True, slots=True)
class SentSignal:
    """What is sent to one address.

    Attributes:
        counted: What one item of it is counted as.
        protobuf: Whether it may come as protobuf.
        read: Reads a body.
        reply: The reply, of how many items were kept and put aside, and why.
    """

    counted: str
    protobuf: bool
    read: Callable[[bytes, bool, IntakeSettings, float], ReceivedBody]
    reply: Callable[[int, int, str, bool], Reply]


TRACES = SentSignal(
    "spans",
    True,
    lambda body, json, use, _: read_traces(
        body, json=json, redaction=use.redaction, limits=use.limits
    ),
    lambda _, rejected, why, json: traces_reply(rejected, why, json=json),
)
LOGS = SentSignal(
    "logs",
    True,
    lambda body, json, use, _: read_logs(
        body, json=json, redaction=use.redaction, limits=use.limits
    ),
    lambda _, rejected, why, json: logs_reply(rejected, why, json=json),
)
EXAMPLES = SentSignal(
    "examples",
    False,
    lambda body, _, use, now: read_examples(
        body, redaction=use.redaction, limits=use.limits, now=now
    ),
    lambda accepted, rejected, why, _: examples_reply(accepted, rejected, why),
)


def taken_from(
    signal: SentSignal, body: bytes, *, json: bool, settings: IntakeSettings, now: float
) -> Taken:
    """What is written of a body.

    Raises:
        UnreadableBody: It is not what it should be at all.
    """
    read = signal.read(body, json, settings, now)
    parts, malformed = _named(read)
    kept = sum(part.spans for part in parts)
    counts = {
        "received": kept + len(malformed),
        "kept": kept,
        signal.counted: kept,
        "malformed": len(malformed),
        "ignored": read.ignored,
    }
    return Taken(parts, malformed, counts)


def unread(error: UnreadableBody, body: bytes, redaction: Redaction | None) -> Malformed:
    """What is kept aside of a body that cannot be read."""
    beginning = body[:_BEGINNING].decode("utf-8", "replace")
    return put_aside(error.why, (redaction.redact(beginning) if redaction else beginning).encode())


def why_rejected(malformed: Sequence[Malformed]) -> str:
    """In words, why what was put aside was; the most frequent first."""
    reasons = Counter(one.why for one in malformed)
    said = [f"{n:,} × {worded(why)}" for why, n in reasons.most_common(SHOWN)]
    return "; ".join([*said, *(["…"] if len(reasons) > SHOWN else [])])


def _named(read: ReceivedBody) -> tuple[list[TracePart], list[Malformed]]:
    """Without the parts whose trace has too long a name."""
    parts, malformed = [], list(read.malformed)
    for part in read.parts:
        if len(part.trace.encode("utf-8", "surrogatepass")) <= LONGEST_TRACE:
            parts.append(part)
        else:
            malformed.append(put_aside("name_too_long", part.body))
    return parts, malformed
