"""Anchor rounds: what a judge said of the same answers, again and again."""

from typing import NamedTuple

from ragstone.core.database import Sql


class AnchorPair(NamedTuple):
    """What was said of an anchor first, and what last."""

    metric: str
    example: str
    first: float
    last: float
    rounds: int


def anchor_pairs(run: Sql) -> list[AnchorPair]:
    """The anchors that were judged more than once, with their first and last scores."""
    found: dict[tuple[str, str], list[float]] = {}
    for metric, example, value in run(
        "SELECT metric, example, value FROM anchor_scores WHERE value IS NOT NULL "
        "ORDER BY metric, example, at"
    ):
        found.setdefault((metric, example), []).append(float(value))
    return [
        AnchorPair(metric, example, values[0], values[-1], len(values))
        for (metric, example), values in found.items()
        if len(values) > 1
    ]
