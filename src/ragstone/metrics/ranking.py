"""Ranking: is the context relevant, and does the relevant come first?

Over the retrieved contexts in the retriever's order. Without ``k``, the whole list.

``gaps`` handles contexts without a label. ``strict`` gives a value only if the missing labels,
each taken independently, could not change it; ``zero`` reads a missing label as 0; ``condense``
drops these contexts and renumbers the ranks.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Contexts, View

from .core import Metric
from .outcome import Undefined

Gaps = Literal["strict", "zero", "condense"]


def check_whole(metric: str, name: str, value: int | None) -> None:
    """Reject a parameter that is neither None nor a whole number of at least 1.

    Raises:
        InputError: It is something else, or too large.
    """
    if value is not None and (not isinstance(value, int) or not 1 <= value < 1 << 31):
        raise InputError(f"{metric}: {name} must be a whole number from 1, not {value!r}.")


@dataclass(frozen=True)
class RankingMetric(Metric):
    """The base of the metrics over labelled contexts."""

    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    empty: ClassVar[float | Undefined] = 0.0
    empty_flag: ClassVar[str | None] = "empty_retrieval"
    gap: ClassVar[str] = "unlabelled_in_top_k"

    k: int | None = None
    gaps: Gaps = "strict"

    def __post_init__(self) -> None:
        check_whole(self.name, "k", self.k)
        if self.gaps not in ("strict", "zero", "condense"):
            raise InputError(
                f"{self.name}: gaps must be strict, zero or condense, not {self.gaps!r}."
            )

    def known(self, fact: pl.Expr) -> pl.Expr:
        """The fact in the rows that the policy for gaps keeps, and with the gaps that it fills."""
        if self.gaps == "zero":
            return fact.fill_null(value=False)
        if self.gaps == "condense":
            return fact.drop_nulls()
        return fact

    def rank(self, fact: pl.Expr) -> pl.Expr:
        """The ranks of the rows that ``known`` keeps."""
        if self.gaps == "condense":
            return pl.int_range(1, fact.drop_nulls().len() + 1, dtype=pl.UInt32)
        return Contexts.rank

    def within(self, fact: pl.Expr) -> pl.Expr:
        """The fact, made false outside of the top k."""
        known = self.known(fact)
        return known if self.k is None else known & (self.rank(fact) <= self.k)

    def length(self) -> pl.Expr:
        """The denominator of a share: k, or without it the length of the list."""
        return pl.len() if self.k is None else pl.lit(self.k)

    def gap_in_top(self, fact: pl.Expr) -> pl.Expr:
        """Whether the fact is unknown for a context in the top k."""
        return fact.is_null() if self.k is None else fact.is_null() & (Contexts.rank <= self.k)

    def flags(self) -> dict[str, pl.Expr]:
        """Flags a list shorter than k."""
        return {} if self.k is None else {"short_list": pl.col("value_rows") < self.k}


@dataclass(frozen=True)
class ShareInTop(RankingMetric):
    """Share of the top k that has a property."""

    def fact(self) -> pl.Expr:
        """The property."""
        raise NotImplementedError

    def rule(self) -> pl.Expr:
        """The share of the top k; with ``condense`` and without k, of the condensed list."""
        if self.k is None and self.gaps == "condense":
            return self.known(self.fact()).mean().fill_null(0.0)
        return self.within(self.fact()).sum() / self.length()

    def settled(self) -> pl.Expr | None:
        """No gap in the top k."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        return self.gap_in_top(self.fact()).any().not_()


@dataclass(frozen=True)
class LevelledMetric(RankingMetric):
    """A metric that may ask for more than grade 1 before it calls a context relevant."""

    level: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "level", self.level)

    def fact(self) -> pl.Expr:
        """Whether a context is relevant, from grade ``level`` on."""
        return Contexts.relevant if self.level == 1 else Contexts.grade >= self.level


@dataclass(frozen=True)
class Precision(LevelledMetric, ShareInTop):
    """Share of the top k contexts that are relevant.

        precision(k) = relevant contexts in the top k / k

    Divides by k even if the list is shorter; without k, by the length of the list. 0 for an
    empty list, flagged ``empty_retrieval``.

    Source: Manning, Raghavan & Schütze (2008), section 8.4.
    """

    name: ClassVar[str] = "precision"


@dataclass(frozen=True)
class PrecisionOverRetrieved(LevelledMetric, ShareInTop):
    """Share of the retrieved contexts in the top k that are relevant.

        precision_over_retrieved(k) = relevant in the top k / min(k, contexts)

    Like ``precision``, but a short list costs nothing, and an empty one is undefined.
    """

    name: ClassVar[str] = "precision_over_retrieved"
    empty: ClassVar[float | Undefined] = Undefined("empty_retrieval")

    def length(self) -> pl.Expr:
        """The number of contexts, but no more than k."""
        return pl.len() if self.k is None else pl.len().clip(upper_bound=self.k)


@dataclass(frozen=True)
class MRR(LevelledMetric):
    """Reciprocal rank of the first relevant context; its mean is the MRR.

        mrr(k) = 1 / rank of the first relevant context in the top k, 0 if none

    Source: Voorhees (1999), "The TREC-8 Question Answering Track Report".
    """

    name: ClassVar[str] = "mrr"

    def rule(self) -> pl.Expr:
        """The reciprocal of the smallest relevant rank."""
        return (1 / self._first()).fill_null(0.0)

    def settled(self) -> pl.Expr | None:
        """There is no gap before the first relevant context."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        first_gap = Contexts.rank.filter(self.gap_in_top(self.fact())).min()
        return (first_gap.is_null() | (self._first() < first_gap)).fill_null(value=False)

    def _first(self) -> pl.Expr:
        return self.rank(self.fact()).filter(self.within(self.fact())).min()


@dataclass(frozen=True)
class ContextPrecision(LevelledMetric):
    """Average precision over the retriever's order.

        context_precision = mean over the relevant ranks r of
                            (relevant contexts in the top r) / r

    0 if none is relevant, undefined for an empty list. Relevant contexts that were not
    retrieved cost nothing here; in ``map`` they do.

    Source: Manning, Raghavan & Schütze (2008), section 8.4; this form over the retrieved
    list is that of early Ragas releases.
    """

    name: ClassVar[str] = "context_precision"
    empty: ClassVar[float | Undefined] = Undefined("no_contexts")
    empty_flag: ClassVar[str | None] = None
    gap: ClassVar[str] = "incomplete_judgement"

    def rule(self) -> pl.Expr:
        """Precision at each relevant rank, averaged."""
        relevant = self.within(self.fact())
        precision = relevant.cum_sum() / self.rank(self.fact())
        return precision.filter(relevant).mean().fill_null(0.0)

    def settled(self) -> pl.Expr | None:
        """No gap in the top k; or only one, after contexts that are all relevant: then it is 1."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        gap = self.gap_in_top(self.fact())
        known = self.within(self.fact())
        first_gap = Contexts.rank.filter(gap).min()
        last_known = Contexts.rank.filter(known.is_not_null()).max()
        all_relevant = known.any() & known.all() & (last_known < first_gap) & (gap.sum() == 1)
        return first_gap.is_null() | all_relevant.fill_null(value=False)
