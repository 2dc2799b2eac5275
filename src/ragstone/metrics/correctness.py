"""Correctness: how far the answer says what the reference says, by statements, rubric or nuggets.

The best of several references counts and is noted, except with a rubric. Undefined without a
reference. A nugget is a statement of the reference, judged as for ``answer_coverage``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import (
    Answers,
    ClaimsAgainstReferences,
    Ratings,
    References,
    Statements,
    Topic,
)

from .answer_rates import Abstained, abstained
from .metric import Metric, Part, Range, Undefined, reaches, share
from .rubrics import score_of

OUTCOMES = {"correct": 1.0, "partial": 0.5, "wrong": 0.0, "dont_know": 0.0}
YES_OR_NO = Range(0, 1, rate=True)
# The lowest values of A, B, C and D; lower values are E.
LETTERS = (0.8, 0.6, 0.4, 0.2)


class AgainstReferences(Metric):
    """The base of the metrics that are evaluated against each reference."""

    family = "reference"
    by_reference = True


class AnswerCoverage(AgainstReferences):
    """Share of the reference's statements that the answer covers.

    answer_coverage = (full + .5 · partial) / all statements
    """

    name = "answer_coverage"
    over = Statements
    empty = Undefined("no_statements")

    def rule(self) -> pl.Expr:
        return _coverage()


@dataclass(frozen=True)
class AnswerCorrectness(AgainstReferences):
    """Agreement of answer and reference in facts and in meaning.

        answer_correctness = factual · F_beta + (1 - factual) · similarity
        precision = matching claims / claims
        recall    = covered statements / statements

    F_beta weights recall beta times as much as precision. ``factual=1`` needs no similarity and
    no encoder. ``threshold`` turns the score into 1 or 0. Undefined without claims and
    statements.

    Source: the answer correctness of Ragas; F_beta: van Rijsbergen (1979).
    """

    name = "answer_correctness"
    undefined = "no_claims_and_no_statements"

    factual: float = 0.75
    beta: float = 1.0
    threshold: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.factual <= 1:
            raise InputError(f"answer_correctness: factual must be 0 to 1, not {self.factual!r}.")
        if self.beta <= 0:
            raise InputError(f"answer_correctness: beta must be above 0, not {self.beta!r}.")
        if self.threshold is not None:
            object.__setattr__(self, "range", YES_OR_NO)

    def parts(self) -> dict[str, Part]:
        claims, statements = ClaimsAgainstReferences, Statements
        matching = (claims.agreement == "matches").sum()
        covered = (statements.agreement == "full").sum()
        parts = {"matching": Part(claims, matching, 0.0),
                 "claims": Part(claims, claims.agreement.len(), 0.0),
                 "covered": Part(statements, covered, 0.0),
                 "statements": Part(statements, statements.agreement.len(), 0.0)}  # fmt: skip
        if self.factual < 1:
            similar = References.similarity.first()
            parts["similarity"] = Part(References, similar, Undefined("no_reference"))
        return parts

    def combine(self) -> pl.Expr:
        precision = share(pl.col("matching"), pl.col("claims")).fill_null(0.0)
        recall = share(pl.col("covered"), pl.col("statements")).fill_null(0.0)
        square = self.beta**2
        weighted = square * precision + recall
        f_beta = pl.when(weighted > 0).then((1 + square) * precision * recall / weighted)
        value = self.factual * f_beta.otherwise(0.0)
        if self.factual < 1:
            value = value + (1 - self.factual) * pl.col("similarity").clip(0, 1)
        if self.threshold is not None:
            value = reaches(value, self.threshold).cast(pl.Float64)
        return pl.when(pl.col("claims") + pl.col("statements") > 0).then(value)


@dataclass(frozen=True)
class FactualAccuracy(AgainstReferences):
    """Correctness, completeness and consistency of the answer's claims, in one number.

        factual_accuracy = .5 correctness + .3 completeness + .2 consistency
        correctness  = matching claims / claims that match or contradict, 0 if none does
        completeness = (full + .5 · partial) / statements
        consistency  = 1 - contradicting claims / claims

    Extra facts cost nothing, wrong ones count twice. The score also has a letter from A to E:
    ``letters`` are the lowest values of A, B, C and D. Undefined for an answer without claims.
    GraphRAG reports grade every answer: with ``abstention=0.0``, one that abstains, refuses, asks
    back or makes no claim scores 0, an E.
    """

    name = "factual_accuracy"

    letters: tuple[float, float, float, float] = LETTERS
    abstention: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 >= self.letters[0] > self.letters[1] > self.letters[2] > self.letters[3] > 0:
            raise InputError(
                f"{self.name}: letters are the least values of A, B, C and D, each below the one "
                f"before, from 1 to 0, not {self.letters!r}."
            )
        if self.abstention is not None and not 0 <= self.abstention <= 1:
            raise InputError(f"{self.name}: abstention must be 0 to 1, not {self.abstention!r}.")

    def criteria(self) -> dict[str, Part]:
        agreement = ClaimsAgainstReferences.agreement
        matches, contradicts = (agreement == "matches").sum(), (agreement == "contradicts").sum()
        no_claims = Undefined("no_claims") if self.abstention is None else self.abstention
        return {
            "correctness": Part(
                ClaimsAgainstReferences,
                share(matches, matches + contradicts).fill_null(0.0),
                no_claims,
            ),
            "consistency": Part(
                ClaimsAgainstReferences, 1 - contradicts / agreement.len(), no_claims
            ),
            "completeness": Part(Statements, _coverage(), Undefined("no_statements")),
            **({} if self.abstention is None else {"claims": Part(
                ClaimsAgainstReferences, agreement.len(), 0.0)}),
        }  # fmt: skip

    def parts(self) -> dict[str, Part]:
        if self.abstention is None:
            return self.criteria()
        return {"abstains": Part(Answers, abstained(), Undefined("no_answer")), **self.criteria()}

    def combine(self) -> pl.Expr:
        value = factual_accuracy(
            pl.col("correctness"), pl.col("completeness"), pl.col("consistency")
        )
        if self.abstention is None:
            return value
        nothing = pl.col("abstains") == 1
        if "claims" in self.parts():
            nothing = nothing | (pl.col("claims") == 0)
        return pl.when(nothing).then(self.abstention).otherwise(value)

    def decided(self) -> pl.Expr | None:
        """An abstention that has a value of its own is decided without its claims."""
        return None if self.abstention is None else pl.col("abstains") == 1

    def label(self) -> pl.Expr:
        return letter(pl.col("value"), self.letters)


@dataclass(frozen=True)
class AnswerOutcome(AgainstReferences):
    """One word for an answer: correct, partial, wrong or dont_know.

    ``dont_know`` if it abstains, refuses or asks back. Otherwise ``correct`` if it covers every
    statement of the reference in full and no claim contradicts it; ``wrong`` if it covers none,
    even partially; else ``partial``. The values are 0, 1, 0 and .5; the shares are the counts in
    GraphRAG reports, which have no ``partial``: with ``classes=3``, that is ``wrong`` too. ``by``
    as in ``abstention``: with ``phrases_8`` or ``phrases_12``, an answer that holds one of these
    stock phrases is ``dont_know``.
    """

    name = "answer_outcome"

    classes: Literal[3, 4] = 4
    by: Abstained = "response_type"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.classes == 3:
            object.__setattr__(self, "range", YES_OR_NO)

    def parts(self) -> dict[str, Part]:
        agreement = Statements.agreement
        contradicts = (ClaimsAgainstReferences.agreement == "contradicts").any()
        none = Undefined("no_statements")
        return {"dont_know": Part(Answers, abstained(self.by), Undefined("no_answer")),
                "all_full": Part(Statements, (agreement == "full").all(), none),
                "some": Part(Statements, agreement.is_in(["full", "partial"]).any(), none),
                "contradicts": Part(ClaimsAgainstReferences, contradicts, 0.0)}  # fmt: skip

    def combine(self) -> pl.Expr:
        return self.label().replace_strict(OUTCOMES, return_dtype=pl.Float64)

    def decided(self) -> pl.Expr:
        """A reply that gives no answer is decided without its claims."""
        return pl.col("dont_know") == 1

    def label(self) -> pl.Expr:
        full = (pl.col("all_full") == 1) & (pl.col("contradicts") == 0)
        partial = pl.lit("partial" if self.classes == 4 else "wrong")
        unknown = pl.when(pl.col("dont_know") == 1).then(pl.lit("dont_know"))
        certain = unknown.when(full).then(pl.lit("correct"))
        return certain.when(pl.col("some") == 1).then(partial).otherwise(pl.lit("wrong"))


def factual_accuracy(correctness: pl.Expr, completeness: pl.Expr, consistency: pl.Expr) -> pl.Expr:
    """``.5 correctness + .3 completeness + .2 consistency``, each from 0 to 1."""
    return 0.5 * correctness + 0.3 * completeness + 0.2 * consistency


def letter(value: pl.Expr, least: Sequence[float]) -> pl.Expr:
    """A, B, C or D from the least value of each, else E; null stays null."""
    worse: pl.Expr = pl.lit("E")
    for bound, name in zip(reversed(least), "DCBA", strict=True):
        worse = pl.when(reaches(value, bound)).then(pl.lit(name)).otherwise(worse)
    return pl.when(value.is_not_null()).then(worse)


def _coverage() -> pl.Expr:
    full, partial = Statements.agreement == "full", Statements.agreement == "partial"
    return (full + 0.5 * partial).mean()


# The rubric criterion of each part.
CRITERIA = {name: f"factual_{name}" for name in ("correctness", "completeness", "consistency")}


class FactualAccuracyRated(FactualAccuracy):
    """Correctness, completeness and consistency of the answer, each rated on a rubric.

        factual_accuracy_rated = .5 correctness + .3 completeness + .2 consistency

    Rates ``factual_correctness``, ``factual_completeness`` and ``factual_consistency`` in five
    steps each, reasoning first. ``letters`` and ``abstention`` as in ``factual_accuracy``, which is
    the same sum over claims and statements. A criterion that could not be rated makes it missing,
    never E.

    Source: Liu et al. (2023), "G-Eval", on rating by steps; the weights are those of
    GraphRAG reports.
    """

    name = "factual_accuracy_rated"
    by_reference = False
    undefined = "not_rated"

    @property
    def topics(self) -> frozenset[Topic]:
        return frozenset(Topic("rating", criterion) for criterion in CRITERIA.values())

    def criteria(self) -> dict[str, Part]:
        return {name: Part(Ratings, score_of(criterion).mean(), Undefined("not_rated"),
                           score_of(criterion).is_not_null().all())
                for name, criterion in CRITERIA.items()}  # fmt: skip


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

    name = "nugget_score"
    over = Statements
    empty = Undefined("no_statements")
    undefined = "no_vital_nugget"

    kind: Literal["all", "vital", "weighted"] = "all"
    strict: bool = False

    def rule(self) -> pl.Expr:
        if self.kind == "all":
            return self._had().mean()
        return share((self._had() * self._weight()).sum(), self._weight().sum())

    def settled(self) -> pl.Expr | None:
        """A nugget without weight is settled, whatever the answer says of it."""
        if self.kind == "all":
            return None
        without = self._weight() == 0
        known = self._weight().is_not_null() & self._had().is_not_null()
        return (without | known).fill_null(value=False).all()

    def _had(self) -> pl.Expr:
        full, partial = Statements.agreement == "full", Statements.agreement == "partial"
        return full + partial * (0.0 if self.strict else 0.5)

    def _weight(self) -> pl.Expr:
        okay = 0.5 if self.kind == "weighted" else 0.0
        vital = Statements.importance == "vital"
        return pl.when(vital).then(1.0).when(vital.not_()).then(okay)
