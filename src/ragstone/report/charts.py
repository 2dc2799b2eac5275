"""Charts: intervals, bars, forests, reliability, waterfalls and time series, as SVG text.

Horizontal positions are in percent and heights in pixels, so that a chart takes the width of its
container. All styling is by classes, defined in ``render/charts.css`` for light, dark and print;
there is no ``style`` attribute and no script. Each chart has a title that gives its numbers; purely
decorative elements are hidden from screen readers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ragstone.core.escape import html

from . import page as ui
from .number_format import ends, number, signed

# The height of an interval.
LINE = 18

# The height of a name with the chart below it.
STEP = 34

# The side of a reliability diagram, and the space for its axes.
SQUARE, PAD = 300, 34

QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def chart(figure: ui.Chart) -> str:
    """The SVG of a chart that is a block of its own."""
    return CHARTS[type(figure)](figure)


def strip(cell: ui.IntervalCell, height: int = LINE) -> str:
    """A value and its interval on a shared scale; empty if the scale does not have two ends.

    The thin line is the cell, the thick line the one used to decide equivalence, and the grey
    band the margin.
    """
    if cell.scale is None or not cell.scale.drawable:
        return ""
    return _svg(_drawn(cell, cell.scale, height, 0.0), height, f"iv {cell.tone}", _in_words(cell))


def axis(
    scale: ui.Scale, *, percent: bool = False, signed: bool = False, quarters: bool = False
) -> str:
    """The ends and marks of a scale, for the head of a column; a threshold is shown as a word.

    ``quarters`` adds what lies between the ends, if the words are short enough for a narrow chart.
    """
    if not scale.drawable:
        return ""
    if scale.about_bar:
        index = _share(scale.marks[0].at, scale)
        return _svg(_text(f"{_figure(index)}%", 12, "bar", "middle"), 16, "axis")
    inner = [scale.low + share * (scale.high - scale.low) for share in QUARTERS[1:-1]]
    inner = inner if quarters and all(len(f"{at:g}") <= 4 for at in inner) else []
    marks = (mark.at for mark in scale.marks if mark.what in ("zero", "chance"))
    body = ""
    for at in sorted({scale.low, scale.high, *inner, *marks}):
        value = at * 100 if percent else at
        word = f"{value:+g}" if signed and value else f"{value:g}"
        body += _at(_share(at, scale), 12, word)
    return _svg(body, 16, "axis")


def bar(stack: ui.Bar, height: int = 14) -> str:
    """The parts of a bar side by side, with a thin gap between them; the title has their sizes."""
    if stack.whole <= 0:
        return ""
    return _svg(_stacked(stack, height, 0), height, "stack", _parts_in_words(stack))


def bars(figure: ui.Bars, height: int = 14) -> str:
    """Bars one below the other, each under its name and its parts in words."""
    body = ""
    for index, (name, each) in enumerate(figure.rows):
        top = index * STEP
        body += _text("0", top + 12, name, "start", "name")
        body += _text("100%", top + 12, _parts_in_words(each), "end")
        body += _stacked(each, height, top + 16) if each.whole > 0 else ""
    text = "; ".join(f"{name}: {_parts_in_words(each)}" for name, each in figure.rows)
    return _svg(body, len(figure.rows) * STEP, "stack", f"{figure.title}: {text}")


def _stacked(stack: ui.Bar, height: int, top: int) -> str:
    at, body = 0.0, ""
    for part in stack.parts:
        wide = part.size / stack.whole * 100
        shape = f'x="{_figure(at)}%" y="{top}" height="{height}" class="l{part.level}"'
        body += f'<rect {shape} width="{_figure(wide)}%"/>' if wide > 0 else ""
        body += "" if wide > 0 else _line(at, at, top, top + height, "none")
        at += wide
        if wide > 0 and at < 99.9:
            body += _line(at, at, top, top + height, "gap")
    return body


def _parts_in_words(stack: ui.Bar) -> str:
    return ", ".join(f"{part.word} {part.size:,g}".strip() for part in stack.parts)


def forest(figure: ui.Forest) -> str:
    """Intervals one below the other on a shared scale, each under its name."""
    body = ""
    for index, (name, cell) in enumerate(figure.rows):
        top = index * STEP
        value = signed(cell.value) if cell.signed else _value(cell)
        between = _between(cell)
        text = f"{value} ({between})" if between and cell.value is not None else value
        body += _text("0", top + 12, name, "start", "name") + _text("100%", top + 12, text, "end")
        if cell.scale is not None and cell.scale.drawable:
            tone = f' class="iv {cell.tone}"' if cell.tone else ' class="iv"'
            body += f"<g{tone}>{_drawn(cell, cell.scale, LINE, top + 16)}</g>"
    height = len(figure.rows) * STEP
    scale = next((cell.scale for _, cell in figure.rows if cell.scale is not None), None)
    if scale is not None:
        zeros = ((mark.at, "middle") for mark in scale.marks if mark.what == "zero")
        for end, anchor in ((scale.low, "start"), *zeros, (scale.high, "end")):
            at = f"{_figure(_share(end, scale))}%"
            body += _text(at, height + 12, f"{end:g}", anchor)
        height += LINE
    text = "; ".join(f"{name} {_in_words(cell)}" for name, cell in figure.rows)
    return _svg(body, height, "forest", f"{figure.title}: {text}")


def reliability(figure: ui.Reliability) -> str:
    """The judge's probability against the share of yes from people, with that share's interval."""
    side = SQUARE - PAD - 10

    def across(share: float) -> float:
        return PAD + share * side

    def up(share: float) -> float:
        return 10 + (1 - share) * side

    body = f'<rect class="frame" x="{PAD}" y="10" width="{side}" height="{side}"/>'
    for at in QUARTERS:
        body += _straight(across(at), across(at), 10, 10 + side, "grid")
        body += _straight(PAD, PAD + side, up(at), up(at), "grid")
        body += _text(_figure(across(at)), SQUARE - 8, f"{at:g}", "middle")
        body += _text(str(PAD - 6), up(at) + 4, f"{at:g}", "end")
    body += _straight(across(0), across(1), up(0), up(1), "ref")
    most = max((bin.n for bin in figure.bins), default=1) or 1
    texts = []
    for bin in figure.bins:
        x, size = across(bin.said), 2.5 + 4.5 * (bin.n / most) ** 0.5
        body += _straight(x, x, up(bin.low), up(bin.high), "bar")
        body += _dot(_figure(x), up(bin.seen), size)
        seen = f"{number(bin.seen)} ({ends(bin.low, bin.high)})"
        texts.append(f"said {number(bin.said)}, seen {seen}, n {bin.n:,}")
    title = html(f"{figure.title}: {'; '.join(texts)}")
    return (
        f'<svg class="chart reliability" viewBox="0 0 {SQUARE} {SQUARE}" role="img">'
        f"<title>{title}</title>{body}</svg>"
    )


def waterfall(figure: ui.Waterfall, step: int = STEP) -> str:
    """Bars from the whole downwards, each under its name and starting where the last one ended."""
    left, body = figure.whole, ""
    scale = ui.Scale(0, figure.whole or 1)
    for index, used in enumerate(figure.steps):
        top = index * step
        start, end = _share(left - used.size, scale), _share(left, scale)
        body += _text("0", top + 12, used.name, "start", "name")
        body += _text("100%", top + 12, f"{used.size:,g}", "end")
        body += _line(0, 100, top + 24, top + 24, "rail")
        shape = f'x="{_figure(start)}%" width="{_figure(end - start)}%" y="{top + 18}" height="12"'
        body += f'<rect class="step {used.tone}" {shape}/>' if end > start else ""
        last = index == len(figure.steps) - 1
        body += "" if last else _line(start, start, top + 30, top + step + 18, "drop")
        left -= used.size
    text = ", ".join(f"{step.name} {step.size:,g}" for step in figure.steps)
    sentence = f"{figure.title}: of {figure.whole:,g} {text}; {left:,g} are left"
    return _svg(body, len(figure.steps) * step, "waterfall", sentence)


def series(figure: ui.Series, height: int = 150) -> str:
    """Values over time with a band of intervals, a reference value, a bar, and events."""
    if not figure.points:
        return ""
    first, last = figure.points[0], figure.points[-1]
    moments = [point.at for point in figure.points]
    time = figure.time or ui.Scale(min(moments), max(moments))
    time = time if time.drawable else ui.Scale(time.low - 0.5, time.low + 0.5)
    top = LINE if figure.levels and figure.events else 0
    whole = top + height

    def down(value: float) -> float:
        return (100 - _share(value, figure.scale)) / 100 * (height - 4) + 2 + top

    def places(values: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{_figure(_share(at, time))},{_figure(down(v))}" for at, v in values)

    def level_line(level: float, look: str) -> str:
        return _line(0, 100, down(level), down(level), look)

    pieces, body = _pieces(figure), ""
    spans = [(_share(start, time), _share(end, time)) for start, end in figure.spans]
    for left, right in spans:
        wide = max(right - left, 0.3)
        body += f'<rect class="alarm" x="{_figure(min(left, 100 - wide))}%" '
        body += f'width="{_figure(wide)}%" y="{top}" height="{height}"/>'
    for level in figure.levels or (figure.scale.low, figure.scale.high):
        body += level_line(level, "grid")
    body += (
        f'<svg x="0" y="0" width="100%" height="{whole}" viewBox="0 0 100 {whole}" '
        f'preserveAspectRatio="none">'
    )
    for piece in pieces:
        upper = places((point.at, point.high) for point in piece)
        lower = places((point.at, point.low) for point in reversed(piece))
        middle = places((point.at, point.value) for point in piece)
        body += f'<polygon class="area" points="{upper} {lower}"/>'
        body += f'<polyline class="line" points="{middle}"/>'
    body += "</svg>"
    for left, right in spans:
        body += _line(min(left, 99.7), max(right, left + 0.3), top + 1, top + 1, "stretch")
    for point in (piece[0] for piece in pieces if len(piece) == 1 and figure.gap is not None):
        at = _share(point.at, time)
        body += _line(at, at, down(point.low), down(point.high), "lone")
        body += _dot(f"{_figure(at)}%", down(point.value), 2)
    body += "" if figure.base is None else level_line(figure.base, "ref")
    body += "" if figure.bar is None else level_line(figure.bar, "limit")
    body += _events(figure, time, top, height)
    ends_of_scale = ((figure.scale.low, -4), (figure.scale.high, 10))
    for level, off in [(level, 4) for level in figure.levels] or ends_of_scale:
        where = "-6" if figure.levels else "100%"
        body += _text(where, down(level) + off, f"{level:g}", "end")
    for moment, word in figure.ticks:
        body += _at(_share(moment, time), whole + 14, word, edge=4)
    text = f"{figure.title}: {number(first.value)} at first, {number(last.value)} at last"
    looks = "series timeline" if figure.levels else "series"
    tall = whole + (LINE if figure.ticks else 0)
    return _svg(body, tall, looks, f"{text} ({ends(last.low, last.high)})")


def _pieces(figure: ui.Series) -> list[list[ui.SeriesPoint]]:
    pieces: list[list[ui.SeriesPoint]] = []
    for point in figure.points:
        if not pieces or (figure.gap is not None and point.at - pieces[-1][-1].at > figure.gap):
            pieces.append([])
        pieces[-1].append(point)
    return pieces


# Percent of the width within which only one of two events is named.
CROWDED = 12.0


def _events(figure: ui.Series, time: ui.Scale, top: int, height: int) -> str:
    body, last = "", -CROWDED
    for at, word in figure.events:
        index = _share(at, time)
        body += _line(index, index, top, top + height, "event")
        if not figure.levels:
            anchor = "end" if index > 80 else "start"
            body += _text(f"{_figure(index)}%", 10, word, anchor, "name")
        elif index - last >= CROWDED:
            body += _at(index, top - 6, word, look="name")
            last = index
    return body


def histogram(counts: Sequence[int], title: str, height: int = 16) -> str:
    """Draw how often values fall into bins of equal width, the largest bin at full height."""
    wide, most = max(1, len(counts)), max(counts, default=0) or 1
    path = "".join(
        f"M{_figure(index + 0.05)} {height - 1}v-{_figure((height - 2) * count / most)}"
        f"h.9V{height - 1}z"
        for index, count in enumerate(counts)
        if count
    )
    body = (
        f'<svg width="100%" height="{height}" viewBox="0 0 {wide} {height}" '
        f'preserveAspectRatio="none"><path d="{path}"/></svg>'
    )
    return _svg(
        body + _line(0, 100, height - 0.5, height - 0.5, "base"), height, "histogram", title
    )


def ticks(
    values: Sequence[tuple[float, bool]], scale: ui.Scale, title: str, height: int = 22
) -> str:
    """Many values on one line, a tick each; those that lead are emphasised."""
    body = _line(0, 100, height / 2, height / 2, "base")
    for value, leads in sorted(values, key=lambda item: item[1]):
        index = _share(value, scale)
        body += _line(index, index, 4, height - 4, "at leads" if leads else "at")
    return _svg(body, height, "ticks", title)


def barcode(tones: Sequence[ui.Tone], title: str, most: int = 24) -> str:
    """A block for each verdict, in order: tall if good, full height if bad, else low and hollow."""
    body, at, height = "", 0.0, 12
    for tone in tones[:most]:
        top, tall, look = {
            "good": (3.0, height - 3.0, "good"),
            "bad": (0.0, float(height), "bad"),
            "missing": (3.0, height - 3.0, "missing"),
        }.get(tone, (height - 4.5, 4.0, "open"))
        inset = 0.5 if look == "open" else 0.0
        shape = f'x="{_figure(at + inset)}" width="{_figure(5 - 2 * inset)}"'
        body += f'<rect class="{look}" {shape} y="{_figure(top)}" height="{_figure(tall)}"/>'
        at += 6.5
    return _svg(body, height, "barcode", title, str(int(at) + 1))


def together(cells: Sequence[ui.IntervalCell], title: str, height: int = LINE * 2) -> str:
    """Several intervals one over the other on one scale, each in its tone."""
    step = height / max(1, len(cells))
    body = "".join(
        f'<g class="iv {cell.tone}">{_drawn(cell, cell.scale, int(step), index * step)}</g>'
        for index, cell in enumerate(cells)
        if cell.scale is not None and cell.scale.drawable
    )
    return _svg(body, height, "together", title)


def change(before: float, after: float, scale: ui.Scale, tone: ui.Tone, title: str) -> str:
    """A value before (hollow) and after (filled), joined."""
    start, end = (4 + _share(value, scale) * 0.92 for value in (before, after))
    body = _line(4, 96, 9, 9, "rail") + _line(start, end, 9, 9, "arm")
    body += _dot(f"{_figure(start)}%", 9, 3.2, "from") + _dot(f"{_figure(end)}%", 9, 3.8)
    return _svg(body, LINE, f"change {tone}", title, "120")


def wins(better: int, same: int, worse: int, height: int = LINE) -> str:
    """Draw how many questions of a pair got better, stayed and got worse."""
    whole = better + same + worse or 1
    up, down = better / whole * 100, worse / whole * 100
    top = f'y="{height // 2 - 4}" height="8"'
    body = f'<rect class="same" x="0" width="100%" {top}/>'
    body += f'<rect class="good" x="0" width="{_figure(up)}%" {top}/>'
    body += f'<rect class="bad" x="{_figure(100 - down)}%" width="{_figure(down)}%" {top}/>'
    return _svg(body, height, "wins", f"{better:,} better, {same:,} the same, {worse:,} worse")


def stage(start: float, size: float, whole: float, tone: ui.Tone) -> str:
    """One stage of a waterfall in a table: it starts where the stage before it ended."""
    scale = ui.Scale(0, whole or 1)
    left, wide = _share(start, scale), max(_share(size, scale), 0.4 if size else 0.0)
    shape = f'x="{_figure(left)}%" width="{_figure(wide)}%" y="2" height="8"'
    body = _line(0, min(100.0, left + wide), 11.5, 11.5, "rail")
    return _svg(body + (f"<rect {shape}/>" if size else ""), 13, f"stage {tone}")


def _drawn(cell: ui.IntervalCell, scale: ui.Scale, height: int, top: float) -> str:
    middle = top + height / 2
    body = ""
    margin = sorted(mark.at for mark in scale.marks if mark.what == "margin")
    if len(margin) == 2:
        left, right = (_share(end, scale) for end in margin)
        shape = f'x="{_figure(left)}%" width="{_figure(right - left)}%"'
        body += f'<rect class="band" {shape} y="{_figure(top)}" height="{height}"/>'
    body += _line(0, 100, middle, middle, "rail")
    for mark in scale.marks:
        if mark.what != "margin" and scale.low <= mark.at <= scale.high:
            index, look = _share(mark.at, scale), "limit" if mark.what == "bar" else "ref"
            body += _line(index, index, top, top + height, look)
    if cell.low is not None and cell.high is not None:
        body += _line(_share(cell.low, scale), _share(cell.high, scale), middle, middle, "bar")
    if cell.core is not None:
        low, high = (_share(end, scale) for end in cell.core)
        body += _line(low, high, middle, middle, "core")
    if cell.value is not None:
        body += _dot(f"{_figure(_share(cell.value, scale))}%", middle, 4)
    return body


def _in_words(cell: ui.IntervalCell) -> str:
    if cell.value is None:
        return "no value"
    between = _between(cell)
    return f"{_value(cell)}, interval {between}" if between else f"{_value(cell)}, no interval"


def _value(cell: ui.IntervalCell) -> str:
    return "–" if cell.value is None else number(cell.value, percent=cell.percent)


def _between(cell: ui.IntervalCell) -> str:
    if cell.low is None or cell.high is None:
        return ""
    return ends(cell.low, cell.high, percent=cell.percent)


def _svg(body: str, height: float, looks: str, title: str = "", wide: str = "100%") -> str:
    text = f"<title>{html(title)}</title>" if title else ""
    role = 'role="img"' if title else 'aria-hidden="true"'
    looks = " ".join(f"chart {looks}".split())
    size = f'width="{wide}" height="{_figure(height)}"'
    return f'<svg class="{looks}" {size} {role}>{text}{body}</svg>'


def _line(left: float, right: float, top: float, bottom: float, look: str, unit: str = "%") -> str:
    """A line from ``left`` to ``right``, in percent or pixels, and from ``top`` to ``bottom``."""
    x = f'x1="{_figure(left)}{unit}" x2="{_figure(right)}{unit}"'
    return f'<line class="{look}" {x} y1="{_figure(top)}" y2="{_figure(bottom)}"/>'


def _straight(left: float, right: float, top: float, bottom: float, look: str) -> str:
    return _line(left, right, top, bottom, look, unit="")


def _dot(x: str, y: float, radius: float, look: str = "dot") -> str:
    return f'<circle class="{look}" cx="{x}" cy="{_figure(y)}" r="{_figure(radius)}"/>'


def _at(share: float, top: float, word: str, look: str = "tick", edge: float = 3) -> str:
    """A word about a place in percent; near an edge, it begins or ends there."""
    anchor = "start" if share < edge else "end" if share > 100 - edge else "middle"
    return _text(f"{_figure(share)}%", top, word, anchor, look)


def _text(left: str, top: float, word: str, anchor: str, look: str = "tick") -> str:
    index = f'x="{left}" y="{_figure(top)}" text-anchor="{anchor}"'
    return f'<text class="{look}" {index}>{html(word)}</text>'


def _share(value: float, scale: ui.Scale) -> float:
    """The position of a value on a scale, in percent; values beyond an end are put at that end."""
    return min(100.0, max(0.0, (value - scale.low) / (scale.high - scale.low) * 100))


def _figure(value: float) -> str:
    """The number with two decimals at most.

    >>> _figure(33.333333), _figure(5.0)
    ('33.33', '5')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


CHARTS: Mapping[type, Callable[[Any], str]] = {
    ui.Reliability: reliability,
    ui.Waterfall: waterfall,
    ui.Series: series,
    ui.Forest: forest,
    ui.Bars: bars,
}
