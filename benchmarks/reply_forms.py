"""The form of replies: what each costs, and what it loses, on the same questions.

    python benchmarks/reply_forms.py [--examples 50] [--bench ../shared/bench]

Puts the questions of judges.py, seven metrics on synthetic examples of ten contexts, through
`ragstone.evaluate` to the mock judge in this process, one after the other, in four forms:

flat            one schema for all questions, in the server's own field: a list of items, each with
                id, first words, reason, verdict, details
flat, printed   the same, printed last in the prompt with a worked reply; the server holds to JSON
a task's own    a schema for each question, in the server's own field: a property an item, its
                fields typed, the ids of passages and the verdicts enumerated
… printed       the same, printed last with a worked reply

Tokens are characters / 4. Uncached are those that the mock's prefix cache (1,024 tokens at least)
did not serve; a schema in the server's field stands before the prompt, as OpenAI has it. The price
is in uncached prompt tokens, at two prices of cached and two of reply tokens. Reply tokens are as
the mock fills each schema, which is no model's way: lists have four entries, or one where the last
lines say what a detail may be.

Missing are items that are not read. Wrong are items read that were written about another text: of
sound replies, and where a model slips: counts from 0, gives each verdict to the next id, or leaves
one out and moves the others up. Where the server holds to the ids, counting from 0 cannot be.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from against_mock import METRICS, loaded, write_examples

import ragstone
from ragstone.judges.llm.answer_tasks import CritiqueVerdict, ProbesMade
from ragstone.judges.llm.claim_tasks import AnswerClaims, ReferenceStatements, StatementAgreement
from ragstone.judges.llm.context_tasks import PassageRelevance, PropositionSupport
from ragstone.judges.llm.questions import Item
from ragstone.judges.llm.replies import read_items
from ragstone.models.chat import CallableChat, ChatRequest
from ragstone.models.chat.model import MalformedReply
from ragstone.models.chat.wire_format import PRINTED, SCHEMA_NAME, WORKED, printed
from ragstone.testing import ScriptedEncoder, asked

SORTS: dict[str, type[Item]] = {
    "a": AnswerClaims,
    "r": ReferenceStatements,
    "c": PassageRelevance,
    "p": PropositionSupport,
    "k": StatementAgreement,
    "n": ProbesMade,
    "v": CritiqueVerdict,
}
FLAT, FLAT_PRINTED = "flat", "flat, printed"
OWN, OWN_PRINTED = "a task's own", "… printed"
PRICES = [(cached, reply) for cached in (0.1, 0.25) for reply in (4, 8)]
SLIPS = ("none", "from 0", "to the next", "one left out")


@dataclass
class Form:
    """What one form took."""

    cache: Any
    prompt: int = 0
    cached: int = 0
    reply: int = 0
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def price(self, cached: float, reply: float) -> float:
        return self.prompt - self.cached + cached * self.cached + reply * self.reply


def own_schema(ids: Mapping[str, type[Item]], passages: list[str]) -> dict[str, Any]:
    """A property an item, each a reference to its sort."""
    made: dict[str, Any] = {}
    for sort in set(ids.values()):
        shape = _closed(sort.model_json_schema(ref_template="#/$defs/{model}"))
        made |= shape.pop("$defs", {})
        if passages and "evidence" in shape["properties"]:
            shape["properties"]["evidence"]["items"] = {"type": "string", "enum": passages}
        made[sort.__name__] = shape
    return {
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{sort.__name__}"} for name, sort in ids.items()},
        "required": list(ids),
        "additionalProperties": False,
        "$defs": made,
    }


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    left_out = ("title", "description", "minLength")
    kept = {name: _closed(value) for name, value in node.items() if name not in left_out}
    if kept.get("type") == "object":
        kept |= {"additionalProperties": False, "required": list(kept["properties"])}
    return kept


def body(form: str, request: ChatRequest, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The request as it is sent."""
    text, how = request.text, {"type": "json_object"}
    if form == FLAT_PRINTED:
        text += printed(request)
    elif form == OWN_PRINTED:
        compact = json.dumps(schema, separators=(",", ":"))
        text += f"\n\n{PRINTED}\n{compact}\n{WORKED}\n{request.example}"
    else:
        name = SCHEMA_NAME if form == FLAT else request.name
        described = {"name": name, "strict": True, "schema": schema}
        how = {"type": "json_schema", "json_schema": described}  # type: ignore[dict-item]
    system = {"role": "system", "content": request.system}
    return {"messages": [system, {"role": "user", "content": text}], "response_format": how}


