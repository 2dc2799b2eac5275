"""Templating: templates, and what they may write: text made inert, and figures that we drew."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import takewhile
from math import inf, isfinite
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ragstone.core.escape import visible
from ragstone.core.messages import in_shell
from ragstone.report import charts
from ragstone.report import number_format as fmt
from ragstone.report.page import IntervalCell, Mark, Scale
from ragstone.report.reason_words import why_no_value, words
from ragstone.report.render.documents import CHART_STYLE, COLOURS
from ragstone.report.run_contents import cost

STATIC = files("ragstone.web").joinpath("static")

# What a template shows of something, by the names that the template uses.
View = dict[str, Any]


def drawn(svg: str) -> Markup:
    """Mark as safe a figure of ``report.charts``, or marked text, which has escaped its text."""
    return Markup(svg)


@cache
def style() -> str:
    """Return the stylesheet of the app and of the report file."""
    return COLOURS + STATIC.joinpath("style.css").read_text("utf-8") + CHART_STYLE


@cache
def assets() -> frozenset[str]:
    """Return the files that pages load; no other name is ever looked for on the disk."""
    fonts = STATIC.joinpath("fonts").iterdir()
    here = (file.name for file in STATIC.iterdir() if file.is_file())
    return frozenset([*here, *(f"fonts/{font.name}" for font in fonts)])


@cache
def asset(name: str) -> bytes:
    """Return a file that pages load."""
    if name == "style.css":
        return style().encode()
    return STATIC.joinpath(name).read_bytes()


@cache
def asset_path(name: str) -> str:
    """Return the address of an asset; it changes with the content, so a browser may keep it."""
    return f"/static/{name}?v={blake2b(asset(name), digest_size=6).hexdigest()}"


def cut(name: str, head: int = 10, tail: int = 14) -> str:
    """Return a long name without its middle, for the end is what differs.

    >>> cut("retriever=hybrid/reranker=none/seed=1003")
    'retriever=…none/seed=1003'
    """
    return name if len(name) <= head + tail + 4 else f"{name[:head]}…{name[-tail:]}"


def minus(figure: str) -> str:
    """Return a figure with the sign of subtraction, as wide as a plus, instead of a hyphen.

    >>> minus("-0.015 – +0.060")
    '−0.015 – +0.060'
    """
    return figure.replace("-", "−")


def written(value: float | None, percent: bool = False) -> str:
    """Return a number as pages write it; a dash if there is none."""
    return "–" if value is None else minus(fmt.number(value, percent=percent))


def figure(text: str) -> str:
    """Return a label as people or a judge gave it; one that is a number is written as others are.

    >>> figure("0.6666666666666666"), figure("3"), figure("supported")
    ('0.667', '3', 'supported')
    """
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{value:g}" if value.is_integer() else minus(fmt.number(value))


SHARE = Scale(0, 1)
AROUND_CHANCE = Scale(-1, 1, (Mark(0, "chance"),))


def strip_of(
    value: float | None, interval: Any, scale: Scale | None, height: int = charts.LINE
) -> Markup:
    """Return a value drawn with its interval, which has ``low`` and ``high`` or is None."""
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return drawn(charts.strip(IntervalCell(value, low, high, scale), height))


def ends_of(mean: Any, *, percent: bool = False) -> str:
    """Return both ends of the interval of a mean; empty if it has none."""
    span = getattr(mean, "interval", mean)
    return "" if span is None else minus(fmt.ends(span.low, span.high, percent=percent))


def bounds(mean: Any, *, percent: bool = False) -> str:
    """Return between which ends a mean would lie if nothing were missing; empty if nothing is."""
    if not mean.n_missing or mean.worst is None or mean.best is None:
        return ""
    return minus(fmt.ends(*sorted((mean.worst, mean.best)), percent=percent))


def cut_alike(names: Iterable[str], longest: int = 24) -> dict[str, str]:
    """Return each name as it is written; long ones without what they begin with alike.

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
    """Return what is written for a value: text cannot hide characters or change its direction."""
    if value is None:
        return ""
    return visible(in_shell(value)) if type(value) is str else value


def breaks(name: str) -> Markup:
    """Return a name that a narrow column may break after an underscore."""
    return escape(shown(name)).replace("_", Markup("_<wbr>"))


def moment(at: str) -> str:
    """Return a time as pages write it, by this machine's clock; the year if it is another one."""
    then = datetime.fromisoformat(at).astimezone()
    return then.strftime("%d %b, %H:%M" if then.year == datetime.now().year else "%d %b %Y, %H:%M")


GUARD = "guard_"


MINUTE, HOUR, DAY = 60, 3_600, 86_400
# The end of the year 9999, in seconds since the epoch.
LAST = 253_402_300_799.0


def local_time(at: float) -> datetime:
    """Return a time in seconds since the epoch by this machine's clock."""
    return datetime.fromtimestamp(min(max(at, 0.0), LAST - DAY), UTC).astimezone()


