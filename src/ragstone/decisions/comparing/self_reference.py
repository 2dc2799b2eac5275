"""Self-reference: systems whose answers are the references, and metrics that would compare the two.

Such a system, often the people's answers kept beside the models', scores 1 against the reference by
construction, which says nothing about it or about the others.
"""

from functools import cached_property

import polars as pl

from ragstone.judgements import ASKS
from ragstone.metrics import Composite, Metric, needed_asks
from ragstone.run import Run

LEAST_WORDS = 5
"""Median words of an answer from which equality is no chance: a good system gives many short
answers, such as names and dates, word for word.
"""


class SelfReference:
    """The systems of a run whose answers are the references."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Those of whose answers every one is, character by character, one of its references.

        Answers without a reference are not looked at, nor is a system with answers of fewer than
        ``LEAST_WORDS`` words in the median.
        """
        answer = pl.col("answer").str.strip_chars()
        references = pl.col("reference").list.eval(pl.element().str.strip_chars())
        # Made while they are read: all texts of a large run do not fit into memory.
        rows = self._run.examples(
            [
                "system",
                references.list.contains(answer).alias("equal"),
                answer.str.count_matches(r"\S+").alias("words"),
            ],
            pl.col("answer").is_not_null() & (pl.col("reference").list.len() > 0),
        )
        found = rows.group_by("system", maintain_order=True).agg(
            pl.col("equal").all(), pl.col("words").median()
        )
        kept = found.filter(pl.col("equal") & (pl.col("words") >= LEAST_WORDS))
        return tuple(kept["system"])

    def on(self, metric: Metric | None) -> tuple[str, ...]:
        """Those that a metric would compare with themselves."""
        return self.systems if metric is not None and _against_reference(metric) else ()


def _against_reference(metric: Metric) -> bool:
    """Whether the metric, or a component of it, reads answers beside their references."""
    if isinstance(metric, Composite):
        return any(_against_reference(part) for part in metric.components().values())
    asks = [ASKS[name] for name in needed_asks([metric])]
    reads = {*metric.reads, *(part for ask in asks for part in (*ask.requires, *ask.beside))}
    return {"answer", "reference"} <= reads
