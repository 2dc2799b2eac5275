"""Shown risk: what labels show of the risk that a promise bounds."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ragstone.stats.risk_control import lower_bound, upper_bound

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class ShownRisk:
    """How many clusters a threshold let through that it should not have.

    Attributes:
        promised: What was promised, in (0, 1).
        hits: Clusters with an answer on the wrong side.
        clusters: Clusters with such an answer at all.
        answers: Such answers.
        low: Exact one-sided lower bound of the share of clusters, at the promise's confidence.
        high: The upper bound; the promise is shown where it is at most ``promised``.
    """

    promised: Share
    hits: Count
    clusters: Count
    answers: Count
    low: Share
    high: Share

    @classmethod
    def of(
        cls,
        hit: NDArray[np.bool_],
        clusters: NDArray[np.int64],
        *,
        promised: float,
        confidence: float,
    ) -> "ShownRisk":
        """What labels show.

        Args:
            hit: Shape (n,), whether each answer is on the wrong side.
            clusters: Shape (n,), the cluster of each.
            promised: What was promised.
            confidence: Of the bounds.
        """
        n, hits = len(np.unique(clusters)), len(np.unique(clusters[hit]))
        low = lower_bound(hits, n, confidence=confidence)
        high = upper_bound(hits, n, confidence=confidence)
        return cls(promised, hits, n, len(hit), low, high)

    @property
    def rate(self) -> float | None:
        """The share of clusters; None for none."""
        return self.hits / self.clusters if self.clusters else None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "promised": self.promised,
            "hits": self.hits,
            "clusters": self.clusters,
            "answers": self.answers,
            "low": self.low,
            "high": self.high,
        }