def clock(at: float, now: float | None = None) -> str:
    """Return a time as short as the day allows: one of today without its date."""
    then = local_time(at)
    today = datetime.now().astimezone() if now is None else datetime.fromtimestamp(now).astimezone()
    if then.date() == today.date():
        return then.strftime("%H:%M")
    return then.strftime("%d %b, %H:%M" if then.year == today.year else "%d %b %Y, %H:%M")


def in_full(at: float) -> str:
    """Return a time with its date, its seconds and the zone."""
    return local_time(at).strftime("%d %b %Y, %H:%M:%S %Z")


def length_in_words(seconds: float) -> str:
    """Return how long something takes, in one unit or two.

    >>> length_in_words(4.2), length_in_words(5_280), length_in_words(7_200), length_in_words(2e5)
    ('4 s', '88 min', '2 h', '2 d 8 h')
    """
    whole = max(0, round(seconds))
    if whole < 2 * MINUTE and whole != MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR and whole != HOUR:
        return f"{round(whole / MINUTE)} min"
    if whole < 2 * DAY:
        return f"{round(whole / HOUR)} h"
    days, rest = divmod(whole, DAY)
    hours = round(rest / HOUR)
    return f"{days} d {hours} h" if hours and days < 7 else f"{days} d"


def fact_in_words(name: str, value: object) -> str:
    """Return a fact about an answer, an example or an alarm as people write it.

    >>> fact_in_words("latency", 1.3999998569488525), fact_in_words("input_tokens", 12_000)
    ('1.4 s', '12,000')
    >>> fact_in_words("usual_gap", 5_280), fact_in_words("temperature", 0.30000000000000004)
    ('88 min', '0.3')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        # A version with its time, as deploys are kept, or several of anything.
        if len(value) == 2 and isinstance(value[0], str) and _is_moment("at", value[1]):
            return f"{value[0]}, {fact_in_words('at', value[1])}"
        return ", ".join(fact_in_words(name, item) for item in value)
    if not isinstance(value, int | float) or not isfinite(value):
        return str(value)
    if _is_moment(name, value):
        return in_full(float(value))
    if name in _LENGTHS or name.endswith(("_gap", "_seconds", "_latency")):
        return _short_length(value)
    if isinstance(value, int):
        return f"{value:,}" if name.endswith("tokens") else str(value)
    return f"{value:.3g}" if abs(value) < 1_000 else f"{value:,.0f}"


_MOMENTS = frozenset(("at", "ended", "since", "created", "timestamp", "time"))
_LENGTHS = frozenset(("latency", "first_token", "seconds", "duration", "took", "wait", "elapsed"))
_FIRST_MOMENT, _LAST_MOMENT = 946_684_800, 4_102_444_800


def _is_moment(name: str, value: object) -> bool:
    """Return whether a number is a time from 2000 to 2099 in seconds since the epoch."""
    return (
        (name in _MOMENTS or name.endswith("_at"))
        and isinstance(value, int | float)
        and _FIRST_MOMENT <= value < _LAST_MOMENT
    )


def _short_length(seconds: float) -> str:
    if 0 <= seconds < 1:
        return f"{round(1_000 * seconds)} ms"
    return f"{seconds:.1f} s" if 1 <= seconds < 10 else length_in_words(seconds)


@cache
def templates() -> Environment:
    """Return the templates with their filters; a name that is not given is an error."""
    environment = Environment(
        loader=PackageLoader("ragstone.web"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": written,
        "signed": lambda value: minus(fmt.signed(value)),
        "ends": lambda low, high: minus(fmt.ends(low, high)),
        "interval_of": lambda estimate, percent=False: minus(
            fmt.interval_of(estimate, percent=percent)
        ),
        "cost": cost,
        "counted": fmt.counted,
        "figure": figure,
        "moment": moment,
        "breaks": breaks,
        "percent": fmt.percent,
        "cut": cut,
        "arrow": lambda better: fmt.ARROWS[better],
        "better": lambda better: fmt.BETTER[better],
        "words": fmt.spoken,
        "reason": words,
        "score": lambda score: (
            score.label or ("–" if score.value is None else fmt.number(score.value))
        ),
        "why_no_value": why_no_value,
        "short": fmt.shortened,
        "p": fmt.p_word,
        "clock": clock,
        "in_full": in_full,
        "local_time": local_time,
        "lasts": length_in_words,
        "metric": fmt.short_name,
        "bounds": bounds,
        "ends_of": ends_of,
        "strip": strip_of,
        "axis": lambda scale, quarters=False: drawn(charts.axis(scale, quarters=quarters)),
        "bar": lambda bar: drawn(charts.bar(bar)),
    }
    environment.globals |= {
        "asset": asset_path,
        "short_name": fmt.short_name,
        "SHARE": SHARE,
        "AROUND_CHANCE": AROUND_CHANCE,
        "infinity": inf,
    }
    return environment


def render(template: str, shows: Mapping[str, Any]) -> str:
    """Write a page."""
    return templates().get_template(template).render(**shows)
