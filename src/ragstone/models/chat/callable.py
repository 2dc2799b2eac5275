"""Callable: any async function as a chat model."""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from typing import Any

from ragstone.errors import ModelError
from ragstone.source import source

from .failure import ChatFailure
from .model import ITEMS, ChatReply, ChatRequest

Answer = ChatReply | str | Mapping[str, Any]


class CallableChat:
    """A chat model that is a function of the user's.

    The function is given the ``ChatRequest`` and gives the reply: a ``ChatReply``, its text, or the
    object that fits ``request.schema``. To say that it has none it raises ``ChatFailure``; a
    ``TimeoutError`` counts as ``timeout`` and any other ``OSError`` as ``connection``. Every other
    error is taken for a fault of the function, and ends the run.

    Args:
        function: Asynchronous.
        name: As it stands in every row.
        identity: What its replies are known by in place of its source; to be changed whenever it
            gives other replies. Needed where the source does not show all that the function does:
            for one that uses variables of a function around it, a method, an object, a ``partial``.
        window: Tokens that question and reply may have together.
        items: Of one task that a question may be about, from 1 to 20.

    Raises:
        InputError: It needs an identity and has none.
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
            ChatFailure: It gave no reply.
            ModelError: It is not asynchronous.
        """
        given = self._function(request)
        if not inspect.isawaitable(given):
            raise ModelError(f"The model {self.name} has to be an async function")
        try:
            answer = await given
        except TimeoutError as error:
            raise ChatFailure("timeout", f"{self.name} timed out: {error}") from error
        except OSError as error:
            raise ChatFailure("connection", f"{self.name} failed: {error}") from error
        return self._read(answer)

    async def close(self) -> None:
        """Nothing is held."""

    def _read(self, answer: object) -> ChatReply:
        if isinstance(answer, ChatReply):
            return answer
        if isinstance(answer, str):
            return ChatReply(answer)
        if isinstance(answer, Mapping):
            return ChatReply(json.dumps(dict(answer), ensure_ascii=False))
        kind = type(answer).__name__
        words = f"{self.name} gave a {kind}, and not a ChatReply, a text or an object"
        raise ChatFailure("bad_reply", words)


def _where(function: object) -> str:
    """Where a function is from."""
    known = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(known, '__module__', '')}.{getattr(known, '__qualname__', '')}"
