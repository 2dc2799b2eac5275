"""Metric bands: a production metric drawn over time, and metric names and times in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor, isfinite, log10

from markupsafe import Markup

from ragstone.monitor.series.baselines import MeanWithInterval
from ragstone.monitor.series.metric_over_time import MeanInWindow, MetricOverTime
from ragstone.monitor.series.overview import DeployMarker, MetricNow
from ragstone.monitor.store.stored_alarms import RaisedAlarm
from ragstone.report import charts
from ragstone.report.number_format import counted, ends, number, percent, short_name, spoken
from ragstone.report.page import Scale, Series, SeriesPoint
from ragstone.report.reason_words import words
from ragstone.web.templating import drawn, minus

GUARD = "guard_"


def said_metric(metric: str) -> str:
    """What a metric, or a check of the guard, is called.

    >>> said_metric("faithfulness"), said_metric("guard_ok"), said_metric("guard_numbers_match")
    ('faithfulness', 'all checks', 'check: numbers match')
    """
    if metric == f"{GUARD}ok":
        return "all checks"
    if metric == f"{GUARD}confidence":
        return "confidence of the guard"
    if metric.startswith(GUARD):
        return f"check: {spoken(metric.removeprefix(GUARD))}"
    return spoken(short_name(metric))


MINUTE, HOUR, DAY = 60, 3_600, 86_400
LAST = 253_402_300_799.0
"""The end of the year 9999, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class ShownMoment:
    """A time.

    Attributes:
        iso: For programs.
        words: For people, as short as the day allows.
        full: With date and zone.
    """

    iso: str
    words: str
    full: str


def shown_moment(at: float, now: float | None = None) -> ShownMoment:
    """A time in seconds since the epoch; one of today without its date."""
    then = datetime.fromtimestamp(min(max(at, 0.0), LAST - DAY), UTC).astimezone()
    today = datetime.now().astimezone() if now is None else datetime.fromtimestamp(now).astimezone()
    if then.date() == today.date():
        words = then.strftime("%H:%M")
    else:
        words = then.strftime("%d %b, %H:%M" if then.year == today.year else "%d %b %Y, %H:%M")
    return ShownMoment(
        then.isoformat(timespec="seconds"), words, then.strftime("%d %b %Y, %H:%M:%S %Z")
    )


def length_in_words(seconds: float) -> str:
    """How long something takes, in one unit or two.

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
    """A fact about an answer, an example or an alarm as people write it.

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
        return ", ".join(fact_in_words(name, one) for one in value)
    if not isinstance(value, int | float) or not isfinite(value):
        return str(value)
    if _is_moment(name, value):
        return shown_moment(float(value)).full
    if name in _LENGTHS or name.endswith(("_gap", "_seconds", "_latency")):
        return _short_length(value)
    if isinstance(value, int):
        return f"{value:,}" if name.endswith("tokens") else str(value)
    return f"{value:.3g}" if abs(value) < 1_000 else f"{value:,.0f}"


_MOMENTS = frozenset(("at", "ended", "since", "created", "timestamp", "time"))
_LENGTHS = frozenset(("latency", "first_token", "seconds", "duration", "took", "wait", "elapsed"))
_FIRST_MOMENT, _LAST_MOMENT = 946_684_800, 4_102_444_800


def _is_moment(name: str, value: object) -> bool:
    """Whether a number is a time from 2000 to 2099 in seconds since the epoch, by its name too."""
    return (
        (name in _MOMENTS or name.endswith("_at"))
        and isinstance(value, int | float)
        and _FIRST_MOMENT <= value < _LAST_MOMENT
    )


def _short_length(seconds: float) -> str:
    if 0 <= seconds < 1:
        return f"{round(1_000 * seconds)} ms"
    return f"{seconds:.1f} s" if 1 <= seconds < 10 else length_in_words(seconds)


HIGH = 120
"""Pixels of a band."""

SETTLED = 0.15
"""The share of a band, from its left, in which a confidence sequence is wide whatever comes."""

FEWEST = 30

GAP = 3
"""Windows without a judged answer over which a line is not drawn."""

