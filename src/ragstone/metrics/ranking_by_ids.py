"""Ranking by ids: how much of what is known to be relevant was found, and how early?

Against ``reference_context_ids`` or qrels: a context is relevant from grade ``level`` on; an
unlisted one counts as not relevant (see ``unjudged_rate``). Undefined if nothing is known to
be relevant, and 0 with ``trec_eval``.
"""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from ragstone.judgements import Contexts, KnownContexts

from .metric import Part, Range, Undefined, share
from .ranking import Gain, TopMetric, discount, gain_of


class OverKnown(TopMetric):
    """A metric over the contexts whose grades are known by their ids."""

    over = KnownContexts
    empty = Undefined("nothing_known_relevant")
    undefined = "nothing_known_relevant"


@dataclass(frozen=True)
class ByIds(OverKnown):
    """The base of the metrics against known ids."""

    level: int = 1
    trec_eval: bool = False

    def parts(self) -> dict[str, Part]:
        """The rule; with ``trec_eval`` 0 if nothing is known to be relevant."""
        if self.trec_eval:
            return {"value": Part(self.over, self.rule().fill_null(0.0), 0.0)}
        return {"value": Part(self.over, self.rule(), self.empty)}

    def relevant(self) -> pl.Expr:
        return KnownContexts.grade >= self.level

    def found(self) -> pl.Expr:
        inside = self.in_top(KnownContexts.rank.is_not_null(), KnownContexts.rank)
        return self.relevant() & inside.fill_null(value=False)


class Recall(ByIds):
    """Share of the known relevant contexts that are in the top k.

        recall(k) = known relevant contexts in the top k / known relevant contexts

    Source: Manning, Raghavan & Schütze (2008), section 8.3.
    """

    name = "recall"

    def rule(self) -> pl.Expr:
        return share(self.found().sum(), self.relevant().sum())


class Hit(ByIds):
    """1 if a known relevant context is in the top k, else 0."""

    name = "hit"
    range = Range(0, 1, rate=True)

    def rule(self) -> pl.Expr:
        return pl.when(self.relevant().any()).then(self.found().any().cast(pl.Float64))


class MAP(ByIds):
    """Average precision against all known relevant contexts; its mean is the MAP.

        map(k) = sum over relevant ranks r <= k of (relevant in the top r) / r,
                 over all known relevant contexts

    Source: Manning, Raghavan & Schütze (2008), section 8.4; trec_eval's map and map_cut.
    """

    name = "map"

    def rule(self) -> pl.Expr:
        """There are n relevant contexts up to and including the n-th relevant rank."""
        ranks = KnownContexts.rank.filter(self.found()).sort()
        precision = pl.int_range(1, ranks.len() + 1) / ranks
        return share(precision.sum(), self.relevant().sum())


@dataclass(frozen=True)
class NDCG(OverKnown):
    """Normalised discounted cumulative gain: rewards good contexts, most at the top.

        ndcg(k) = DCG(k) / ideal DCG(k)
        DCG(k)  = sum over the top k of gain(grade) / log2(rank + 1)

    The ideal orders all contexts whose grade is known by id, retrieved or not: what is missing
    costs. ``gain``: ``linear``, the grade, as trec_eval has it, or ``exponential``, 2^grade - 1.
    Undefined if nothing is known to be relevant, and 0 with ``trec_eval``. For lists whose
    contexts only a judge or people graded, use ``list_ndcg``.

    Source: Järvelin & Kekäläinen (2002); trec_eval's ndcg and ndcg_cut. Exponential gain: Burges
    et al. (2005).
    """

    name = "ndcg"

    gain: Gain = "linear"
    ideal: Literal["pool"] = "pool"
    trec_eval: bool = False

    def parts(self) -> dict[str, Part]:
        gain = gain_of(KnownContexts.grade.clip(lower_bound=0), self.gain)
        best = gain.sort(descending=True)
        retrieved = self.in_top(KnownContexts.rank.is_not_null(), KnownContexts.rank)
        best = best if self.k is None else best.head(self.k)
        ideal = (best * discount(pl.int_range(1, best.len() + 1))).sum()
        gained = (gain * discount(KnownContexts.rank)).filter(retrieved).sum()
        none = 0.0 if self.trec_eval else self.empty
        return {"value": Part(KnownContexts, gained, none),
                "ideal": Part(KnownContexts, ideal, none)}  # fmt: skip

    def combine(self) -> pl.Expr:
        quotient = share(pl.col("value"), pl.col("ideal"))
        return quotient.fill_null(0.0) if self.trec_eval else quotient


class UnjudgedRate(TopMetric):
    """Share of the top k contexts whose id has no known grade.

    Metrics by ids count them as not relevant, so a high share means that those metrics are too
    low, by an unknown amount. Undefined without reference ids.
    """

    name = "unjudged_rate"
    range = Range(0, 1, "0")
    empty = Undefined("no_contexts")

    def rule(self) -> pl.Expr:
        unlisted = Contexts.listed.not_()
        return (unlisted if self.k is None else unlisted.filter(Contexts.rank <= self.k)).mean()

    @property
    def requires(self) -> tuple[str, ...]:
        """Reference ids are required: without them no context can be called unjudged."""
        return ("contexts", "known_contexts")
