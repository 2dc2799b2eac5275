"""Why: the judgements behind low scores, in one line each."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ragstone.core.errors import RagstoneError
from ragstone.data.record_labels import Unit
from ragstone.judgements import ASKS, KINDS, Response, kind_of
from ragstone.metrics import Composite, Metric, read_metric

from .dossier import PLACES, Dossier, JudgedPart, JudgementRow, asks_about
from .figures import shortened
from .judged import against, in_words, says, speaking
from .words import words

TEXT, LINE = 160, 320
MOST_LINES = 3


def why(found: Dossier, *metrics: str, most: int = MOST_LINES) -> list[str]:
    """The judgements that lowered an example's scores: the first few, and a count of the rest.

    First come claims and statements that are contradicted, then those that are not supported or do
    not agree and contexts that are not relevant, then the reasons the judges gave in every other
    kind that the metrics use.

    Args:
        found: The dossier of the example.
        metrics: The text forms of the metrics.
        most: The largest number of lines.
    """
    asks = frozenset[str]().union(*map(_asks, metrics))
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
    """The tone and a line for each claim, statement, evidence or context with verdicts against it.

    A line has the unit once, with the verdicts of all asks and their reasons.
    """
    for (what, text), of_unit in groupby(_of_units(found, asks), key=lambda one: one[:2]):
        verdicts = [(*against(row), row.reason) for _, _, row in of_unit]
        held = sorted((one for one in verdicts if one[0]), key=lambda one: one[0] != "bad")
        if held:
            said = ", ".join(dict.fromkeys(verdict for _, verdict, _ in held))
            reasons = dict.fromkeys(reason for _, _, reason in held)
            yield held[0][0], _line(f"{what} {said}", text, *reasons)


def _of_units(found: Dossier, asks: frozenset[str]) -> Iterator[tuple[str, str, JudgementRow]]:
    """The name of each unit, its text, and a row about it."""
    for unit in PLACES:
        for part in found.parts[unit]:
            what = unit if unit == "statement" else f"{unit} {_number(unit, part)}"
            text = "" if unit == "context" else part.text or ""
            for ask in (one for one in asks_about(unit) if one.name in asks):
                yield from ((what, text, row) for row in part.rows(ask.kind))


def _number(unit: Unit, part: JudgedPart) -> int:
    """The rank of a context; claims and evidence are counted from 1 too, as on every page."""
    return part.place if unit == "context" else part.place + 1


def _others(found: Dossier, asks: frozenset[str]) -> Iterator[str]:
    """A line for each other judgement with a reason; judgements derived by counting have none."""
    of_units = [row for _, _, row in _of_units(found, asks) if speaking(row.kind) is None]
    for kind in dict.fromkeys(ASKS[ask].kind for ask in ASKS if ask in asks):
        rows = () if KINDS[kind].derived else found.judgements.get(kind, ())
        for row in (*rows, *(one for one in of_units if one.kind.name == kind)):
            if row.reason and not _ordinary(row):
                yield _line(f"{says(row.kind)}: {in_words(row)}", "", row.reason)


def _ordinary(row: JudgementRow) -> bool:
    """Whether it only says that the reply is an answer, which lowers no score."""
    return row.kind is Response and row.values.get(Response.decides) == "answer"


def _line(head: str, text: str, *reasons: str) -> str:
    said = f": {shortened(text, TEXT)}" if text else ""
    why = "; ".join(words(reason) for reason in reasons if reason)
    return f"{head}{said}{f'  ({why})' if why else ''}"
