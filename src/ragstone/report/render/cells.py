"""Cells: the text of a cell, the same in every renderer."""

from typing import Literal

from ragstone.report import page as pages
from ragstone.report.figures import ends, number, p_word, percent
from ragstone.report.page import Phrase

OUTCOMES: dict[pages.Outcome, pages.Tone] = {
    "undefined": "undefined",
    "missing": "missing",
    "unknown": "caution",
}
SHORT: dict[pages.Outcome, str] = {"undefined": "undef.", "missing": "missing", "unknown": "–"}


def written(cell: pages.Cell) -> Phrase:
    """A cell as text.

    >>> written(pages.IntervalCell(0.656, 0.6, 0.72)).text
    '0.656 (0.600 – 0.720)'
    """
    match cell:
        case None:
            return Phrase("")
        case str():
            return Phrase(cell)
        case Phrase():
            return cell
        case pages.RowName():
            return Phrase(cell.text, strong=cell.strong)
        case pages.Verdict():
            return Phrase(cell.word, cell.tone, strong=True)
        case pages.Count():
            known = "–" if cell.value is None else f"{cell.value:,}"
            text = f"{known} {cell.note}" if cell.note else known
            tone: pages.Tone = cell.tone if cell.value or not cell.tone else "quiet"
            return Phrase(text, tone, cell.strong)
        case pages.Share():
            return Phrase(
                f"{cell.count:,} {percent(cell.count / cell.total, 0) if cell.total else '–':>5}"
            )
        case pages.P():
            return Phrase(p_word(cell.value), "quiet")
        case pages.Number():
            return Phrase(_number(cell), cell.tone, cell.strong)
        case pages.IntervalCell():
            value = value_of(cell)
            if cell.low is not None and cell.high is not None:
                value += f" ({ends(cell.low, cell.high, percent=cell.percent)})"
            behind = ", ".join(one.text for one in counts_of(cell))
            return Phrase(
                f"{value}, {behind}" if behind else value, strong=cell.low is None and cell.strong
            )
        case pages.Bar():
            return Phrase(", ".join(f"{part.word} {part.size:,g}" for part in cell.parts))
        case pages.Why():
            return Phrase(cell.words or SHORT[cell.outcome], OUTCOMES[cell.outcome])


def words_of(cell: pages.Cell) -> pages.Words:
    """A cell as text; a verdict is followed by its note."""
    if isinstance(cell, pages.Verdict) and cell.note:
        return (written(cell), pages.quiet(f"  {cell.note}"))
    return written(cell)


def value_of(cell: pages.IntervalCell) -> str:
    """The value without its interval; one that leads is marked.

    >>> value_of(pages.IntervalCell(0.02, None, None, signed=True))
    '+0.020'
    """
    sign: Literal["", "+"] = "+" if cell.signed else ""
    figure = _number(pages.Number(cell.value, percent=cell.percent, sign=sign))
    return f"{figure}*" if cell.leads else figure


def counts_of(cell: pages.IntervalCell) -> list[Phrase]:
    """What is said of the rows behind a value: how many they are, and how many are missing.

    >>> [one.text for one in counts_of(pages.IntervalCell(0.5, None, None, n=7, missing=1))]
    ['n=7', '1 missing']
    """
    known = [] if cell.n is None else [Phrase(f"n={cell.n:,}", "quiet")]
    return known + ([Phrase(f"{cell.missing:,} missing", "missing")] if cell.missing else [])


def _number(cell: pages.Number) -> str:
    """A number with its sign and unit; a dash if there is none.

    >>> _number(pages.Number(0.5, sign="±")), _number(pages.Number(1.234, 2, unit=" ×"))
    ('±0.500', '1.23 ×')
    """
    if cell.value is None:
        return "–"
    if cell.places == 3:
        figure = number(cell.value, percent=cell.percent)
    else:
        figure = f"{round(cell.value, cell.places) + 0.0:,.{cell.places}f}"
    positive = cell.value > 0 and float(figure.replace(",", "")) != 0
    sign = cell.sign if cell.sign == "±" or positive else ""
    return f"{sign}{figure}{cell.unit}"
