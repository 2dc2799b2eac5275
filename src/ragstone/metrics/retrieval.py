"""Retrieval against what was needed: contexts that hold it, suffice, mislead, or are used."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from ragstone.judgements import Contexts, Entities, EntitiesByModel, Evidence, Statements

from .metric import Metric, Range, Undefined, share
from .ranking import RankingMetric, ShareInTop


class OverStatements(Metric):
    """The base of the metrics over the reference's statements, as the contexts support them."""

    family = "retrieval"
    over = Statements
    empty = Undefined("no_statements")
    by_reference = True


class ContextRecall(OverStatements):
    """Share of the reference's statements that the contexts support.

        context_recall = supported statements / all statements

    The best of several references counts. 0 if nothing was retrieved.

    Source: Es et al. (2024), "RAGAS: Automated Evaluation of Retrieval Augmented Generation",
    and its documentation.
    """

    name = "context_recall"

    def rule(self) -> pl.Expr:
        return (Statements.support == "supported").mean()


class ReferenceContradiction(OverStatements):
    """Share of examples whose reference is contradicted by the contexts.

        reference_contradiction = 1 if the contexts contradict a statement, else 0

    Either the reference or a context is wrong, so look at both before an answer is blamed. Of
    several references one that is not contradicted is enough. 0 if nothing was retrieved.
    """

    name = "reference_contradiction"
    range = Range(0, 1, "-", rate=True)

    def rule(self) -> pl.Expr:
        return (Statements.support == "contradicted").any().cast(pl.Float64)

    def settled(self) -> pl.Expr:
        """One contradiction settles it, whatever the other statements are."""
        return (Statements.support == "contradicted").any() | Statements.support.is_not_null().all()


@dataclass(frozen=True)
class ContextEntityRecall(Metric):
    """Share of the reference's names, numbers and dates that the contexts hold.

        context_entity_recall = entities of the reference found in a context / its entities

    By rule: names are capitalised words, except one that opens a sentence alone, and count in
    full; numbers and dates in any spelling. German capitalises too much for it. With
    ``by="model"`` an LLM lists them, as in Ragas. The best of several references counts. 0 if
    nothing was retrieved.

    Source: the context entities recall of Ragas.
    """

    name = "context_entity_recall"
    family = "retrieval"
    over = Entities
    empty = Undefined("no_entities")
    by_reference = True

    by: Literal["rule", "model"] = "rule"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == "model":
            object.__setattr__(self, "over", EntitiesByModel)

    def rule(self) -> pl.Expr:
        return pl.col("found").mean()


class EvidenceRecall(Metric):
    """Share of the gold evidence that the contexts contain.

    evidence_recall = supported pieces of evidence / all pieces
    """

    name = "evidence_recall"
    family = "retrieval"
    over = Evidence
    empty = Undefined("no_evidence")

    def rule(self) -> pl.Expr:
        return (Evidence.support == "supported").mean()


class ContextUtilization(Metric):
    """Share of the relevant contexts that the answer uses.

        context_utilization = relevant contexts on which a supported claim rests
                              / relevant contexts

    Undefined if no context is relevant.
    """

    name = "context_utilization"
    family = "retrieval"
    over = Contexts
    empty = Undefined("no_contexts")
    undefined = "no_relevant_context"

    def rule(self) -> pl.Expr:
        return share((Contexts.relevant & Contexts.used).sum(), Contexts.relevant.sum())

    def settled(self) -> pl.Expr:
        """Only a relevant context has to be known to be used or not."""
        known = Contexts.relevant.not_() | Contexts.used.is_not_null()
        return (Contexts.relevant.is_not_null() & known).all()


class SufficiencyRate(ShareInTop):
    """Share of the top k contexts that suffice to answer the question.

    sufficiency_rate(k) = sufficient contexts in the top k / k
    """

    name = "sufficiency_rate"

    def fact(self) -> pl.Expr:
        return Contexts.sufficient


class SufficiencyHit(RankingMetric):
    """1 if any of the top k contexts suffices to answer the question, else 0."""

    name = "sufficiency_hit"
    range = Range(0, 1, rate=True)

    def fact(self) -> pl.Expr:
        return Contexts.sufficient

    def rule(self) -> pl.Expr:
        return self.within().any().cast(pl.Float64)

    def settled_by_labels(self) -> pl.Expr:
        """One sufficient context settles it, whatever else is unknown."""
        return self.within().any() | super().settled_by_labels()


class MisleadingRate(ShareInTop):
    """Share of the top k contexts that lead to a wrong answer.

    misleading_rate(k) = misleading contexts in the top k / k
    """

    name = "misleading_rate"
    range = Range(0, 1, "-")

    def fact(self) -> pl.Expr:
        return Contexts.misleading
