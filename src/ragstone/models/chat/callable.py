"""Callable: any async function as a chat model."""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from typing import Any

from ragstone.core.errors import ModelError
from ragstone.core.user_code import source

from .failure import ChatFailure
from .model import ITEMS, ChatReply, ChatRequest

Answer = ChatReply | str | Mapping[str, Any]


class CallableChat:
    """A user's async function as a chat model.

    The function takes a ``ChatRequest`` and returns the reply: a ``ChatReply``, its text, or an
    object that fits ``request.schema``. If it has no reply it raises ``ChatFailure``; a
    ``TimeoutError`` counts as ``timeout`` and any other ``OSError`` as ``connection``. Any other
    exception is a bug in the function and ends the run.

    Args:
        function: Asynchronous.
        name: Written to every row that it judges.
        identity: Identifies its replies in place of a hash of its source; change it whenever the
            replies would change. Required if the source does not show everything the function
            does: for a closure, a method, a callable object or a ``partial``.
        window: Context window: maximum tokens of question and reply together.
        items: The most items of one task in one question, from 1 to 20.

    Raises:
        InputError: An identity is required and missing.
    """

    kept = True

    def __init__(
        self,
        function: Callable[[ChatRequest], Awaitable[Answer]],
        name: str = "callable",
        *,
        identity: str = "",
        window: int = 128_000,
        items: int = ITEMS,
    ) -> None:
        self._function = function
        self.name = name
        self.window = window
        self.items = items
        self.notes: tuple[str, ...] = ()
        where = _where(function)
        self.about = f"{name}, a function: {where}"
        if not identity:
            instead = f'CallableChat(function, "{name}", identity="1")'
            text = source(function, instead=instead)
            identity = f"{where} {blake2b(text.encode(), digest_size=16).hexdigest()}"
        self.identity = f"callable {name} {identity}"

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Call the function once.

        Raises:
            ChatFailure: There is no reply.
            ModelError: The function is not asynchronous.
        """
        given = self._function(request)
        if not inspect.isawaitable(given):
            raise ModelError(f"The model {self.name} must be an async function")
        try:
            answer = await given
        except TimeoutError as error:
            raise ChatFailure("timeout", f"{self.name} timed out: {error}") from error
        except OSError as error:
            raise ChatFailure("connection", f"{self.name} failed: {error}") from error
        return self._read(answer)

    async def close(self) -> None:
        """Does nothing: there are no connections to close."""

    def _read(self, answer: object) -> ChatReply:
        if isinstance(answer, ChatReply):
            return answer
        if isinstance(answer, str):
            return ChatReply(answer)
        if isinstance(answer, Mapping):
            return ChatReply(json.dumps(dict(answer), ensure_ascii=False))
        kind = type(answer).__name__
        words = f"{self.name} returned a {kind}, not a ChatReply, a string or a mapping"
        raise ChatFailure("bad_reply", words)


def _where(function: object) -> str:
    """Module and qualified name of a function, or of a callable object's class."""
    known = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(known, '__module__', '')}.{getattr(known, '__qualname__', '')}"
