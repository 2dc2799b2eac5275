"""Not judged: what comes in a stream beside the answer, and passes as it is."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.core.errors import InputError

from .arriving import Text

NotJudgedKind = Literal["tool_call", "reasoning"]

_TOOL, _REASONING = ("tool", "function"), ("reasoning", "thinking")
_TOOL_CALLS = ("tool_calls", "tool_call_chunks", "function_call")
_REASONED = ("reasoning_content", "reasoning")
_CONTENT = ("content", "text")


@dataclass(frozen=True, slots=True)
class NotJudged:
    """A piece of a stream that is not part of the answer: it passes at once and is not judged.

    Attributes:
        kind: ``tool_call`` or ``reasoning``.
        payload: The piece as it came; of one that holds text of the answer too, its tool calls or
            its reasoning alone.
    """

    kind: NotJudgedKind
    payload: Any


def parts_of(piece: object) -> Iterator[Text | NotJudged]:
    """What a piece of a stream holds: text of the answer, and what is not judged.

    Known are texts, UTF-8 bytes, ``NotJudged``, None, and mappings or objects that name themselves
    by ``type`` or ``kind``, or have ``content`` or ``text``, ``tool_calls`` or
    ``reasoning_content``, as the deltas of chat models do.

    Raises:
        InputError: It is none of these: text in it would leave without being judged.
    """
    if isinstance(piece, Text | NotJudged):
        yield piece
        return
    named = next((one for one in (_get(piece, "type"), _get(piece, "kind")) if one), None)
    kind = _kind(named) if isinstance(named, str) else None
    if kind is not None:
        yield NotJudged(kind, piece)
    elif not _is_empty(piece):
        yield from _fields(piece)


def _fields(piece: object) -> Iterator[Text | NotJudged]:
    content = _first(piece, _CONTENT)
    reasoned, calls = _first(piece, _REASONED), _first(piece, _TOOL_CALLS)
    if not (content is None or isinstance(content, Text)) or not any(
        _has(piece, name) for name in (*_CONTENT, *_REASONED, *_TOOL_CALLS)
    ):
        raise InputError(
            f"The stream gave a {type(piece).__name__} in which no text is known. Give text or "
            "bytes, and NotJudged(kind, payload) for what is not part of the answer."
        )
    if reasoned is not None:
        yield NotJudged("reasoning", reasoned)
    if content is not None:
        yield content
    if calls is not None:
        yield NotJudged("tool_call", calls)


def _is_empty(piece: object) -> bool:
    """Whether it is nothing, or only says whose turn it is."""
    return piece is None or (isinstance(piece, Mapping) and not set(piece) - {"role"})


def _first(piece: object, names: Iterable[str]) -> Any:
    return next((one for name in names if (one := _get(piece, name))), None)


def _kind(named: str) -> NotJudgedKind | None:
    if any(word in named.lower() for word in _TOOL):
        return "tool_call"
    return "reasoning" if any(word in named.lower() for word in _REASONING) else None


def _get(piece: object, name: str) -> Any:
    return piece.get(name) if isinstance(piece, Mapping) else getattr(piece, name, None)


def _has(piece: object, name: str) -> bool:
    return name in piece if isinstance(piece, Mapping) else hasattr(piece, name)
