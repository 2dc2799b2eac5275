"""ScriptedModel: a chat model without a server, whose replies are set by a test."""

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from ragstone.judges.llm.questions import WORDS
from ragstone.models.chat import ITEMS, ChatFailure, ChatReply, ChatRequest

BLOCK = re.compile(r"^==== [0-9a-f]{32} ", re.MULTILINE)
NUMBER_OF_SENTENCE = re.compile(r"\[s\d+\] ")
IDS = re.compile(r"^ids: (.*)$", re.MULTILINE)

Said = str | Mapping[str, Any] | ChatReply | ChatFailure
"""A reply's text, an object to be written as JSON, a reply in full, or a failure to be raised."""

Script = Callable[[ChatRequest], Said | Awaitable[Said]] | Iterable[Said]
"""What is said to a request, or one after the other."""


class ScriptedModel:
    """Returns scripted replies, and records the requests it receives.

    Its replies are never shared with other runs through the cache.

        model = ScriptedModel([ChatFailure("rate_limit", "too many requests"), {"items": […]}])
        model = ScriptedModel(lambda request: reply_to(request, {"p01": {"verdict": "absent"}}))

    Args:
        script: A function of the request, which may be async, or the replies in order.
        name: Name of the model.
        identity: Identifies the source of its replies; if empty, its name.
        window: Maximum number of tokens in a question.
        items: Maximum number of items of one task in a question, from 1 to 20.
        delay: Seconds to wait before replying.
        notes: Request parameters that its server did not accept.

    Attributes:
        requests: The requests received, in order.
        most: The largest number of concurrent requests.
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
        items: int = ITEMS,
        delay: float = 0.0,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.about = f"{name}, replies of a test"
        self.identity = identity or name
        self.window = window
        self.items = items
        self.notes = notes
        self.requests: list[ChatRequest] = []
        self.most = 0
        self.closed = False
        self._delay = delay
        self._asked_now = 0
        self._say = script if callable(script) else _in_order(script)

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The next scripted reply.

        Raises:
            ChatFailure: If the script contains one.
            AssertionError: The script has no more replies.
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
        """Record that it was closed."""
        self.closed = True


def asked(request: ChatRequest) -> dict[str, str]:
    """The ids of the items in a judge's request, each with the first words of its text.

    The words are empty if the item has no text of its own.
    """
    lines = IDS.findall(request.parts[-1])
    return {name: _words(request.text, name) for line in lines for name in line.split()}


def reply_to(request: ChatRequest, said: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A reply as judges read it, with the words of the texts in it.

    Args:
        request: The question.
        said: Reason, verdict and details, by id; fields that are left out are empty.
    """
    words = asked(request)
    empty = {"reason": "", "verdict": "", "details": []}
    return {
        "items": [
            {"id": one, "words": words.get(one, "")} | empty | dict(said[one]) for one in said
        ]
    }


def _words(text: str, name: str) -> str:
    """The first words of the block of that name, without the numbers of its sentences."""
    for block in BLOCK.split(text)[1:]:
        own, _, rest = block.partition("\n")
        if own == name:
            said = rest.partition("\n====")[0]
            return " ".join(NUMBER_OF_SENTENCE.sub("", said).split()[:WORDS])
    return ""


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
