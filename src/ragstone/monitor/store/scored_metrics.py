"""Scored metrics: which there are, and what their scores can be sliced by."""

from ragstone.core.database import Sql

from .slots import WIDTH


def scored_metrics(run: Sql) -> list[str]:
    """The metrics that have a score, by name; each is found in the index by the one before."""
    rows = run(
        "WITH RECURSIVE found (metric) AS (SELECT min(metric) FROM scores UNION ALL "
        "SELECT (SELECT min(s.metric) FROM scores s WHERE s.metric > f.metric) FROM found f "
        "WHERE f.metric IS NOT NULL) SELECT metric FROM found WHERE metric IS NOT NULL"
    )
    return sorted(metric for (metric,) in rows)


def facet_values(run: Sql, since: float, most: int, names: int = 12) -> dict[str, list[str]]:
    """What scores can be sliced by, with the most frequent values of each name.

    Args:
        run: A reading of the store.
        since: Scores of answers given from then on, as far as they are summed up.
        most: Values of a name.
        names: Those of the fewest values first; what has a value for each answer is no slice.
    """
    rows = run(
        "SELECT name, value, sum(n) FROM score_sums WHERE name <> '' AND slot >= ? AND metric = "
        "(SELECT min(metric) FROM scores) GROUP BY name, value ORDER BY name, sum(n) DESC, value",
        int(since // WIDTH),
    )
    found: dict[str, list[str]] = {}
    for name, value, _ in rows:
        found.setdefault(name, []).append(value)
    few = sorted(found, key=lambda name: (len(found[name]), name))[:names]
    return {name: found[name][:most] for name in sorted(few)}
