"""Ranked: the worst examples of a run over all its metrics together, each with the reasons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

import polars as pl

from ragstone.core.errors import RagstoneError
from ragstone.judgements import Lexical
from ragstone.metrics import parse_metric
from ragstone.run.estimates.estimate import Estimate

from .dossier import dossiers
from .figures import scale_of
from .stored import StoredRun
from .why import why

SHOWN = 5
MOST_LOW = 3

RULE = (
    "by how far the scores lie below the best possible (0) towards the worst (1), on average over "
    "the metrics named here; an undefined or missing score counts as the average of the others"
)
"""How ``ranked`` ranks, in words."""


@dataclass(frozen=True, slots=True)
class LowScore:
    """A score that is further from the best one than the average of all examples."""

    metric: str
    value: float
    label: str | None


@dataclass(frozen=True, slots=True)
class RankedExample:
    """An example among the worst.

    Attributes:
        example_id: Its id.
        system: Its system.
        shortfall: How far its scores lie below the best possible, from 0 to 1.
        low: The metrics on which it falls short most, compared with the other examples.
        question: Its question.
        answer: Its answer.
        reasons: The claims, statements or contexts that made it bad, and why.
    """

    example_id: str
    system: str
    shortfall: float
    low: tuple[LowScore, ...]
    question: str | None
    answer: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedExamples:
    """The worst examples, the very worst first, and the metrics that rank them."""

    metrics: tuple[str, ...]
    examples: tuple[RankedExample, ...]


def ranked(run: StoredRun, *, limit: int = SHOWN) -> RankedExamples:
    """The worst examples of a run over all its metrics, each listed once.

    For each metric, a score's distance from the best possible is 0 at the best end of the metric's
    range and 1 at the worst; where the range has no such end, at the best or worst score of the
    run.
    An example's shortfall is the mean of its distances. An undefined or missing score counts as
    the mean distance of the examples that have one, so that an answer is not among the worst
    because few metrics apply to it. Ties are in the order of the data.

    The metrics that say something of the answer rank it. Those that only compare its wording with
    the reference (exact match, ROUGE, …) rank if there are no others, and metrics of the retrieval
    if there are no metrics of the answer at all: systems that share a retrieval share its faults.

    Args:
        run: The run.
        limit: The largest number of examples.
    """
    metrics = _that_rank(run.estimate_list)
    distances = _distances(run, metrics)
    worst = _worst(run, distances, len(metrics), limit)
    ids = worst["example_id"].to_list()
    known = dossiers(run, ids)
    low = distances.filter(
        pl.col("example_id").is_in(ids), pl.col("distance") > pl.col("usual")
    ).sort(pl.col("distance") - pl.col("usual"), descending=True, maintain_order=True)
    aside = [name for name in _directed(run.estimate_list) if name not in metrics]
    examples = []
    for name, system, shortfall in worst.rows():
        found = known[name]
        rows = low.filter(pl.col("example_id") == name).select("metric", "value", "label")
        reasons = why(found, *metrics) or why(found, *aside)
        texts = found.example.question, found.example.answer
        most = tuple(LowScore(*row) for row in rows.head(MOST_LOW).iter_rows())
        examples.append(RankedExample(name, system, shortfall, most, *texts, tuple(reasons)))
    return RankedExamples(metrics, tuple(examples))


def shortfalls(run: StoredRun, *, limit: int) -> pl.DataFrame:
    """Id, system and shortfall of the worst examples, as ``ranked`` ranks them."""
    metrics = _that_rank(run.estimate_list)
    return _worst(run, _distances(run, metrics), len(metrics), limit)


def _directed(estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    """The metrics with a better direction, each with one of its estimates."""
    return {one.metric: one for one in estimates if one.better != "0"}


def _that_rank(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    known = {one.metric for one in estimates if one.n}
    directed = {name: one for name, one in _directed(estimates).items() if name in known}
    of_answers = [name for name, one in directed.items() if one.family != "retrieval"]
    judged = [name for name in of_answers if not _of_wording(name)]
    return tuple(judged or of_answers or directed)


def _of_wording(metric: str) -> bool:
    try:
        return parse_metric(metric).asks == {Lexical.name}
    except RagstoneError:
        return False


def _distances(run: StoredRun, metrics: Sequence[str]) -> pl.DataFrame:
    """Each score with its distance from the best, and the mean distance under its metric."""
    ends = pl.DataFrame(
        list(_ends(run.estimate_list, metrics)),
        schema={"metric": pl.String, "sign": pl.Float64, "best": pl.Float64, "worst": pl.Float64},
        orient="row",
    )
    signed = pl.col("value") * pl.col("sign")
    best = pl.coalesce("best", signed.max().over("metric"))
    width = best - pl.coalesce("worst", signed.min().over("metric"))
    distance = pl.when(width > 0).then((best - signed) / width).otherwise(0.0)
    return (
        run.scores()
        .with_columns(pl.col("metric", "status").cast(pl.String))
        .filter(pl.col("status") == "value")
        .join(ends, on="metric", maintain_order="left")
        .select("example_id", "system", "metric", "value", "label", distance=distance)
        .with_columns(usual=pl.col("distance").mean().over("metric"))
    )


def _ends(
    estimates: Sequence[Estimate], metrics: Sequence[str]
) -> Iterator[tuple[str, float, float | None, float | None]]:
    """For each metric the sign that makes more better, its best and its worst value so signed."""
    directed = _directed(estimates)
    for name in metrics:
        sign = 1.0 if directed[name].better == "+" else -1.0
        scale = scale_of(name)
        ends = sorted(sign * end for end in (scale.low, scale.high)) if scale else ()
        known = [end if isfinite(end) else None for end in ends] or [None, None]
        yield name, sign, known[1], known[0]


def _worst(run: StoredRun, distances: pl.DataFrame, of: int, limit: int) -> pl.DataFrame:
    """The examples that fall furthest short, with system and shortfall."""
    usual = distances.group_by("metric").agg(pl.col("usual").first())["usual"].sum()
    order = run.examples(["id"]).select(example_id="id").with_row_index("place")
    return (
        distances.group_by("example_id")
        .agg(
            pl.col("system").first(),
            beyond=(pl.col("distance") - pl.col("usual")).sum(),
            most=pl.col("distance").max(),
        )
        .filter(pl.col("most") > 0)
        .join(order, on="example_id")
        .with_columns(shortfall=((pl.col("beyond") + usual) / max(of, 1)).round(9))
        .sort("shortfall", "place", descending=[True, False])
        .head(limit)
        .select("example_id", "system", "shortfall")
    )
