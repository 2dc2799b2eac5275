"""Settings of the intake: who may send, and how much."""

from dataclasses import dataclass, field
from pathlib import Path

from ragstone.monitor.traces.received import SpanLimits
from ragstone.monitor.traces.redaction import Redaction

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class IntakeSettings:
    """What the intake allows.

    Attributes:
        token: What a sender has to show; empty if everybody who can connect may send.
        redaction: What is taken out of every text before it is kept; None for nothing.
        limits: Of what is in a body.
        body: Bytes of a body as it comes.
        unpacked: Bytes of a body when it is unpacked.
        seconds: In which a body has to be there.
        waiting: Requests that may wait to be written.
        waiting_bytes: Of the bodies of those.
        tails: Files of JSON lines that are followed besides.
    """

    token: str = field(default="", repr=False)
    redaction: Redaction | None = field(default_factory=Redaction)
    limits: SpanLimits = field(default_factory=SpanLimits)
    body: int = 16 * MB
    unpacked: int = 64 * MB
    seconds: float = 30.0
    waiting: int = 500
    waiting_bytes: int = 128 * MB
    tails: tuple[Path, ...] = ()
