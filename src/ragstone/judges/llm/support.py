"""Support by a model: do the contexts support claims, statements and gold evidence?"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any, ClassVar, Literal

from ragstone.judgements import ASKS, SUPPORT_VERDICTS, Support
from ragstone.judges.judge import Proposition

from .blocks import Passage, contexts_block, found, listing
from .parts import balanced, groups, numbered, said, why_lacking
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry
from .sees import instructions_for
from .task import OfKind, Row, Target, TaskReply

SUPPORTED, _, ABSENT = SUPPORT_VERDICTS


class PropositionSupport(Item):
    """What a model says about one proposition; the details are ``c02: the words it rests on``."""

    shown: ClassVar[tuple[str, ...]] = ("c99: opened in 1859",)

    reason: str
    verdict: Literal["supported", "contradicted", "absent"]
    evidence: list[str]
    quote: str

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """Evidence with its quote; a detail without an id is a quote, one of a word an id."""
        if entry.details is None:
            return super().of(entry)
        split = [_evidence(detail) for detail in entry.details]
        return super().of(entry) | {
            "evidence": [name for name, _ in split if name],
            "quote": next((quote for _, quote in split if quote), ""),
        }


def _evidence(detail: str) -> tuple[str, str]:
    name, _, quote = detail.strip().partition(":")
    name = name.strip(" []\"'`")
    return ("", detail.strip()) if len(name.split()) > 1 else (name, quote.strip())


@dataclass(frozen=True)
class PropositionTask(OfKind):
    """Asks about all propositions of an example at once, whatever their origin.

    Their origin is neither shown nor visible in their order. Equal texts are asked about
    once. If the contexts need several questions, every part is asked about each proposition.
    """

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        """One; more if there are over 20 propositions, or contexts that do not fit."""
        texts = self._asked(target)
        instructions = instructions_for(prompts, self.name)

        def piece(group: Sequence[Passage], ids: Collection[str]) -> Piece:
            wanted = {name: text for name, text in texts.items() if name in ids}
            return Piece(
                self.name,
                instructions,
                (listing("PROPOSITIONS", wanted),),
                dict.fromkeys(wanted, PropositionSupport),
                lambda missing: piece(group, missing),
                contexts_block(group),
                texts=wanted,
                details=tuple(passage.id for passage in group),
            )

        return [
            piece(group, ids)
            for group in groups(target.example, room)
            for ids in balanced(list(texts))
        ]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """One for each proposition of the ask's origin."""
        origin = str(ASKS[ask].origin)
        places = {
            passage.id: passage.context
            for passage in chain.from_iterable(groups(target.example, reply.room))
        }
        contexts = [context.text for context in target.example.contexts or () if context.text]
        names = {text: name for name, text in self._asked(target).items()}
        verdicts = {
            name: _verdict(name, reply, places, contexts) for name in dict.fromkeys(names.values())
        }
        return [
            _about(origin, proposition) | verdicts[names[proposition.text]]
            for proposition in target.propositions.get(origin, ())
        ]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:
        """The contexts with their ids, and the propositions that the asks are about."""
        yield [(context.id, context.text) for context in target.example.contexts or ()]
        for ask in sorted(asks):
            origin = str(ASKS[ask].origin)
            yield origin, list(target.propositions.get(origin, ()))

    def _asked(self, target: Target) -> dict[str, str]:
        """The texts of all propositions by id, each once, in an order set by the texts alone."""
        origins = (str(ask.origin) for ask in self.kind.asks)
        found = chain.from_iterable(target.propositions.get(origin, ()) for origin in origins)
        texts = sorted({proposition.text for proposition in found})
        seed = _hash("\0".join(texts))
        return numbered("p", sorted(texts, key=lambda text: (_hash(text, seed), text)))


@dataclass(frozen=True)
class SupportTask(PropositionTask):
    """Asks what the contexts say."""

    kind = Support


def _hash(text: str, seed: bytes = b"") -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), key=seed, digest_size=16).digest()


def _about(origin: str, proposition: Proposition) -> Row:
    return {
        "origin": origin,
        "author": proposition.author,
        "reference": proposition.reference,
        "index": proposition.index,
    }


def _verdict(
    name: str, reply: TaskReply, places: Mapping[str, str], contexts: Iterable[str]
) -> Row:
    """Supported if any part of the contexts supports it, else contradicted if any contradicts it.

    Null if a missing part could still support it.
    """
    items = said(reply, name, PropositionSupport)
    verdict = min((item.verdict for item in items), key=SUPPORT_VERDICTS.index, default=None)
    if verdict is None or (name in reply.lacking and verdict != SUPPORTED):
        return {"verdict": None, "probability": None, "reason": why_lacking(reply, name)}
    speaking = [item for item in items if item.verdict == verdict]
    named = [one for item in speaking for one in item.evidence if verdict != ABSENT]
    quotes = [item.quote.strip() for item in speaking if verdict != ABSENT and item.quote.strip()]
    standing = [quote for quote in quotes if found(quote, contexts)]
    return {
        "verdict": verdict,
        "probability": float(verdict == SUPPORTED),
        "evidence": list(dict.fromkeys(places[one] for one in named if one in places)),
        "evidence_unknown": sum(one not in places for item in items for one in item.evidence),
        "quote": next(iter(standing or quotes), None),
        "quote_found": bool(standing) if quotes else None,
        "reason": speaking[0].reason,
    }
