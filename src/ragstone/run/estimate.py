"""Estimate: a reported number with its interval, and how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of a metric over a group of examples, with its interval.

    ``value`` is None if no example has a value. ``low`` and ``high`` are None if no
    interval can be computed, for instance from a single question. ``worst`` and
    ``best`` bound what the mean could be if the missing scores were known; they are
    None if the metric has no bounds. ``labels`` counts the words given with scores
    (outcomes, grades), ``flags`` the remarks on values, and ``reasons`` why scores
    are undefined or missing.
    """

    metric: str
    family: str
    group: Mapping[str, str]
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    n: int
    n_undefined: int
    n_missing: int
    worst: float | None
    best: float | None
    better: Literal["+", "-", "0"]
    clusters: int
    labels: Mapping[str, int]
    flags: Mapping[str, int]
    reasons: Mapping[str, int]
    signature: str

    @property
    def total(self) -> int:
        """Number of examples in the group, including undefined and missing ones."""
        return self.n + self.n_undefined + self.n_missing

    def to_dict(self) -> dict[str, Any]:
        """The entry in ``estimates.json``; absent values are null."""
        return {
            "metric": self.metric,
            "group": dict(self.group),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "method": self.method,
            "n": self.n,
            "n_undefined": self.n_undefined,
            "n_missing": self.n_missing,
            "worst": self.worst,
            "best": self.best,
            "better": self.better,
            "family": self.family,
            "clusters": self.clusters,
            "labels": dict(self.labels),
            "flags": dict(self.flags),
            "reasons": dict(self.reasons),
            "signature": self.signature,
        }
