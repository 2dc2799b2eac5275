"""Claim tasks: an LLM lists claims, statements and entities, and compares answer and reference.

Small models copy the claims of the prompt's example as those of the answer. A claim that shares no
content word with answer, question or earlier turns is not one of the answer, and a reply with one
is an echo; so is one without claims that calls the text an answer where the local judge finds some.

Statements and entities of the references are listed once per question for all systems.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragstone.data import Example
from ragstone.judgements import ASKS, Agreement, Claim, Entity, Response, Statement
from ragstone.judges.judge import Proposition
from ragstone.judges.local.claims_and_evidence import claims
from ragstone.judges.local.sentences import sentences
from ragstone.judges.local.text_terms import terms, tokens
from ragstone.judges.markers import MARKERS, Marker, markers
from ragstone.judges.text_counts import held_by

from .prompts import ANSWER, Prompts, block, has, shown
from .questions import Item, Piece, ReplyEntry, VerdictItem, Written, verdict_item
from .task import OfReferences, Row, Target, Task, TaskReply, portions, said, why_lacking

# Replies that claim nothing.
SILENT = ("abstain", "refuse")


HANGUL = re.compile("[\uac00-\ud7a3]")
_NUMBERED = re.compile(r"\s*(?:\[[sS](\d{1,6})\][:.]?|[sS](\d{1,6})\s?[:.])\s*")


class AnswerClaim(Item):
    """One claim as a model lists it, ``s2: It has tin [1].``; sentence 0 if none is given."""

    text: Written
    sentence: int


class AnswerClaims(Item):
    """A model's view of an answer. A blank claim is invalid and asked for again."""

    decides: ClassVar[str] = "response_type"
    example: ClassVar[tuple[str, ...]] = ("s1: The bridge opened in 1859 [2].",)

    response_reason: str
    response_type: Literal["answer", "partial", "abstain", "refuse", "clarify"]
    claims: list[AnswerClaim]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        fields = {"response_reason": entry.reason, "response_type": entry.verdict}
        if entry.details is None:
            return fields
        return fields | {"claims": [_claim(detail) for detail in entry.details]}


def _claim(detail: str) -> dict[str, Any]:
    numbered = _NUMBERED.match(detail)
    if numbered is None:
        return {"text": detail, "sentence": 0}
    return {"text": detail[numbered.end() :], "sentence": int(numbered[1] or numbered[2])}


