"""Context tasks: an LLM judges relevance of contexts, and support by contexts or turns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from ragstone.data import Example
from ragstone.judgements import ASKS, SUPPORT_VERDICTS, Kind, Relevance, Support
from ragstone.judges.judge import no_text, with_turns

from .prompts import Passage, Prompts, contexts_block, has, shown
from .questions import Item, Piece, ReplyEntry, quote_is_in
from .replies import WHOLE
from .task import Row, Target, Task, TaskReply, groups, numbered, portions, said, why_lacking

SUFFICIENT = 3


MISLEADING = "misleading"

Grade = Annotated[Literal[0, 1, 2, 3], WHOLE]


class PassageRelevance(Item):
    """A model's verdict on one passage; the details are helpful sentences, ``s2``."""

    decides: ClassVar[str] = "grade"
    example: ClassVar[tuple[str, ...]] = ("s1", "s3")

    reason: str
    grade: Grade
    misleading: bool
    sentences: list[int]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """``misleading`` among the details says that it is."""
        if entry.details is None:
            return super().of(entry)
        words = [detail.strip(" .\"'`").lower() for detail in entry.details]
        numbers = re.findall(r"\bs?(\d{1,6})\b", " ".join(words))
        return super().of(entry) | {
            "misleading": MISLEADING in words,
            "sentences": [int(number) for number in numbers],
        }


class RelevanceTask(Task):
    """Asks about all contexts of a list at once, without showing an answer or a reference."""

    kind = Relevance

    def lacks(self, example: Example) -> str | None:
        return super().lacks(example) if has(example, "question") else "no_question"

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        example = target.example
        if not has(example, "question"):
            return []
        blocks = shown(example, "question")
        instructions = prompts.instructions(self.name)
        return [Piece(self.name, instructions, blocks,
                      {passage.id: PassageRelevance for passage in group}, contexts_block(group),
                      texts={passage.id: passage.text for passage in group},
                      details=("s1", "s2", MISLEADING))
                for group in groups(example, room)]  # fmt: skip

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """One for each context with text; the parts of a split context are merged."""
        by_rank: dict[int, list[Passage]] = {}
        for passage in chain.from_iterable(groups(target.example, reply.room)):
            by_rank.setdefault(passage.rank, []).append(passage)
        return [_row(rank, split, reply) for rank, split in by_rank.items()]

    def facts(self, target: Target) -> Iterable[object]:
        example = target.example
        texts = [(context.rank, context.text) for context in example.contexts or ()]
        return (example.history, example.question, texts)


def _row(rank: int, split: Sequence[Passage], reply: TaskReply) -> Row:
    """The highest grade; misleading if any passage is. Null if a missing one could change it."""
    verdicts = [
        (passage, item) for passage in split for item in said(reply, passage.id, PassageRelevance)
    ]
    lacking = [passage.id for passage in split if not said(reply, passage.id, PassageRelevance)]
    best = max((item for _, item in verdicts), key=lambda item: item.grade, default=None)
    grade = best.grade if best else 0
    settled = not lacking or grade == SUFFICIENT
    return {
        "rank": rank,
        "grade": grade if settled else None,
        "probability": None,
        "relevant": grade >= 1 if settled or grade else None,
        "sufficient": grade == SUFFICIENT if settled else None,
        "misleading": any(item.misleading for _, item in verdicts) or (None if lacking else False),
        "sentences": max(passage.first + passage.sentences for passage in split),
        "relevant_sentences": None if lacking else _helping(verdicts),
        "reason": best.reason if best and settled else why_lacking(reply, lacking[0]),
    }


def _helping(verdicts: Iterable[tuple[Passage, PassageRelevance]]) -> list[int]:
    return sorted({number - 1 for passage, item in verdicts for number in item.sentences
                   if passage.first < number <= passage.first + passage.sentences})  # fmt: skip


SUPPORTED, _, ABSENT = SUPPORT_VERDICTS


class PropositionSupport(Item):
    """A model's verdict on one proposition; the details are ``c02: the words it rests on``."""

    example: ClassVar[tuple[str, ...]] = ("c99: opened in 1859",)

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
class SupportTask(Task):
    """Asks about all propositions of an example at once, whatever their origin.

    Their origin is neither shown nor visible in their order. Equal texts are asked about
    once. If the contexts need several questions, every part is asked about each proposition. Of a
    kind that reads turns, these are the last passages, after their role; evidence names them by
    their number.
    """

    kind: type[Kind] = Support

    def lacks(self, example: Example) -> str | None:
        return no_text(self._read(example))

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        texts = self._asked(target)
        instructions = prompts.instructions(self.name)
        return portions(Piece(self.name, instructions, (), dict.fromkeys(texts, PropositionSupport),
                              contexts_block(group), texts=texts,
                              lists=dict.fromkeys(texts, "PROPOSITIONS"),
                              details=tuple(passage.id for passage in group))
                        for group in groups(self._read(target.example), room))  # fmt: skip

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        example = self._read(target.example)
        origin = str(ASKS[ask].origin)
        places = {
            passage.id: passage.context
            for passage in chain.from_iterable(groups(example, reply.room))
        }
        contexts = [context.text for context in example.contexts or () if context.text]
        names = {text: name for name, text in self._asked(target).items()}
        verdicts = {
            name: _verdict(name, reply, places, contexts) for name in dict.fromkeys(names.values())
        }
        return [proposition.columns(origin) | verdicts[names[proposition.text]]
                for proposition in target.propositions.get(origin, ())]  # fmt: skip

    def facts(self, target: Target) -> Iterable[object]:
        example = self._read(target.example)
        yield [(context.id, context.text) for context in example.contexts or ()]
        for ask in sorted(self.asks):
            origin = str(ASKS[ask].origin)
            yield origin, list(target.propositions.get(origin, ()))

    def _read(self, example: Example) -> Example:
        if not self.kind.reads_turns:
            return example
        return with_turns(example, lambda turn: f"{turn.role}: {turn.text}")

    def _asked(self, target: Target) -> dict[str, str]:
        origins = (str(ask.origin) for ask in self.kind.asks)
        propositions = chain.from_iterable(target.propositions.get(at, ()) for at in origins)
        texts = sorted({proposition.text for proposition in propositions})
        seed = _hash("\0".join(texts))
        return numbered(sorted(texts, key=lambda text: (_hash(text, seed), text)))


def _hash(text: str, seed: bytes = b"") -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), key=seed, digest_size=16).digest()


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
    cited = [passage_id for item in speaking for passage_id in item.evidence if verdict != ABSENT]
    quotes = [item.quote.strip() for item in speaking if verdict != ABSENT and item.quote.strip()]
    verbatim = [quote for quote in quotes if quote_is_in(quote, contexts)]
    return {
        "verdict": verdict,
        "probability": float(verdict == SUPPORTED),
        "evidence": list(dict.fromkeys(places[known] for known in cited if known in places)),
        "evidence_unknown": sum(mark not in places for item in items for mark in item.evidence),
        "quote": next(iter(verbatim or quotes), None),
        "quote_found": bool(verbatim) if quotes else None,
        "reason": speaking[0].reason,
    }
