"""Conversation support by a model: do the contexts or the earlier turns support the claims?"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from ragstone.data import Example, Turn
from ragstone.judgements import ConversationSupport
from ragstone.judges.earlier_turns import with_turns
from ragstone.judges.judge import no_text

from .prompts import Prompts
from .question import Piece
from .support import PropositionTask
from .task import Row, Target, TaskReply


@dataclass(frozen=True)
class ConversationSupportTask(PropositionTask):
    """As support, with the earlier turns as the last passages, each after its role."""

    kind = ConversationSupport

    def lacks(self, example: Example) -> str | None:
        """That neither a context nor a turn has a text."""
        return no_text(_spoken(example))

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        """As of support, from contexts and turns."""
        return super().pieces(_of_conversation(target), prompts, room)

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """As of support; evidence names contexts by their ids and turns by their number."""
        return super().rows(ask, _of_conversation(target), reply)

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:
        """As of support, with the turns among the contexts."""
        return super().facts(_of_conversation(target), asks)


def _of_conversation(target: Target) -> Target:
    return replace(target, example=_spoken(target.example))


def _spoken(example: Example) -> Example:
    return with_turns(example, _with_role)


def _with_role(turn: Turn) -> str:
    return f"{turn.role}: {turn.text}"
