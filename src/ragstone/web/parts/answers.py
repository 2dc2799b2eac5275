"""Answers: the table of all answers of the report, a row each."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.report.number_format import shortened
from ragstone.report.reason_words import short_words
from ragstone.report.worst_examples import shortfalls
from ragstone.run import Run
from ragstone.web.pages.runs import PREFERRED

from .worst import anchor_of

COLUMNS, QUESTION = 5, 120


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A score in the table: what is written, and why there is no value."""

    text: str
    status: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer in the table.

    Attributes:
        anchor: The end of the ids of its row and, if it is among the worst, of its details.
        question: Cut.
        system: Its system.
        stage: At which stage it fell short first; empty if no metric tells.
        scores: One for each column.
        worst: Whether it is among the worst.
        rank: Its place among all, the worst first.
    """

    anchor: str
    question: str
    system: str
    stage: str
    scores: tuple[ScoreCell, ...]
    worst: bool
    rank: int

    @property
    def missing(self) -> bool:
        """Whether one of the scores is missing."""
        return any(one.status == "missing" for one in self.scores)


def columns_of(run: Run) -> list[str]:
    """The metrics that the table has."""
    known = dict.fromkeys(one.metric for one in run.estimate_list if one.n or one.n_missing)
    preferred = [one for one in PREFERRED if one in known]
    return [*preferred, *(one for one in known if one not in preferred)][:COLUMNS]


def answer_rows(
    run: Run, stages: pl.DataFrame, metrics: Sequence[str], worst: Collection[str], *, most: int
) -> Iterator[AnswerRow]:
    """The answers in the order of the data, of more than ``most`` the worst.

    Args:
        run: The run.
        stages: ``example_id`` and ``stage``.
        metrics: A column each.
        worst: The ids of those that are among the worst.
        most: Rows.
    """
    examples = run.examples(["id", "system", "question"])
    order = shortfalls(run, limit=len(examples)).select(id="example_id").with_row_index("rank")
    kept = (
        examples.with_row_index("place")
        .join(order, on="id", how="left", maintain_order="left")
        .sort("rank", "place", nulls_last=True)
        .drop("rank")
        .with_row_index("rank")
        .head(most)
        .sort("place")
    )
    ids = kept["id"].implode()
    found = stages.filter(pl.col("example_id").is_in(ids))
    fell = dict(found.select("example_id", "stage").iter_rows())
    rows = (
        run.scores()
        .filter(pl.col("metric").is_in(metrics) & pl.col("example_id").is_in(ids))
        .select(
            "example_id", pl.col("metric", "status").cast(pl.String), "value", "label", "reason"
        )
    )
    scores = {
        (name, metric): _cell(status, value, label, reason)
        for name, metric, status, value, label, reason in rows.iter_rows()
    }
    none = ScoreCell("", "undefined")
    for rank, name, system, question in kept.select("rank", "id", "system", "question").iter_rows():
        yield AnswerRow(
            anchor_of(name),
            shortened(question, QUESTION),
            system or "",
            fell.get(name) or "",
            tuple(scores.get((name, metric), none) for metric in metrics),
            name in worst,
            rank,
        )


def _cell(status: str, value: float | None, label: str | None, reason: str | None) -> ScoreCell:
    if status == "value" and value is not None:
        return ScoreCell(label.replace("_", " ") if label else f"{value:.2f}", status)
    return ScoreCell("", status, short_words(reason or ""))
