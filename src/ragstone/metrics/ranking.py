"""Ranking: is the context any good, and does the good stand first?

All over the retrieved contexts in the retriever's own order. Without ``k`` the
cut is the length of the list the system returned.

Where human labels have gaps, ``gaps`` says what to do. ``strict`` gives a value
only if no filling of the gaps could change it, each label on its own; ``zero``
reads a missing label as 0; ``condense`` drops the contexts without the label
and closes the ranks.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from ragstone.errors import InputError
from ragstone.judgements import Contexts, KnownContexts, View, weight

from .core import Metric, Part
from .outcome import Range, Undefined

Gaps = Literal["strict", "zero", "condense"]

TOP_GRADE = 4
"""The highest grade that an ideal taken from the example's own list may hold."""

LONGEST = 1 << 20
"""The longest list that such an ideal may be of."""


def check_whole(metric: str, name: str, value: int | None) -> None:
    """Refuse a parameter that is neither None nor a whole number from 1.

    Raises:
        InputError: It is something else, or too large to count to.
    """
    if value is not None and (not isinstance(value, int) or not 1 <= value < 1 << 31):
        raise InputError(f"{metric}: {name} must be a whole number from 1, not {value!r}.")


@dataclass(frozen=True)
class RankingMetric(Metric):
    """What the metrics over labelled contexts share."""

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
        """The fact in the rows that the policy for gaps leaves, filled where it fills."""
        if self.gaps == "zero":
            return fact.fill_null(value=False)
        if self.gaps == "condense":
            return fact.drop_nulls()
        return fact

    def rank(self, fact: pl.Expr) -> pl.Expr:
        """The ranks of the rows that ``known`` leaves."""
        if self.gaps == "condense":
            return pl.int_range(1, fact.drop_nulls().len() + 1, dtype=pl.UInt32)
        return Contexts.rank

    def within(self, fact: pl.Expr) -> pl.Expr:
        """The fact as true only in the top k."""
        known = self.known(fact)
        return known if self.k is None else known & (self.rank(fact) <= self.k)

    def length(self) -> pl.Expr:
        """What a share is taken of: k, or else the length of the list."""
        return pl.len() if self.k is None else pl.lit(self.k)

    def gap_in_top(self, fact: pl.Expr) -> pl.Expr:
        """Where the fact is unknown in the top k."""
        return fact.is_null() if self.k is None else fact.is_null() & (Contexts.rank <= self.k)

    def flags(self) -> dict[str, pl.Expr]:
        """Notes a list shorter than k."""
        return {} if self.k is None else {"short_list": pl.col("value_rows") < self.k}


@dataclass(frozen=True)
class ShareInTop(RankingMetric):
    """Share of the top k that has a property."""

    def fact(self) -> pl.Expr:
        """The property."""
        raise NotImplementedError

    def rule(self) -> pl.Expr:
        """Without k under ``condense``, the length is that of the condensed list."""
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

    Divides by k also where the list is shorter. Without k, by the length of the
    list. 0 for an empty list, flagged ``empty_retrieval``.

    Source: Manning, Raghavan & Schütze (2008), section 8.4.
    """

    name: ClassVar[str] = "precision"


@dataclass(frozen=True)
class PrecisionOverRetrieved(LevelledMetric, ShareInTop):
    """Share of the top k contexts that are relevant, of those the system returned.

        precision_over_retrieved(k) = relevant in the top k / min(k, contexts)

    As ``precision``, but a short list is not punished and an empty one has no
    value.
    """

    name: ClassVar[str] = "precision_over_retrieved"
    empty: ClassVar[float | Undefined] = Undefined("empty_retrieval")

    def length(self) -> pl.Expr:
        """The contexts there are, k at the most."""
        return pl.len() if self.k is None else pl.len().clip(upper_bound=self.k)


@dataclass(frozen=True)
class SufficiencyRate(ShareInTop):
    """Share of the top k contexts from which the question can be answered.

    sufficiency_rate(k) = sufficient contexts in the top k / k
    """

    name: ClassVar[str] = "sufficiency_rate"

    def fact(self) -> pl.Expr:
        """It is sufficient."""
        return Contexts.sufficient


@dataclass(frozen=True)
class MisleadingRate(ShareInTop):
    """Share of the top k contexts that lead to a wrong answer. Lower is better.

    misleading_rate(k) = misleading contexts in the top k / k
    """

    name: ClassVar[str] = "misleading_rate"
    range: ClassVar[Range] = Range(0, 1, "-")

    def fact(self) -> pl.Expr:
        """It is misleading."""
        return Contexts.misleading


@dataclass(frozen=True)
class UnjudgedRate(ShareInTop):
    """Share of the top k contexts whose id is in no list of judged ids.

    They count as not relevant in every metric by ids, so a high share says that
    those metrics are too low, by an unknown amount. Undefined without reference
    ids.
    """

    name: ClassVar[str] = "unjudged_rate"
    range: ClassVar[Range] = Range(0, 1, "0")

    def fact(self) -> pl.Expr:
        """Its id is in no list."""
        return Contexts.judged.not_()

    @property
    def requires(self) -> tuple[str, ...]:
        """Without reference ids there is nothing to be unjudged against."""
        return ("contexts", "known_contexts")


@dataclass(frozen=True)
class SufficiencyHit(RankingMetric):
    """Whether the top k hold a context from which the question can be answered.

    1 if any of them is sufficient, else 0.
    """

    name: ClassVar[str] = "sufficiency_hit"
    range: ClassVar[Range] = Range(0, 1, rate=True)

    def rule(self) -> pl.Expr:
        """One is enough."""
        return self.within(Contexts.sufficient).any().cast(pl.Float64)

    def settled(self) -> pl.Expr | None:
        """One true settles it, whatever is unknown."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        gaps = self.gap_in_top(Contexts.sufficient).any()
        return self.within(Contexts.sufficient).any() | gaps.not_()