TICKS = (
    15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 5 * DAY,
    10 * DAY,
)  # fmt: skip
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class FigureBeside:
    """Another number of the same metric, such as its baseline."""

    lead: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class BandRow:
    """A window in the table."""

    when: str
    value: str
    interval: str
    n: str


@dataclass(frozen=True, slots=True)
class MetricBand:
    """A metric over time.

    Attributes:
        metric: Its text form.
        name: As it is said.
        path: Of its answers, the worst first.
        value: The mean now; empty if there is none.
        interval: Of that.
        n: On how much it rests, in words.
        why: Why there is no value, or nothing drawn.
        state: Shape and word; None if nothing can be said.
        beside: Baseline, corrected mean and the like.
        drawn: The picture; empty if there is none.
        rows: The same numbers.
    """

    metric: str
    name: str
    path: str
    value: str
    interval: str
    n: str
    why: str
    state: tuple[str, str] | None
    beside: tuple[FigureBeside, ...]
    drawn: Markup
    rows: tuple[BandRow, ...]


def metric_band(one: MetricNow, deploys: Sequence[DeployMarker], path: str) -> MetricBand:
    """A metric of the first screen."""
    now = one.window
    value = "" if now is None or now.value is None else minus(number(now.value))
    why = "no answer was judged in this time" if now is None else "no score in this window"
    return MetricBand(
        one.metric,
        said_metric(one.metric),
        path,
        value,
        "" if now is None else minus(ends(now.low, now.high)),
        _rests_on(one.series, now),
        why if not value else words(one.series.no_band or ""),
        state_of(one),
        tuple(_beside(one)),
        band_drawn(one.series, one.alarms, deploys, bar=one.bar, base=base_of(one)),
        tuple(_row(each) for each in reversed(one.series.windows) if each.n),
    )


def band_drawn(
    series: MetricOverTime,
    alarms: Sequence[RaisedAlarm],
    deploys: Sequence[DeployMarker],
    *,
    bar: float | None,
    base: float | None,
) -> Markup:
    """The picture of a metric over time; empty if nothing was judged."""
    points = tuple(
        SeriesPoint(
            one.end,
            one.value,
            _end(one.band_low, series.range.low, one.value),
            _end(one.band_high, series.range.high, one.value),
        )
        for one in series.windows
        if one.value is not None
    )
    if not points:
        return Markup()
    scale, levels = _scale(series, points, [one for one in (bar, base) if one is not None])
    begin, end = series.since, max(series.until, points[-1].at)
    picture = Series(
        points,
        scale,
        said_metric(series.metric),
        base,
        tuple((one.at, _short(one.version)) for one in deploys if begin <= one.at <= end),
        bar,
        tuple(
            (max(one.since, begin), end if one.resolved_at is None else min(one.resolved_at, end))
            for one in alarms
            if one.since < end and (one.resolved_at is None or one.resolved_at > begin)
        ),
        Scale(begin, end),
        max(series.step, 1e-9) * (GAP + 0.5),
        levels,
        tuple(time_ticks(begin, end)),
    )
    return drawn(charts.series(picture, HIGH))


