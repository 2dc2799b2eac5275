"""Requirement: a threshold for a metric: ``faithfulness >= 0.85``, ``hit(k=5) >= 80%``."""

import re
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from ragstone.core.errors import InputError
from ragstone.decisions.known import known_metric
from ragstone.decisions.scored import Scored, ValueRange
from ragstone.stats import Interval

Op = Literal[">=", ">", "<=", "<"]

WRITTEN = re.compile(
    r"^(?P<metric>.+?)(?<!\s)\s*(?P<op>>=|=>|<=|=<|==|≥|≤|>|<)\s*+(?P<bar>[^<>=≥≤]*)$", re.S
)
OPS: dict[str, Op] = {
    ">=": ">=", "=>": ">=", "≥": ">=", "<=": "<=", "=<": "<=", "≤": "<=", ">": ">", "<": "<",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bound:
    """A threshold, and the side on which the true value must lie."""

    op: Op
    at: float

    @property
    def side(self) -> Literal["above", "below"]:
        """The side on which the true value must lie."""
        return "above" if self.op in (">=", ">") else "below"

    @property
    def other_side(self) -> Literal["above", "below"]:
        """The other side."""
        return "below" if self.side == "above" else "above"

    def met(self, value: float) -> bool:
        """Whether a number satisfies it."""
        match self.op:
            case ">=":
                return value >= self.at
            case ">":
                return value > self.at
            case "<=":
                return value <= self.at
            case "<":
                return value < self.at

    def cleared(self, interval: Interval) -> bool:
        """Whether every number of the interval satisfies it."""
        return self.met(interval.low if self.side == "above" else interval.high)


@dataclass(frozen=True, slots=True)
class GateRequirement:
    """A metric of the run, and its bar; ``text`` is as the user wrote it."""

    text: str
    metric: str
    bar: Bound


def read_requirement(text: str, scored: Scored) -> GateRequirement:
    """``METRIC OP BAR``: any text form of a metric of the run, >=, >, <= or <, number or percent.

    Raises:
        UnknownName: The run has no such metric.
        InputError: The text cannot be read, or the bar lies outside of the metric's range.
    """
    written = _written(text)
    if written["op"] == "==":
        raise InputError(f"{text!r}: a requirement cannot test for equality. Write >=, >, <= or <.")
    op, at = OPS[written["op"]], read_number(written["bar"])
    if at is None:
        raise InputError(
            f"{text!r}: {written['bar']!r} is not a number. Write 0.85 or 85% after "
            f"{written['op']}."
        )
    metric, bar = known_metric(scored, written["metric"]), Bound(op, at)
    if fault := _idle(bar, scored.scale(metric)):
        raise InputError(f"{text!r}: {metric} {fault}")
    return GateRequirement(text.strip(), metric, bar)


def metric_in(text: str) -> str:
    """The metric of ``METRIC OP BAR`` as it is written there.

    >>> metric_in('critique(aspect="a >= b") >= 80%')
    'critique(aspect="a >= b")'

    Raises:
        InputError: The text cannot be read.
    """
    return _written(text)["metric"]


def read_number(text: str) -> float | None:
    """A number, or a percentage as a share; None for anything else.

    >>> read_number("85 %"), read_number(".85"), read_number("0,85"), read_number("nan")
    (0.85, 0.85, None, None)
    """
    written = text.strip()
    share = written.endswith("%")
    if "_" in written:
        return None
    try:
        number = float(written.removesuffix("%").strip())
    except ValueError:
        return None
    if not isfinite(number):
        return None
    return number / 100 if share else number


def _written(text: str) -> re.Match[str]:
    written = WRITTEN.match(text.strip())
    if written is None:
        raise InputError(
            f"{text!r} is not a requirement. Write METRIC, then >=, >, <= or <, then a number or a "
            "percentage: 'faithfulness >= 0.85', 'unsafe_content <= 1%'."
        )
    return written


def _idle(bar: Bound, scale: ValueRange) -> str:
    """The fault of a bar that is always or never met; empty for any other."""
    low, high = scale.low, scale.high
    if low is not None and bar.at < low:
        return f"is never below {low:g}, so the data cannot decide this."
    if high is not None and bar.at > high:
        guess = f" Is {bar.at:g}% meant?" if high == 1 and bar.at <= 100 else ""
        return f"is never above {high:g}, so the data cannot decide this.{guess}"
    if (bar.op == ">" and bar.at == high) or (bar.op == "<" and bar.at == low):
        return f"cannot lie beyond {bar.at:g}, the end of its range."
    return ""
