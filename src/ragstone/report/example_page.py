"""Example page: one example with its claims, verdicts, evidence and reasons."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from .calls import calls
from .facts import DIM, HEAD, Facts, Paragraph
from .figures import number, plain_reason
from .render.grid import Grid, GridColumn, cell, folded

VERDICTS = {
    "supported": "green", "matches": "green", "full": "green",
    "absent": "yellow", "extra": "bright_black", "partial": "yellow", "missing": "yellow",
    "contradicted": "red", "contradicts": "red",
}  # fmt: skip
NOTE_WIDTH, METRIC_WIDTH = 60, 28
UNDEFINED, MISSING = "yellow", "red"

Record = Mapping[str, Any]


def example_page(found: Record, *, prompts: bool = False) -> RenderableType:
    """What ``dossier`` found, to read from top to bottom: as asked, retrieved, answered, judged.

    Args:
        found: The example.
        prompts: Also what models were told, word for word.
    """
    parts: list[RenderableType] = []
    for title, lines in (
        ("", _opening(found)),
        ("Contexts", _contexts(found)),
        ("Answer", _answer(found)),
        ("Claims of the answer", _claims(found)),
        ("Reference", _reference(found)),
        ("Gold evidence", _evidence(found)),
        ("Other judgements", _others(found)),
        ("Labels of people", _labels(found)),
        ("Questions to models", calls(found["calls"], prompts=prompts)),
        ("Scores", _scores(found)),
    ):
        shown = list(lines)
        if shown:
            parts += [Text(title, HEAD)] if title else []
            parts += [*shown, Text()]
    return Group(*parts)


def _opening(found: Record) -> Iterator[RenderableType]:
    rows = [("example", Text(found["id"], HEAD)), ("system", Text(found["system"]))]
    rows += [(name, Text(_plain(value))) for name, value in found["slices"].items()]
    rows += [("policy", Text(found["policy"]))] if found["policy"] else []
    rows += [(turn["role"], Text(turn["text"], DIM)) for turn in found["history"] or ()]
    rows.append(("question", Text(found["question"] or "–", HEAD)))
    yield Facts(rows)


def _contexts(found: Record) -> Iterator[RenderableType]:
    contexts = found["contexts"]
    if contexts is None:
        yield Paragraph(Text("this system does not retrieve", DIM), 2)
    elif not contexts:
        yield Paragraph(Text("it retrieved nothing", DIM), 2)
    for context in contexts or ():
        head = Text.assemble((f"{context['rank']:>2}  ", HEAD), (context["id"], "cyan"))
        if context["score"] is not None:
            head.append(f"  score {number(context['score'])}", DIM)
        judged = context["relevance"]
        if judged:
            head.append("  ")
            head.append_text(_relevance(judged))
        yield Paragraph(head, 2, 4)
        yield Paragraph(Text(context["text"] if context["text"] is not None else "(no text)"), 6)


def _relevance(judged: Record) -> Text:
    words = Text()
    if judged["relevant"] is not None:
        words.append("relevant" if judged["relevant"] else "not relevant",
                     "green" if judged["relevant"] else "yellow")  # fmt: skip
    for name, style in (("sufficient", "green"), ("misleading", "red")):
        if judged[name]:
            words.append(f", {name}", style)
    if judged["grade"] is not None:
        words.append(f", grade {judged['grade']}", DIM)
    return words.append_text(_source(judged))


def _answer(found: Record) -> Iterator[RenderableType]:
    yield Paragraph(Text(found["answer"] if found["answer"] is not None else "–"), 2)
    for judged in found["judgements"].get("response", ()):
        words = Text.assemble("response type ", (str(judged["response_type"]), HEAD))
        yield Paragraph(words.append_text(_source(judged)), 2, 2)
    for cited in found["judgements"].get("citations", ()):
        names = cited["context"] or "no retrieved context"
        style = "" if cited["context"] else "red"
        yield Paragraph(Text.assemble("cites ", (cited["marker"], HEAD), " = ", (names, style)), 2)


def _claims(found: Record) -> Iterator[RenderableType]:
    for claim in found["claims"]:
        yield Paragraph(Text(f"{claim['index'] + 1:>2}  {claim['text']}"), 2, 4)
        if claim["support"]:
            yield Paragraph(_support(claim["support"]), 6, 2)
        for row in claim["agreement"]:
            which = f"reference {row['reference'] + 1} " if len(found["reference"]) > 1 else ""
            yield Paragraph(_verdict(f"{which}says it: ", row), 6, 2)


def _support(judged: Record) -> Text:
    words = _verdict("contexts: ", judged, source=False)
    if judged["probability"] is not None:
        words.append(f", probability {number(judged['probability'])}", DIM)
    if judged["evidence"]:
        words.append(", from ", DIM).append(", ".join(judged["evidence"]), "cyan")
    if judged["quote"]:
        words.append(f" “{judged['quote']}”", "italic")
    return words.append_text(_source(judged))


def _verdict(lead: str, judged: Record, *, source: bool = True) -> Text:
    verdict = judged["verdict"]
    words = Text.assemble((lead, DIM), (verdict or "not judged", VERDICTS.get(verdict or "", "")))
    return words.append_text(_source(judged)) if source else words


def _source(judged: Record) -> Text:
    """Why, and who said so."""
    reason = f"  {judged['reason']}" if judged.get("reason") else ""
    return Text(f"{reason}  ({judged['judge']})", DIM)


def _reference(found: Record) -> Iterator[RenderableType]:
    several = len(found["reference"]) > 1
    for at, text in enumerate(found["reference"]):
        yield Paragraph(Text(f"{at + 1:>2}  {text}" if several else text), 2, 4 * several)
        for lexical in found["judgements"].get("lexical", ()):
            if lexical["reference"] == at:
                yield Paragraph(Text(_numbers(lexical, skip=("reference",)), DIM), 6)
        for statement in found["statements"]:
            if statement["reference"] == at:
                yield Paragraph(Text(f"·  {statement['text']}"), 6, 3)
                if statement["agreement"]:
                    yield Paragraph(_verdict("answer: ", statement["agreement"]), 9, 2)
                if statement["support"]:
                    yield Paragraph(_support(statement["support"]), 9, 2)


def _evidence(found: Record) -> Iterator[RenderableType]:
    for at, evidence in enumerate(found["gold_evidence"]):
        yield Paragraph(Text(f"{at + 1:>2}  {evidence['text']}"), 2, 4)
        if evidence["support"]:
            yield Paragraph(_support(evidence["support"]), 6, 2)


def _others(found: Record) -> Iterator[RenderableType]:
    shown = {"response", "citations", "lexical"}
    for kind, rows in found["judgements"].items():
        if kind in shown:
            continue
        for row in rows:
            facts = {name: value for name, value in row.items() if value is not None}
            told = Text.assemble((kind, HEAD), f"  {_numbers(facts)}")
            yield Paragraph(told.append_text(_source(row)), 2, 4)


def _labels(found: Record) -> Iterator[RenderableType]:
    for name, value in found["labels"].items():
        yield Paragraph(Text.assemble((name, HEAD), f"  {_plain(value)}"), 2, 4)


def _scores(found: Record) -> Iterator[RenderableType]:
    rows = []
    for score in found["scores"]:
        if score["status"] == "value":
            label = score["label"] or ""
            note = f"  {score['reason']}" if score["reason"] else ""
            outcome = [cell(number(score["value"]), HEAD), cell(f"{label}{note}".strip(), DIM)]
        else:
            style = MISSING if score["status"] == "missing" else UNDEFINED
            outcome = [cell("–", style)]
            outcome.append(
                cell(
                    folded(f"{score['status']} ({plain_reason(score['reason'])})", NOTE_WIDTH),
                    style,
                )
            )
        rows.append([cell(), cell(folded(score["metric"], METRIC_WIDTH)), *outcome])
    if rows:
        yield Grid([GridColumn(), GridColumn(), GridColumn("right"), GridColumn()], rows)


def _numbers(row: Record, skip: tuple[str, ...] = ()) -> str:
    told = []
    for name, value in row.items():
        if name not in skip and name not in ("judge", "reason", "subject"):
            told.append(f"{name} {number(value) if isinstance(value, float) else _plain(value)}")
    return ", ".join(told)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
