"""Strip: an interval drawn with characters, and the axis above it."""

from collections.abc import Iterable

from rich.text import Text

from ragstone.report.page import IntervalCell, Mark, Scale

LINES = {"bar": "┃", "zero": "│", "margin": "┊", "chance": "┊"}


def strip(cell: IntervalCell, width: int) -> str:
    """The interval on its scale, in characters; empty if the scale does not have two ends.

    ``·`` is the scale, ``├──┤`` the interval, ``●`` the value, ``┃`` a threshold (``◉`` if the
    value lies on it), ``│`` zero, ``┊`` a margin or the level of chance. Values beyond the scale
    are drawn at its end; a value near a threshold or zero is never drawn on top of it.

    >>> strip(IntervalCell(0.5, 0.25, 0.75, Scale(0, 1)), 9)
    '··├─●─┤··'
    """
    scale = cell.scale
    if scale is None or not scale.drawable or not width:
        return ""
    fixed = [(mark, _place(mark.at, scale, width)) for mark in scale.marks]
    lines = [(mark, at) for mark, at in fixed if mark.what in ("bar", "zero")]

    def place(value: float) -> int:
        at = _place(value, scale, width)
        for mark, line in lines:
            if at == line and value != mark.at:
                at += 1 if value > mark.at else -1
        return min(width - 1, max(0, at))

    letters = ["·"] * width
    if cell.low is not None and cell.high is not None:
        first, last = place(cell.low), place(cell.high)
        letters[first : last + 1] = ["─"] * (last - first + 1)
        letters[first], letters[last] = "├", "┤"
    for mark, at in fixed:
        letters[at] = (
            _marked(mark, letters[at]) if scale.low <= mark.at <= scale.high else letters[at]
        )
    if cell.value is not None:
        at = place(cell.value)
        letters[at] = "◉" if letters[at] == "┃" else "●"
    return "".join(letters)


def coloured(letters: str, tone: str, value: str) -> Text:
    """The drawing in colour: the interval in its tone, the value in another, the scale dim."""
    text = Text(letters, tone)
    for at, letter in enumerate(letters):
        if letter in "·┊│":
            text.stylize("bright_black", at, at + 1)
        elif letter in "●":
            text.stylize(value, at, at + 1)
        elif letter in "┃◉":
            text.stylize("not dim bold default", at, at + 1)
    return text


def axis(
    scales: Iterable[Scale], width: int, *, percent: bool = False, signed: bool = False
) -> str:
    """The ends of a shared scale, with zero or chance; ``bar`` if all are about a threshold."""
    shared = set(scales)
    if not shared or not width:
        return ""
    if all(scale.about_bar for scale in shared):
        return "bar".center(width).rstrip()
    if len(shared) > 1:
        return ""
    scale = shared.pop()
    if not scale.drawable:
        return ""
    low, high = (_end(end, percent, signed) for end in (scale.low, scale.high))
    letters = list(low.ljust(width - len(high)) + high)
    for mark in scale.marks:
        word = f"{mark.at:g}".replace("0.", ".") if mark.what in ("zero", "chance") else ""
        at = _place(mark.at, scale, width)
        if word and not "".join(letters[max(at - 1, 0) : at + len(word) + 1]).strip():
            letters[at : at + len(word)] = word
    return "".join(letters)


def _place(value: float, scale: Scale, width: int) -> int:
    share = (value - scale.low) / (scale.high - scale.low)
    return min(width - 1, max(0, round(share * (width - 1))))


def _marked(mark: Mark, letter: str) -> str:
    if mark.what == "bar":
        return LINES["bar"]
    if mark.what == "zero" and letter == "─":
        return "┼"
    return LINES[mark.what] if letter == "·" else letter


def _end(end: float, percent: bool, signed: bool) -> str:
    value = end * 100 if percent else end
    return f"{value:+g}" if signed and value else f"{value:g}"
