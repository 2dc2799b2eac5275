"""Alone: a chart as an SVG file of its own, which carries its style and size; and as PNG."""

import re
from functools import cache
from importlib.resources import as_file, files

from ragstone.core.errors import MissingDependency
from ragstone.core.escape import html, seen

from .charts import chart
from .page import Chart
from .render.html import CHART_STYLE, STYLE, without_comments

WIDE, EDGE, HEAD = 720, 24, 44
ZOOM = 2
"""Pixels of a PNG for each of the SVG."""

FAMILY = "Inter, system-ui, 'Segoe UI', 'Noto Sans', 'Liberation Sans', sans-serif"
TOP = re.compile(r'<svg class="(?P<looks>[^"]*)"(?: width="[^"]*" height="(?P<height>[\d.]+)")?')


def alone(one: Chart) -> str:
    """The chart as an SVG file: light, and dark where the reader's system is.

    Its colours are written out, for what shows pictures seldom knows variables.
    """
    inside = chart(one)
    top = TOP.match(inside)
    if top is None:
        return ""
    tall = float(top["height"]) if top["height"] else 300.0
    wide = WIDE - 2 * EDGE if top["height"] else tall
    place = f'x="{EDGE}" y="{HEAD}" width="{wide:g}" height="{tall:g}"'
    inside = f'<svg class="{top["looks"]}" {place}{inside[top.end() :]}'
    whole = HEAD + tall + EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ragstone" viewBox="0 0 {WIDE} {whole:g}" '
        f'width="{WIDE}" height="{whole:g}"><style>{_style(inside)}</style>'
        f'<rect class="paper" width="{WIDE}" height="{whole:g}"/>'
        f'<text class="title" x="{EDGE}" y="28">{html(one.title)}</text>{inside}</svg>\n'
    )


def as_png(svg: str) -> bytes:
    """The picture of an SVG file, light, with two pixels for one.

    Raises:
        MissingDependency: The extra ``png`` is not installed.
    """
    try:
        import resvg_py
    except ModuleNotFoundError as error:
        raise MissingDependency("A chart as PNG", "png") from error
    with as_file(files("ragstone.report.render").joinpath("inter.ttf")) as font:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=seen(svg), zoom=ZOOM, font_files=[str(font)], font_family="Inter",
                sans_serif_family="Inter",
            )
        )  # fmt: skip


def _style(inside: str) -> str:
    """The rules of the classes that a chart has."""
    light, dark = _colours()
    there = set(re.findall(r'class="([^"]*)"', inside))
    known = {name for looks in there for name in looks.split()} | {"ragstone", "paper", "title"}
    rules = [
        (selector.strip(), body.strip())
        for selectors, _, body in (rule.partition("{") for rule in _rules().split("}"))
        for selector in selectors.split(",")
        if body and _classes(selector) <= known and "max-width" not in body
    ]
    plain = "".join(f"{one}{{{_filled(body, light)}}}" for one, body in rules)
    coloured = ((one, body) for one, body in rules if "var(" in body)
    night = "".join(f"{one}{{{_filled(body, dark)}}}" for one, body in coloured)
    family = f".ragstone text{{font-family:{FAMILY}}}"
    return f"{family}{plain}@media(prefers-color-scheme:dark){{{night}}}"


@cache
def _rules() -> str:
    return (
        without_comments(CHART_STYLE)
        + ".ragstone .paper { fill: var(--paper); }"
        + ".ragstone .title { fill: var(--ink); font-size: 14px; font-weight: 600; }"
    )


@cache
def _colours() -> tuple[dict[str, str], dict[str, str]]:
    """The tokens of the stylesheet, light and dark."""
    light, dark = (_tokens(block) for block in STYLE.split("}")[:2])
    return light, dark


def _tokens(block: str) -> dict[str, str]:
    pairs = (one.partition(":") for one in block.rpartition("{")[2].split(";"))
    return {name.strip().removeprefix("--"): value.strip() for name, _, value in pairs if value}


def _classes(selector: str) -> set[str]:
    """The classes that a selector names."""
    return {part.partition(":")[0] for word in selector.split() for part in word.split(".")[1:]}


def _filled(body: str, colours: dict[str, str]) -> str:
    filled = re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], body)
    pairs = (one.partition(":") for one in filled.split(";"))
    return ";".join(f"{name.strip()}:{value.strip()}" for name, _, value in pairs if value)
