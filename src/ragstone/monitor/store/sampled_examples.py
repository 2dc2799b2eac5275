"""Sampled examples: some of the answers of a stretch of time, one of each session."""

from typing import NamedTuple

from ragstone.core.database import Sql


class SampledExample(NamedTuple):
    """An example, with the guard's confidence in it; None where it was not assessed."""

    record: str
    confidence: float | None


def sampled_examples(run: Sql, since: float, until: float, most: int) -> list[SampledExample]:
    """As good as random ones, by the hash of their texts; of a session at most one.

    Args:
        run: A reading of the store.
        since: In seconds since the epoch.
        until: The same.
        most: How many are looked at.
    """
    rows = run(
        "SELECT e.record, a.confidence, coalesce(e.session, e.example) FROM examples e "
        "LEFT JOIN assessed a ON a.example = e.example WHERE e.at >= ? AND e.at < ? "
        "ORDER BY e.text_hash, e.example LIMIT ?",
        since, until, most,
    )  # fmt: skip
    found: dict[str, SampledExample] = {}
    for record, confidence, session in rows:
        found.setdefault(session, SampledExample(record, confidence))
    return list(found.values())


def first_example_at(run: Sql) -> float | None:
    """When the first answer that is kept was given; None without any."""
    ((at,),) = run("SELECT min(at) FROM examples")
    return None if at is None else float(at)