@dataclass(frozen=True)
class ClaimsTask(Task):
    """Asks for the type of an answer and its claims at once."""

    citation_pattern: str = MARKERS
    kind = Claim

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        example = target.example
        if not (example.answer or "").strip():
            return []

        def echo(item: Item) -> str:
            return self._echo(item, example, in_its_language=prompts.language is None)

        piece = Piece(self.name, prompts.instructions(self.name),
                      shown(example, "question", "sentences"), {ANSWER: AnswerClaims},
                      texts={ANSWER: example.answer or ""}, details=(), echo=echo)  # fmt: skip
        return [piece]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """The type of the answer; or its factual claims, none if it abstains or refuses."""
        answer = target.example.answer or ""
        if not answer.strip():
            empty = {"response_type": "abstain", "reason": "answer_is_empty"}
            return [empty] if ask == Response.name else []
        items = said(reply, ANSWER, AnswerClaims)
        if ask == Response.name:
            if not items:
                return [{"response_type": None, "reason": why_lacking(reply, ANSWER)}]
            return [{"response_type": items[0].response_type, "reason": items[0].response_reason}]
        if not items or items[0].response_type in SILENT:
            return []
        cited = markers(answer, target.example.contexts or (), self.citation_pattern)
        length = len(sentences(answer))
        rows: list[Row] = []
        for claim in items[0].claims:
            text, contexts = self._without_markers(claim.text, target, cited)
            if text:
                sentence = claim.sentence - 1 if 1 <= claim.sentence <= length else None
                rows.append({"index": len(rows), "text": text, "sentence": sentence,
                             "factual": True, "citations": contexts})  # fmt: skip
        return rows

    def _echo(self, item: Item, example: Example, *, in_its_language: bool) -> str:
        """Tell what shows that a reply is not about the answer; empty if nothing does."""
        if not isinstance(item, AnswerClaims) or item.response_type in SILENT:
            return ""
        answer = example.answer or ""
        if not item.claims:
            if item.response_type == "answer" and (left_out := claims(answer)):
                return f"it lists no claim, though the answer says {json.dumps(left_out[0].text)}"
            return ""
        if not in_its_language:
            return ""
        turns = (turn.text for turn in example.history)
        known = self._words("\n".join((answer, example.question or "", *turns)))
        for claim in item.claims:
            words = self._words(claim.text)
            if words and known and words.isdisjoint(known):
                return f"claim {json.dumps(claim.text, ensure_ascii=False)}"
        return ""

    def _words(self, text: str) -> set[str]:
        """The beginnings of the content words, without citation markers; inflection ends words."""
        plain = re.sub(self.citation_pattern, " ", text)
        return {word[: 2 if HANGUL.match(word) else 4] for word in terms(plain)}

    def facts(self, target: Target) -> Iterable[object]:
        example = target.example
        yield from (example.history, example.question, example.answer)
        yield [(context.id, context.rank) for context in example.contexts or ()]
        yield self.citation_pattern

    def _without_markers(
        self, text: str, target: Target, cited: Sequence[Marker]
    ) -> tuple[str, list[str | None] | None]:
        """A claim without its markers, and the contexts that these cite.

        A marker that names no context gives null. All is unknown where the answer has no marker.
        """
        contexts = target.example.contexts or ()
        known = {marker.context for marker in cited}
        fabricated = {marker.text for marker in cited if marker.context is None}
        sources: dict[tuple[str | None, str | None], None] = {}
        read = markers(text, contexts, self.citation_pattern)
        for marker in read:
            if marker.context is not None and marker.context in known:
                sources[marker.context, None] = None
            elif marker.context is None and marker.text in fabricated:
                sources[None, marker.text] = None
        for written in dict.fromkeys(marker.text for marker in read):
            text = text.replace(f" {written}", "").replace(written, "")
        return text.strip(), [context for context, _ in sources] if cited else None


class ReferenceStatements(Item):
    """The statements of one reference. A blank statement is invalid and asked for again."""

    example: ClassVar[tuple[str, ...]] = ("The bridge opened in 1859.", "It is of iron.")

    statements: list[Written]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        return {} if entry.details is None else {"statements": entry.details}


class StatementsTask(OfReferences):
    """Asks what the references say, without showing an answer, so all systems share its rows."""

    kind = Statement
    item = ReferenceStatements

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        rows: list[Row] = []
        for number in range(len(target.example.reference)):
            for item in said(reply, f"r{number + 1:02d}", ReferenceStatements):
                rows += [{"reference": number, "index": index, "text": text}
                         for index, text in enumerate(item.statements)]  # fmt: skip
        return rows


# A model's verdict on one statement of the reference: does the answer say it?
StatementAgreement = verdict_item(
    "StatementAgreement", "full", "partial", "missing", "contradicted"
)


class ClaimAgreement(VerdictItem):
    """A model's verdict on one claim of the answer: does the reference say it?

    It uses the verdicts of statements, so that all items of a question have the same ones.
    """

    verdict: Literal["matches", "contradicts", "extra"]

    @classmethod
    def verdicts(cls) -> tuple[str, ...]:
        return tuple(OF_CLAIM)

    @classmethod
    def decided(cls, entry: ReplyEntry) -> Any:
        """A claim that is said only in part counts as extra, like one that is not said."""
        return OF_CLAIM.get(str(entry.verdict), entry.verdict)


OF_CLAIM = {"full": "matches", "partial": "extra", "missing": "extra",
            "contradicted": "contradicts"}  # fmt: skip


