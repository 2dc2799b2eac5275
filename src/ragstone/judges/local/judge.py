"""The local judge, first version: string evidence, no model."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.examples import Example
from ragstone.judgements import (
    ASKS,
    KINDS,
    Agreement,
    Claim,
    Relevance,
    Response,
    Statement,
    Support,
)
from ragstone.judges.judge import Block, Filled, Proposition, Sheet, fingerprint

from . import agreement, claims, relevance, response, sentences, support, words

VERSION = "string-evidence/1"

PARTS = (
    sentences.VERSION,
    words.VERSION,
    claims.VERSION,
    response.VERSION,
    support.VERSION,
    relevance.VERSION,
    agreement.VERSION,
)
"""Versions of the rules it is made of; part of the signature."""

NO_CLAIMS = ("abstain", "refuse")


@dataclass(frozen=True)
class LocalJudge:
    """Judges by the words themselves: what of a claim stands in the contexts, and what is new.

    Its verdicts are estimates, good for ranking answers and systems on the same
    data. Its thresholds do not carry over from one data set to another, and it
    is blind to paraphrase and to most languages but English;
    docs/local-judge.md has the figures.
    """

    name: str = "local"
    about: str = (
        "string evidence without a model: an estimate, good for ranking, to be calibrated "
        "with human labels (docs/local-judge.md)"
    )
    asks: frozenset[str] = frozenset(
        {
            "response",
            "claims",
            "statements",
            "relevance",
            "support/claim",
            "support/statement",
            "support/evidence",
            "agreement/claim",
            "agreement/statement",
        }
    )

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Judge each example by rules over its strings."""
        sheet = Sheet(KINDS[ASKS[ask].kind], ask, self.name)
        if ask == "response":
            _fill_response(sheet, block, rows)
        elif ask == "claims":
            _fill_claims(sheet, block, rows)
        elif ask == "statements":
            _fill_statements(sheet, block, rows)
        elif ask == "relevance":
            _fill_relevance(sheet, block, rows)
        elif ask.startswith("support/"):
            _fill_support(sheet, block, rows)
        else:
            _fill_agreement(sheet, block, rows)
        return sheet.filled()


def _fill_response(sheet: Sheet, block: Block, rows: Sequence[int]) -> None:
    assert sheet.kind is Response
    for row in rows:
        answer = block.examples[row].answer or ""
        subject = fingerprint("response", answer)
        if sheet.done(row, subject):
            kind, reason = response.response_type(answer)
            sheet.add(subject, response_type=kind, reason=reason)


def _fill_claims(sheet: Sheet, block: Block, rows: Sequence[int]) -> None:
    """An answer that abstains or refuses makes no claim."""
    assert sheet.kind is Claim
    kinds = dict(block.tables.of("response").select("row", "response_type").iter_rows())
    for row in rows:
        answer = block.examples[row].answer or ""
        silent = kinds.get(row) in NO_CLAIMS
        subject = fingerprint("claims", answer, silent)
        if not sheet.done(row, subject) or silent:
            continue
        asserted = [claim for claim in claims.claims(answer) if claim.factual]
        for index, claim in enumerate(asserted):
            sheet.add(
                subject,
                index=index,
                text=claim.text,
                sentence=claim.sentence,
                factual=True,
                start=claim.start,
                end=claim.end,
            )


def _fill_statements(sheet: Sheet, block: Block, rows: Sequence[int]) -> None:
    assert sheet.kind is Statement
    for row in rows:
        references = block.examples[row].reference
        subject = fingerprint("statements", references)
        if not sheet.done(row, subject):
            continue
        for number, reference in enumerate(references):
            for index, text in enumerate(claims.statements(reference)):
                sheet.add(subject, reference=number, index=index, text=text, importance=1.0)


def _fill_relevance(sheet: Sheet, block: Block, rows: Sequence[int]) -> None:
    assert sheet.kind is Relevance
    for row in rows:
        example = block.examples[row]
        subject = block.digests[row]
        lack = _lack(example) if example.contexts else None
        if lack is None and example.contexts and example.question is None:
            lack = "no_question"
        if lack is not None:
            sheet.done(row, subject, "failed", f"local: {lack}")
            continue
        if not sheet.done(row, subject):
            continue
        contexts = example.contexts or ()
        texts = [context.text or "" for context in contexts]
        for context, verdict in zip(
            contexts, relevance.relevance(example.question or "", texts), strict=True
        ):
            sheet.add(
                subject,
                rank=context.rank,
                grade=verdict.grade,
                relevant=verdict.relevant,
                sufficient=verdict.sufficient,
                sentences=verdict.n_sentences,
                relevant_sentences=list(verdict.relevant_sentences),
                reason=verdict.reason,
            )


def _fill_support(sheet: Sheet, block: Block, rows: Sequence[int]) -> None:
    assert sheet.kind is Support
    propositions = block.propositions(sheet.ask)
    passages: dict[str, support.Passages] = {}
    for row in rows:
        example = block.examples[row]
        asked = propositions.get(row, [])
        subject = fingerprint("support", block.digests[row], asked)
        lack = _lack(example)
        if lack is not None:
            sheet.done(row, subject, "failed", f"local: {lack}")
            continue
        if not sheet.done(row, subject) or not asked:
            continue
        if block.digests[row] not in passages:
            passages.clear()
            passages[block.digests[row]] = support.Passages(
                [context.text or "" for context in example.contexts or ()]
            )
        for proposition in asked:
            verdict = support.support(
                proposition.text, passages[block.digests[row]], example.question
            )
            sheet.add(
                subject,
                **_about(sheet, proposition),
                verdict=verdict.verdict,
                probability=verdict.probability,
                evidence=[(example.contexts or ())[place].id for place in verdict.evidence],
                quote=verdict.quote,
                reason=verdict.reason,
            )


def _fill_agreement(sheet: Sheet, block: Block, rows: Sequence[int]) -> None:
    assert sheet.kind is Agreement
    propositions = block.propositions(sheet.ask)
    of_claims = sheet.ask == "agreement/claim"
    for row in rows:
        example = block.examples[row]
        asked = propositions.get(row, [])
        answer = example.answer or ""
        subject = fingerprint(sheet.ask, example.question, answer, example.reference, asked)
        if not sheet.done(row, subject):
            continue
        for proposition in asked:
            if not of_claims:
                said = agreement.statement_agreement(proposition.text, answer, example.question)
                sheet.add(
                    subject, **_about(sheet, proposition), verdict=said.verdict, reason=said.reason
                )
                continue
            for number, reference in enumerate(example.reference):
                known = agreement.claim_agreement(proposition.text, reference, example.question)
                sheet.add(
                    subject,
                    **_about(sheet, proposition) | {"reference": number},
                    verdict=known.verdict,
                    reason=known.reason,
                )


def _about(sheet: Sheet, proposition: Proposition) -> dict[str, object]:
    return {
        "origin": sheet.ask.split("/")[1],
        "author": proposition.author,
        "reference": proposition.reference,
        "index": proposition.index,
    }


def _lack(example: Example) -> str | None:
    """Why there is nothing to read; None where there is."""
    contexts = example.contexts or ()
    if contexts and all(context.text is None for context in contexts):
        return "no_context_text"
    return None
