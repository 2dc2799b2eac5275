"""Routing: which examples people are given first, and how likely each was to be labelled.

Every example has a random number u, spread evenly over 0 to 1, and a weight w; the smaller u/w, the
earlier its items are given out. When k of them are labelled and t is the (k + 1)th smallest u/w, an
example was labelled with probability min(1, wt), and sums in which each label counts 1/that are
right on average [Duffield, Lund & Thorup (2007), "Priority sampling for estimation of arbitrary
subset sums", J. ACM 54(6)]. So labels stand for all examples however far people get.

When the routing changes, the examples that nobody has been given get new numbers. With the
probabilities p of each phase, an example was labelled with probability 1 − Π (1 − p).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np

Route = Literal["random", "doubt"]
"""``random``: all are as likely. ``doubt``: those on which the judge is in doubt are likelier."""

EMPHASIS = 10.0
"""How much likelier the most doubtful example is than the least; none has no chance at all."""


def route_weight(route: Route, doubt: float | None) -> float:
    """The weight of an example.

    Args:
        route: By what examples are routed.
        doubt: How much the judge is in doubt on it, from 0 to 1; None, as 0, if it gave no score.
    """
    return EMPHASIS ** (doubt or 0.0) if route == "doubt" else 1.0


def random_places(weights: Sequence[float], rng: np.random.Generator) -> list[float]:
    """u/w of each example."""
    count = len(weights)
    return [u / count / w for u, w in zip(rng.permutation(count).tolist(), weights, strict=True)]


def phase_probabilities(
    places: Mapping[str, float], weights: Mapping[str, float], labelled: Collection[str]
) -> dict[str, float]:
    """How likely each example was to be labelled in a phase.

    Args:
        places: u/w of the examples that could be given out in it.
        weights: Of these, and of those of earlier phases.
        labelled: Those of ``places`` that were labelled.
    """
    if len(labelled) >= len(places):
        return dict.fromkeys(weights, 1.0)
    least_left = sorted(places.values())[len(labelled)]
    return {id: min(1.0, weight * least_left) for id, weight in weights.items()}
