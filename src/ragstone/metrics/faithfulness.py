"""Faithfulness: how far the answer is based on the contexts, and wrong claims taken from them."""

from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Claims, ClaimsAgainstReferences, Sentences

from .metric import Metric, Range, Undefined, reaches


class OverClaims(Metric):
    """The base of the metrics over the answer's claims."""

    family = "grounding"
    over = Claims
    empty = Undefined("no_claims")


@dataclass(frozen=True)
class Faithfulness(OverClaims):
    """Share of the answer's claims that the contexts support.

        faithfulness = supported claims / all claims

    A claim that the contexts do not settle counts as unsupported. Undefined for an answer
    without claims, such as "I don't know"; some reports use ``no_claims=1.0``, which calls it
    faithful. ``unjudged="drop"`` ignores claims without a verdict, which otherwise make the
    score missing.

    Source: Es et al. (2024), "RAGAS: Automated Evaluation of Retrieval Augmented Generation",
    section 3.
    """

    name = "faithfulness"

    no_claims: float | None = None
    unjudged: Literal["missing", "drop"] = "missing"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.no_claims is not None:
            if not 0 <= self.no_claims <= 1:
                raise InputError(f"{self.name}: no_claims is from 0 to 1, not {self.no_claims!r}.")
            object.__setattr__(self, "empty", float(self.no_claims))

    def rule(self) -> pl.Expr:
        return (Claims.support == "supported").mean()

    def settled(self) -> pl.Expr | None:
        """With ``drop``, a single verdict is enough."""
        return Claims.support.is_not_null().any() if self.unjudged == "drop" else None


class ConversationFaithfulness(OverClaims):
    """Share of the answer's claims that the contexts or the earlier turns support.

        conversation_faithfulness = claims supported by contexts or history / all claims

    In a conversation an answer may rest on what was said before. Contexts and earlier turns, the
    user's and the assistant's, are read together as one ground; the evidence of a claim says which
    turn. What the assistant made up before counts as said, so read it beside ``faithfulness``,
    which reads the contexts alone. Without earlier turns it asks what ``faithfulness`` asks.
    """

    name = "conversation_faithfulness"

    def rule(self) -> pl.Expr:
        return (Claims.conversation_support == "supported").mean()


@dataclass(frozen=True)
class SteppedFaithfulness(Faithfulness):
    """Faithfulness by the steps of a rubric.

        stepped_faithfulness = the highest step that faithfulness reaches, else 0

    So 8 supported claims of 10 are worth .7: a count in place of a rating such as
    ``rating(criterion="faithfulness")``, on the same points. Undefined where faithfulness is.
    """

    name = "stepped_faithfulness"

    steps: tuple[float, ...] = (0.3, 0.5, 0.7, 0.9, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        rising = sorted(set(self.steps))
        if not rising or list(self.steps) != rising or not 0 < rising[0] <= rising[-1] <= 1:
            raise InputError(
                f"{self.name}: steps rise, above 0 and to at most 1, not {self.steps!r}."
            )
        ends = (self.steps[-1], float(self.no_claims or 0))
        object.__setattr__(self, "range", replace(self.range, high=max(ends)))

    def rule(self) -> pl.Expr:
        share = super().rule()
        reached = [pl.when(reaches(share, step)).then(step) for step in self.steps]
        return pl.max_horizontal(pl.when(share.is_not_null()).then(0.0), *reached)


class Hallucination(Faithfulness):
    """Share of the answer's claims that the contexts do not support.

    hallucination = 1 - faithfulness; undefined if that is
    """

    name = "hallucination"
    range = Range(0, 1, "-")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.no_claims is not None:
            object.__setattr__(self, "empty", 1 - float(self.no_claims))

    def rule(self) -> pl.Expr:
        return (Claims.support != "supported").mean()


class ExpectedFaithfulness(OverClaims):
    """Mean probability that the contexts support a claim.

        expected_faithfulness = mean over the claims of P(supported)

    Use it to rank if the judge gives probabilities; with bare verdicts it equals
    ``faithfulness``.
    """

    name = "expected_faithfulness"

    def rule(self) -> pl.Expr:
        return Claims.probability.mean()


class Groundedness(Metric):
    """Share of the answer's sentences that are fully supported.

        groundedness = sentences whose claims are all supported / sentences with claims

    Source: the groundedness of the TruLens triad, over judged claims.
    """

    name = "groundedness"
    family = "grounding"
    over = Sentences
    empty = Undefined("no_claims")

    def rule(self) -> pl.Expr:
        return Sentences.supported.mean()


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

    name = "noise_sensitivity"
    family = "grounding"
    over = ClaimsAgainstReferences
    range = Range(0, 1, "-")
    empty = Undefined("no_claims")
    by_reference = True

    contexts: Literal["relevant", "irrelevant"] = "relevant"

    def rule(self) -> pl.Expr:
        return self._noise().mean()

    def settled(self) -> pl.Expr | None:
        """A claim that matches the reference is no noise, wherever it comes from."""
        return self._noise().is_not_null().all()

    def _noise(self) -> pl.Expr:
        claims = ClaimsAgainstReferences
        source = claims.on_relevant if self.contexts == "relevant" else claims.on_irrelevant
        return (claims.agreement != "matches") & source
