"""Asker: the interface through which LLM judges ask models; ``run`` implements it."""

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from ragstone.models.chat import ChatModel

from .question import Item, Question

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The final outcome of a question, after all attempts.

    Args:
        status: ``ok`` if any item is there.
        items: The items of the reply, by id.
        lacking: Ids without an item, even when asked for again, and why.
        reason: Why there is no item at all.
        requests: The keys under which the journal has the questions and replies.
        later: Whether it will be asked in a batch, so that nothing is known yet.
    """

    status: Literal["ok", "failed", "blocked", "truncated"]
    items: Mapping[str, Item] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    requests: tuple[str, ...] = ()
    later: bool = False


class Asker(Protocol):
    """Asks models, with pacing, retries, journal and budget."""

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:
        """Ask a question; one that was asked before is answered from the journal.

        Args:
            model: The model to ask.
            question: The question.
            turn: The position of the example in the data; lower ones go first.
        """

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine that asks to its end, from a thread outside the event loop."""
