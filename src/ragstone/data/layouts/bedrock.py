"""Bedrock: evaluations of knowledge bases with the user's own answers, one chat per record."""

from collections.abc import Mapping
from typing import Any

from ragstone.data.conversation import ASSISTANT, USER, text_in
from ragstone.data.json_text import list_or_empty, object_or_empty


def is_bedrock(record: Mapping[str, Any]) -> bool:
    """Return True if the record has the turns of a conversation, each with its prompt."""
    turns = record.get("conversationTurns")
    return isinstance(turns, list) and bool(turns) and all(_text(turn, "prompt") for turn in turns)


def flat_bedrock(record: Mapping[str, Any]) -> dict[str, Any]:
    """Make an example of the last turn; those before it are its history."""
    *earlier, last = record["conversationTurns"]
    output = object_or_empty(last.get("output"))
    names = ("knowledgeBaseIdentifier", "modelIdentifier")
    retrieved = output.get("retrievedPassages")
    flat = {
        "question": _text(last, "prompt"),
        "history": [
            {"role": role, "content": _text(turn, part)}
            for turn in earlier
            for role, part in ((USER, "prompt"), (ASSISTANT, "output"))
        ],
        "answer": output.get("text"),
        "reference": [text_in(item) for item in list_or_empty(last.get("referenceResponses"))],
        "system": next((output[name] for name in names if output.get(name)), None),
        "contexts": retrieved.get("retrievalResults") if isinstance(retrieved, dict) else retrieved,
    }
    rest = {name: value for name, value in record.items() if name != "conversationTurns"}
    return {**rest, **{name: value for name, value in flat.items() if value is not None}}


def _text(turn: Any, part: str) -> str | None:
    return text_in(turn.get(part)) or None if isinstance(turn, dict) else None
