"""Asker: what a judge by model is given to put its questions with; ``run`` has the real one."""

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from ragstone.models.chat import ChatModel

from .question import Item, Question

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question came out, after every attempt.

    Args:
        status: ``ok`` if any item is there.
        items: What the reply holds, by id.
        lacking: Ids that it does not hold, also when asked for alone, and why.
        reason: Why there is nothing at all.
        requests: The keys under which the journal has the questions and replies.
    """

    status: Literal["ok", "failed", "blocked", "truncated"]
    items: Mapping[str, Item] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    requests: tuple[str, ...] = ()


class Asker(Protocol):
    """Puts questions to models: paced, retried, journaled, within the budget."""

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:
        """Put a question; one that was put before is answered from the journal.

        Args:
            model: Whom.
            question: What.
            turn: The place of the example in the data; lower ones are served first.
        """

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run what asks to its end, from a thread that does not."""
