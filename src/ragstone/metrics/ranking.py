"""Ranking: how relevant the retrieved contexts are, and whether relevant ones come first.

Contexts are in the retriever's order. Without ``k``, the whole list counts.

``gaps`` handles contexts without a label. ``strict`` gives a value only if the missing labels,
each taken independently, could not change it; ``zero`` reads a missing label as 0; ``condense``
drops these contexts and renumbers the ranks.

``trec_eval`` reads the grades known by id alone, whoever judges; an unlisted context is not
relevant.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Contexts, View, weight

from .metric import Metric, Part, Undefined

Gaps = Literal["strict", "zero", "condense"]
Gain = Literal["exponential", "linear"]


def gain_of(grade: pl.Expr, gain: Gain) -> pl.Expr:
    """Return the gain that a grade adds to the DCG at the first rank."""
    grade = grade.cast(pl.Float64)
    return grade if gain == "linear" else 2.0**grade - 1


@dataclass(frozen=True)
class TopMetric(Metric):
    """A metric over the top k contexts; without k, over all of them."""

    family = "retrieval"
    over: ClassVar[type[View]] = Contexts

    k: int | None = None

    def __post_init__(self) -> None:
        """Check that k, and the least grade where there is one, are from 1 to 2³¹ - 1."""
        super().__post_init__()
        for name in ("k", "level"):
            value = getattr(self, name, None)
            if value is not None and not 1 <= value < 1 << 31:
                raise InputError(
                    f"{self.name}: {name} must be a whole number from 1, not {value!r}."
                )

    def in_top(self, fact: pl.Expr, rank: pl.Expr) -> pl.Expr:
        """The fact, made false outside of the top k."""
        return fact if self.k is None else fact & (rank <= self.k)


@dataclass(frozen=True)
class RankingMetric(TopMetric):
    """A metric over labelled contexts."""

    empty: ClassVar[float | Undefined] = 0.0
    empty_flag: ClassVar[str | None] = "empty_retrieval"
    gap = "unlabelled_in_top_k"

    gaps: Gaps = "strict"

    def fact(self) -> pl.Expr:
        """Return what a label says of a context."""
        raise NotImplementedError

    def known(self) -> pl.Expr:
        """The fact in the rows that the policy for gaps keeps, and with the gaps that it fills."""
        if self.gaps == "zero":
            return self.fact().fill_null(value=False)
        return self.fact().drop_nulls() if self.gaps == "condense" else self.fact()

    def rank(self) -> pl.Expr:
        """The ranks of the rows that ``known`` keeps."""
        if self.gaps == "condense":
            return pl.int_range(1, self.fact().drop_nulls().len() + 1, dtype=pl.UInt32)
        return Contexts.rank

    def within(self) -> pl.Expr:
        """The fact, made false outside of the top k."""
        return self.in_top(self.known(), self.rank())

    def gap_in_top(self) -> pl.Expr:
        """True if the fact is unknown for a context in the top k."""
        return self.in_top(self.fact().is_null(), Contexts.rank)

    def settled(self) -> pl.Expr:
        return self.settled_by_labels() if self.gaps == "strict" else pl.lit(value=True)

    def settled_by_labels(self) -> pl.Expr:
        """True if no label that is missing could change the value."""
        return self.gap_in_top().any().not_()

    def flags(self) -> dict[str, pl.Expr]:
        return {} if self.k is None else {"short_list": pl.col("value_rows") < self.k}


class ShareInTop(RankingMetric):
    """The share of the top k contexts of which the fact holds."""

    def rule(self) -> pl.Expr:
        """The share of the top k; with ``condense`` and without k, of the condensed list."""
        if self.k is None and self.gaps == "condense":
            return self.known().mean().fill_null(0.0)
        return self.within().sum() / self.length()

    def length(self) -> pl.Expr:
        return pl.len() if self.k is None else pl.lit(self.k)


@dataclass(frozen=True)
class LevelledMetric(RankingMetric):
    """A metric that may ask for more than grade 1 before it calls a context relevant."""

    level: int = 1
    trec_eval: bool = False

    def fact(self) -> pl.Expr:
        if self.trec_eval:
            return Contexts.known_grade >= self.level
        return Contexts.relevant if self.level == 1 else Contexts.grade >= self.level

    @cached_property
    def requires(self) -> tuple[str, ...]:
        return ("contexts", "known_contexts") if self.trec_eval else ("contexts",)


class Precision(LevelledMetric, ShareInTop):
    """Share of the top k contexts that are relevant.

        precision(k) = relevant contexts in the top k / k

    Divides by k even if the list is shorter; without k, by the length of the list. 0 for an
    empty list, flagged ``empty_retrieval``.

    Source: Manning, Raghavan & Schütze (2008), section 8.4.
    """

    name = "precision"


class PrecisionOverRetrieved(LevelledMetric, ShareInTop):
    """Share of the retrieved contexts in the top k that are relevant.

        precision_over_retrieved(k) = relevant in the top k / min(k, contexts)

    Like ``precision``, but a short list costs nothing, and an empty one is undefined.
    """

    name = "precision_over_retrieved"
    empty = Undefined("empty_retrieval")

    def length(self) -> pl.Expr:
        """The number of contexts, but no more than k."""
        return pl.len() if self.k is None else pl.len().clip(upper_bound=self.k)


class MRR(LevelledMetric):
    """Reciprocal rank of the first relevant context; its mean is the MRR.

        mrr(k) = 1 / rank of the first relevant context in the top k, 0 if none

    Source: Voorhees (1999), "The TREC-8 Question Answering Track Report".
    """

    name = "mrr"

    def rule(self) -> pl.Expr:
        return (1 / self._first()).fill_null(0.0)

    def settled_by_labels(self) -> pl.Expr:
        """There is no gap before the first relevant context."""
        first_gap = Contexts.rank.filter(self.gap_in_top()).min()
        return (first_gap.is_null() | (self._first() < first_gap)).fill_null(value=False)

    def _first(self) -> pl.Expr:
        return self.rank().filter(self.within()).min()


class ContextPrecision(LevelledMetric):
    """Average precision over the retriever's order.

        context_precision = mean over the relevant ranks r of
                            (relevant contexts in the top r) / r

    0 if none is relevant, undefined for an empty list. Relevant contexts that were not
    retrieved cost nothing here; in ``map`` they do.

    Source: Manning, Raghavan & Schütze (2008), section 8.4; this form over the retrieved
    list is that of early Ragas releases.
    """

    name = "context_precision"
    empty = Undefined("no_contexts")
    empty_flag = None
    gap = "incomplete_judgement"

    def rule(self) -> pl.Expr:
        relevant = self.within()
        precision = relevant.cum_sum() / self.rank()
        return precision.filter(relevant).mean().fill_null(0.0)

    def settled_by_labels(self) -> pl.Expr:
        """No gap in the top k; or only one, after contexts that are all relevant: then it is 1."""
        gap = self.gap_in_top()
        known = self.within()
        first_gap = Contexts.rank.filter(gap).min()
        last_known = Contexts.rank.filter(known.is_not_null()).max()
        all_relevant = known.any() & known.all() & (last_known < first_gap) & (gap.sum() == 1)
        return first_gap.is_null() | all_relevant.fill_null(value=False)


@dataclass(frozen=True)
class GradedRelevance(RankingMetric):
    """Mean grade of the contexts, as a share of the best grade.

        graded_relevance = mean of grade / max_grade

    ``max_grade=3`` uses grades 0 to 3; ``max_grade=2`` the levels irrelevant, relevant and
    sufficient, which human labels give.
    """

    name = "graded_relevance"

    max_grade: Literal[2, 3] = 3

    def fact(self) -> pl.Expr:
        return Contexts.weight if self.max_grade == 2 else Contexts.grade

    def rule(self) -> pl.Expr:
        """The mean over the top k or the whole list; 0 if ``condense`` leaves no context."""
        grade = self.fact().fill_null(0) if self.gaps == "zero" else self.known()
        top = grade if self.k is None else grade.filter(self.rank() <= self.k)
        return top.mean().fill_null(0.0) / self.max_grade


class SentenceRelevance(Metric):
    """Share of the contexts' sentences that help to answer the question.

        sentence_relevance = relevant sentences / all sentences of the contexts

    Source: the context relevancy of early Ragas releases.
    """

    name = "sentence_relevance"
    family = "retrieval"
    over = Contexts
    empty = 0.0
    empty_flag = "empty_retrieval"
    undefined = "no_sentences"

    def rule(self) -> pl.Expr:
        return Contexts.relevant_sentences.list.len().sum() / Contexts.sentences.sum()


# For the ideal of an example's own list, grades up to this are counted, higher ones sorted.
COUNTED = 4

# The longest list for which such an ideal can be computed.
LONGEST = 1 << 20


# Discounts are multiples of this, 6e-14, so that sums up to 512 are exact in any order: a list in
# ideal order has exactly the same sum as the ideal.
STEP = 2.0**-44


@dataclass(frozen=True)
class ListNDCG(RankingMetric):
    """Normalised discounted cumulative gain beside the best order of the example's own list.

        list_ndcg(k) = DCG(k) / ideal DCG(k)
        DCG(k)       = sum over the top k of gain(w) / log2(rank + 1)

    Says whether the best of what was retrieved comes first, not whether it was retrieved: so it
    ranks orders of one list, not retrievers, which ``ndcg`` does. Weight w: 2 sufficient, 1
    relevant, else 0. ``gain``: ``exponential``, 2^w - 1, or ``linear``, w. ``ideal`` orders all
    labelled contexts of the list (``list``) or those of its top k (``topk``). 0, flagged
    ``ideal_dcg_zero``, if nothing is relevant.

    Source: Järvelin & Kekäläinen (2002); exponential gain: Burges et al. (2005).
    """

    name = "list_ndcg"
    undefined = "list_too_long"

    gain: Gain = "exponential"
    ideal: Literal["list", "topk"] = "list"

    def fact(self) -> pl.Expr:
        return Contexts.weight

    def parts(self) -> dict[str, Part]:
        """DCG, and how many contexts reach each grade, from which the ideal is computed."""
        weights = self._weights()
        top = weights if self.k is None else weights.filter(self.rank() <= self.k)
        rank = self.rank() if self.k is None else self.rank().filter(self.rank() <= self.k)
        discounted = (self._gain(top) * discount(rank)).sum()
        if self.gaps != "condense" and self.k is not None:
            inside = pl.when(Contexts.rank <= self.k)
            discounted = inside.then(self._gain(weights) * discount(Contexts.rank)).sum()
        ideal = top if self.ideal == "topk" else weights
        counts = {
            f"reach_{grade}": self._part((ideal >= grade).sum()) for grade in range(1, COUNTED + 1)
        }
        return {"value": self._part(discounted), "above": self._above(), **counts}

    def combine(self) -> pl.Expr:
        # The ideal order needs no sort: each grade adds its increase in gain to the first n ranks,
        # where n is the number of contexts that reach it.
        ideal = pl.col("above")
        for grade in range(1, COUNTED + 1):
            step = 1.0 if self.gain == "linear" else 2.0 ** (grade - 1)
            reached = pl.col(f"reach_{grade}").cast(pl.UInt32)
            if self.k is not None:
                reached = reached.clip(upper_bound=self.k)
            ideal = ideal + step * pl.lit(_discounts(self.k)).gather(reached, null_on_oob=True)
        return pl.when(ideal > 0).then(pl.col("value") / ideal).when(ideal == 0).then(0.0)

    def flags(self) -> dict[str, pl.Expr]:
        return {**super().flags(), "ideal_dcg_zero": pl.col("reach_1") == 0}

    def _part(self, rule: pl.Expr) -> Part:
        return Part(Contexts, rule, 0.0, self.settled(), self.empty_flag)

    def _above(self) -> Part:
        """The share in the ideal of the few grades above ``COUNTED``, which come first in it."""
        high = Contexts.weight > COUNTED
        if self.ideal == "topk" and self.k is not None:
            high = high & (Contexts.rank <= self.k)
        best = Contexts.weight.sort(descending=True)
        if self.k is not None:
            best = best.head(self.k)
        discounts = discount(pl.int_range(1, best.len() + 1))
        more = self._gain(best) - self._gain(pl.lit(COUNTED))
        return Part(Contexts, (more * discounts).sum(), 0.0, pl.lit(value=True), only=high)

    def _weights(self) -> pl.Expr:
        if self.gaps == "zero":
            filled = weight(
                Contexts.relevant.fill_null(value=False), Contexts.sufficient.fill_null(value=False)
            )
            return pl.coalesce(Contexts.weight, filled)
        return Contexts.weight.drop_nulls() if self.gaps == "condense" else Contexts.weight

    def _gain(self, grade: pl.Expr) -> pl.Expr:
        return gain_of(grade, self.gain)


def discount(rank: pl.Expr) -> pl.Expr:
    """1 / log2(rank + 1), to the nearest multiple of ``STEP``."""
    return (1 / STEP / (rank + 1).log(2)).round() * STEP


@lru_cache
def _discounts(k: int | None) -> pl.Series:
    ranks = pl.int_range(1, min(k or LONGEST, LONGEST) + 1)
    sums = pl.select(discount(ranks).cum_sum()).to_series()
    return pl.concat([pl.Series(sums.name, [0.0]), sums])
