"""Answer rates: a yes or no for each answer, and its share over the answers.

From human labels where given, otherwise from the judged claims and citations.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ragstone.judgements import Answers

from .metric import Metric, Range, Undefined

# By what an abstention is told: the judged kind of reply, or the stock phrases of reports.
Abstained = Literal["response_type", "phrases_8", "phrases_12"]


def abstained(by: Abstained = "response_type") -> pl.Expr:
    """Return an expression: the answer abstains, refuses, asks back, or has the phrase."""
    if by == "response_type":
        return Answers.response_type.is_in(["abstain", "refuse", "clarify"]).first()
    return (Answers.phrases_8 if by == "phrases_8" else Answers.phrases_12).first()


class AnswerRate(Metric):
    """1 if the answer has a property, else 0."""

    family = "answer"
    over = Answers
    range = Range(0, 1, "+", rate=True)
    empty = Undefined("no_answer")
    gap = "no_labels"

    column: ClassVar[str]
    """The property, as a column of the view."""

    def fact(self) -> pl.Expr:
        return pl.col(self.column)

    def rule(self) -> pl.Expr:
        return self.fact().first().cast(pl.Float64)


class GroundingRate(AnswerRate):
    """1 if an answer's claims or citations have a property, else 0."""

    family = "grounding"


class GroundingPresence(GroundingRate):
    """Share of answers with at least one claim that the contexts support."""

    name = "grounding_presence"
    column = "support_present"


class UnsupportedClaim(GroundingRate):
    """Share of answers with a claim that the contexts contradict or do not contain."""

    name = "unsupported_claim"
    range = Range(0, 1, "-", rate=True)
    column = "unsupported_claim_present"


class Contradiction(GroundingRate):
    """Share of answers with a claim that the contexts contradict."""

    name = "contradiction"
    range = Range(0, 1, "-", rate=True)
    column = "contradicted_claim_present"


class CitationPresence(GroundingRate):
    """Share of answers that cite a source."""

    name = "citation_presence"
    column = "source_cited"


class CitationFabrication(GroundingRate):
    """Of the answers with citations, the share that cites a source that was not retrieved.

        citation_fabrication = answers that cite and fabricate / answers that cite

    A ratio of sums: an answer without citations is undefined and counts in neither.
    """

    name = "citation_fabrication"
    range = Range(0, 1, "-", rate=True)
    undefined = "no_answer_cites_a_source"

    def fact(self) -> pl.Expr:
        return pl.when(Answers.source_cited).then(Answers.fabricated_source)

    def settled(self) -> pl.Expr | None:
        """An answer that cites nothing is settled without the label on fabrication."""
        cited, fabricated = Answers.source_cited, Answers.fabricated_source
        return cited.first().is_not_null() & (
            cited.first().not_() | fabricated.first().is_not_null()
        )


@dataclass(frozen=True)
class Abstention(AnswerRate):
    """Share of answers that say they do not know.

    ``by``: ``response_type``, the judged kind of reply; or ``phrases_8`` or ``phrases_12``, the
    stock phrases of published GraphRAG reports, which also match "the Tomb of the Unknown
    Soldier".
    """

    name = "abstention"
    range = Range(0, 1, "0", rate=True)

    by: Abstained = "response_type"

    def fact(self) -> pl.Expr:
        if self.by == "response_type":
            return Answers.response_type == "abstain"
        return abstained(self.by)


class RefusalRate(AnswerRate):
    """Share of answers that decline to help.

    An answer that says it does not know abstains, and is no refusal.
    """

    name = "refusal"
    range = Range(0, 1, "0", rate=True)

    def fact(self) -> pl.Expr:
        return Answers.response_type == "refuse"


class ProperAction(AnswerRate):
    """Share of answers that answer, abstain or refuse as they should."""

    name = "proper_action"
    column = "proper_action"


class OnTopic(AnswerRate):
    """Share of answers that are about what was asked."""

    name = "on_topic"
    column = "response_on_topic"


class Helpfulness(AnswerRate):
    """Share of answers that leave the user better off."""

    name = "helpfulness"
    column = "helpful"


class Incompleteness(AnswerRate):
    """Share of answers that lack something asked for."""

    name = "incompleteness"
    range = Range(0, 1, "-", rate=True)
    column = "incomplete"


class UnsafeContent(AnswerRate):
    """Share of answers with content that may do harm."""

    name = "unsafe_content"
    range = Range(0, 1, "-", rate=True)
    column = "unsafe_content"
