"""Chart files: the charts of a page, or a whole page, as SVG or PNG for slides and papers.

``python -m ragstone.report RUN FILE.svg`` makes a picture of a page for a README.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from operator import itemgetter
from pathlib import Path

from ragstone.analysis import compare, failures
from ragstone.core.errors import needing
from ragstone.core.escape import html, single_line, visible
from ragstone.core.files import write_result
from ragstone.core.grouping import grouped
from ragstone.run import Estimate, Run
from ragstone.run.folder.run_list import runs_in

from . import page as ui
from .charts import chart
from .number_format import ARROWS, Groups, percent, scale_for, short_name
from .pages.comparison_page import comparison_page
from .pages.failures_page import failures_page
from .pages.full_run_page import full_page
from .render.documents import CHART_STYLE, COLOURS, without_comments

WIDE, EDGE, HEAD = 720, 24, 44
# Pixels of a PNG for each of the SVG.
ZOOM = 2

FAMILY = "Inter, system-ui, 'Segoe UI', 'Noto Sans', 'Liberation Sans', sans-serif"
TOP = re.compile(r'<svg class="(?P<looks>[^"]*)"(?: width="[^"]*" height="(?P<height>[\d.]+)")?')


def alone(figure: ui.Chart) -> str:
    """The chart as an SVG file: light, and dark where the reader's system is.

    Its colours are written out, for what shows pictures seldom knows variables.
    """
    inside = chart(figure)
    top = TOP.match(inside)
    if top is None:
        return ""
    tall = float(top["height"]) if top["height"] else 300.0
    wide = WIDE - 2 * EDGE if top["height"] else tall
    index = f'x="{EDGE}" y="{HEAD}" width="{wide:g}" height="{tall:g}"'
    inside = f'<svg class="{top["looks"]}" {index}{inside[top.end() :]}'
    whole = HEAD + tall + EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ragstone" viewBox="0 0 {WIDE} {whole:g}" '
        f'width="{WIDE}" height="{whole:g}"><style>{_style(inside)}</style>'
        f'<rect class="paper" width="{WIDE}" height="{whole:g}"/>'
        f'<text class="title" x="{EDGE}" y="28">{html(figure.title)}</text>{inside}</svg>\n'
    )


def as_png(svg: str) -> bytes:
    """The picture of an SVG file, light, with two pixels for one.

    Raises:
        MissingDependency: The extra ``png`` is not installed.
    """
    with needing("A chart as PNG", "png"):
        import resvg_py
    with as_file(files("ragstone.report.render").joinpath("inter.ttf")) as font:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=visible(svg), zoom=ZOOM, font_files=[str(font)], font_family="Inter",
                sans_serif_family="Inter",
            )
        )  # fmt: skip


def _style(inside: str) -> str:
    light, dark = _colours()
    attributes = set(re.findall(r'class="([^"]*)"', inside))
    known = {name for looks in attributes for name in looks.split()}
    known |= {"ragstone", "paper", "title"}
    rules = [
        (selector.strip(), body.strip())
        for selectors, _, body in (rule.partition("{") for rule in RULES.split("}"))
        for selector in selectors.split(",")
        if body and _classes(selector) <= known and "max-width" not in body
    ]
    plain = "".join(f"{rule}{{{_filled(body, light)}}}" for rule, body in rules)
    coloured = ((rule, body) for rule, body in rules if "var(" in body)
    night = "".join(f"{item}{{{_filled(body, dark)}}}" for item, body in coloured)
    family = f".ragstone text{{font-family:{FAMILY}}}"
    return f"{family}{plain}@media(prefers-color-scheme:dark){{{night}}}"


RULES = (
    without_comments(CHART_STYLE)
    + ".ragstone .paper { fill: var(--paper); }"
    + ".ragstone .title { fill: var(--ink); font-size: 14px; font-weight: 600; }"
)


@cache
def _colours() -> tuple[dict[str, str], dict[str, str]]:
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for item in COLOURS.split(";"):
        name, between, both = item.partition("--")[2].partition(": light-dark(")
        if between:
            light[name], dark[name] = both.removesuffix(")").split(", ")
    return light, dark


def _classes(selector: str) -> set[str]:
    return {part.partition(":")[0] for word in selector.split() for part in word.split(".")[1:]}


def _filled(body: str, colours: dict[str, str]) -> str:
    filled = re.sub(r"var\(--([\w-]+)\)", lambda match: colours[match[1]], body)
    pairs = (item.partition(":") for item in filled.split(";"))
    return ";".join(f"{name.strip()}:{value.strip()}" for name, _, value in pairs if value)


# Characters of a name that are drawn: its end is what often differs.
NAME_HEAD, NAME_TAIL = 34, 34

LONGEST_FILE = 80
# The newest, of those with the same data.
MOST_RUNS = 20

# Begins the name of a file, where the chart itself says what it is.
KINDS = {
    ui.Waterfall: "waterfall",
    ui.Bars: "shares",
    ui.Reliability: "reliability",
    ui.Series: "series",
}


def write_charts(
    run: Run | str | Path,
    folder: str | Path,
    other: Run | str | Path | None = None,
    *,
    baseline: str | None = None,
    margin: float | None = None,
    png: bool = False,
) -> tuple[Path, ...]:
    """Write the figures of a run, or of the comparison of two, as SVG files that stand alone.

    Intervals by metric, paired differences, outcomes, the failure waterfall of each system, and
    each metric over the runs in the same folder that have the same data.

    Args:
        run: A finished run, or its folder.
        folder: Made if it is missing; files of the same names are replaced.
        other: A second run that this one is compared with.
        baseline: A system of the run that the others are compared with.
        margin: Differences up to this size are too small to matter.
        png: Write each as PNG too.

    Returns:
        The files.

    Raises:
        InputError: There is no such run or system.
        MissingDependency: The extra ``png`` is needed and not installed.
    """
    run = Run.of(run)
    pages = [("intervals", full_page(run)), ("faults", failures_page(failures(run)))]
    if other is not None or len(Groups(run.estimate_list).systems) > 1:
        comparisons = compare(run, other, baseline=baseline, margin=margin)
        pages.insert(1, ("difference", comparison_page(comparisons)))
    figures = [
        (f"{KINDS.get(type(drawing), kind)} {title}", drawing)
        for kind, page in pages
        for title, drawing in drawings(page)
    ]
    figures += [(f"runs {title}", over_run) for title, over_run in over_runs(run)]
    files: list[Path] = []
    names: set[str] = set()
    for title, figure in figures:
        name = _file(title, names)
        svg = alone(figure)
        if png:
            write_result(Path(folder) / f"{name}.png", as_png(svg))
            files.append(Path(folder) / f"{name}.png")
        write_result(Path(folder) / f"{name}.svg", svg)
        files.append(Path(folder) / f"{name}.svg")
    return tuple(files)


def drawings(page: ui.Page) -> Iterator[tuple[str, ui.Chart]]:
    """Every figure of a page with what tells it from the others: charts, and drawn columns."""
    for part in page.sections:
        strong = [phrase.text for phrase in ui.parts(part.title) if phrase.strong]
        about = single_line(" against ".join(strong) or ui.plain(part.title))
        for block in part.blocks:
            match block:
                case ui.Reliability() | ui.Waterfall() | ui.Series() | ui.Forest() | ui.Bars():
                    yield about or block.title, block
                case ui.Table():
                    for group in block.groups:
                        yield from _of_group(block, group, about)


def _of_group(table: ui.Table, group: ui.Group, about: str) -> Iterator[tuple[str, ui.Chart]]:
    for at, column in enumerate(table.columns):
        cells = [(row, row.cells[at]) for row in group.rows]
        stacked = tuple(
            (_drawn_name(row), cell)
            for row, cell in cells
            if isinstance(cell, ui.Bar) and cell.whole
        )
        if stacked:
            title = about or group.title
            yield title, ui.Bars(stacked, title)
        intervals = [(row, cell) for row, cell in cells if isinstance(cell, ui.IntervalCell)]
        if column.peer:
            continue
        level = "" if column.level is None else f", {percent(column.level)} intervals"
        by_first = len({tuple(row.names[1:]) for row in group.rows}) > 1
        for name, rows in _together(intervals, by_first=by_first).items():
            drawn = tuple((_drawn_name(row), cell) for row, cell in rows)
            title = ", ".join(filter(None, [about, name or group.title]))
            first = next((cell for cell in rows[0][0].cells if isinstance(cell, ui.RowName)), None)
            arrow = f" {ARROWS[first.better]}" if name and first and first.better else ""
            yield title, ui.Forest(drawn, f"{title}{arrow}{level}")


Intervals = Sequence[tuple[ui.Row, ui.IntervalCell]]


def _together(intervals: Intervals, *, by_first: bool) -> Mapping[str, Intervals]:
    drawn = [(row, cell) for row, cell in intervals if cell.scale and cell.scale.drawable]
    by_scale = grouped(
        ((row.names[0] if by_first else "", cell.scale), (row, cell)) for row, cell in drawn
    )
    return {
        name if name else "" if not index else f"scale {index + 1}": rows
        for index, ((name, _), rows) in enumerate(by_scale.items())
    }


def over_runs(run: Run) -> Iterator[tuple[str, ui.Chart]]:
    """Each metric over the runs beside this one that have the same data, the oldest first."""
    source = run.form.data.source
    beside = [
        (item.form.created, item.changed, item.path) for item in runs_in(run.path.parent)
        if item.form and item.form.finished and item.form.data.source == source
    ]  # fmt: skip
    by_metric: dict[str, list[tuple[str, Estimate]]] = {}
    for _, _, path in sorted(beside, key=itemgetter(0, 1))[-MOST_RUNS:] if source else ():
        for estimate in Run(path).estimate_list:
            if not estimate.group and estimate.value is not None:
                by_metric.setdefault(estimate.metric, []).append((path.name, estimate))
    for metric, estimates in by_metric.items():
        if len(estimates) > 1:
            first, scale = estimates[0][1], scale_for(metric)
            rows = tuple(
                (_cut(name), ui.IntervalCell(item.value, item.low, item.high, scale))
                for name, item in estimates
            )
            title = f"{short_name(metric)} {ARROWS[first.better]} of all answers"
            level = f"{percent(first.level)} intervals, the oldest run first"
            yield metric, ui.Forest(rows, f"{title}, {level}")


def _drawn_name(row: ui.Row) -> str:
    names = [cell for cell in row.cells if isinstance(cell, ui.RowName) and cell.text]
    name = _cut(names[-1].text) if names else ""
    return f"{name} {ARROWS[names[-1].better]}" if names and names[-1].better else name


def _cut(name: str) -> str:
    name = single_line(name)
    short = len(name) <= NAME_HEAD + NAME_TAIL + 4
    return name if short else f"{name[:NAME_HEAD]}…{name[-NAME_TAIL:]}"


def _file(title: str, used: set[str]) -> str:
    name = "-".join(re.findall(r"[a-z0-9.]+", title.casefold()))[:LONGEST_FILE].strip("-.")
    number, free = 2, name
    while free in used:
        number, free = number + 1, f"{name}-{number}"
    used.add(free)
    return free
