"""ScriptedModel: a chat model without a server, whose replies a test says."""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from ragstone.models.chat import ChatFailure, ChatReply, ChatRequest

Said = str | Mapping[str, Any] | ChatReply | ChatFailure
"""A reply's text, an object to be written as JSON, a reply in full, or a failure to be raised."""

Script = Callable[[ChatRequest], Said | Awaitable[Said]] | Iterable[Said]
"""What is said to a request, or one after the other."""


class ScriptedModel:
    """Says what it was given to say, and keeps what it was asked.

    Its replies answer nothing in other runs, nor do those of others answer what it is asked.

        model = ScriptedModel([ChatFailure("rate_limit", "too many requests"), {"p01": …}])
        model = ScriptedModel(lambda request: {"p01": …})

    Args:
        script: A function of the request, which may be async, or the replies in order.
        name: What it is called.
        identity: What makes its replies its own; empty: its name.
        window: Tokens that a question may have.
        delay: Seconds before it replies.
        notes: What its server did not take.

    Attributes:
        requests: What it was asked, in order.
        most: Requests that it had at once, at the most.
        closed: Whether it was closed.
    """

    kept = False

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        identity: str = "",
        window: int = 128_000,
        delay: float = 0.0,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.about = f"{name}, replies of a test"
        self.identity = identity or name
        self.window = window
        self.notes = notes
        self.requests: list[ChatRequest] = []
        self.most = 0
        self.closed = False
        self._delay = delay
        self._asked_now = 0
        self._say = script if callable(script) else _in_order(script)

    async def reply(self, request: ChatRequest) -> ChatReply:
        """What the script says.

        Raises:
            ChatFailure: The script says so.
            AssertionError: The script is at its end.
        """
        self.requests.append(request)
        self._asked_now += 1
        self.most = max(self.most, self._asked_now)
        try:
            if self._delay:
                await asyncio.sleep(self._delay)
            said = self._say(request)
            if inspect.isawaitable(said):
                said = await said
        finally:
            self._asked_now -= 1
        if isinstance(said, ChatFailure):
            raise said
        if isinstance(said, ChatReply):
            return said
        return ChatReply(said if isinstance(said, str) else json.dumps(said))

    async def close(self) -> None:
        """Nothing to give back."""
        self.closed = True


def _in_order(script: Iterable[Said]) -> Callable[[ChatRequest], Said]:
    replies = iter(script)
    count = 0

    def say(_: ChatRequest) -> Said:
        nonlocal count
        for said in replies:
            count += 1
            return said
        raise AssertionError(f"The script has {count} replies, and was asked for one more.")

    return say
