"""Metric bands: a production metric drawn over time, and metric names and times in words."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import floor, isfinite, log10

from markupsafe import Markup

from ragstone.monitor.series.baselines import MeanWithInterval
from ragstone.monitor.series.metric_over_time import MeanInWindow, MetricOverTime
from ragstone.monitor.series.overview import MetricNow
from ragstone.monitor.store.stored_alarms import RaisedAlarm
from ragstone.report import charts
from ragstone.report.number_format import counted, percent, short_name
from ragstone.report.page import Scale, Series, SeriesPoint
from ragstone.report.reason_words import words
from ragstone.web.templating import (
    DAY,
    HOUR,
    MINUTE,
    View,
    clock,
    drawn,
    length_in_words,
)

# Pixels of a band.
HIGH = 120

# The share of a band, from its left, in which a confidence sequence is wide whatever comes.
SETTLED = 0.15

FEWEST = 30

# Windows without a judged answer over which a line is not drawn.
GAP = 3

TICKS = (
    15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY,
    10 * DAY,
)  # fmt: skip
MOST_TICKS = 6


def metric_band(metric: MetricNow, deploys: Sequence[tuple[str, float]], path: str) -> View:
    """Return a metric of the first screen, drawn over time; ``path`` leads to its answers."""
    now, course = metric.window, metric.series
    why = "no answer was judged in this time" if now is None else "no score in this window"
    has_value = now is not None and now.value is not None
    picture = band_drawn(course, metric.alarms, deploys, bar=metric.bar, base=base_of(metric))
    return {
        "metric": metric.metric,
        "path": path,
        "now": now if has_value else None,
        "n": _rests_on(course, now),
        "why": words(course.no_band or "") if has_value else why,
        "state": state_of(metric),
        "bar": metric.bar,
        "beside": list(_beside(metric)),
        "drawn": picture,
        "windows": [window for window in reversed(course.windows) if window.n],
    }


def band_drawn(
    series: MetricOverTime,
    alarms: Sequence[RaisedAlarm],
    deploys: Sequence[tuple[str, float]],
    *,
    bar: float | None,
    base: float | None,
) -> Markup:
    """Return the picture of a metric over time; empty if nothing was judged."""
    points = tuple(
        SeriesPoint(each.end, each.value, _end(each.band_low, series.range.low, each.value),
                    _end(each.band_high, series.range.high, each.value))
        for each in series.windows
        if each.value is not None
    )  # fmt: skip
    if not points:
        return Markup()
    scale, levels = _scale(series, points, [value for value in (bar, base) if value is not None])
    begin, end = series.since, max(series.until, points[-1].at)
    events = [(at, _short(version)) for version, at in deploys if begin <= at <= end]
    stretches = [(each.since, end if each.resolved_at is None else each.resolved_at)
                 for each in alarms]  # fmt: skip
    spans = [(max(since, begin), min(until, end)) for since, until in stretches
             if since < end and until > begin]  # fmt: skip
    gap = max(series.step, 1e-9) * (GAP + 0.5)
    picture = Series(
        points, scale, short_name(series.metric), base, tuple(events), bar, tuple(spans),
        Scale(begin, end), gap, levels, tuple(time_ticks(begin, end)),
    )  # fmt: skip
    return drawn(charts.series(picture, HIGH))


def time_ticks(begin: float, end: float) -> list[tuple[float, str]]:
    """Return moments to write below a picture: full hours, or days, by this machine's clock."""
    step = next((step for step in TICKS if (end - begin) / step <= MOST_TICKS), None)
    if step is None:
        step = floor((end - begin) / MOST_TICKS / DAY + 1) * DAY
    first = datetime.fromtimestamp(begin, UTC).astimezone()
    day = first.replace(hour=0, minute=0, second=0, microsecond=0)
    at = day.timestamp() + ((begin - day.timestamp()) // step + 1) * step
    ticks = []
    while at <= end:
        # Of days, midnight is meant, also where clocks were changed between two.
        local = datetime.fromtimestamp(at, UTC).astimezone()
        if step >= DAY:
            local = (local + timedelta(hours=2)).replace(hour=0, minute=0)
        ticks.append((local.timestamp(), local.strftime("%d %b" if step >= DAY else "%H:%M")))
        at += step
    return ticks


def _end(band: float | None, range: float | None, value: float) -> float:
    for end in (band, range):
        if end is not None and isfinite(end):
            return end
    return value


def _scale(
    series: MetricOverTime, points: Sequence[SeriesPoint], marks: Sequence[float]
) -> tuple[Scale, tuple[float, ...]]:
    """Return the part of the range of values that is drawn, and the levels with a line."""
    settled = series.since + SETTLED * (series.until - series.since)
    later = [point for point in points if point.at >= settled] or points
    inside = [*(point.value for point in points), *marks]
    inside += [end for point in later for end in (point.low, point.high)]
    low, high = min(inside), max(inside)
    if (series.range.low, series.range.high) == (0, 1):
        step = 0.25
    else:
        wide = (high - low) or abs(high) or 1.0
        ten = 10 ** floor(log10(wide))
        step = next(size for size in (ten / 4, ten / 2, ten, 2 * ten, 5 * ten) if wide / size <= 4)
    first, last = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    if last - first < 2:
        last, first = (last, last - 2) if low < (first + 0.5) * step else (first + 2, first)
    if (series.range.low, series.range.high) == (0, 1):
        first, last = max(0, first), min(4, last)
        first = min(first, last - 2)
        if first < 0:
            first, last = 0, 2
    levels = tuple(round(at * step, 10) for at in range(first, last + 1))
    return Scale(levels[0], levels[-1]), levels


def _short(version: str) -> str:
    return version if len(version) <= 12 else f"{version[:11]}…"


def base_of(metric: MetricNow) -> float | None:
    """Return the mean of the baseline run; None where what was before is earlier answers."""
    return None if metric.baseline is None else metric.before.value


def _rests_on(series: MetricOverTime, now: MeanInWindow | None) -> str:
    if now is None:
        return "0 judged"
    parts = [f"{now.n:,} judged in {length_in_words(now.end - now.start)}"]
    if now.n_undefined:
        parts.append(f"{now.n_undefined:,} undefined")
    if now.n_missing:
        parts.append(f"{now.n_missing:,} missing")
    if series.until - now.end > series.step:
        parts.append(f"until {clock(now.end, series.until)}")
    return ", ".join(parts)


def state_of(metric: MetricNow) -> tuple[str, str] | None:
    """Return the shape and the word of what can be said of a metric."""
    less = metric.series.range.better == "-"
    states: dict[str, tuple[str, str]] = {
        "below_bar": ("worse", "above its bar" if less else "below its bar"),
        "above_bar": ("correct", "below its bar" if less else "above its bar"),
        "as_before": ("equivalent", "as before"),
        "better": ("better", "better than before"),
        "worse": ("worse", "worse than before"),
        "cannot_tell": ("cannot_tell", "cannot tell"),
        "no_data": ("missing", "no data"),
    }
    return states.get(metric.state)


def _beside(metric: MetricNow) -> Iterator[tuple[str, MeanWithInterval]]:
    before = metric.before
    # Of a few answers before these, the mean tells nothing that anybody should look at.
    if before.value is not None and (metric.baseline or before.n >= FEWEST):
        yield "before" if metric.baseline is None else "baseline", before
    if metric.corrected is not None:
        yield "judge", metric.corrected.raw
        if metric.corrected.corrected.value is not None:
            yield "corrected", metric.corrected.corrected
        yield counted(metric.corrected.labels.n, "label"), metric.corrected.labels


def caption(series: Sequence[MetricOverTime]) -> str:
    """Say what the pictures show."""
    if not series:
        return ""
    first = series[0]
    return (
        f"Line: mean of the answers judged in {length_in_words(first.window)}, each weighted by "
        f"how unlikely it was to be drawn. Band: {percent(first.level)} confidence sequence, which "
        "holds at every moment together, so looking often does no harm. Dotted: baseline. Dashed: "
        "the bar of a rule. Blue: deploys. Red: an alarm. What raises an alarm is a detector of "
        "its own, quicker than the band."
    )