def time_ticks(begin: float, end: float) -> list[tuple[float, str]]:
    """Moments to be written below a picture: full hours, or days, by this machine's clock."""
    step = next((one for one in TICKS if (end - begin) / one <= MOST_TICKS), None)
    if step is None:
        step = floor((end - begin) / MOST_TICKS / DAY + 1) * DAY
    first = datetime.fromtimestamp(begin, UTC).astimezone()
    day = first.replace(hour=0, minute=0, second=0, microsecond=0)
    at = day.timestamp() + ((begin - day.timestamp()) // step + 1) * step
    found = []
    while at <= end:
        # Of days, midnight is meant, also where clocks were changed between two.
        local = datetime.fromtimestamp(at, UTC).astimezone()
        if step >= DAY:
            local = (local + timedelta(hours=2)).replace(hour=0, minute=0)
        found.append((local.timestamp(), local.strftime("%d %b" if step >= DAY else "%H:%M")))
        at += step
    return found


def _end(band: float | None, range: float | None, value: float) -> float:
    """An end of the band; where it has none, that of all values, or the value itself."""
    for one in (band, range):
        if one is not None and isfinite(one):
            return one
    return value


def _scale(
    series: MetricOverTime, points: Sequence[SeriesPoint], marks: Sequence[float]
) -> tuple[Scale, tuple[float, ...]]:
    """What is drawn of the range of values, and the levels with a line."""
    settled = series.since + SETTLED * (series.until - series.since)
    later = [one for one in points if one.at >= settled] or points
    inside = [*(one.value for one in points), *marks]
    inside += [end for one in later for end in (one.low, one.high)]
    low, high = min(inside), max(inside)
    if (series.range.low, series.range.high) == (0, 1):
        step = 0.25
    else:
        wide = (high - low) or abs(high) or 1.0
        ten = 10 ** floor(log10(wide))
        step = next(one for one in (ten / 4, ten / 2, ten, 2 * ten, 5 * ten) if wide / one <= 4)
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


def base_of(one: MetricNow) -> float | None:
    """The mean of the baseline run; None where what was before is earlier answers."""
    return None if one.before.of is None else one.before.before.value


def _rests_on(series: MetricOverTime, now: MeanInWindow | None) -> str:
    if now is None:
        return "0 judged"
    parts = [f"{now.n:,} judged in {length_in_words(now.end - now.start)}"]
    if now.n_undefined:
        parts.append(f"{now.n_undefined:,} undefined")
    if now.n_missing:
        parts.append(f"{now.n_missing:,} missing")
    if series.until - now.end > series.step:
        parts.append(f"until {shown_moment(now.end, series.until).words}")
    return ", ".join(parts)


def state_of(one: MetricNow) -> tuple[str, str] | None:
    """Shape and word of what can be said of a metric."""
    less = one.series.range.better == "-"
    found: dict[str, tuple[str, str]] = {
        "below_bar": ("worse", "above its bar" if less else "below its bar"),
        "above_bar": ("correct", "below its bar" if less else "above its bar"),
        "as_before": ("equivalent", "as before"),
        "better": ("better", "better than before"),
        "worse": ("worse", "worse than before"),
        "cannot_tell": ("cannot_tell", "cannot tell"),
        "no_data": ("missing", "no data"),
    }
    return found.get(one.state)


def _beside(one: MetricNow) -> list[FigureBeside]:
    found = []
    if one.bar is not None:
        found.append(FigureBeside("bar", minus(number(one.bar)), ""))
    # Of a few answers before these, the mean tells nothing that anybody should look at.
    if one.before.before.value is not None and (one.before.of or one.before.before.n >= FEWEST):
        lead = "before" if one.before.of is None else "baseline"
        found.append(_beside_mean(lead, one.before.before))
    if one.corrected is not None:
        found.append(_beside_mean("judge", one.corrected.raw))
        if one.corrected.corrected.value is not None:
            found.append(_beside_mean("corrected", one.corrected.corrected))
        found.append(
            _beside_mean(f"{counted(one.corrected.labels.n, 'label')}", one.corrected.labels)
        )
    return found


def _beside_mean(lead: str, one: MeanWithInterval) -> FigureBeside:
    value = "–" if one.value is None else minus(number(one.value))
    return FigureBeside(lead, value, "" if one.low is None else minus(ends(one.low, one.high)))


def _row(one: MeanInWindow) -> BandRow:
    return BandRow(
        shown_moment(one.start).words,
        "–" if one.value is None else minus(number(one.value)),
        minus(ends(one.band_low, one.band_high)),
        f"{one.n:,}",
    )


def caption(series: Sequence[MetricOverTime]) -> str:
    """What the pictures show, in words."""
    if not series:
        return ""
    one = series[0]
    return (
        f"Line: mean of the answers judged in {length_in_words(one.window)}, each weighted by how "
        f"unlikely it was to be drawn. Band: {percent(one.level)} confidence sequence, which holds "
        "at every moment together, so looking often does no harm. Dotted: baseline. Dashed: the "
        "bar of a rule. Blue: deploys. Red: an alarm. What raises an alarm is a detector of its "
        "own, quicker than the band."
    )
