"""Scores: what was measured of each example."""

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from ragstone.core.database import Sql

from .rows import in_pages, marks

ScoreSource = Literal["guard", "sample", "backfill", "people"]
ScoreStatus = Literal["value", "undefined", "missing"]


REPLACED = "replaced "


class NewScore(NamedTuple):
    """A score that is to be kept. ``value`` is None unless ``status`` is ``value``."""

    example: str
    metric: str
    value: float | None
    status: str
    reason: str
    label: str | None
    judge: str


class ScoredExample(NamedTuple):
    """Of an example that is scored: when it was given, its version, and with which probability
    it was drawn."""

    at: float
    version: str | None
    probability: float


def write_scores(
    run: Sql,
    now: float,
    source: ScoreSource,
    scores: Iterable[NewScore],
    examples: dict[str, ScoredExample],
    sources: Collection[str],
) -> None:
    """Put scores in the place of earlier ones of the same examples from any of ``sources``.

    Each gets a number behind all others, and says whether the example had been judged before.
    """
    ids = list(examples)
    had = _values(run, ids, sources)
    for page in in_pages(ids):
        # They go when the new ones are there: SQLite gives the number of a last row again.
        run(
            f"UPDATE scores SET source = '{REPLACED}' || source "
            f"WHERE example IN ({marks(page)}) AND source IN ({marks(sources)})",
            *page, *sources,
        )  # fmt: skip
    run.many(
        "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, judge, "
        "probability, version, source, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(one.example, one.metric, of.at, now, one.value, one.status, one.reason),
                *(one.label, one.judge, of.probability, of.version, source),
                int((one.example, one.metric) in had),
            )
            for one in scores
            for of in [examples[one.example]]
        ],
    )
    replaced = [f"{REPLACED}{one}" for one in sources]
    for page in in_pages(ids):
        run(
            f"DELETE FROM scores WHERE example IN ({marks(page)}) "
            f"AND source IN ({marks(replaced)})",
            *page, *replaced,
        )  # fmt: skip


def _values(run: Sql, examples: Collection[str], sources: Collection[str]) -> set[tuple[str, str]]:
    """The examples and metrics that were judged before, or were themselves judged again."""
    found: set[tuple[str, str]] = set()
    for page in in_pages(list(examples)):
        found.update(
            (example, metric)
            for example, metric in run(
                f"SELECT example, metric FROM scores WHERE example IN ({marks(page)}) "
                f"AND source IN ({marks(sources)}) AND (status = 'value' OR again = 1)",
                *page, *sources,
            )
        )  # fmt: skip
    return found
