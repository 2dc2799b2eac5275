"""Null answers: a system that answers elsewhere owes them, so their scores are missing."""

from collections.abc import Collection, Mapping

import polars as pl

from ragstone.judgements import MISSING, NO_ANSWER, REQUIREMENTS, UNDEFINED

from .metric import Metric


def null_answers(examples: pl.DataFrame, partly_answered: Collection[str]) -> pl.Series:
    """Tell which examples have a null answer of one of these systems."""
    null = pl.col("answer").is_null() & pl.col("system").is_in(list(partly_answered))
    return examples.select(null).to_series()


def owed(
    metric: Metric,
    scores: pl.DataFrame,
    silent: pl.Series,
    holds: Mapping[str, pl.Series],
    needed: Collection[str],
) -> pl.DataFrame:
    """Return scores that are missing, not undefined, for the silent examples' null answers.

    They stay undefined where the data lack what a score needs; contexts are the system's own, and a
    system that fails gives none either. ``holds`` tells for each requirement of the ``needed`` ones
    which examples fulfil it.
    """
    if "answer" not in (*needed, *metric.reads):
        return scores
    for name in needed:
        if not REQUIREMENTS[name].by_system:
            silent = silent & holds[name]
    is_owed = pl.lit(silent) & (pl.col("status") == UNDEFINED)
    return scores.with_columns(
        status=pl.when(is_owed).then(pl.lit(MISSING, pl.UInt8)).otherwise("status"),
        reason=pl.when(is_owed).then(pl.lit(NO_ANSWER)).otherwise("reason"),
    )
