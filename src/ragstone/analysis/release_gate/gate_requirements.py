"""Gate requirements: thresholds of metrics and margins against a baseline, read from text.

Thresholds read ``faithfulness >= 0.85`` or ``hit(k=5) >= 80%``. Composites of dataset means are
decided on these means, not on example scores.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from ragstone.analysis.comparison.comparability import (
    MEASURED_OTHERWISE,
    measured_otherwise,
    other_texts,
    version_note,
)
from ragstone.analysis.comparison.compared_systems import (
    Match,
    Side,
    Values,
    matches_between,
    matches_within,
    unpaired,
    values_between,
)
from ragstone.analysis.scored_run import (
    End,
    Quantity,
    Scored,
    ValueRange,
    known_metric,
    metric_among,
    reasons_of,
    with_missing_at,
)
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import reason
from ragstone.metrics import Composite
from ragstone.run import Run
from ragstone.run.estimates.estimates import SEED, combined, of_means
from ragstone.stats import Interval, cluster_bootstrap
from ragstone.stats.bootstrap import totals_of
from ragstone.stats.cluster_means import clusters_by
from ragstone.stats.comparison.paired import PairedDifference, difference_of, paired_clusters
from ragstone.stats.weights_and_groups import Bools, Floats, Ints

Op = Literal[">=", ">", "<=", "<"]

WRITTEN = re.compile(
    r"^(?P<metric>.+?)(?<!\s)\s*(?P<op>>=|=>|<=|=<|==|≥|≤|>|<)\s*+(?P<bar>[^<>=≥≤]*)$", re.S
)
OPS: dict[str, Op] = {
    ">=": ">=", "=>": ">=", "≥": ">=", "<=": "<=", "=<": "<=", "≤": "<=", ">": ">", "<": "<",
}  # fmt: skip
COMPARES: dict[Op, Callable[[Any, float], Any]] = {">=": ge, ">": gt, "<=": le, "<": lt}


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
        """Return whether a number satisfies it."""
        return bool(COMPARES[self.op](value, self.at))

    def cleared(self, interval: Interval) -> bool:
        """Return whether every number of the interval satisfies it."""
        return self.met(interval.low if self.side == "above" else interval.high)


def read_requirement(text: str, scored: Scored) -> tuple[str, Bound]:
    """Read ``METRIC OP BAR``: any form of a metric, >=, >, <= or <, and a number or percentage."""
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
    return metric, bar


def metric_in(text: str) -> str:
    """The metric of ``METRIC OP BAR`` as it is written there.

    >>> metric_in('critique(aspect="a >= b") >= 80%')
    'critique(aspect="a >= b")'
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
    low, high = scale.low, scale.high
    if low is not None and bar.at < low:
        return f"is never below {low:g}, so the data cannot decide this."
    if high is not None and bar.at > high:
        guess = f" Is {bar.at:g}% meant?" if high == 1 and bar.at <= 100 else ""
        return f"is never above {high:g}, so the data cannot decide this.{guess}"
    if (bar.op == ">" and bar.at == high) or (bar.op == "<" and bar.at == low):
        return f"cannot lie beyond {bar.at:g}, the end of its range."
    return ""


RESAMPLES = 2000


def over_means(scored: Scored, name: str) -> Composite | None:
    """The composite of this name, if it is one of means; None for every other metric."""
    metric = scored.metric(name)
    return metric if isinstance(metric, Composite) and metric.over_means else None


def lacking(scored: Scored, composite: Composite) -> list[str]:
    """The components for which the run has no scores."""
    return [name for name in _components(composite) if name not in scored.metrics]


def over_means_quantity(scored: Scored, composite: Composite, system: str) -> Quantity:
    """The composite of its components' means, with a bootstrap over clusters.

    All components of a cluster are redrawn together, 2,000 times with a fixed seed; an interval of
    any level is read off the same draws.
    """
    parts = [scored.of(name).filter(pl.col("system") == system) for name in _components(composite)]
    return _quantity(composite, parts)