def slipped(entries: list[dict[str, Any]], slip: str) -> list[tuple[str, dict[str, Any]]]:
    """The ids as a model writes them, and the items as it meant them."""
    ids = [entry["id"] for entry in entries]
    match slip:
        case "from 0":
            ids = [f"{name[0]}{int(name[1:]) - 1:02d}" for name in ids]
        case "to the next":
            ids = [*ids[1:], ids[0]]
        case "one left out":
            return list(zip(ids[:-1], entries[1:], strict=True))
    return list(zip(ids, entries, strict=True))


def lost(
    form: str, request: ChatRequest, entries: list[dict[str, Any]], slip: str
) -> tuple[int, int]:
    """Items missing, and items read that are about another text."""
    words = asked(request)
    sorts = {name: SORTS[name[0]] for name in words}
    written = slipped(entries, slip)
    if form in (OWN, OWN_PRINTED):
        if form == OWN and slip == "from 0":
            written = slipped(entries, "none")
        made: Any = {name: {**entry, "words": ""} for name, entry in written}
        texts: dict[str, str] = {}
    else:
        made = {"items": [{**entry, "id": name} for name, entry in written]}
        texts = {name: text for name, text in words.items() if text}
    try:
        items = read_items(json.dumps(made), sorts, texts).items
    except MalformedReply:
        items = {}
    about = {name: entry["id"] for name, entry in written}
    wrong = sum(about.get(name, "") != name for name in items)
    return len(sorts) - len(items), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--examples", type=int, default=50)
    given = parser.parse_args()
    mock: ModuleType = loaded(given.bench / "mock_llm.py")
    peers = loaded(given.bench / "peers_llm.py")
    forms = {
        name: Form(mock.PrefixCache(mock.DEFAULTS))
        for name in (FLAT, FLAT_PRINTED, OWN, OWN_PRINTED)
    }
    turn = 0

    def put(name: str, request: ChatRequest, schema: Mapping[str, Any]) -> str:
        form, made = forms[name], body(name, request, schema)
        text, _, _ = mock.answer(made, mock.DEFAULTS["list_len"])
        prompt = form.cache.layout(made)
        chain = form.cache.chain("m", prompt)
        form.cached += form.cache.lookup(chain, turn)
        form.cache.store(chain, turn)
        form.prompt += mock.ntok(prompt)
        form.reply += mock.ntok(text)
        return str(text)

    async def answer(request: ChatRequest) -> str:
        nonlocal turn
        turn += 1
        ids = {name: SORTS[name[0]] for name in asked(request)}
        passages = [f"c{n:02d}" for n in range(1, 11)] if request.name == "support" else []
        own = own_schema(ids, passages)
        text = put(FLAT, request, request.schema)
        put(FLAT_PRINTED, request, request.schema)
        put(OWN, request, own)
        put(OWN_PRINTED, request, own)
        entries = json.loads(text)["items"]
        for name, form in forms.items():
            for slip in SLIPS if len(entries) > 1 else SLIPS[:1]:
                missing, wrong = lost(name, request, entries, slip)
                counts = form.counts
                counts["missing", slip] = counts.get(("missing", slip), 0) + missing
                counts["wrong", slip] = counts.get(("wrong", slip), 0) + wrong
                counts["asked", slip] = counts.get(("asked", slip), 0) + len(ids)
        return text

    with tempfile.TemporaryDirectory() as scratch:
        data = write_examples(Path(scratch) / "examples.jsonl", peers.workload(given.examples, 10))
        ragstone.evaluate(
            str(data), metrics=METRICS, judge=CallableChat(answer, "mock", identity="1"),
            embedder=ScriptedEncoder(), out=Path(scratch) / "run",
            limits=ragstone.Limits(concurrency=1, cached=False),
        )  # fmt: skip
    print(table(forms, given.examples))


def table(forms: Mapping[str, Form], examples: int) -> str:
    prices = [f"price, cached × {cached:g}, reply × {reply}" for cached, reply in PRICES]
    head = ["an example", "prompt", "uncached", "reply", *prices]
    head += [f"slip: {slip}" for slip in SLIPS]
    lines = [head, ["---"] * len(head)]
    for name, form in forms.items():
        taken = [form.prompt, form.prompt - form.cached, form.reply]
        taken += [form.price(*price) for price in PRICES]  # type: ignore[misc]
        counts = form.counts
        kept = [
            f"{counts['missing', slip]} missing, {counts['wrong', slip]} wrong of "
            f"{counts['asked', slip]}"
            for slip in SLIPS
        ]
        lines.append([name, *(f"{one / examples:,.0f}" for one in taken), *kept])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


if __name__ == "__main__":
    main()
