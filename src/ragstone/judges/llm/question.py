"""Question: what is put to a model in one call, and which items its reply has to hold."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from string import ascii_uppercase
from typing import Any

from pydantic import BaseModel, ConfigDict

from ragstone.models.chat import ChatRequest

ITEMS_AT_ONCE = 20
"""Items of a call, at the most: models lose track of more, and schemas stay few."""


class Item(BaseModel):
    """One item of a reply: the reason first, then the verdict.

    A field ``evidence`` is a list of context ids; the schema allows only those that
    were shown. Nothing is read from a value of another type.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


@dataclass(frozen=True, slots=True)
class Piece:
    """One task about one example: what a question is made of. The lean plan merges several.

    Args:
        task: Its name, which is that of its prompt.
        instructions: The prompt; the same for every example.
        blocks: The texts to be judged, each delimited.
        items: What the reply must hold: id to the sort of item.
        only: The same piece about some of its items alone.
        contexts: The block of contexts that stands before everything else; None without.
        context_ids: Their ids in the question, for evidence.
        vote: Which of several times that the same is asked, from 0.
    """

    task: str
    instructions: str
    blocks: tuple[str, ...]
    items: Mapping[str, type[Item]]
    only: Callable[[Sequence[str]], "Piece"]
    contexts: str | None = None
    context_ids: tuple[str, ...] = ()
    vote: int = 0


@dataclass(frozen=True)
class Question:
    """What is put to a model in one call."""

    pieces: tuple[Piece, ...]
    system: str
    example: str = field(compare=False, default="")
    """The id of an example that it is about, for messages."""

    @property
    def task(self) -> str:
        """The names of its tasks: ``support``, ``relevance+support``."""
        return "+".join(piece.task for piece in self.pieces)

    @property
    def vote(self) -> int:
        """Which of several times that the same is asked, from 0."""
        return max((piece.vote for piece in self.pieces), default=0)

    @property
    def items(self) -> dict[str, type[Item]]:
        """What the reply must hold."""
        return {name: item for piece in self.pieces for name, item in piece.items.items()}

    def request(self) -> ChatRequest:
        """Contexts first, so that siblings share the prefix; then what to do, then the rest."""
        contexts = next((piece.contexts for piece in self.pieces if piece.contexts), None)
        ids = next((piece.context_ids for piece in self.pieces if piece.context_ids), ())
        parts = [
            *([contexts] if contexts else []),
            *dict.fromkeys(piece.instructions for piece in self.pieces),
            *dict.fromkeys(block for piece in self.pieces for block in piece.blocks),
        ]
        name = self.task.replace("+", "_and_")
        return ChatRequest(self.system, tuple(parts), schema(self.items, ids), name)

    def only(self, missing: Iterable[str]) -> "Question":
        """The same about the missing items alone."""
        wanted = set(missing)
        pieces = []
        for piece in self.pieces:
            mine = [name for name in piece.items if name in wanted]
            if mine:
                pieces.append(piece if len(mine) == len(piece.items) else piece.only(mine))
        return Question(tuple(pieces), self.system, self.example)


def key(request: ChatRequest, identity: str, vote: int = 0) -> str:
    """BLAKE2b-128 of a question put to a model, as 32 hex digits: the same question, the same key.

    Args:
        request: The question.
        identity: The model's, with its sampling.
        vote: Which of several times that the same is asked.
    """
    digest = blake2b(digest_size=16)
    texts = (identity, str(vote), request.name, _text(request.schema), request.system)
    for text in (*texts, *request.parts):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def schema(items: Mapping[str, type[Item]], context_ids: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON schema of a reply: one required property an item, each a reference to its sort.

    Has no bounds, no optional fields and no open objects, which some servers do not take. The sorts
    have names of one letter, for they are named once an item.
    """
    return _schema(tuple(items.items()), tuple(context_ids))


@lru_cache(maxsize=512)
def _schema(
    items: tuple[tuple[str, type[Item]], ...], context_ids: tuple[str, ...]
) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    names: dict[type[Item], str] = {}
    for _, item in items:
        if item not in names:
            names[item] = ascii_uppercase[len(names)]
            made = _closed(item.model_json_schema(ref_template="#/$defs/{model}"))
            definitions |= made.pop("$defs", {})
            definitions[names[item]] = made
    for made in definitions.values():
        evidence = made.get("properties", {}).get("evidence")
        if evidence is not None and context_ids:
            evidence["items"] = {"type": "string", "enum": list(context_ids)}
    return {
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{names[item]}"} for name, item in items},
        "required": [name for name, _ in items],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _closed(node: Any) -> Any:
    """Without titles, descriptions, bounds and defaults; every object closed, all required."""
    if isinstance(node, list):
        return [_closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {
        name: {key: _closed(one) for key, one in value.items()}
        if name in ("properties", "$defs")
        else _closed(value)
        for name, value in node.items()
        if name not in ("title", "description", "default", "minItems", "maxItems")
        and name not in ("minimum", "maximum", "minLength", "maxLength")
    }
    if kept.get("type") == "object":
        kept["additionalProperties"] = False
        kept["required"] = list(kept.get("properties", ()))
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    return kept


def _text(made: Mapping[str, Any]) -> str:
    return json.dumps(made, separators=(",", ":"), sort_keys=False, ensure_ascii=False)