def _quantity(composite: Composite, parts: Sequence[pl.DataFrame]) -> Quantity:
    clusters = parts[0]["cluster"]
    codes = clusters.rank("dense").to_numpy().astype(np.int64) - 1
    keys = clusters.unique().sort().hash(seed=0).to_numpy()
    columns = [clusters_by(codes, part["value"].to_numpy(), len(keys)) for part in parts]
    totals = totals_of(keys, columns)
    drawn: list[Floats] = []

    def combine(means: Floats) -> Floats:
        drawn.append(combined(composite, means))
        return drawn[-1]

    value = of_means(composite, totals)
    interval = None if value is None else cluster_bootstrap(
        totals.sums, totals.counts, combine, seed=SEED, resamples=RESAMPLES
    )  # fmt: skip

    def share_missing(counts: tuple[int, int]) -> tuple[float, int]:
        return counts[1] / max(1, sum(counts)), -counts[0]

    def at(level: float) -> Interval | None:
        if interval is None:
            return None
        low, high = np.quantile(drawn[-1], [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high), level, interval.method)

    def filled(end: End) -> Quantity | None:
        ranges = [metric.range for metric in composite.components().values()]
        ends = [values.low if end == "low" else values.high for values in ranges]
        if not np.isfinite(ends).all():
            return None
        whole = [with_missing_at(part, to) for part, to in zip(parts, ends, strict=True)]
        return _quantity(composite, whole)

    n, missing = max(map(_counts, parts), key=share_missing)
    return Quantity(
        value=value,
        at=at,
        n=n,
        n_undefined=len(parts[0]) - n - missing,
        n_missing=missing,
        clusters=totals.clusters,
        low=composite.range.low,
        high=composite.range.high,
        filled=filled,
        least_p=1 / (RESAMPLES + 1),
        reasons={reason: count for part in parts for reason, count in reasons_of(part).items()},
    )


def _counts(part: pl.DataFrame) -> tuple[int, int]:
    return int((part["status"] == "value").sum()), int((part["status"] == "missing").sum())


def _components(composite: Composite) -> list[str]:
    return [str(metric) for metric in composite.components().values()]


@dataclass(frozen=True, slots=True, eq=False)
class NoWorse:
    """A baseline with its margin.

    Attributes:
        metrics: Those that both have, with a direction and scores of their own.
    """

    text: str
    margin: float
    matches: tuple[Match, ...]
    metrics: tuple[str, ...]
    notes: tuple[str, ...]


def read_no_worse(
    text: str, scored: Scored, systems: Sequence[str], only: Sequence[str] = ()
) -> NoWorse:
    """``BASELINE:MARGIN``: a system of the run or a run's folder, and a number or percentage."""
    name, colon, written = text.strip().rpartition(":")
    margin = read_number(written)
    if not (colon and name) or margin is None or margin < 0:
        raise InputError(
            f"{text!r} is not BASELINE:MARGIN. The margin must be 0 or "
            "more in the metric's own unit: llama:0.02, runs/main:2%."
        )
    notes: list[str] = []
    if name in scored.systems:
        other = scored
        matches = matches_within(scored, name) if len(scored.systems) > 1 else []
        matches = [match for match in matches if match[0].system in systems]
        if not matches:
            raise InputError(f"{text!r}: there is no other system to compare with {name}.")
    elif Path(name).is_dir():
        other = Scored(Run.open(name), cluster="question_id")
        if not scored.run.sees_corrections:
            other = other.without_corrections()
        matches, notes = matches_between(scored, other)
        matches = [match for match in matches if match[0].system in systems]
        if not matches:
            raise InputError(f"{text!r}: {name} has no system called {', '.join(systems)}.")
    else:
        known = ", ".join(scored.systems)
        hint = f"The run has the systems {known}, and there is no folder {name}."
        raise UnknownName("baseline", name, scored.systems, hint=hint)
    shared = [name for name in scored.metrics if name in other.metrics]
    left = [name for name in shared if over_means(scored, name)]
    metrics = tuple(
        name for name in shared if name not in left and scored.scale(name).better != "0"
    )
    if not metrics:
        raise InputError(f"{text!r}: the two have no metric in common that has a better direction.")
    if only:
        noun = f"metric that {name} and the run have, and that has a direction"
        metrics = tuple(dict.fromkeys(metric_among(metric, metrics, noun) for metric in only))
    if other is not scored:
        if differing := measured_otherwise(other, scored, metrics):
            raise InputError(
                f"{text!r}: metrics of the same name were judged or defined differently in the two "
                f"runs. Evaluate {other.run.path} again as {scored.run.path} was.",
                notes=[reason(MEASURED_OTHERWISE, **difference) for difference in differing],
            )
        notes += [*version_note(scored, other), *other_texts(scored, other)]
    if left:
        notes.append(reason("made_of_means", of=", ".join(left), baseline=text.strip()))
    return NoWorse(text.strip(), margin, tuple(matches), metrics, (*notes, *unpaired(matches)))


