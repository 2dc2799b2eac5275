"""The local judge: string evidence, and token alignment if the built-in encoder is available."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

import numpy as np

from ragstone.core.errors import ModelFailure
from ragstone.core.messages import reason
from ragstone.data import Example
from ragstone.judgements import (
    Agreement,
    Claim,
    ConversationSupport,
    Relevance,
    Response,
    Statement,
    Support,
)
from ragstone.judges.judge import (
    Block,
    Filled,
    Proposition,
    RowBuilder,
    block_with_turns,
    fingerprint,
    no_text,
)
from ragstone.models import Encoder

from .aligner import LIKENESS_VERSION, Aligner, AlignmentInput, like
from .answer_agreement import (
    AGREEMENT_VERSION,
    StatementMatch,
    claim_agreement,
    is_open,
    is_settled,
    statement_agreement,
)
from .claim_support import ALIGNMENT_VERSION, SUPPORT_VERSION, Alignment, support
from .claims_and_evidence import CLAIMS_VERSION, NO_CLAIMS, Passages, claims, statements
from .context_relevance import RELEVANCE_VERSION, relevance
from .languages import is_latin
from .response_type import RESPONSE_VERSION, response_type
from .sentences import SENTENCES_VERSION
from .text_terms import WORDS_VERSION

# Versions of the rules it is made of; part of the signature.
PARTS = (SENTENCES_VERSION, WORDS_VERSION, CLAIMS_VERSION, RESPONSE_VERSION, SUPPORT_VERSION,
         RELEVANCE_VERSION, AGREEMENT_VERSION)  # fmt: skip


@dataclass(frozen=True)
class LocalJudge:
    """Judges by the words: what of a claim stands in the contexts, and what is new.

    With an encoder it also matches each word with the most similar one of the contexts. Its curves
    were fitted with ``builtin:minilm``, and belong to that model. Its verdicts are estimates, good
    for ranking answers and systems on the same data; docs/local-judge.md has the figures, and what
    it is blind to.
    """

    encoder: Encoder | None = None
    name: str = "local"

    @cached_property
    def _aligner(self) -> Aligner | None:
        return None if self.encoder is None else Aligner(self.encoder)

    @property
    def about(self) -> str:
        by = (
            "string evidence without a model (ragstone models pull adds one)"
            if self.encoder is None
            else f"string evidence and token alignment by {self.encoder.name}"
        )
        return (f"{by}: an estimate, good for ranking, to be calibrated with human labels "
                "(docs/local-judge.md)")  # fmt: skip

    @property
    def parts(self) -> list[str]:
        """The versions that its numbers depend on, for the signature."""
        if self.encoder is None:
            return list(PARTS)
        models = (ALIGNMENT_VERSION, LIKENESS_VERSION, self.encoder.fingerprint[:12])
        return [*PARTS, *models]

    asks: frozenset[str] = frozenset(
        ask.name
        for kind in (Response, Claim, Statement, Relevance, Support, ConversationSupport, Agreement)
        for ask in kind.asks
    )

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Judge each example; if the encoder fails, the judgement has failed, with the reason."""
        sheet = RowBuilder(ask, self.name)
        try:
            fill = {
                Response.name: self._fill_response,
                Claim.name: self._fill_claims,
                Statement.name: self._fill_statements,
                Relevance.name: self._fill_relevance,
                Agreement.ask("claim").name: self._fill_claim_agreement,
                Agreement.ask("statement").name: self._fill_statement_agreement,
            }.get(ask, self._fill_support)
            fill(sheet, block, rows)
        except ModelFailure as error:
            sheet = RowBuilder(ask, self.name)
            for row in rows:
                subject = fingerprint(ask, block.examples[row].id)
                sheet.done(row, subject, "failed", reason("no_answer", of=self.name, said=error))
        return sheet.filled()

    def _fill_response(self, sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
        for row in rows:
            answer = block.examples[row].answer or ""
            subject = fingerprint(Response.name, answer)
            if sheet.done(row, subject):
                kind, reason = response_type(answer)
                sheet.add(subject, response_type=kind, reason=reason)

    def _fill_claims(self, sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
        """An answer that abstains or refuses makes no claim."""
        kinds = dict(block.tables.of(Response.name).select("row", "response_type").iter_rows())
        for row in rows:
            answer = block.examples[row].answer or ""
            silent = kinds.get(row) in NO_CLAIMS
            subject = fingerprint(Claim.name, answer, silent)
            if not sheet.done(row, subject) or silent:
                continue
            for index, claim in enumerate(claim for claim in claims(answer) if claim.factual):
                sheet.add(subject, index=index, text=claim.text, sentence=claim.sentence,
                          factual=True, start=claim.start, end=claim.end)  # fmt: skip

    def _fill_statements(self, sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
        for row in rows:
            references = block.examples[row].reference
            subject = fingerprint(Statement.name, references)
            if not sheet.done(row, subject):
                continue
            for number, reference in enumerate(references):
                for index, text in enumerate(statements(reference)):
                    sheet.add(subject, reference=number, index=index, text=text)

    def _fill_relevance(self, sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
        todo: list[tuple[str, str, list[str], Example]] = []
        for row in rows:
            example = block.examples[row]
            subject = block.digests[row]
            lack = no_text(example) if example.contexts else None
            if lack is None and example.contexts and example.question is None:
                lack = "no_question"
            if lack is not None:
                sheet.done(row, subject, "failed", reason(lack, of="local"))
            elif sheet.done(row, subject):
                texts = [context.text or "" for context in example.contexts or ()]
                todo.append((subject, example.question or "", texts, example))
        cosines = _cosines(self.encoder, [(question, texts) for _, question, texts, _ in todo])
        for (subject, question, texts, example), alike in zip(todo, cosines, strict=True):
            verdicts = relevance(question, texts, alike)
            for context, verdict in zip(example.contexts or (), verdicts, strict=True):
                sheet.add(subject, rank=context.rank, **verdict)

    def _fill_support(self, sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
        if sheet.kind.reads_turns:
            block = block_with_turns(block)
        propositions = block.propositions(sheet.ask)
        read: dict[str, tuple[tuple[str, ...], Passages]] = {}
        todo: list[tuple[str, Example, list[Proposition], AlignmentInput]] = []
        for row in rows:
            example = block.examples[row]
            mine = propositions.get(row, [])
            digest = block.digests[row]
            subject = fingerprint(sheet.kind.name, digest, mine)
            lack = no_text(example)
            if lack is not None:
                sheet.done(row, subject, "failed", reason(lack, of="local"))
                continue
            if not sheet.done(row, subject) or not mine:
                continue
            if digest not in read:
                texts = tuple(context.text or "" for context in example.contexts or ())
                read[digest] = (texts, Passages(texts))
            inputs = AlignmentInput(*read[digest], tuple(proposition.text for proposition in mine))
            todo.append((subject, example, mine, inputs))
        aligned: Sequence[Sequence[Alignment | None]] = (
            [[None] * len(mine) for _, _, mine, _ in todo]
            if self._aligner is None
            else self._aligner.align([inputs for *_, inputs in todo])
        )
        for (subject, example, mine, inputs), matches in zip(todo, aligned, strict=True):
            turns = len(example.history) if sheet.kind.reads_turns else 0
            turns_from = len(inputs.contexts) - turns
            for proposition, match in zip(mine, matches, strict=True):
                verdict = support(proposition.text, inputs.passages, example.question, match,
                                  turns_from=turns_from)  # fmt: skip
                columns = verdict.columns(example.contexts or ())
                sheet.add(subject, **proposition.columns(sheet.origin), **columns)

    def _fill_statement_agreement(
        self, sheet: RowBuilder, block: Block, rows: Sequence[int]
    ) -> None:
        propositions = block.propositions(sheet.ask)
        judged: list[tuple[str, Example, Proposition, StatementMatch]] = []
        left_open: list[tuple[str | None, str, str]] = []
        for row in rows:
            example = block.examples[row]
            mine = propositions.get(row, [])
            answer = example.answer or ""
            subject = fingerprint(sheet.ask, example.question, answer, example.reference, mine)
            if not sheet.done(row, subject):
                continue
            first = [(statement, statement_agreement(statement.text, answer, example.question))
                     for statement in mine]  # fmt: skip
            judged += [(subject, example, statement, match) for statement, match in first]
            by_reference: dict[int, list[StatementMatch]] = {}
            for statement, match in first:
                by_reference.setdefault(statement.reference, []).append(match)
            if not any(map(is_settled, by_reference.values())):
                left_open += [(example.question, statement.text, answer)
                              for statement, match in first
                              if is_open(statement.text, match)]  # fmt: skip
        alike = {} if self.encoder is None else like(self.encoder, left_open)
        for subject, example, statement, match in judged:
            triple = example.question, statement.text, example.answer or ""
            if (likeness := alike.get(triple)) is not None:
                question, text, answer = triple
                match = statement_agreement(text, answer, question, likeness)
            sheet.add(subject, **statement.columns(sheet.origin), verdict=match.verdict,
                      probability=match.probability, reason=match.reason)  # fmt: skip

    def _fill_claim_agreement(self, sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
        propositions = block.propositions(sheet.ask)
        for row in rows:
            example = block.examples[row]
            mine = propositions.get(row, [])
            subject = fingerprint(
                sheet.ask, example.question, example.answer or "", example.reference, mine
            )
            if not sheet.done(row, subject):
                continue
            for claim in mine:
                for number, reference in enumerate(example.reference):
                    verdict, why = claim_agreement(claim.text, reference, example.question)
                    sheet.add(subject, **claim.columns(sheet.origin) | {"reference": number},
                              verdict=verdict, reason=why)  # fmt: skip


def _cosines(
    encoder: Encoder | None, lists: Sequence[tuple[str, Sequence[str]]]
) -> Sequence[list[float] | None]:
    """The cosines of each question with its contexts, in one call for all of them.

    None in other scripts than Latin, which the encoder cannot read.
    """
    readable = [encoder is not None and is_latin(question) and is_latin(" ".join(texts))
                for question, texts in lists]  # fmt: skip
    texts = dict.fromkeys(
        text for question, contexts in compress(lists, readable) for text in (question, *contexts)
    )
    if encoder is None or not texts:
        return [None] * len(lists)
    vectors = encoder.embed(list(texts))
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    number_of = {text: number for number, text in enumerate(texts)}
    return [
        (vectors[[number_of[text] for text in contexts]] @ vectors[number_of[question]]).tolist()
        if contexts and can_read
        else None
        for (question, contexts), can_read in zip(lists, readable, strict=True)
    ]
