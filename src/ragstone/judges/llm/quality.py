"""Quality: one question about an answer as a whole, its parts, its manner and its labels."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from .blocks import block
from .parts import said, why_lacking
from .prompts import Prompts
from .question import Entry, Item, Piece
from .scale import WHOLE
from .sees import facts_of, has, shown, told_first
from .task import Matter, Row, Told

Step = Annotated[Literal[0, 1, 2, 3, 4], WHOLE]
HIGHEST = 4
ITEM = "q01"
PARTS = {"answered": True, "open": False}
_DETAIL = re.compile(r"\W*([A-Za-z_]+)\W*[\s:=]\s*(.+)", re.DOTALL)


class QuestionPart(Item):
    """One thing that the question asks for."""

    part: str
    answered: bool


class QualityVerdict(Item):
    """What a model says of an answer; the details are ``answered: the year``, ``focus: 3``, …"""

    decides: ClassVar[str] = "helpful"
    shown: ClassVar[tuple[str, ...]] = (
        "answered: the year",
        "open: the cost",
        *("directness: 3", "focus: 4", "consistency: 4"),
        *("on_topic: yes", "proper_action: yes", "incomplete: yes", "unsafe_content: no"),
    )

    reason: str
    parts: list[QuestionPart]
    directness: Step
    focus: Step
    consistency: Step
    on_topic: bool
    helpful: bool
    proper_action: bool
    incomplete: bool
    unsafe_content: bool

    @classmethod
    def verdicts(cls) -> tuple[str, ...]:
        """Whether it is helpful."""
        return tuple(FLAGS)

    @classmethod
    def of(cls, entry: Entry) -> dict[str, Any]:
        """What is said twice, and not the same, is not said."""
        said: dict[str, Any] = {"reason": entry.reason, "parts": []}
        said["helpful"] = FLAGS.get(str(entry.verdict), entry.verdict)
        for detail in entry.details or ():
            read = _DETAIL.fullmatch(detail)
            name, value = (read[1].lower(), read[2].strip()) if read else ("", detail)
            if name in PARTS:
                said["parts"].append({"part": value, "answered": PARTS[name]})
            elif name in cls.model_fields and name not in ("reason", "parts", "helpful"):
                meant = _value(value)
                said[name] = meant if said.get(name, meant) == meant else None
        return said


def _value(said: str) -> Any:
    said = said.strip(" .\"'`").lower()
    return int(said) if said in STEPS else FLAGS.get(said, said)


FLAGS = {"yes": True, "no": False}
STEPS = ("0", "1", "2", "3", "4")


@dataclass(frozen=True)
class QualityTask:
    """Shows question, earlier turns, answer and policy, never the contexts.

    Without a question there are no parts, and whether the answer is on topic stays open.
    """

    name: str = "quality"
    asks: tuple[str, ...] = ("quality",)
    after: tuple[str, ...] = ()

    def pieces(self, matter: Matter, prompts: Prompts, room: int) -> list[Piece]:
        """One, for an example with an answer. An answer is never split."""
        return [] if matter.example.answer is None else [self._piece(matter, prompts, room)]

    def rows(self, ask: str, matter: Matter, told: Told) -> list[Row]:  # noqa: ARG002
        """One row, of nulls where the verdict is lacking."""
        verdicts = said(told, ITEM, QualityVerdict)
        if not verdicts:
            return [{"reason": why_lacking(told, ITEM)}]
        return [_row(verdicts[0], asked=has(matter.example, "question"))]

    def facts(self, matter: Matter, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """Question, turns, answer and policy."""
        return facts_of(matter.example, "question", "answer", "policy")

    def _piece(self, matter: Matter, prompts: Prompts, room: int) -> Piece:
        example = matter.example
        policy = () if example.policy is None else (block("POLICY", example.policy),)
        return Piece(
            self.name,
            told_first(prompts, self.name),
            (*shown(example, "question", "sentences"), *policy),
            {ITEM: QualityVerdict},
            lambda _: self._piece(matter, prompts, room),
            details=(),
        )


def _row(verdict: QualityVerdict, *, asked: bool) -> Row:
    return {
        "parts": len(verdict.parts) if asked else 0,
        "parts_answered": sum(part.answered for part in verdict.parts) if asked else 0,
        "directness": verdict.directness / HIGHEST,
        "focus": verdict.focus / HIGHEST,
        "consistency": verdict.consistency / HIGHEST,
        "proper_action": verdict.proper_action,
        "response_on_topic": verdict.on_topic if asked else None,
        "helpful": verdict.helpful,
        "incomplete": verdict.incomplete,
        "unsafe_content": verdict.unsafe_content,
        "reason": verdict.reason,
    }
