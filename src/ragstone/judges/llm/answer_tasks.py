"""Answer tasks: an LLM critiques, rates or compares answers, or writes questions that they answer.

Ratings put the reasoning before the score. Preferences are asked in both orders.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Annotated, Any, ClassVar, Literal

from pydantic import create_model

from ragstone.judgements import Critique, Preference, Probe, Rating, Topic
from ragstone.judgements.probes import PROBES

from .prompts import Passage, Prompts, block, contexts_block, facts_of, has, passages, shown
from .questions import Item, Piece, ReplyEntry, Written, verdict_item
from .replies import WHOLE
from .rubrics import ASPECTS, Rubric, aspects, definition, load_rubrics
from .task import Row, Target, Task, TaskReply, said, why_lacking

# An aspect that can stand in an id as it is.
PLAIN = re.compile(r"[a-z][a-z0-9_]{0,39}")


# One vote on one aspect.
CritiqueVerdict = verdict_item("CritiqueVerdict", "yes", "no")


class CritiqueTask(Task):
    """Shows question and answer, followed by the definition of the aspect."""

    kind = Critique

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        if target.example.answer is None:
            return []
        blocks = shown(target.example, "question", "sentences")
        instructions = prompts.instructions(self.name)
        pieces: list[Piece] = []
        for aspect in aspects(target.about(self.name)):
            name = critique_item_id(aspect.name)
            meaning = f"ASPECT of item {name}, {aspect.name}: {definition(aspect)}\n\n"
            pieces += [Piece(self.name, instructions, (*blocks, meaning), {name: CritiqueVerdict},
                             vote=vote) for vote in range(aspect.votes)]  # fmt: skip
        return pieces

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """One row per aspect and vote; missing votes come last and have no verdict."""
        return [row for aspect in aspects(target.about(ask)) for row in _votes(aspect, reply)]

    def facts(self, target: Target) -> Iterable[object]:
        definitions = [(aspect.name, definition(aspect), aspect.votes)
                       for aspect in aspects(target.about(self.name))]  # fmt: skip
        return (*facts_of(target.example, "question", "answer"), definitions)


def critique_item_id(aspect: str) -> str:
    """``v01``, … for built-in aspects, else ``critique_ASPECT``, hashed if it has odd letters."""
    if aspect in ASPECTS:
        return f"v{list(ASPECTS).index(aspect) + 1:02d}"
    if PLAIN.fullmatch(aspect):
        return f"critique_{aspect}"
    digest = blake2b(aspect.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    words = re.sub(r"[^a-z0-9]+", "_", aspect.lower()).strip("_")[:30]
    return f"critique_{words}_{digest}" if words else f"critique_{digest}"


def _votes(aspect: Topic, reply: TaskReply) -> list[Row]:
    name = critique_item_id(aspect.name)
    items = said(reply, name, CritiqueVerdict)[: aspect.votes]
    verdicts = [(item.verdict == "yes", item.reason) for item in items]
    unread = [(None, why_lacking(reply, name))] * (aspect.votes - len(items))
    return [{"aspect": aspect.name, "index": index, "verdict": verdict, "reason": reason}
            for index, (verdict, reason) in enumerate([*verdicts, *unread])]  # fmt: skip


# Passages of one rating at most; it is one item, so there may be many.
AT_ONCE = 1_000
# One part in so many of a question's room is for what is not contexts.
FOR_THE_REST = 4


class RatingItem(Item):
    """The rating of one criterion; each length of scale has its own subclass."""

    decides: ClassVar[str] = "score"

    reasoning: str
    score: int

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        return {"reasoning": entry.reason, "score": cls.decided(entry)}


@dataclass(frozen=True)
class RatingTask(Task):
    """Shows the texts that a criterion's rubric needs. Without these it is not rated.

    If the contexts do not fit, each part of them is rated, and the best or the mean of these
    ratings, by the number of passages, counts, as the rubric says.
    """

    rubrics: Mapping[str, Rubric] = field(default_factory=load_rubrics)
    kind = Rating

    @property
    def splits_contexts(self) -> bool:
        return True

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        return [piece for rubric in self._rubrics(target)
                for piece in self._pieces(rubric, target, prompts, room)]  # fmt: skip

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        return [_row(rubric, target, reply) for rubric in self._rubrics(target)]

    def facts(self, target: Target) -> Iterable[object]:
        rubrics = self._rubrics(target)
        seen = sorted({text for rubric in rubrics for text in rubric.sees})
        return (*facts_of(target.example, *seen), rubrics)

    def _rubrics(self, target: Target) -> list[Rubric]:
        if target.example.answer is None:
            return []
        criteria = sorted({topic.name for topic in target.about(self.name)})
        return [self.rubrics[name] for name in criteria
                if all(has(target.example, text) for text in self.rubrics[name].sees)]  # fmt: skip

    def _pieces(self, rubric: Rubric, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        instructions = f"{prompts.instructions(self.name)}{rubric.text}\n"
        blocks = shown(target.example, *rubric.sees)
        items = {rating_item_id(rubric.name): rating_item(len(rubric.points))}
        groups: list[str | None] = [None]
        if "contexts" in rubric.sees:
            groups = [contexts_block(group) for group in _groups(target, room)]
        return [Piece(self.name, instructions, blocks, items, group) for group in groups]


def rating_item_id(criterion: str) -> str:
    return f"rating_{criterion}"


@lru_cache(maxsize=32)
def rating_item(points: int) -> type[RatingItem]:
    scores: Any = Annotated[Literal[tuple(range(1, points + 1))], WHOLE]
    return create_model(f"Rating{points}", __base__=RatingItem, score=(scores, ...))


def _groups(target: Target, room: int) -> tuple[tuple[Passage, ...], ...]:
    return passages(target.example.contexts or (), room - room // FOR_THE_REST, AT_ONCE)


def _row(rubric: Rubric, target: Target, reply: TaskReply) -> Row:
    name = rating_item_id(rubric.name)
    items = said(reply, name, RatingItem)
    if name in reply.lacking or not items:
        return {"criterion": rubric.name, "score": None, "reason": why_lacking(reply, name)}
    values = [rubric.points[item.score - 1].value for item in items]
    words = [item.reasoning for item in items]
    if len(items) == 1:
        return {"criterion": rubric.name, "score": values[0], "reason": words[0]}
    if rubric.merge == "best":
        score = max(values)
        words = [words[values.index(score)]]
    else:
        sizes = [len(group) for group in _groups(target, reply.room)]
        score = sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    reason = f"{rubric.merge} of {len(items)} parts of the contexts: {' '.join(words)}"
    return {"criterion": rubric.name, "score": score, "reason": reason}


# For this answer, by what was said and the place it was shown in.
VERDICTS = {("A", 0): "win", ("B", 0): "loss", ("A", 1): "loss", ("B", 1): "win", ("tie", 0): "tie",
            ("tie", 1): "tie"}  # fmt: skip


# The better of the two answers shown.
PreferenceVerdict = verdict_item("PreferenceVerdict", "A", "B", "tie")


class PreferenceTask(Task):
    """Shows question, reference and the two answers, without the names of their systems.

    An item's id is made of the positions of its two answers among all answers to the question,
    ordered by text: so the question is the same for either of the two systems.
    """

    kind = Preference

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """Two for each rival, one in each order, never split; equal answers are asked once."""
        blocks = shown(target.example, "question", "reference")
        instructions = prompts.instructions(self.name)
        pairs = {name: pair for _, _, name, pair in _orders(target)}
        return [Piece(self.name, instructions,
                      (*blocks, block("ANSWER A", first), block("ANSWER B", second)),
                      {name: PreferenceVerdict})
                for name, (first, second) in pairs.items()]  # fmt: skip

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        return [{"rival": rival, "order": order, **_verdict(reply, name, order)}
                for rival, order, name, _ in _orders(target)]  # fmt: skip

    def facts(self, target: Target) -> Iterable[object]:
        pairs = [(rival, pair) for rival, order, _, pair in _orders(target) if order == 0]
        return (*facts_of(target.example, "question", "answer", "reference"), pairs)


def _orders(target: Target) -> Iterator[tuple[str, int, str, tuple[str, str]]]:
    """Rival, order, id of the item, and the answers as shown; 0 if this answer comes first."""
    mine = target.example.answer
    if mine is None:
        return
    texts = sorted({mine, *target.rivals.values()})
    places = {text: number for number, text in enumerate(texts, 1)}
    names = {topic.name for topic in target.about(Preference.name)}
    for rival, other in sorted(target.rivals.items()):
        if rival not in names and "" not in names:
            continue
        for order, (first, second) in enumerate([(mine, other), (other, mine)]):
            name = f"preference_{places[first]}_{places[second]}"
            yield rival, order, name, (first, second)


def _verdict(reply: TaskReply, name: str, order: int) -> Row:
    verdicts = said(reply, name, PreferenceVerdict)
    if not verdicts:
        return {"verdict": None, "reason": why_lacking(reply, name)}
    return {"verdict": VERDICTS[verdicts[0].verdict, order], "reason": verdicts[0].reason}


ITEM = "n01"
NONCOMMITTAL = {"yes": True, "no": False}


class ProbesMade(Item):
    """The questions that a model writes from an answer; the details are the questions."""

    example: ClassVar[tuple[str, ...]] = (
        "When did the bridge open?",
        "In which year was the bridge opened?",
        "What year saw the bridge's opening?",
    )

    q1: Written
    q2: Written
    q3: Written
    noncommittal: bool

    @classmethod
    def verdicts(cls) -> tuple[str, ...]:
        """Most are not noncommittal, so that word comes first."""
        return tuple(reversed(NONCOMMITTAL))

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        evades = NONCOMMITTAL.get(str(entry.verdict), entry.verdict)
        return dict(zip(cls.places(), entry.details or (), strict=False)) | {"noncommittal": evades}

    @classmethod
    def places(cls) -> list[str]:
        return [name for name in cls.model_fields if name.startswith("q")]


@lru_cache(maxsize=32)
def probes_item(count: int) -> type[ProbesMade]:
    """The item class for this many questions, three or more."""
    if count == PROBES:
        return ProbesMade
    more: dict[str, Any] = {f"q{number}": (Written, ...) for number in range(PROBES + 1, count + 1)}
    return create_model(f"ProbesMade{count}", __base__=ProbesMade, **more)


class ProbesTask(Task):
    """Shows the answer and nothing else. Of an empty one there is nothing to ask."""

    kind = Probe

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        if not (target.example.answer or "").strip():
            return []
        count = self._count(target)
        more = f"Of item {ITEM} write {count} questions instead of three.\n\n"
        blocks = (*shown(target.example, "answer"), *([] if count == PROBES else [more]))
        instructions = prompts.instructions(self.name)
        return [Piece(self.name, instructions, blocks, {ITEM: probes_item(count)}, details=())]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """A row a question; none where the reply is lacking, for there are no units without it."""
        return [{"index": index, "text": getattr(item, field_name),
                 "noncommittal": item.noncommittal}
                for item in said(reply, ITEM, ProbesMade)[:1]
                for index, field_name in enumerate(item.places())]  # fmt: skip

    def facts(self, target: Target) -> Iterable[object]:
        count = self._count(target)
        return (*facts_of(target.example, "answer"), *([] if count == PROBES else [count]))

    def _count(self, target: Target) -> int:
        return max([PROBES, *(topic.votes for topic in target.about(self.name))])
