"""Through: a source of pieces, of which what may leave is given on."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable, Iterator
from typing import Any

from .exchange import Told, listening
from .guarded_pieces import GuardedPieces

_END = object()

Begin = Callable[[], GuardedPieces]
"""Begins an answer; called with the first piece, when all is told that it is judged by."""

Last = Callable[[GuardedPieces], Iterable[Any]]
"""What is given behind an answer."""


def through(
    source: Iterator[Any], begin: Begin, last: Last, told: Told | None = None
) -> Generator[Any]:
    """What leaves of a source. What it raises is raised, after what may leave has left.

    Args:
        source: Of texts, UTF-8 bytes, deltas of chat models or ``NotJudged``.
        begin: Begins the answer.
        last: What is given behind it.
        told: Hears what the source tells the guard.
    """
    pieces: GuardedPieces | None = None
    error: Exception | None = None
    try:
        while True:
            with listening(told):
                piece = next(source, _END)
            if pieces is None:
                pieces = begin()
            if piece is _END:
                break
            yield from pieces.feed(piece)
    except Exception as raised:
        error = raised
    except GeneratorExit:
        if isinstance(source, Generator):
            source.close()
        _left(pieces)
        raise
    if pieces is None:
        pieces = begin()
    yield from pieces.close(error)
    if error is not None:
        raise error
    yield from last(pieces)


async def athrough(
    source: AsyncIterator[Any], begin: Begin, last: Last, told: Told | None = None
) -> AsyncGenerator[Any]:
    """As ``through``, over an asynchronous source; judges in a thread."""
    pieces: GuardedPieces | None = None
    error: Exception | None = None
    try:
        while True:
            with listening(told):
                piece = await anext(source, _END)
            if pieces is None:
                pieces = await asyncio.to_thread(begin)
            if piece is _END:
                break
            for one in await asyncio.to_thread(pieces.feed, piece):
                yield one
    except Exception as raised:
        error = raised
    except (GeneratorExit, asyncio.CancelledError):
        if isinstance(source, AsyncGenerator):
            await source.aclose()
        _left(pieces)
        raise
    if pieces is None:
        pieces = await asyncio.to_thread(begin)
    for one in await asyncio.to_thread(pieces.close, error):
        yield one
    if error is not None:
        raise error
    for one in last(pieces):
        yield one


def _left(pieces: GuardedPieces | None) -> None:
    """Nobody reads on."""
    if pieces is not None:
        pieces.close(ConnectionError())
