"""Templating: templates, and what they may write: text made inert, and figures that we drew."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import takewhile
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ragstone.core.escape import visible
from ragstone.core.messages import in_shell
from ragstone.report.number_format import (
    ARROWS,
    counted,
    ends,
    interval_of,
    number,
    percent,
    signed,
    spoken,
)
from ragstone.report.render.documents import CHART_STYLE
from ragstone.report.run_contents import cost

STATIC = files("ragstone.web").joinpath("static")

BETTER = {"+": "more is better", "-": "less is better", "0": "neither end is better"}


def drawn(svg: str) -> Markup:
    """A figure of ``report.charts`` or marked text of ``marking``: it has escaped its text."""
    return Markup(svg)


@cache
def style() -> str:
    """The stylesheet of the app and of the report file."""
    return STATIC.joinpath("style.css").read_text("utf-8") + CHART_STYLE


@cache
def assets() -> frozenset[str]:
    """The files that pages load; no other name is ever looked for on the disk."""
    fonts = STATIC.joinpath("fonts").iterdir()
    here = (one.name for one in STATIC.iterdir() if one.is_file())
    return frozenset([*here, *(f"fonts/{one.name}" for one in fonts)])


@cache
def asset(name: str) -> bytes:
    """A file that pages load."""
    if name == "style.css":
        return style().encode()
    return STATIC.joinpath(name).read_bytes()


@cache
def asset_path(name: str) -> str:
    """The address of an asset; it changes with the content, so a browser may keep it."""
    return f"/static/{name}?v={blake2b(asset(name), digest_size=6).hexdigest()}"


def cut(name: str, head: int = 10, tail: int = 14) -> str:
    """A long name without its middle, for the end is what differs.

    >>> cut("retriever=hybrid/reranker=none/seed=1003")
    'retriever=…none/seed=1003'
    """
    return name if len(name) <= head + tail + 4 else f"{name[:head]}…{name[-tail:]}"


def minus(figure: str) -> str:
    """A figure with the sign of subtraction, which is as wide as a plus, instead of a hyphen.

    >>> minus("-0.015 – +0.060")
    '−0.015 – +0.060'
    """
    return figure.replace("-", "−")


def figure(text: str) -> str:
    """A label as people or a judge gave it; one that is a number is written as others are.

    >>> figure("0.6666666666666666"), figure("3"), figure("supported")
    ('0.667', '3', 'supported')
    """
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{value:g}" if value.is_integer() else minus(number(value))


def cut_alike(names: Iterable[str], longest: int = 24) -> dict[str, str]:
    """Each name as it is written; long ones without what they begin with alike.

    >>> names = ["retriever=hybrid/top_k=5/seed=1003", "retriever=hybrid/top_k=5/seed=1004"]
    >>> list(cut_alike(names).values())
    ['…seed=1003', '…seed=1004']
    """
    every = list(dict.fromkeys(names))
    long = [name for name in every if len(name) > longest]
    letters = zip(*long, strict=False) if len(long) > 1 else ()
    alike = "".join(same for same, *_ in takewhile(lambda ones: len({*ones}) == 1, letters))
    start = max(alike.rfind(mark) + 1 for mark in "/ ,;|")
    return {
        name: cut(f"…{name[start:]}" if name in long and start > 1 else name, 6, 14)
        for name in every
    }


def shown(value: Any) -> Any:
    """What is written for a value: text cannot hide characters or change its direction."""
    if value is None:
        return ""
    return visible(in_shell(value)) if type(value) is str else value


def moment(at: str) -> str:
    """A time as pages write it, by the clock of this machine; the year if it is another one."""
    then = datetime.fromisoformat(at).astimezone()
    return then.strftime("%d %b, %H:%M" if then.year == datetime.now().year else "%d %b %Y, %H:%M")


@cache
def templates() -> Environment:
    """The templates with their filters; a name that is not given is an error."""
    made = Environment(
        loader=PackageLoader("ragstone.web"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": lambda value: minus(number(value)),
        "signed": lambda value: minus(signed(value)),
        "ends": lambda low, high: minus(ends(low, high)),
        "interval_of": lambda one: minus(interval_of(one)),
        "cost": cost,
        "counted": counted,
        "figure": figure,
        "moment": moment,
        "percent": percent,
        "cut": cut,
        "arrow": lambda better: ARROWS[better],
        "better": lambda better: BETTER[better],
        "words": spoken,
    }
    made.globals |= {"asset": asset_path}
    return made


def render(template: str, shows: Mapping[str, Any]) -> str:
    """A page."""
    return templates().get_template(template).render(**shows)
