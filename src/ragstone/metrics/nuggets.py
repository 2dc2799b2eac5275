"""Nuggets: how many of the facts that a good answer has does it have?

A nugget is a statement of the reference; what of it the answer says is judged as for
``answer_coverage``.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Statements, View

from .core import share
from .correctness import AgainstReferences
from .outcome import Undefined


@dataclass(frozen=True)
class NuggetScore(AgainstReferences):
    """Share of the nuggets that the answer has, as TREC RAG scores it.

        nugget_score = (full + .5 · partial) / nuggets

    ``strict=True`` counts partial as nothing. ``kind``: ``all`` nuggets; those that are ``vital``
    alone; or ``weighted``, all of them, those that are okay with half the weight. Which are vital
    people say, or an LLM. Undefined without nuggets, or without vital ones where these count.

    Source: Pradeep et al. (2024), "Initial Nugget Evaluation Results for the TREC 2024 RAG Track
    with the AutoNuggetizer Framework", section 3.
    """

    name: ClassVar[str] = "nugget_score"
    over: ClassVar[type[View]] = Statements
    empty: ClassVar[float | Undefined] = Undefined("no_statements")
    undefined: ClassVar[str] = "no_vital_nugget"

    kind: Literal["all", "vital", "weighted"] = "all"
    strict: bool = False

    def __post_init__(self) -> None:
        if self.kind not in ("all", "vital", "weighted"):
            raise InputError(
                f"{self.name}: kind must be all, vital or weighted, not {self.kind!r}."
            )

    def rule(self) -> pl.Expr:
        """What the answer has of the weight of one reference's nuggets."""
        if self.kind == "all":
            return self._had().mean()
        return share((self._had() * self._weight()).sum(), self._weight().sum())

    def settled(self) -> pl.Expr | None:
        """What the answer says of a nugget without weight need not be known."""
        if self.kind == "all":
            return None
        without = self._weight() == 0
        known = self._weight().is_not_null() & self._had().is_not_null()
        return (without | known).fill_null(value=False).all()

    def _had(self) -> pl.Expr:
        """How much of a nugget the answer has."""
        full, partial = Statements.agreement == "full", Statements.agreement == "partial"
        return full + partial * (0.0 if self.strict else 0.5)

    def _weight(self) -> pl.Expr:
        okay = 0.5 if self.kind == "weighted" else 0.0
        vital = Statements.importance == "vital"
        return pl.when(vital).then(1.0).when(vital.not_()).then(okay)
