"""Noise: wrong claims that come from the contexts."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import ClaimsAgainstReferences, View

from .core import Metric
from .outcome import Range, Undefined


@dataclass(frozen=True)
class NoiseSensitivity(Metric):
    """Share of the answer's claims that are wrong and taken from a context.

        noise_sensitivity = claims that the reference does not back
                            and a relevant context supports / all claims

    ``contexts="irrelevant"`` counts wrong claims that only irrelevant contexts support. The rest
    of the wrong claims has no support: see ``hallucination``. Relevance is judged by the question.
    The best of several references counts. 0 if nothing was retrieved.

    Source: Ru et al. (2024), "RAGChecker", section 3.3; Ragas, which calls a context relevant if
    it supports a statement of the reference.
    """

    name: ClassVar[str] = "noise_sensitivity"
    family: ClassVar[str] = "grounding"
    over: ClassVar[type[View]] = ClaimsAgainstReferences
    range: ClassVar[Range] = Range(0, 1, "-")
    empty: ClassVar[float | Undefined] = Undefined("no_claims")
    by_reference: ClassVar[bool] = True

    contexts: Literal["relevant", "irrelevant"] = "relevant"

    def __post_init__(self) -> None:
        if self.contexts not in ("relevant", "irrelevant"):
            raise InputError(
                f"{self.name}: contexts must be relevant or irrelevant, not {self.contexts!r}."
            )

    def rule(self) -> pl.Expr:
        """The share of the claims."""
        return self._noise().mean()

    def settled(self) -> pl.Expr | None:
        """A claim that matches the reference is no noise, wherever it comes from."""
        return self._noise().is_not_null().all()

    def _noise(self) -> pl.Expr:
        claims = ClaimsAgainstReferences
        source = claims.on_relevant if self.contexts == "relevant" else claims.on_irrelevant
        return (claims.agreement != "matches") & source
