"""Repeats: how far the answers of one system to one question lie apart."""

from collections.abc import Sequence

import polars as pl

ANSWER = ("question_id", "system")


def repeats(rows: pl.DataFrame, metrics: Sequence[str], decides: str = "") -> pl.DataFrame:
    """The spread of the scores, and how often the outcome flips, where a question was repeated.

    The flip rate is the share of pairs of answers whose outcomes differ, over all pairs of answers
    that have one: 0 if all are the same, 1 if all are different.

    Args:
        rows: One row an answer: ``question_id``, ``system``, a column for each metric, and
            ``label METRIC`` for the one that decides.
        metrics: Their names.
        decides: The metric whose labels are the outcomes; empty if there is none.

    Returns:
        One row a question and system with several answers: ``question_id``, ``system``, ``n``;
        ``mean METRIC``, ``low METRIC`` and ``high METRIC``; ``flips``, null without two outcomes.
    """
    several = rows.filter(pl.len().over(ANSWER) > 1)
    outcome = pl.col(f"label {decides}") if decides else pl.lit(None, pl.String)
    counts = outcome.drop_nulls().value_counts(name="n").struct.field("n").cast(pl.Float64)
    whole = counts.sum()
    # The counts come in any order, another one each time they are asked for.
    same = (counts.pow(2).sum() - whole) / (whole * (whole - 1))
    return several.group_by(ANSWER, maintain_order=True).agg(
        pl.len().alias("n"),
        *(pl.col(name).mean().alias(f"mean {name}") for name in metrics),
        *(pl.col(name).min().alias(f"low {name}") for name in metrics),
        *(pl.col(name).max().alias(f"high {name}") for name in metrics),
        flips=pl.when(whole > 1).then(1 - same),
    )