def gain(match: Match, metric: str) -> tuple[Quantity, pl.DataFrame, bool]:
    """The paired difference of a system and its baseline, above 0 where the system is better.

    Its mean, that of each pair as ``example_id`` and ``value``, and whether all are 0. Questions
    that both answered are pairs; of several rows of a question the mean counts. A composite that
    leaves components out is made of those that both have.
    """
    side, baseline = match
    scale = side.scored.scale(metric)
    a, b = values = values_between(match, metric)
    there = side.there & baseline.there
    valued = there & a.valued & b.valued
    worth = b.value - a.value if scale.better == "-" else a.value - b.value
    rows = pl.DataFrame({"example_id": _examples(side).filter(pl.Series(valued)),
                         "value": worth[valued]})  # fmt: skip
    equal = bool(a.equals(b)[there].all())
    reasons = _reasons(match, metric)
    return _difference(values, there, side.questions.clusters, scale, reasons), rows, equal


def _difference(
    values: tuple[Values, Values], there: Bools, clusters: Ints, scale: ValueRange,
    reasons: dict[str, int],
) -> Quantity:  # fmt: skip
    """The mean difference of two sides on the questions that both have."""
    a, b = values
    valued = there & a.valued & b.valued
    owed = (a.owed > 0) | (b.owed > 0)
    missing = there & owed & (a.valued | a.missing) & (b.valued | b.missing)
    counts = np.bincount(clusters[valued])
    some = counts > 0
    first, second = (
        np.bincount(clusters[valued], side.value[valued])[some].astype(np.float64)
        for side in (values if scale.better != "-" else values[::-1])
    )
    binary = all(np.isin(side.value[valued], (0.0, 1.0)).all() for side in values)
    low, high = scale.low, scale.high
    span = None if low is None or high is None else high - low

    pairs = paired_clusters(first, second, counts[some].astype(np.float64))

    def at(level: float) -> PairedDifference:
        return difference_of(pairs, rate=scale.rate and binary, low=low, high=high, level=level)

    def filled(end: End) -> Quantity | None:
        if low is None or high is None:
            return None
        to, other = (high, low) if (end == "high") == (scale.better != "-") else (low, high)
        return _difference((a.filled(to), b.filled(other)), there, clusters, scale, {})

    usual = at(0.95)
    return Quantity(
        value=usual.value,
        at=lambda level: at(level).interval,
        n=int(valued.sum()),
        n_undefined=int((there & ~valued & ~missing).sum()),
        n_missing=int(missing.sum()),
        clusters=usual.clusters,
        low=None if span is None else -span,
        high=span,
        filled=filled,
        counted="pairs",
        reasons=reasons,
    )


def _examples(side: Side) -> pl.Series:
    rows = pl.DataFrame(
        {"place": side.places, "id": side.scored.facets["example_id"].gather(side.rows)}
    ).unique("place", keep="first")
    places = pl.DataFrame({"place": range(len(side.questions.ids))}, schema={"place": pl.Int64})
    return places.join(rows, on="place", how="left", maintain_order="left")["id"]


def _reasons(match: Match, metric: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for side in match:
        rows = side.scored.of(metric)[side.rows].filter(pl.col("status") != "value")
        counts.update(rows["reason"].drop_nulls())
    return dict(counts.most_common())
