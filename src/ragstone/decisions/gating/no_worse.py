"""No worse: systems compared with a baseline on the same questions, within a margin."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import reason
from ragstone.decisions.comparing.common_components import (
    component_scores,
    components_of,
    has_gaps,
    over_common,
)
from ragstone.decisions.comparing.sameness import measured_otherwise, other_texts, version_note
from ragstone.decisions.comparing.sides import (
    Bools,
    Floats,
    Match,
    Side,
    Values,
    matches_between,
    matches_within,
    unpaired,
)
from ragstone.decisions.known import metric_among
from ragstone.decisions.quantity import End, Quantity
from ragstone.decisions.scored import Scored, ValueRange
from ragstone.metrics import Composite
from ragstone.run import Run
from ragstone.stats import Interval
from ragstone.stats.comparison.paired import PairedDifference, paired_difference

from .over_means import over_means
from .requirement import read_number


@dataclass(frozen=True, slots=True, eq=False)
class NoWorse:
    """A baseline with its margin.

    Attributes:
        text: As the user wrote it.
        margin: In the unit of each metric, 0 or more.
        matches: Each system with its baseline.
        metrics: Those that both have, with a direction and scores of their own.
        notes: What is left out.
    """

    text: str
    margin: float
    matches: tuple[Match, ...]
    metrics: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """The gain of a system over its baseline in one metric.

    Attributes:
        quantity: The mean difference of the pairs in the metric's direction.
        differences: That of each pair: ``example_id`` and ``value``.
    """

    quantity: Quantity
    differences: pl.DataFrame


def read_no_worse(
    text: str, scored: Scored, systems: Sequence[str], only: Sequence[str] = ()
) -> NoWorse:
    """``BASELINE:MARGIN``: a system of the run or a run's folder, and a number or percentage.

    Args:
        text: As the user wrote it.
        scored: The run that is decided on.
        systems: Which of its systems.
        only: Which metrics; none for all.

    Raises:
        UnknownName: The baseline is neither a system nor a folder, or it has no such metric.
        InputError: The text cannot be read, or the baseline cannot stand beside the run: other
            systems or questions, or metrics that were judged otherwise under the same name.
    """
    name, colon, written = text.strip().rpartition(":")
    margin = read_number(written)
    if not (colon and name) or margin is None or margin < 0:
        raise InputError(
            f"{text!r} is not BASELINE:MARGIN. The margin must be 0 or "
            "more in the metric's own unit: llama:0.02, runs/main:2%."
        )
    notes: list[str] = []
    if name in scored.systems:
        other, matches = scored, []
        if len(scored.systems) > 1:
            matches = [one for one in matches_within(scored, name) if one[0].system in systems]
        if not matches:
            raise InputError(f"{text!r}: there is no other system to compare with {name}.")
    elif Path(name).is_dir():
        other = Scored(Run.open(name), cluster="question_id")
        if not scored.run.sees_overrules:
            other = other.without_overrules()
        matches, notes = matches_between(scored, other)
        matches = [one for one in matches if one[0].system in systems]
        if not matches:
            raise InputError(f"{text!r}: {name} has no system called {', '.join(systems)}.")
    else:
        known = ", ".join(scored.systems)
        hint = f"The run has the systems {known}, and there is no folder {name}."
        raise UnknownName("baseline", name, scored.systems, hint=hint)
    metrics = _comparable(scored, other)
    if not metrics:
        raise InputError(f"{text!r}: the two have no metric in common that has a better direction.")
    if only:
        noun = f"metric that {name} and the run have, and that has a direction"
        metrics = tuple(dict.fromkeys(metric_among(one, metrics, noun) for one in only))
    if other is not scored:
        _check_measured_alike(text, scored, other, metrics)
        notes += [*version_note(scored, other), *other_texts(scored, other)]
    left = [one for one in scored.metrics if one in other.metrics and over_means(scored, one)]
    if left:
        notes.append(reason("made_of_means", of=", ".join(left), baseline=text.strip()))
    return NoWorse(text.strip(), margin, tuple(matches), metrics, (*notes, *unpaired(matches)))


def gain(match: Match, metric: str) -> Gain:
    """The paired difference of a system and its baseline, above 0 where the system is better.

    Questions that both answered are pairs; of several rows of a question the mean counts. A
    composite that leaves components out is made of those that both have.
    """
    side, baseline = match
    scale = side.scored.scale(metric)
    values = _values(match, metric)
    pairs = _Pairs(values, side.there & baseline.there, side.questions.clusters, scale)
    valued = pairs.valued
    worth = pairs.sign * (values[0].value - values[1].value)
    rows = pl.DataFrame({"example_id": _examples(side).filter(pl.Series(valued)),
                         "value": worth[valued]})  # fmt: skip
    return Gain(pairs.quantity(_reasons(match, metric)), rows)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Two sides' values of one metric on all questions; ``there``: which both have."""

    values: tuple[Values, Values]
    there: Bools
    clusters: "np.typing.NDArray[np.int64]"
    scale: ValueRange

    @property
    def sign(self) -> float:
        return -1.0 if self.scale.better == "-" else 1.0

    @property
    def valued(self) -> Bools:
        return self.there & self.values[0].valued & self.values[1].valued

    @property
    def missing(self) -> Bools:
        """Questions with a missing row whose other side has a value or is missing too."""
        a, b = self.values
        owed = (a.owed > 0) | (b.owed > 0)
        return self.there & owed & (a.valued | a.missing) & (b.valued | b.missing)

    def quantity(self, reasons: dict[str, int]) -> Quantity:
        n, missing = int(self.valued.sum()), int(self.missing.sum())
        sums = self._sums()
        found = self._difference(sums, 0.95)
        low, high = self.scale.low, self.scale.high
        span = None if low is None or high is None else high - low

        def at(level: float) -> Interval | None:
            return self._difference(sums, level).interval

        def filled(end: End) -> Quantity | None:
            if low is None or high is None:
                return None
            up = (end == "high") == (self.sign > 0)
            return self._filled(high if up else low, low if up else high).quantity({})

        return Quantity(
            value=found.value,
            at=at,
            n=n,
            n_undefined=int((self.there & ~self.valued & ~self.missing).sum()),
            n_missing=missing,
            clusters=found.clusters,
            low=None if span is None else -span,
            high=span,
            filled=filled,
            counted="pairs",
            reasons=reasons,
        )

    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Of each cluster with a pair: the sums of both sides, and the pairs."""
        chosen = self.valued
        clusters = self.clusters[chosen]
        counts = np.bincount(clusters)
        some = counts > 0
        first, second = (
            np.bincount(clusters, one.value[chosen])[some].astype(np.float64) for one in self.values
        )
        return first, second, counts[some].astype(np.float64)

    def _difference(self, sums: tuple[Floats, Floats, Floats], level: float) -> PairedDifference:
        first, second, counts = sums
        if self.sign < 0:
            first, second = second, first
        chosen = self.valued
        binary = all(np.isin(one.value[chosen], (0.0, 1.0)).all() for one in self.values)
        return paired_difference(
            first, second, counts, rate=self.scale.rate and binary,
            low=self.scale.low, high=self.scale.high, level=level,
        )  # fmt: skip

    def _filled(self, own: float, others: float) -> "_Pairs":
        """The values with missing ones set to ``own``, those of the baseline to ``others``."""
        a, b = self.values
        return replace(self, values=(a.filled(own), b.filled(others)))


def _comparable(scored: Scored, other: Scored) -> tuple[str, ...]:
    return tuple(
        name
        for name in scored.metrics
        if name in other.metrics
        and scored.scale(name).better != "0"
        and over_means(scored, name) is None
    )


def _check_measured_alike(text: str, scored: Scored, other: Scored, metrics: Sequence[str]) -> None:
    differing = measured_otherwise(other, scored, metrics)
    if differing:
        raise InputError(
            f"{text!r}: metrics of the same name were judged or defined differently in the two "
            f"runs. Evaluate {other.run.path} again as {scored.run.path} was.",
            notes=[one.reason() for one in differing],
        )


def _values(match: Match, metric: str) -> tuple[Values, Values]:
    scores = [one.scored.outcomes(metric) for one in match]
    whole = match[0].values(scores[0]), match[1].values(scores[1])
    composite = match[0].scored.metric(metric)
    if not isinstance(composite, Composite) or not any(map(has_gaps, scores)):
        return whole
    parts = [components_of(one, component_scores(one.scored, composite)) for one in match]
    first, second, _ = over_common(composite, parts[0], parts[1], whole)
    return first, second


def _examples(side: Side) -> pl.Series:
    """For each question the side's first example of it."""
    rows = pl.DataFrame(
        {"place": side.places, "id": side.scored.facets["example_id"].gather(side.rows)}
    ).unique("place", keep="first")
    places = pl.DataFrame({"place": range(len(side.questions.ids))}, schema={"place": pl.Int64})
    return places.join(rows, on="place", how="left", maintain_order="left")["id"]


def _reasons(match: Match, metric: str) -> dict[str, int]:
    """The reasons why rows of either side have no value, the most frequent first."""
    counts: Counter[str] = Counter()
    for side in match:
        rows = side.scored.of(metric)[side.rows].filter(pl.col("status") != "value")
        counts.update(rows["reason"].drop_nulls())
    return dict(counts.most_common())
