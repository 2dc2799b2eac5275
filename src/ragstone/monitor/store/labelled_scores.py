"""Labelled scores: what the judge and what people said of the same answers."""

from typing import NamedTuple

from ragstone.core.database import Sql


class JudgedAndLabelled(NamedTuple):
    """An answer that was judged and labelled.

    Attributes:
        score: The judge's.
        probability: With which it was drawn to be judged.
        label: What people's labels make of the metric.
        label_probability: With which it was judged and labelled.
    """

    score: float
    probability: float
    label: float
    label_probability: float


def labelled_scores(
    run: Sql, metric: str, since: float, until: float, facet: tuple[str, str] | None = None
) -> list[JudgedAndLabelled]:
    """The answers of a stretch of time that were judged and labelled, in the order of labels."""
    has = (
        ""
        if facet is None
        else "AND EXISTS (SELECT 1 FROM facets f WHERE f.example = p.example AND f.name = ? "
        "AND f.value = ?) "
    )
    rows = run(
        "SELECT s.value, s.probability, p.value, p.probability FROM scores p "
        "JOIN scores s ON s.example = p.example AND s.metric = p.metric AND s.source <> 'people' "
        "AND s.status = 'value' WHERE p.source = 'people' AND p.metric = ? AND p.at >= ? "
        f"AND p.at < ? AND p.status = 'value' {has}ORDER BY p.judged_at, p.number",
        metric, since, until, *(facet or ()),
    )  # fmt: skip
    return [JudgedAndLabelled(*row) for row in rows]
