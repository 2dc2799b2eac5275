"""Tool results: the passages that tools gave back in a conversation, whatever API wrote it down."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .conversation import SPEAKERS, TOOL, read_conversation, text_in
from .documents import Document, documents_in
from .fields import squash
from .json_text import first_value, list_or_empty, objects_in, opened

# Names of search tools; if one is used, only search results are contexts.
SEARCHES = re.compile("retriev|search|lookup|query|kb|docs|knowledge", re.IGNORECASE)

_CALLS = frozenset(("toolcall", "tooluse", "functioncall", "servertooluse"))
_RESULTS = frozenset((
    *("toolresult", "functionresponse", "functioncalloutput", "toolinvocation"),
    *("toolcallresponse", "dynamictool"),
))  # fmt: skip
_PASSAGES = frozenset(("searchresult", "document", "retrievedcontext"))
_IDS = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "id")
_NAMES = ("name", "toolName", "tool_name")
_OUTPUTS = ("artifact", "results", "output", "result", "response", "content", "value",
            "tool_result")  # fmt: skip


class ToolDocuments(NamedTuple):
    """What tools found, in order, and the names of these tools; None if no tool was used."""

    documents: list[Document] | None
    tools: tuple[str, ...]


def tool_documents(messages: list[Any]) -> ToolDocuments:
    """Return what tools found after the last question.

    A result that is JSON with passages gives these, any other one its text. Results of tools that
    do not search by their name count where no other tool is used.
    """
    names: dict[str, str] = {}
    results: list[tuple[str, list[Document]]] = []
    for message in messages:
        if read_conversation([message], "", [])[0]:
            results = []
        results += [(tool, _documents(value)) for tool, value in _results(message, names)]
    searching = [(tool, documents) for tool, documents in results if SEARCHES.search(tool)]
    used = searching or results
    if not used:
        return ToolDocuments(None, ())
    passages = [document for _, documents in used for document in documents]
    return ToolDocuments(passages, tuple(dict.fromkeys(tool for tool, _ in used)))


def _results(item: Any, names: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield tools and what they gave back, in a message or a part of one; note names of calls."""
    if not isinstance(item, dict):
        return
    for holder in ("kwargs", "data", "message"):
        if isinstance(item.get(holder), dict) and "content" in item[holder]:
            item = {**item, **item[holder]}
    kind, item = _kind(item)
    id = next((str(item[name]) for name in _IDS if item.get(name)), "")
    tool = first_value(item, _NAMES, str)
    for call in objects_in(item.get("tool_calls")):
        function = call.get("function")
        name = function.get("name") if isinstance(function, dict) else call.get("name")
        names[str(call.get("id"))] = str(name or "")
    if kind in _CALLS:
        names[id] = tool or ""
    elif kind in _PASSAGES:
        yield "search_result", [item]
    elif SPEAKERS.get(kind) == TOOL or kind in _RESULTS or _has_results(kind, item):
        parts = list_or_empty(item.get("content") or item.get("parts"))
        inner = [part for part in parts if _kind(part)[0] in _RESULTS]
        for part in inner:
            yield from _results({"tool_call_id": id, **part}, names)
        if not inner:
            own = tool or names.get(id) or _own_name(item) or "tool"
            yield own, first_value(item, _OUTPUTS)
    else:
        for name in ("content", "parts", "toolInvocations"):
            for part in list_or_empty(item.get(name)):
                yield from _results(part, names)


def _kind(item: Any) -> tuple[str, Any]:
    """Return what an item is, in one word of small letters, and the item without its holder."""
    if not isinstance(item, dict):
        return "", item
    for name, inner in item.items():
        if squash(name) in _CALLS | _RESULTS | _PASSAGES and isinstance(inner, dict):
            return squash(name), inner
    if "toolInvocation" in item or item.get("state") == "result":
        return "toolinvocation", item.get("toolInvocation") or item
    role = item.get("role") if item.get("role") not in (None, "user", "assistant") else None
    kind = squash(str(role or item.get("type") or item.get("from") or ""))
    return ("toolresult" if kind.startswith("tool") and "output" in item else kind), item


def _own_name(item: dict[str, Any]) -> str:
    """Return the name of a tool that stands in a type, such as tool-search or file_search_call."""
    kind = str(item.get("type") or "").removesuffix("_call")
    return kind.removeprefix("tool-") if kind != "tool_result" else ""


def _has_results(kind: str, item: dict[str, Any]) -> bool:
    return kind.endswith("call") and isinstance(item.get("results"), list)


def _documents(value: Any) -> list[Document]:
    """Return the passages of a result, or all of its text as one."""
    value = _inner(opened(value))
    documents = documents_in(value) if isinstance(value, (list, dict)) else None
    if documents and all(document.text for document in documents):
        return documents
    if isinstance(value, dict):
        texts = (text_in(value[name]) for name in _OUTPUTS if name in value)
        value = next(filter(None, texts), value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [Document(text=text)] if value and text.strip() else []


def _inner(value: Any) -> Any:
    """Return what the parts of a result hold, which say whether they are text or JSON."""
    if isinstance(value, dict) and "value" in value and value.get("type") in ("json", "text"):
        return opened(value["value"])
    parts = list_or_empty(value)
    if parts and all(isinstance(part, dict) and [*part] == ["json"] for part in parts):
        return parts[0]["json"] if len(parts) == 1 else [part["json"] for part in parts]
    if parts and all(isinstance(part, dict) and part.get("type") == "text" for part in parts):
        return opened(text_in(parts))
    return value
