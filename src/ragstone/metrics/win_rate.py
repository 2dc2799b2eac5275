"""Win rate: how often one system's answer is preferred to another's."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Preferences, Topic, View

from .metric import Metric, Undefined

POINTS = {"win": 1.0, "tie": 0.5, "loss": 0.0}
"""The points for each outcome."""


@dataclass(frozen=True)
class WinRate(Metric):
    """How often this system's answer is preferred: 1 win, .5 tie, 0 loss.

    Judged in both orders; disagreement is a tie. Against one ``rival``, or the mean over all.

    Source: Zheng et al. (2023), "Judging LLM-as-a-Judge", on position bias.
    """

    name: ClassVar[str] = "win_rate"
    family: ClassVar[str] = "answer"
    over: ClassVar[type[View]] = Preferences
    empty: ClassVar[float | Undefined] = Undefined("no_rival")
    undefined: ClassVar[str] = "no_rival"

    rival: str | None = None

    def __post_init__(self) -> None:
        if self.rival is not None and not self.rival:
            raise InputError("win_rate: rival must be the name of a system.")

    @property
    def topics(self) -> frozenset[Topic]:
        """The rival, or all."""
        return frozenset({Topic("preference", self.rival or "")})

    def rule(self) -> pl.Expr:
        """The mean over the rivals; a full point only if both orders agree."""
        agreed = pl.when(Preferences.first == Preferences.second).then(Preferences.first)
        points = agreed.replace_strict(POINTS, default=0.5, return_dtype=pl.Float64)
        return self._against(points).mean()

    def settled(self) -> pl.Expr | None:
        """Both orders were judged."""
        both = Preferences.first.is_not_null() & Preferences.second.is_not_null()
        return self._against(both).all()

    def _against(self, fact: pl.Expr) -> pl.Expr:
        return fact if self.rival is None else fact.filter(Preferences.rival == self.rival)
