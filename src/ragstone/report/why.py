"""Why: the judgements behind a low score, in one line each."""

from collections.abc import Iterator, Sequence

from ragstone.errors import RagstoneError
from ragstone.judgements import ASKS, KINDS, kind_of
from ragstone.metrics import Composite, Metric, read_metric

from .dossier import PLACES, Dossier, JudgementRow, asks_about
from .figures import shortened
from .judged import against, in_words, says, speaking
from .words import words

TEXT, LINE = 160, 320
MOST_LINES = 3


def why(found: Dossier, metric: str, *, most: int = MOST_LINES) -> list[str]:
    """The judgements that lowered an example's score on one metric: the first few, and a count.

    First come claims and statements that are contradicted, then those that are not supported or do
    not agree and contexts that are not relevant, then the reasons the judges gave in every other
    kind that the metric uses.

    Args:
        found: The dossier of the example.
        metric: The text form of the metric.
        most: The largest number of lines.
    """
    asks = _asks(metric)
    held = sorted(_held(found, asks), key=lambda one: one[0] != "bad")
    lines = list(dict.fromkeys([*(line for _, line in held), *_others(found, asks)]))
    lines = [shortened(line, LINE) for line in lines]
    if len(lines) > most:
        return [*lines[:most], f"and {len(lines) - most:,} more"]
    return lines


def _asks(metric: str) -> frozenset[str]:
    """The asks that the metric uses; all asks for a metric that is not known here."""
    try:
        made = read_metric(metric)
    except RagstoneError:
        return frozenset(ASKS)
    parts: Sequence[Metric] = [made]
    if isinstance(made, Composite):
        parts = list(made.components().values())
    asks = frozenset[str]().union(*(part.asks for part in parts))
    return asks.union(*(ASKS[ask].after for ask in asks if kind_of(ask).derived))


def _held(found: Dossier, asks: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The tone and a line for each verdict against a claim, statement, evidence or context."""
    for what, text, row in _of_units(found, asks):
        tone, verdict = against(row)
        if tone:
            yield tone, _line(f"{what} {verdict}", text, row.reason)


def _of_units(found: Dossier, asks: frozenset[str]) -> Iterator[tuple[str, str, JudgementRow]]:
    """The name of each unit, its text, and a row about it."""
    for unit in PLACES:
        for part in found.parts[unit]:
            what = f"{unit} {part.place}" if unit == "context" else unit
            text = "" if unit == "context" else part.text or ""
            for ask in (one for one in asks_about(unit) if one.name in asks):
                yield from ((what, text, row) for row in part.rows(ask.kind))


def _others(found: Dossier, asks: frozenset[str]) -> Iterator[str]:
    """A line for each other judgement with a reason; judgements derived by counting have none."""
    of_units = [row for _, _, row in _of_units(found, asks) if speaking(row.kind) is None]
    for kind in dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in asks):
        rows = () if KINDS[kind].derived else found.judgements.get(kind, ())
        for row in (*rows, *(one for one in of_units if one.kind.name == kind)):
            if row.reason:
                yield _line(f"{says(row.kind)}: {in_words(row)}", "", row.reason)


def _line(head: str, text: str, reason: str) -> str:
    said = f": {shortened(text, TEXT)}" if text else ""
    return f"{head}{said}{f'  ({words(reason)})' if reason else ''}"
