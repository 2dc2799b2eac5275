"""Expected width: how wide a design's interval of the mean will be, before people label."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from ragstone.decisions.scored import Scored
from ragstone.stats.correction.corrected import joined_strata
from ragstone.stats.distributions import upper_quantile

Floats = NDArray[np.float64]

LEVEL = 0.95
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """Of the 95 % interval of a metric's mean, from as many labels drawn in one way."""

    by: str
    width: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"by": self.by, "width": self.width}


def expected_errors(scored: Scored, metric: str, people: pl.DataFrame | None) -> Floats:
    """How far people's score may lie from what the judge's verdict leads to expect, by example.

    With labels: the standard deviation of people's scores among what the judge calls alike, in
    the strata of ``joined_strata``, moved to that of all labels as by one label more. Without,
    nobody knows where the judge errs, and it counts as erring everywhere alike: as far as its
    own scores vary, m (1 - m) of a rate. Where it has no score either, nothing is known: 0.

    Args:
        scored: The run.
        metric: Of the run.
        people: ``example_id``, ``people`` and ``weight`` (one over the chance of being drawn, null
            for equal ones) of those that are labelled already.

    Returns:
        Shape (examples,), above 0 but where nothing varies.
    """
    rows = scored.of(metric)
    values = rows["value"].cast(pl.Float64)
    known = values.fill_null(values.mean() or 0.0).to_numpy()
    if people is None or people.is_empty():
        scale = scored.scale(metric)
        mean = float(known.mean())
        bounded = (scale.low, scale.high) == (0, 1)
        deviation = sqrt(mean * (1 - mean)) if bounded else float(known.std())
        return np.full(len(known), deviation)
    said = rows.join(people, on="example_id", how="left", maintain_order="left")
    there = said[PEOPLE].is_not_null().to_numpy()
    labels = said[PEOPLE].drop_nulls().to_numpy()
    mass = said["weight"].fill_null(1.0).to_numpy()[there]
    strata = joined_strata(known, len(labels))
    overall = _variance(labels, mass)
    own = strata[there]
    found = np.array([
        _moved(labels[own == one], mass[own == one], overall) for one in range(strata.max() + 1)
    ])  # fmt: skip
    return np.asarray(np.sqrt(found)[strata])


def expected_width(errors: Floats, probability: ArrayLike, *, level: float = LEVEL) -> float:
    """Width of the interval of the mean that ``calibrate`` will give.

        2 z · sqrt(the larger of  sum of e² / π / N²  and  mean of e² / n*)

    n* is Kish's number of the labels: its intervals never take labels of unequal weight to tell
    more than as many of equal weight.

    Args:
        errors: Shape (N,). e, how far people's score may lie from what is expected of it.
        probability: Shape (N,). π, in (0, 1]: how likely each example is to be drawn.
        level: Of the interval, in (0, 1).

    Source: Särndal, Swensson & Wretman (1992), "Model Assisted Survey Sampling", section 6.4, for
    draws that hardly depend on each other.
    """
    z = NormalDist().inv_cdf(upper_quantile(level))
    chance = np.asarray(probability, dtype=np.float64)
    rows = len(errors)
    kish = rows**2 / float((1 / chance).sum())
    variance = float((errors**2 / chance).sum()) / rows**2
    return 2 * z * sqrt(max(variance, float((errors**2).mean()) / kish))


def expected_widths(errors: Floats, designs: Mapping[str, Floats]) -> tuple[ExpectedWidth, ...]:
    """Of each design, by the chances that it gives the examples."""
    return tuple(ExpectedWidth(by, expected_width(errors, own)) for by, own in designs.items())


def _variance(labels: Floats, mass: Floats) -> float:
    return float(np.average((labels - np.average(labels, weights=mass)) ** 2, weights=mass))


def _moved(labels: Floats, mass: Floats, overall: float) -> float:
    """Variance of a stratum's labels and of one more that varies as all of them do."""
    n = len(labels)
    own = _variance(labels, mass) if n else 0.0
    return (n * own + overall) / (n + 1)
