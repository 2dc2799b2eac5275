"""Monitored: all that the first screen shows."""

from collections.abc import Sequence

from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.monitor.alarms.lifecycle import WORSE
from ragstone.monitor.alarms.slices import settled_bar
from ragstone.monitor.settings import AlarmRule, MonitorSettings
from ragstone.monitor.store.alarm_stretches import alarms_firing_after
from ragstone.monitor.store.deployed import deployed
from ragstone.monitor.store.raised import RaisedAlarm
from ragstone.monitor.store.scored_metrics import facet_values, scored_metrics
from ragstone.monitor.store.slots import WIDTH
from ragstone.monitor.store.store import MonitorStore

from .against import SettledMean, side_by_side
from .baseline_run import baseline_mean
from .corrected_now import corrected_now
from .metric_over_time import Facet, MeanInWindow, MetricOverTime
from .over_time import in_windows, read_grid
from .page_facts import (
    DeployMarker,
    MetricNow,
    MetricState,
    MonitorPageFacts,
    SideBySide,
    SliceValues,
)
from .stretch import Stretch, read_stretch
from .time_grid import TimeGrid
from .value_range import value_range

DAY = 86_400.0
HOUR = 3_600.0
MOST_VALUES = 50
"""Values of a facet that can be chosen."""

MARGIN = 0.05
"""Of the range, up to which a difference does not matter where no rule on the metric says more."""


def monitored(
    store: MonitorStore,
    settings: MonitorSettings,
    now: float,
    *,
    last: float = DAY,
    slice: Facet | None = None,
    metrics: Sequence[str] | None = None,
) -> MonitorPageFacts:
    """All that the first screen shows of the last hours.

    Args:
        store: What is monitored.
        settings: With the rules and the baseline.
        now: In seconds since the epoch.
        last: How far back it looks, in seconds.
        slice: Of which traffic; None: of all.
        metrics: Their text forms; None: those of rules, then all others that have a score.

    Raises:
        InputError: The baseline run cannot be read.
    """
    grid = TimeGrid.of(now - last, now)
    with store.database.reading() as run:
        shown = _metrics(run, settings) if metrics is None else list(metrics)
        alarms = tuple(alarms_firing_after(run, grid.since))
        return MonitorPageFacts(
            now=now,
            since=grid.since,
            slice=slice,
            baseline=None if settings.baseline.run is None else settings.baseline.run.name,
            metrics=tuple(
                _metric_now(run, settings, metric, grid, now, slice, alarms, len(shown))
                for metric in shown
            ),
            deploys=tuple(DeployMarker(*one) for one in deployed(run, grid.since, now)),
            alarms=alarms,
            slices=tuple(
                SliceValues(name, tuple(values))
                for name, values in facet_values(run, grid.since, MOST_VALUES).items()
            ),
        )


def _metrics(run: Sql, settings: MonitorSettings) -> list[str]:
    there = scored_metrics(run)
    return list(dict.fromkeys([*(rule.metric for rule in settings.rules), *there]))


def _metric_now(
    run: Sql,
    settings: MonitorSettings,
    metric: str,
    grid: TimeGrid,
    now: float,
    slice: Facet | None,
    alarms: tuple[RaisedAlarm, ...],
    family: int,
) -> MetricNow:
    steps, effect = read_grid(run, metric, grid, slice)
    series = in_windows(metric, slice, grid, steps, effect)
    stretch = Stretch(series.range, steps.since(grid.first).together, effect)
    rule = _shown_rule(settings, metric, slice, alarms)
    before, of = _before(run, settings, metric, grid, slice, effect)
    beside = side_by_side(stretch, before, of=of, margin=_margin(rule, metric), family=family)
    bar = None if rule is None else _bar(run, settings, rule, _written(slice))
    rules = {one.name for one in settings.rules if one.metric == metric}
    own = tuple(one for one in alarms if one.rule in rules)
    fires = any(one.firing and one.kind == WORSE and one.slice == _written(slice) for one in own)
    return MetricNow(
        metric=metric,
        state=_state(series, bar, beside, fires=fires),
        window=series.now,
        judged_last_hour=read_stretch(run, metric, now - HOUR, now + WIDTH, slice, effect=1.0).n,
        bar=bar,
        series=series,
        before=beside,
        corrected=corrected_now(run, metric, grid.since, grid.until, slice, stretch),
        alarms=own,
    )


def _before(
    run: Sql,
    settings: MonitorSettings,
    metric: str,
    grid: TimeGrid,
    slice: Facet | None,
    effect: float,
) -> tuple[SettledMean, str | None]:
    """What the metric is compared with, and the name of the run it is of."""
    baseline = settings.baseline
    if baseline.run is not None:
        found = baseline_mean(baseline.run, baseline.system, metric)
        if found is not None:
            return found, baseline.run.name
    since = grid.since - (grid.until - grid.since)
    return read_stretch(run, metric, since, grid.since, slice, effect=effect), None


def _shown_rule(
    settings: MonitorSettings, metric: str, slice: Facet | None, alarms: tuple[RaisedAlarm, ...]
) -> AlarmRule | None:
    """The rule whose bar is drawn: one that fires, else the first that watches this slice."""
    here = _written(slice)
    firing = {one.rule for one in alarms if one.firing and one.slice == here}
    watched = {here, "" if slice is None else slice.name}
    rules = [one for one in settings.rules if one.metric == metric and one.slice in watched]
    return next((one for one in rules if one.name in firing), rules[0] if rules else None)


def _margin(rule: AlarmRule | None, metric: str) -> float | None:
    if rule is not None and rule.margin is not None:
        return rule.margin
    scale = value_range(metric)
    return None if scale.low is None or scale.high is None else MARGIN * (scale.high - scale.low)


def _bar(run: Sql, settings: MonitorSettings, rule: AlarmRule, slice: str) -> float | None:
    """The bar of a rule; None where it is not settled yet."""
    try:
        bar = settled_bar(run, settings, rule, slice)
    except InputError:
        return None
    return None if bar is None else bar.value


def _written(slice: Facet | None) -> str:
    """A slice as rules write it."""
    return "" if slice is None else f"{slice.name}={slice.value}"


def _state(
    series: MetricOverTime, bar: float | None, beside: SideBySide, *, fires: bool
) -> MetricState:
    window = series.windows[-1]
    if fires:
        return "below_bar"
    if not window.n:
        return "no_data"
    side = None if bar is None else _side_of(bar, window, series.range.better == "-")
    if side is not None:
        return side
    match beside.verdict:
        case "equivalent" | "same":
            return "as_before"
        case "better" | "worse" | "cannot_tell" as verdict:
            return verdict


def _side_of(bar: float, window: MeanInWindow, less_is_better: bool) -> MetricState | None:
    """On which side of the bar the whole band lies; None on neither."""
    if window.band_low is None or window.band_high is None:
        return None
    if window.band_high < bar:
        return "above_bar" if less_is_better else "below_bar"
    if window.band_low > bar:
        return "below_bar" if less_is_better else "above_bar"
    return None