@dataclass(frozen=True)
class MRR(LevelledMetric):
    """Reciprocal rank of the first relevant context; its mean is the MRR.

        mrr(k) = 1 / rank of the first relevant context in the top k, 0 if none

    Source: Voorhees (1999), "The TREC-8 Question Answering Track Report".
    """

    name: ClassVar[str] = "mrr"

    def rule(self) -> pl.Expr:
        """One over the smallest relevant rank."""
        return (1 / self._first()).fill_null(0.0)

    def settled(self) -> pl.Expr | None:
        """No gap stands before the first relevant context."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        first_gap = Contexts.rank.filter(self.gap_in_top(self.fact())).min()
        return (first_gap.is_null() | (self._first() < first_gap)).fill_null(value=False)

    def _first(self) -> pl.Expr:
        return self.rank(self.fact()).filter(self.within(self.fact())).min()


@dataclass(frozen=True)
class ContextPrecision(LevelledMetric):
    """Average precision over the retriever's own order.

        context_precision = mean over the relevant ranks r of
                            (relevant contexts in the top r) / r

    0 if none is relevant. Undefined for an empty list. The denominator is the
    relevant contexts that were retrieved, so it does not punish what was not
    found; ``map`` does.

    Source: Manning, Raghavan & Schütze (2008), section 8.4; the form over the
    retrieved list is the one of early Ragas releases.
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
        """No gap in the top k."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        return self.gap_in_top(self.fact()).any().not_()


@dataclass(frozen=True)
class GradedRelevance(RankingMetric):
    """Mean grade of the contexts, as a share of the best grade.

        graded_relevance = mean of grade / max_grade

    ``max_grade`` 3 uses the grades 0 to 3; 2 the three levels irrelevant,
    relevant and sufficient, which people's labels give.
    """

    name: ClassVar[str] = "graded_relevance"

    max_grade: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_grade not in (2, 3):
            raise InputError(f"graded_relevance: max_grade must be 2 or 3, not {self.max_grade!r}.")

    def fact(self) -> pl.Expr:
        """The grade."""
        return Contexts.weight if self.max_grade == 2 else Contexts.grade

    def rule(self) -> pl.Expr:
        """Over the top k or the whole list; 0 where ``condense`` leaves nothing of it."""
        grade = self.fact().fill_null(0) if self.gaps == "zero" else self.known(self.fact())
        top = grade if self.k is None else grade.filter(self.rank(self.fact()) <= self.k)
        return top.mean().fill_null(0.0) / self.max_grade

    def settled(self) -> pl.Expr | None:
        """No gap in the top k."""
        if self.gaps != "strict":
            return pl.lit(value=True)
        return self.gap_in_top(self.fact()).any().not_()


@dataclass(frozen=True)
class SentenceRelevance(Metric):
    """Share of the contexts' sentences that help to answer the question.

        sentence_relevance = relevant sentences / all sentences of the contexts

    Source: the context relevancy of early Ragas releases.
    """

    name: ClassVar[str] = "sentence_relevance"
    family: ClassVar[str] = "retrieval"
    over: ClassVar[type[View]] = Contexts
    empty: ClassVar[float | Undefined] = 0.0
    empty_flag: ClassVar[str | None] = "empty_retrieval"
    undefined: ClassVar[str] = "no_sentences"

    def rule(self) -> pl.Expr:
        """Over all contexts together."""
        return Contexts.relevant_sentences.list.len().sum() / Contexts.sentences.sum()


@dataclass(frozen=True)
class NDCG(RankingMetric):
    """Normalised discounted cumulative gain: the good contexts, the best first.

        ndcg(k) = DCG(k) / ideal DCG(k)
        DCG(k)  = sum over the top k of gain(w) / log2(rank + 1)

    Weight w: 2 sufficient, 1 relevant, 0 else. ``gain`` is ``exponential``,
    2^w - 1, or ``linear``, w. ``ideal``: ``list`` orders all labelled contexts of
    the example's own list, ``topk`` only those of its top k; grades there go up
    to 4. ``pool`` orders all contexts whose grade is known by id, of any grade; with
    linear gain it is trec_eval's ndcg_cut.
    0 with the flag ``ideal_dcg_zero`` where nothing is relevant.

    Source: Järvelin & Kekäläinen (2002); exponential gain: Burges et al. (2005).
    """

    name: ClassVar[str] = "ndcg"
    undefined: ClassVar[str] = "grade_above_4"

    gain: Literal["exponential", "linear"] = "exponential"
    ideal: Literal["list", "topk", "pool"] = "list"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain not in ("exponential", "linear"):
            raise InputError(f"ndcg: gain must be exponential or linear, not {self.gain!r}.")
        if self.ideal not in ("list", "topk", "pool"):
            raise InputError(f"ndcg: ideal must be list, topk or pool, not {self.ideal!r}.")

    def parts(self) -> dict[str, Part]:
        """DCG, and how many contexts reach each grade: the ideal needs no more than that."""
        if self.ideal == "pool":
            return self._pool_parts()
        weights = self._weights()
        top = weights if self.k is None else weights.filter(self._rank() <= self.k)
        rank = self._rank() if self.k is None else self._rank().filter(self._rank() <= self.k)
        discounted = (self._gain(top) / (rank + 1).log(2)).sum()
        if self.gaps != "condense" and self.k is not None:
            inside = pl.when(Contexts.rank <= self.k)
            discounted = inside.then(self._gain(weights) / (Contexts.rank + 1).log(2)).sum()
        ideal = top if self.ideal == "topk" else weights
        counts = {
            f"reach_{grade}": self._part((ideal >= grade).sum())
            for grade in range(1, TOP_GRADE + 1)
        }
        return {
            "value": self._part(discounted),
            "top_grade": self._part(ideal.max().fill_null(0)),
            **counts,
        }

    def combine(self) -> pl.Expr:
        """DCG over the ideal one; 0 where the ideal is 0."""
        ideal = pl.col("ideal") if self.ideal == "pool" else self._ideal_from_counts()
        value = pl.when(ideal > 0).then(pl.col("value") / ideal).otherwise(0.0)
        if self.ideal == "pool":
            return value
        return pl.when(pl.col("top_grade") <= TOP_GRADE).then(value)

    def flags(self) -> dict[str, pl.Expr]:
        """Notes an ideal of zero."""
        if self.ideal == "pool":
            return {"ideal_dcg_zero": pl.col("ideal") == 0}
        return {**super().flags(), "ideal_dcg_zero": pl.col("reach_1") == 0}

    def _part(self, rule: pl.Expr) -> Part:
        if self.gaps == "strict":
            settled = self.gap_in_top(Contexts.weight).any().not_()
        else:
            settled = pl.lit(value=True)
        return Part(Contexts, rule, 0.0, settled, self.empty_flag)

    def _weights(self) -> pl.Expr:
        if self.gaps == "zero":
            filled = weight(
                Contexts.relevant.fill_null(value=False), Contexts.sufficient.fill_null(value=False)
            )
            return pl.coalesce(Contexts.weight, filled)
        return Contexts.weight.drop_nulls() if self.gaps == "condense" else Contexts.weight

    def _rank(self) -> pl.Expr:
        return self.rank(Contexts.weight)

    def _gain(self, grade: pl.Expr) -> pl.Expr:
        return (
            grade.cast(pl.Float64) if self.gain == "linear" else 2.0 ** grade.cast(pl.Float64) - 1
        )

    def _ideal_from_counts(self) -> pl.Expr:
        total = pl.lit(0.0)
        for grade in range(1, TOP_GRADE + 1):
            step = 1.0 if self.gain == "linear" else 2.0 ** (grade - 1)
            reached = pl.col(f"reach_{grade}").cast(pl.UInt32)
            if self.k is not None:
                reached = reached.clip(upper_bound=self.k)
            total = total + step * pl.lit(_discounts(self.k)).gather(reached, null_on_oob=True)
        return total

    def _pool_parts(self) -> dict[str, Part]:
        found = KnownContexts.rank.is_not_null()
        if self.k is not None:
            found = found & (KnownContexts.rank <= self.k)
        gain = self._gain(KnownContexts.grade.clip(lower_bound=0))
        best = gain.sort(descending=True)
        if self.k is not None:
            best = best.head(self.k)
        place = pl.int_range(1, best.len() + 1)
        return {
            "value": Part(
                KnownContexts, (gain / (KnownContexts.rank + 1).log(2)).filter(found).sum(), 0.0
            ),
            "ideal": Part(KnownContexts, (best / (place + 1).log(2)).sum(), 0.0),
        }


@lru_cache
def _discounts(k: int | None) -> pl.Series:
    """Sum of the first n discounts 1 / log2(rank + 1), for n from 0."""
    ranks = np.arange(1, min(k or LONGEST, LONGEST) + 1)
    return pl.Series(np.concatenate([[0.0], np.cumsum(1 / np.log2(ranks + 1))]))
