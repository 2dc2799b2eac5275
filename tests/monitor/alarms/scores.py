"""Scores as the worker writes them, for tests of alarms."""

from collections.abc import Mapping, Sequence

from ragstone.core.database import Sql

START = 1_700_000_000.0


def give(
    run: Sql,
    metric: str,
    values: Sequence[float | None],
    *,
    since: float = START,
    gap: float = 60.0,
    probability: float = 1.0,
    facets: Mapping[str, str] | None = None,
    source: str = "sample",
    again: int = 0,
    name: str = "e",
    judge: str = "local",
) -> None:
    """Add scores of new examples, each ``gap`` seconds after the one before; None is missing."""
    ((count,),) = run("SELECT count(*) FROM scores")
    examples = [f"{name}{count + number}" for number in range(len(values))]
    times = [since + number * gap for number in range(len(values))]
    run.many(
        "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, "
        "judge, probability, version, source, again) "
        "VALUES (?, ?, ?, ?, ?, ?, '', NULL, ?, ?, NULL, ?, ?)",
        [
            (example, metric, at, at + 1, value, "missing" if value is None else "value",
             judge, probability, source, again)
            for example, at, value in zip(examples, times, values, strict=True)
        ],
    )  # fmt: skip
    run.many(
        "INSERT INTO facets VALUES (?, ?, ?)",
        [(example, facet, one) for example in examples for facet, one in (facets or {}).items()],
    )
