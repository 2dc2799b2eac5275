"""Asking: a chat model whose server may not take all that it is sent, and is then sent less."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .failure import ChatFailure
from .model import ITEMS, ChatReply, ChatRequest
from .refusal import Unsupported
from .settings import Settings
from .wire import Body

LEFT_OUT = {
    "schema": "the schema's own field: the schema is printed in the prompt",
    "max_tokens": "max_tokens: asked for otherwise",
    "max_completion_tokens": "max_completion_tokens: asked for otherwise",
    "system": "the system message: it stands before the question",
}
"""What a note says; of others it is the name alone."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a model tells of itself.

    Args:
        name: As the user wrote it, with its settings in their fixed order.
        about: Model and server in a line.
        identity: Format, server and model, without the settings.
        settings: How it is to answer.
        window: Tokens that question and reply may have together.
    """

    name: str
    about: str
    identity: str
    settings: Settings
    window: int


class AskingChat:
    """A chat model: makes a request, sends it, and leaves out what the server turns out to lack.

    What the user set is never left out: the server that refuses it is a failure, which says so.
    The rest is left out for good, asked again at once, and told in ``notes``.

    Args:
        card: What it tells of itself.
        body: The request, from a question and what the server lacks.
        send: Gives the reply to a request, or fails with ``Unsupported``.
        finish: Gives back connections.
    """

    def __init__(
        self,
        card: Card,
        body: Callable[[ChatRequest, frozenset[str]], Body],
        send: Callable[[Body], Awaitable[ChatReply]],
        finish: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._card = card
        self._body = body
        self._send = send
        self._finish = finish
        self._lacks: frozenset[str] = frozenset()

    kept = True

    @property
    def name(self) -> str:
        """As the user wrote it, with its settings in their fixed order."""
        return self._card.name

    @property
    def about(self) -> str:
        """Model, server and sampling in one line."""
        return f"{self._card.about}, {self._card.settings.sampling}"

    @property
    def identity(self) -> str:
        """Format, server, model, and the settings that change replies."""
        return f"{self._card.identity} {self._card.settings.answering}".rstrip()

    @property
    def window(self) -> int:
        """Tokens that question and reply may have together."""
        return self._card.window

    @property
    def items(self) -> int:
        """Items of one task that a question may be about."""
        return self._card.settings.items or ITEMS

    @property
    def notes(self) -> tuple[str, ...]:
        """What the server did not take, so that it was left out or put otherwise."""
        return tuple(LEFT_OUT.get(feature, feature) for feature in sorted(self._lacks))

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Ask once; again at once where the server does not take something that can be left out.

        Raises:
            ChatFailure: There is no reply.
        """
        lacks = self._lacks
        while True:
            body = self._body(request, lacks)
            try:
                return await self._send(body)
            except Unsupported as refusal:
                less = self._less(request, body, lacks, refusal)
                if less is None:
                    raise self._final(refusal) from refusal
                lacks = less

    async def close(self) -> None:
        """Give back connections; nothing is asked after that."""
        if self._finish:
            await self._finish()

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _less(
        self, request: ChatRequest, body: Body, lacks: frozenset[str], refusal: Unsupported
    ) -> frozenset[str] | None:
        """What the server lacks, with one thing more that changes the request."""
        for feature in refusal.features:
            more = lacks | {feature}
            if self._body(request, more) != body:
                self._lacks |= {feature}
                return more | self._lacks
        return None

    def _final(self, refusal: Unsupported) -> ChatFailure:
        given = self._card.settings.given
        blamed = [_setting(feature) for feature in refusal.features if _setting(feature) in given]
        if not blamed:
            return ChatFailure("rejected", str(refusal), http=refusal.http, body=refusal.body)
        shown = " and ".join(f"{name}={given[name]}" for name in dict.fromkeys(blamed))
        return ChatFailure(
            "parameter",
            f"{refusal}. It does not take {shown}, which {self.name} sets: leave that out",
            http=refusal.http,
            body=refusal.body,
        )


def _setting(feature: str) -> str:
    return "max_tokens" if feature == "max_completion_tokens" else feature