SORTS: dict[str, type[VerdictItem]] = {"claim": ClaimAgreement, "statement": StatementAgreement}
LISTS = {"claim": "CLAIMS", "statement": "STATEMENTS"}


class AgreementTask(Task):
    """Asks about claims and statements at once, one question for each reference."""

    kind = Agreement

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        example = target.example
        ids = _ids(target)
        instructions = prompts.instructions(self.name)
        question = [block("QUESTION", example.question or "")] if has(example, "question") else []
        answer = block("ANSWER", example.answer or "")
        pieces: list[Piece] = []
        for number, reference in enumerate(example.reference):
            compared = {name: text for text, name in ids.items() if text[0] == number}
            piece = Piece(
                self.name,
                instructions,
                (*question, block("REFERENCE", reference), answer),
                {name: SORTS[origin] for name, (_, origin, _) in compared.items()},
                texts={name: text for name, (_, _, text) in compared.items()},
                lists={name: LISTS[origin] for name, (_, origin, _) in compared.items()},
            )
            pieces += portions([piece])
        return pieces

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        origin = str(ASKS[ask].origin)
        ids = _ids(target)
        return [
            proposition.columns(origin)
            | {"reference": reference}
            | _verdict(reply, ids[reference, origin, proposition.text], origin)
            for proposition, reference in _held(target, origin)
        ]

    def facts(self, target: Target) -> Iterable[object]:
        example = target.example
        yield from (example.question, example.answer, example.reference)
        for ask in sorted(self.asks):
            origin = str(ASKS[ask].origin)
            yield origin, list(target.propositions.get(origin, ()))


def _held(target: Target, origin: str) -> Iterator[tuple[Proposition, int]]:
    """The pairs to compare: each claim with every reference, each statement with its own."""
    for proposition in target.propositions.get(origin, ()):
        if origin == "statement":
            yield proposition, proposition.reference
        else:
            for reference in range(len(target.example.reference)):
                yield proposition, reference


def _ids(target: Target) -> dict[tuple[int, str, str], str]:
    """Ids by reference, origin and text; equal texts of a reference are asked once."""
    compared = dict.fromkeys(
        (reference, origin, held.text)
        for origin in SORTS
        for held, reference in _held(target, origin)
    )
    order = sorted(compared, key=lambda text: text[0])
    return {text: f"k{number:02d}" for number, text in enumerate(order, 1)}


def _verdict(reply: TaskReply, name: str, origin: str) -> Row:
    items = said(reply, name, SORTS[origin])
    if not items:
        return {"verdict": None, "probability": None, "reason": why_lacking(reply, name)}
    return {"verdict": items[0].verdict, "probability": None, "reason": items[0].reason}


class ReferenceEntities(Item):
    """The entities of one reference; the list may be empty, but has to be there."""

    example: ClassVar[tuple[str, ...]] = ("Isambard Kingdom Brunel", "May 1859")

    listed: list[Written]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        return {} if entry.details is None else {"listed": entry.details}


class EntitiesTask(OfReferences):
    """Asks what the references name, without showing contexts, so all systems share the reply."""

    kind = Entity
    item = ReferenceEntities

    @property
    def asks(self) -> tuple[str, ...]:
        return tuple(ask.name for ask in self.kind.asks if "model" in ask.by)

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        example = target.example
        look_up = held_by(context.text for context in example.contexts or ())
        rows: list[Row] = []
        for number in range(len(example.reference)):
            for item in said(reply, f"r{number + 1:02d}", ReferenceEntities):
                words = {tuple(tokens(text)): text for text in reversed(item.listed)}
                once = [(key, text) for key, text in reversed(words.items()) if key]
                rows += [{"reference": number, "index": index, "text": text,
                          "found": look_up(key)}
                         for index, (key, text) in enumerate(once)]  # fmt: skip
        return rows

    def facts(self, target: Target) -> Iterable[object]:
        contexts = target.example.contexts or ()
        return (*super().facts(target), [context.text for context in contexts])
