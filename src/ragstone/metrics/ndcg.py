"""NDCG: normalised discounted cumulative gain."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Contexts, KnownContexts, weight

from .core import Part
from .ranking import RankingMetric

COUNTED = 4
"""For the ideal of an example's own list, grades up to this are counted, higher ones sorted."""

LONGEST = 1 << 20
"""The longest list for which such an ideal can be computed."""


STEP = 2.0**-44
"""Discounts are multiples of this, 6e-14, so that sums up to 512 are exact in any order: a list in
ideal order has exactly the same sum as the ideal."""


@dataclass(frozen=True)
class NDCG(RankingMetric):
    """Normalised discounted cumulative gain: rewards good contexts, most at the top.

        ndcg(k) = DCG(k) / ideal DCG(k)
        DCG(k)  = sum over the top k of gain(w) / log2(rank + 1)

    Weight w: 2 sufficient, 1 relevant, else 0. ``gain``: ``exponential``, 2^w - 1, or
    ``linear``, w. ``ideal`` orders all labelled contexts of the list (``list``), those of its
    top k (``topk``), or all contexts whose grade is known by id (``pool``; with linear gain,
    trec_eval's ndcg_cut). 0, flagged ``ideal_dcg_zero``, if nothing is relevant.

    Source: Järvelin & Kekäläinen (2002); exponential gain: Burges et al. (2005).
    """

    name: ClassVar[str] = "ndcg"
    undefined: ClassVar[str] = "list_too_long"

    gain: Literal["exponential", "linear"] = "exponential"
    ideal: Literal["list", "topk", "pool"] = "list"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain not in ("exponential", "linear"):
            raise InputError(f"ndcg: gain must be exponential or linear, not {self.gain!r}.")
        if self.ideal not in ("list", "topk", "pool"):
            raise InputError(f"ndcg: ideal must be list, topk or pool, not {self.ideal!r}.")

    def parts(self) -> dict[str, Part]:
        """DCG, and how many contexts reach each grade, from which the ideal is computed."""
        if self.ideal == "pool":
            return self._pool_parts()
        weights = self._weights()
        top = weights if self.k is None else weights.filter(self._rank() <= self.k)
        rank = self._rank() if self.k is None else self._rank().filter(self._rank() <= self.k)
        discounted = (self._gain(top) * _discount(rank)).sum()
        if self.gaps != "condense" and self.k is not None:
            inside = pl.when(Contexts.rank <= self.k)
            discounted = inside.then(self._gain(weights) * _discount(Contexts.rank)).sum()
        ideal = top if self.ideal == "topk" else weights
        counts = {
            f"reach_{grade}": self._part((ideal >= grade).sum()) for grade in range(1, COUNTED + 1)
        }
        return {
            "value": self._part(discounted),
            "above": self._above(),
            **counts,
        }

    def combine(self) -> pl.Expr:
        """DCG divided by the ideal DCG; 0 if the ideal is 0."""
        ideal = pl.col("ideal") if self.ideal == "pool" else self._ideal_from_counts()
        return pl.when(ideal > 0).then(pl.col("value") / ideal).when(ideal == 0).then(0.0)

    def flags(self) -> dict[str, pl.Expr]:
        """Flags an ideal DCG of zero."""
        if self.ideal == "pool":
            return {"ideal_dcg_zero": pl.col("ideal") == 0}
        return {**super().flags(), "ideal_dcg_zero": pl.col("reach_1") == 0}

    def _part(self, rule: pl.Expr) -> Part:
        if self.gaps == "strict":
            settled = self.gap_in_top(Contexts.weight).any().not_()
        else:
            settled = pl.lit(value=True)
        return Part(Contexts, rule, 0.0, settled, self.empty_flag)

    def _above(self) -> Part:
        """The share in the ideal of the few grades above ``COUNTED``, which come first in it."""
        high = Contexts.weight > COUNTED
        if self.ideal == "topk" and self.k is not None:
            high = high & (Contexts.rank <= self.k)
        best = Contexts.weight.sort(descending=True)
        if self.k is not None:
            best = best.head(self.k)
        discount = _discount(pl.int_range(1, best.len() + 1))
        more = self._gain(best) - self._gain(pl.lit(COUNTED))
        return Part(Contexts, (more * discount).sum(), 0.0, pl.lit(value=True), only=high)

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
        # The ideal order needs no sort: each grade adds its increase in gain to the first n ranks,
        # where n is the number of contexts that reach it.
        total = pl.col("above")
        for grade in range(1, COUNTED + 1):
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
                KnownContexts, (gain * _discount(KnownContexts.rank)).filter(found).sum(), 0.0
            ),
            "ideal": Part(KnownContexts, (best * _discount(place)).sum(), 0.0),
        }


def _discount(rank: pl.Expr) -> pl.Expr:
    """1 / log2(rank + 1), to the nearest multiple of ``STEP``."""
    return (1 / STEP / (rank + 1).log(2)).round() * STEP


@lru_cache
def _discounts(k: int | None) -> pl.Series:
    """The sums of the first n discounts, for n = 0, 1, 2, …"""
    ranks = pl.int_range(1, min(k or LONGEST, LONGEST) + 1)
    sums = pl.select(_discount(ranks).cum_sum()).to_series()
    return pl.concat([pl.Series(sums.name, [0.0]), sums])
