"""Notebook: estimates as an HTML table that needs nothing but itself."""

from collections.abc import Sequence

from ragstone.inert import html
from ragstone.run.estimate import Estimate

from .figures import ARROWS, METHODS, ends, number, percent, scale_of, why_no_value
from .groups import by_family

_TABLE = "border-collapse:collapse;font:13px/1.5 system-ui,sans-serif"
_HEAD = "text-align:left;padding:2px 10px;border-bottom:1px solid #8888;font-weight:600"
_LEFT = "text-align:left;padding:2px 10px;white-space:nowrap"
_RIGHT = "text-align:right;padding:2px 10px;white-space:nowrap;font-variant-numeric:tabular-nums"
_FAMILY = "text-align:left;padding:10px 10px 2px;font-weight:600"
_DIM, _UNDEFINED, _MISSING = "color:#888", "color:#9a6700", "color:#cf222e"
_WIDTH = 120


def notebook_html(estimates: Sequence[Estimate]) -> str:
    """A row for each estimate: the metric, its group, the value with its interval, the counts."""
    heads = ("metric", "group", "value", "interval", "", "n", "undefined", "missing",
             "worst – best", "method")  # fmt: skip
    rows = ["".join(f'<th style="{_HEAD}">{head}</th>' for head in heads)]
    for title, ones in by_family(estimates).items():
        rows.append(f'<th colspan="{len(heads)}" style="{_FAMILY}">{html(title)}</th>')
        rows += [_row(one) for one in ones]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div style="overflow-x:auto"><table style="{_TABLE}">{body}</table></div>'


def _row(one: Estimate) -> str:
    group = ", ".join(html(value) for value in one.group.values()) or "all"
    cells = [_cell(f"{html(one.metric)} {_span(ARROWS[one.better], _DIM)}"), _cell(group)]
    if one.value is None:
        style = _MISSING if one.n_missing else _UNDEFINED
        cells.append(_cell(_span(html(why_no_value(one)), style), columns=3, wraps=True))
    else:
        interval = f"{percent(one.level)}: {ends(one.low, one.high)}" if one.method else "–"
        cells += [_cell(f"<b>{number(one.value)}</b>", _RIGHT), _cell(interval), _cell(_strip(one))]
    bounds = ends(one.worst, one.best) if one.n_missing and one.worst is not None else ""
    cells += [
        _cell(f"{one.n:,}", _RIGHT),
        _cell(_span(f"{one.n_undefined:,}", _UNDEFINED if one.n_undefined else _DIM), _RIGHT),
        _cell(_span(f"{one.n_missing:,}", _MISSING if one.n_missing else _DIM), _RIGHT),
        _cell(bounds, _RIGHT),
        _cell(_method(one.method)),
    ]
    return "".join(cells)


def _cell(text: str, style: str = _LEFT, *, columns: int = 1, wraps: bool = False) -> str:
    spans = f' colspan="{columns}"' if columns > 1 else ""
    return f'<td{spans} style="{style}{";white-space:normal" if wraps else ""}">{text}</td>'


def _span(text: str, style: str) -> str:
    return f'<span style="{style}">{text}</span>'


def _method(method: str | None) -> str:
    if method is None:
        return ""
    word, about = METHODS.get(method, (method, ""))
    return f'<span style="{_DIM}" title="{html(about)}">{html(word)}</span>'


def _strip(one: Estimate) -> str:
    """The interval and the value on the metric's range."""
    scale = scale_of(one.metric)
    if scale is None or one.value is None or not 0 < scale.high - scale.low < float("inf"):
        return ""

    def place(value: float) -> int:
        share = (value - scale.low) / (scale.high - scale.low)
        return round(min(1.0, max(0.0, share)) * _WIDTH)

    drawn = ""
    if one.low is not None and one.high is not None:
        low, high = place(one.low), place(one.high)
        drawn += _box(low, max(high - low, 1), 6, "#54aeff")
    drawn += _box(max(place(one.value) - 1, 0), 3, 12, "#0969da")
    base = f"position:relative;width:{_WIDTH}px;height:14px;background:#8882"
    return f'<div style="{base}">{drawn}</div>'


def _box(left: int, width: int, height: int, colour: str) -> str:
    return (
        f'<div style="position:absolute;left:{left}px;top:{7 - height // 2}px;width:{width}px;'
        f'height:{height}px;background:{colour}"></div>'
    )
