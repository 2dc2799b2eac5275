"""Detector states: what each detector knows, and through which score it has looked."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ragstone.core.database import Sql

from .watched_scores import COUNTED, TABLES, Facet, Unit, within


class KeptDetector(NamedTuple):
    """Of one rule in one slice; ``state`` is JSON that is good for ``identity`` alone, ``through``
    the number of a score of answers or of sessions, as ``unit`` says."""

    rule: str
    slice: str
    identity: str
    state: str
    through: int
    unit: str


class JudgedStretch(NamedTuple):
    """Scores from one number through another.

    ``mean`` is weighted by one over the probabilities, on the metric's own scale; ``begun`` is when
    the first of these answers was given.
    """

    n: int
    mean: float
    begun: float


def kept_detectors(run: Sql) -> dict[tuple[str, str], KeptDetector]:
    """All detectors, by rule and slice."""
    rows = run("SELECT rule, slice, identity, state, through, unit FROM detectors")
    return {(row[0], row[1]): KeptDetector(*row) for row in rows}


def keep_detectors(run: Sql, detectors: Iterable[KeptDetector]) -> None:
    """Keep the states of detectors in the place of earlier ones."""
    run.many(
        "INSERT INTO detectors (rule, slice, identity, state, through, unit) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (rule, slice) DO UPDATE SET "
        "identity = excluded.identity, state = excluded.state, through = excluded.through, "
        "unit = excluded.unit",
        detectors,
    )


def forget_detectors(run: Sql, detectors: Collection[tuple[str, str]]) -> None:
    """Forget detectors by rule and slice."""
    run.many("DELETE FROM detectors WHERE rule = ? AND slice = ?", detectors)


def judged_stretch(
    run: Sql, metric: str, facet: Facet | None, first: int, last: int, unit: Unit = "answers"
) -> JudgedStretch:
    """The watched scores of a metric from one number through another.

    Args:
        run: Within a transaction or a reading.
        metric: Its text form.
        facet: Only answers with this value of it; None: all.
        first: Number of a score; where it is there no more, the next one counts.
        last: Number of a score that is there, not below ``first``.
        unit: Whose scores these are.
    """
    of = (
        f"FROM {TABLES[unit]} s WHERE s.metric = ? AND s.number BETWEEN ? AND ? "
        f"AND {COUNTED[unit]} {within(facet)}"
    )
    values = (metric, first, last, *(facet or ()))
    ((n, weights, weighted),) = run(
        f"SELECT count(*), sum(1 / s.probability), sum(s.value / s.probability) {of}", *values
    )
    ((begun,),) = run(f"SELECT s.at {of} ORDER BY s.number LIMIT 1", *values)
    return JudgedStretch(int(n), weighted / weights, float(begun))
