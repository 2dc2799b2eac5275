"""Why: the judgements behind a low score, in one line each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.judgements import ASKS
from ragstone.metrics import Composite, Metric, parse_metric

from .figures import number, shortened

Record = Mapping[str, Any]

GOOD = ("supported", "matches", "full")
TEXT, LINE = 160, 320
MOST_LINES = 3

SAID_ELSEWHERE = ("grounding",)
"""Follows from the verdicts on claims."""


def why(found: Record, metric: str, *, most: int = MOST_LINES) -> list[str]:
    """What the judges held against an example, for one metric; the first few, and how many more.

    Claims and statements that are contradicted, then those that are not supported or do not
    agree, contexts that are not relevant; and of every other kind that the metric rests on the
    judge's reason.

    Args:
        found: Its dossier.
        metric: The text form of the metric.
        most: Lines.
    """
    asks = _asks(metric)
    held = sorted(_held(found, asks), key=lambda one: not one[0].startswith("contradict"))
    lines = list(dict.fromkeys([*(line for _, line in held), *_others(found, asks)]))
    lines = [shortened(line, LINE) for line in lines]
    if len(lines) > most:
        return [*lines[:most], f"and {len(lines) - most:,} more"]
    return lines


def _asks(metric: str) -> frozenset[str]:
    """What the metric rests on; everything for one that is not known here."""
    try:
        made = parse_metric(metric)
    except RagstoneError:
        return frozenset(ASKS)
    parts: Sequence[Metric] = [made]
    if isinstance(made, Composite):
        parts = list(made.components().values())
    asks = frozenset[str]().union(*(part.asks for part in parts))
    behind = {"support/claim"} if "grounding/support" in asks else set[str]()
    return asks | behind


def _held(found: Record, asks: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The verdict on each proposition and context that speaks against it, and a line."""
    for what, text, judged in _propositions(found, asks):
        if judged and judged["verdict"] and judged["verdict"] not in GOOD:
            yield judged["verdict"], _line(f"{what} {judged['verdict']}", text, judged["reason"])
    for context in found["contexts"] or () if "relevance" in asks else ():
        judged = context["relevance"]
        if judged and judged["relevant"] is False:
            head = f"context {context['rank']} not relevant"
            yield "not relevant", _line(head, "", judged["reason"])


def _propositions(found: Record, asks: frozenset[str]) -> Iterator[tuple[str, str, Record | None]]:
    """What it is, its text, and what was said of it."""
    for claim in found["claims"]:
        if "support/claim" in asks:
            yield "claim", claim["text"], claim["support"]
        if "agreement/claim" in asks:
            yield from (("claim", claim["text"], row) for row in claim["agreement"])
    for statement in found["statements"]:
        for ask, column in (("support/statement", "support"), ("agreement/statement", "agreement")):
            if ask in asks:
                yield "statement", statement["text"], statement[column]
    if "support/evidence" in asks:
        for evidence in found["gold_evidence"]:
            yield "evidence", evidence["text"], evidence["support"]


def _others(found: Record, asks: frozenset[str]) -> Iterator[str]:
    """Judgements that carry a reason; of counting there is none."""
    for kind in dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in asks):
        for row in found["judgements"].get(kind, ()) if kind not in SAID_ELSEWHERE else ():
            facts = [
                _fact(name, value)
                for name, value in row.items()
                if value is not None and name not in ("judge", "reason", "probability")
            ]
            if row["reason"]:
                yield _line(", ".join([kind, *facts]), "", row["reason"])


def _fact(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{name} {'yes' if value else 'no'}"
    return f"{name} {number(value) if isinstance(value, float) else value}"


def _line(head: str, text: str, reason: str | None) -> str:
    said = f": {shortened(text, TEXT)}" if text else ""
    return f"{head}{said}{f'  ({reason})' if reason else ''}"
