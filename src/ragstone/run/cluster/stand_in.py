"""Stand-in: what a worker knows of a chat model, which the process of the run asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from ragstone.models.chat import ChatModel, ChatReply, ChatRequest
from ragstone.run.chat_judges import ChatJudges
from ragstone.run.named_models import Named


@dataclass(frozen=True, slots=True)
class StandIn:
    """A chat model without its key, its connections and its code; as ``ChatModel``."""

    name: str
    about: str
    identity: str
    window: int
    items: int
    notes: tuple[str, ...]
    kept: bool

    @classmethod
    def of(cls, model: ChatModel) -> Self:
        """That of a model."""
        return cls(
            model.name,
            model.about,
            model.identity,
            model.window,
            model.items,
            model.notes,
            model.kept,
        )

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Never called: questions go to the process of the run."""
        raise RuntimeError(f"{self.name} is asked about {request.name} by the process of the run.")

    async def close(self) -> None:
        """Nothing is open."""


def stand_ins(judge: Named | Sequence[Named], chat: ChatJudges) -> list[Named]:
    """The judges of a request with stand-ins for the models that were given as objects.

    Args:
        judge: As the user gave it; a name stays one.
        chat: The same, opened.
    """
    given = judge if isinstance(judge, list | tuple) else [judge]
    return [
        one if isinstance(one, str) else [StandIn.of(model) for model in chat.models_of(name)]
        for one, name in zip(given, chat.names, strict=True)
    ]
