"""Estimate tables: means by metric and system or by slice, each with its interval.

Up to ``ROWS`` groups have a row each per metric. With more groups, a metric is a single line with
a tick for each group, and opens into rows.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragstone.analysis.calibration.checked_run import CheckedRun
from ragstone.analysis.summaries.run_summary import Histograms, WeightShares
from ragstone.report import charts
from ragstone.report.number_format import (
    SYSTEM,
    Groups,
    as_one,
    band,
    by_family,
    by_metric,
    counted,
    ends,
    in_percent,
    interval_of,
    number,
    percent,
    row_names,
    same_mean,
    scale_for,
    short_name,
)
from ragstone.report.page import IntervalCell, Scale
from ragstone.report.pages.full_run_page import slice_values
from ragstone.report.reason_words import short_words
from ragstone.report.sentences.analysis_words import corrected
from ragstone.run import Estimate
from ragstone.web.templating import cut_alike, drawn, minus

MOST_VALUES = 6


@dataclass(frozen=True, slots=True)
class SliceCell:
    """A mean with its interval as they are written; empty if there is none.

    ``status`` is ``value``, ``missing``, ``undefined``, or empty where there is no answer.
    """

    status: str
    value: str = ""
    interval: str = ""
    n: int = 0


@dataclass(frozen=True, slots=True)
class SliceRow:
    """A metric of a system, or of all where they have the same inputs.

    ``itself``: whether the metric compares the system with itself.
    """

    name: str
    better: str
    who: str
    itself: bool
    cells: tuple[SliceCell, ...]


@dataclass(frozen=True, slots=True)
class SliceTable:
    """The means within each value of a field.

    Attributes:
        field: Its name.
        values: A column each, the most frequent.
        rarer: How many values are not shown.
        level: Of the intervals.
        rows: A metric and system each.
    """

    field: str
    values: tuple[str, ...]
    rarer: int
    level: float
    rows: tuple[SliceRow, ...]


def slice_tables(
    groups: Groups,
    same: Collection[str],
    themselves: Mapping[str, Collection[str]],
    suites: Sequence[str],
) -> Iterator[SliceTable]:
    """A table for each field by which the run was sliced."""
    for field in groups.fields:
        ones = groups.sliced(field)
        values, rarer = slice_values(field, ones)
        shown = values[:MOST_VALUES]
        rows = tuple(_rows(field, ones, shown, same, themselves, percent=in_percent(suites)))
        if rows:
            rarer += len(values) - len(shown)
            yield SliceTable(field, tuple(shown), rarer, ones[0].level, rows)


def _rows(
    field: str,
    estimates: Sequence[Estimate],
    values: Sequence[str],
    same: Collection[str],
    themselves: Mapping[str, Collection[str]],
    *,
    percent: bool,
) -> Iterator[SliceRow]:
    names = row_names(estimates)
    ordered = [one for ones in by_family(estimates).values() for one in ones]
    for metric, ones in by_metric(ordered).items():
        if all(one.value is None for one in ones):
            continue
        found = {(one.group.get(SYSTEM, ""), one.group[field]): one for one in ones}
        systems = list(dict.fromkeys(system for system, _ in found))
        merged = metric in same and len(systems) > 1
        for system in systems[:1] if merged else systems:
            who = f"all {len(systems)}, same inputs" if merged else system
            cells = tuple(_cell(found.get((system, value)), percent=percent) for value in values)
            itself = not merged and metric in themselves.get(system, ())
            yield SliceRow(names[metric], ones[0].better, who, itself, cells)


def _cell(one: Estimate | None, *, percent: bool) -> SliceCell:
    if one is None or not one.total:
        return SliceCell("")
    if one.value is None:
        return SliceCell("missing" if one.n_missing else "undefined")
    interval = interval_of(one, percent=percent)
    return SliceCell("value", number(one.value, percent=percent), interval, one.n)


ROWS, ALL_ROWS = 6, 90
"""Groups that have a row each, of a metric and of a page."""

LAST = "Retrieval"
"""The family that stands last: systems often share it, and one looks for the answers first."""

NOBODY: Mapping[str, Collection[str]] = {}
NO_HISTOGRAMS: Histograms = {}
NO_WEIGHTS: WeightShares = {}
NO_NAMES: Mapping[str, str] = {}
NOT_CHECKED = CheckedRun({})
REASONS = 2


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """A group's mean.

    Attributes:
        who: The group.
        short: The same in little room.
        estimate: Its numbers.
        value: The mean as it is written; empty if there is none.
        interval: Its ends as they are written.
        strip: The interval, drawn.
        histogram: How the single scores lie, drawn; empty where the mean tells all.
        why: Why there is no value, each reason with how many.
        bounds: Between which ends the mean would lie if nothing were missing.
        weight: The share of its weight that a composite is made of; empty if that is all.
        corrected: The mean that people's labels corrected, as it is written; empty if they did not.
        shared: Whether it stands for all systems, which have the same inputs.
        itself: Whether the metric compares the system with itself.
        word: What a suite calls the value, or that it is beyond a limit.
    """

    who: str
    short: str
    estimate: Estimate
    value: str
    interval: str
    strip: Markup
    histogram: Markup
    why: str
    bounds: str
    weight: str
    corrected: str
    shared: bool
    itself: bool
    word: str

    @property
    def below(self) -> bool:
        """Whether a line below tells more."""
        return bool(self.bounds or self.weight or self.corrected)


@dataclass(frozen=True, slots=True)
class MetricEstimates:
    """A metric's rows.

    Attributes:
        metric: Its text form.
        name: What it is called.
        better: Its direction.
        path: Of the examples with the worst values first.
        rows: One a group; empty if the metric is a closed line.
        ticks: All groups on one line, drawn.
        span: The lowest and the highest mean.
        best: Who has the best mean, or how many have it; empty if all are alike.
        best_short: The same in little room.
        scale: The ends of its range, where the strips have another scale than the axis above.
        opens: The address that opens or closes the line.
        is_open: Whether it is open.
    """

    metric: str
    name: str
    better: str
    path: str
    rows: tuple[EstimateRow, ...]
    ticks: Markup
    span: str
    best: str
    best_short: str
    scale: str
    opens: str
    is_open: bool

    @property
    def height(self) -> int:
        """The rows of its table, with those that stand below others."""
        return len(self.rows) + sum(row.below for row in self.rows)


@dataclass(frozen=True, slots=True)
class FamilyEstimates:
    """A family's metrics under one axis, drawn if they share a scale."""

    name: str
    axis: Markup
    metrics: tuple[MetricEstimates, ...]


@dataclass(frozen=True, slots=True)
class ShownEstimates:
    """All of them.

    Attributes:
        families: In the order of the page.
        what: What a group is: a system, or a value of a field.
        level: Of the intervals.
        lines: Whether metrics are lines that open.
        percent: Whether values are in percent.
    """

    families: tuple[FamilyEstimates, ...]
    what: str
    level: float
    lines: bool
    percent: bool

    @property
    def histograms(self) -> bool:
        """Whether any row has one."""
        return any(
            row.histogram for one in self.families for metric in one.metrics for row in metric.rows
        )


def shown_estimates(
    estimates: Sequence[Estimate],
    *,
    path: Callable[[str], str],
    opens: Callable[[str], str],
    opened: Collection[str] = (),
    by: str = SYSTEM,
    same: Collection[str] = (),
    themselves: Mapping[str, Collection[str]] = NOBODY,
    lie: Histograms = NO_HISTOGRAMS,
    weights: WeightShares = NO_WEIGHTS,
    suites: Sequence[str] = (),
    called: Mapping[str, str] = NO_NAMES,
    checked: CheckedRun = NOT_CHECKED,
) -> ShownEstimates:
    """The estimates as they are shown.

    Args:
        estimates: One for each metric and group.
        path: The address of the examples of a metric.
        opens: The address that opens or closes the line of a metric.
        opened: Metrics whose lines are open.
        by: What tells the groups of a metric apart.
        same: Metrics on which all systems have the same inputs.
        themselves: Metrics that compare a system with itself, by system.
        lie: How the single scores lie.
        weights: The share of a composite's weight that its scores are made of.
        suites: Those of the run.
        called: Other names of metrics.
        checked: What people's labels show about the judges.
    """
    grouped, names = by_metric(estimates), row_names(estimates)
    most = max((len(ones) for ones in grouped.values()), default=0)
    lines = most > ROWS or len(estimates) > ALL_ROWS
    in_hundred = in_percent(suites)

    scales = {ones[0].family: _scale(ones) for ones in by_family(estimates).values()}

    shorter = cut_alike(one.group.get(by, "") for one in estimates)

    def metric(name: str, ones: Sequence[Estimate]) -> MetricEstimates:
        own = [one for one in ones if name in themselves.get(one.group.get(by, ""), ())]
        merged = name in same and len(ones) > 1 and all(same_mean(ones[0], one) for one in ones)
        is_open = not lines or name in opened
        lacking = as_one(ones) if by == SYSTEM else None
        shown = [lacking] if lacking else ones[:1] if merged else ones
        all_of = len(ones) if merged or lacking else 0
        rows = (
            _row(one, by, all_of, one in own, lie, weights, suites, shorter, checked)
            for one in shown
        )
        best = _best([one for one in ones if one not in own])
        scale = scale_for(name)
        differs = scale != scales[ones[0].family]
        return MetricEstimates(
            name,
            called.get(name) or names[name].replace("_", " "),
            ones[0].better,
            path(name),
            tuple(rows) if is_open else (),
            _ticks(ones, best) if lines else Markup(),
            _span(ones, percent=in_hundred),
            _named(best, by),
            shorter.get(_named(best, by), _named(best, by)),
            _ends(scale, percent=in_hundred) if differs and scale and scale.drawable else "",
            opens(name),
            is_open,
        )

    families = [
        FamilyEstimates(
            title,
            _axis(scales[ones[0].family], percent=in_hundred),
            tuple(metric(name, own) for name, own in by_metric(ones).items()),
        )
        for title, ones in by_family(estimates).items()
    ]
    families.sort(key=lambda one: one.name == LAST)
    level = estimates[0].level if estimates else 0.95
    return ShownEstimates(tuple(families), by, level, lines, in_hundred)


def reasons_counted(estimate: Estimate) -> str:
    """Why scores are undefined or missing: each reason with how many, the most frequent first."""
    ranked = sorted(estimate.reasons.items(), key=lambda one: -one[1])
    said = [f"{count:,}: {short_words(why).replace('_', ' ')}" for why, count in ranked[:REASONS]]
    more = len(ranked) - REASONS
    return "; ".join([*said, *([counted(more, "other reason")] if more > 0 else [])])


def _row(
    one: Estimate,
    by: str,
    merged: int,
    itself: bool,
    lie: Histograms,
    weights: WeightShares,
    suites: Sequence[str],
    shorter: Mapping[str, str],
    checked: CheckedRun,
) -> EstimateRow:
    in_hundred, who = in_percent(suites), one.group.get(by, "")
    key = (one.metric, one.group.get(SYSTEM, ""))
    scale = scale_for(one.metric)
    cell = IntervalCell(one.value, one.low, one.high, scale, percent=in_hundred)
    there = one.value is not None
    bins = lie.get(key, ()) if by == SYSTEM else ()
    weight = weights.get(key, 1.0) if by == SYSTEM else 1.0
    low, high = sorted((one.worst or 0.0, one.best or 0.0))
    bounded = one.n_missing and there and one.worst is not None and one.best is not None
    mean = checked.corrected(one.metric, {} if merged else one.group)
    everybody = f"all {merged}{', same inputs' if there else ''}"
    return EstimateRow(
        everybody if merged else who or "all answers",
        everybody if merged else shorter.get(who) or "all answers",
        one,
        minus(number(one.value, percent=in_hundred)) if one.value is not None else "",
        minus(interval_of(one, percent=in_hundred)) if there else "",
        drawn(charts.strip(cell)) if there else Markup(),
        drawn(charts.histogram(bins, _in_words(bins, scale))) if bins else Markup(),
        "" if there else reasons_counted(one),
        minus(ends(low, high, percent=in_hundred)) if bounded else "",
        percent(weight, 0) if there and weight < 1 else "",
        minus(corrected(mean, percent=in_hundred)),
        bool(merged),
        itself,
        band(one, suites),
    )  # fmt: skip


def _in_words(bins: Sequence[int], scale: Scale | None) -> str:
    """The bins for who cannot see them: how many scores are in each that has any."""
    low, high = (scale.low, scale.high) if scale else (0.0, 1.0)
    wide = (high - low) / len(bins)
    parts = (f"{count:,} from {low + at * wide:g}" for at, count in enumerate(bins) if count)
    return f"single scores: {', '.join(parts)}"


def _scale(ones: Sequence[Estimate]) -> Scale | None:
    """The scale that most metrics of a family have."""
    names = dict.fromkeys(one.metric for one in ones)
    scales = Counter(scale for name in names if (scale := scale_for(name)) and scale.drawable)
    return scales.most_common(1)[0][0] if scales else None


def _ends(scale: Scale, *, percent: bool) -> str:
    low, high = (end * 100 if percent else end for end in (scale.low, scale.high))
    return minus(f"{low:g} to {high:g}")


def _axis(scale: Scale | None, *, percent: bool) -> Markup:
    return drawn(charts.axis(scale, percent=percent, quarters=True)) if scale else Markup()


def _valued(ones: Sequence[Estimate]) -> Iterator[tuple[float, Estimate]]:
    yield from ((one.value, one) for one in ones if one.value is not None)


def _best(ones: Sequence[Estimate]) -> list[Estimate]:
    """Who has the best mean, which is not to say that it is better; nobody if all have it."""
    found = [one for _, one in _valued(ones)]
    if not found or found[0].better == "0":
        return []
    end = (min if found[0].better == "-" else max)(value for value, _ in _valued(ones))
    best = [one for value, one in _valued(ones) if value == end]
    return best if len(best) < len(found) else []


def _named(best: Sequence[Estimate], by: str) -> str:
    return best[0].group.get(by, "") if len(best) == 1 else f"{len(best)} of them" if best else ""


def _ticks(ones: Sequence[Estimate], best: Sequence[Estimate]) -> Markup:
    found = list(_valued(ones))
    values = [value for value, _ in found]
    scale = scale_for(ones[0].metric)
    if scale is None or not scale.drawable:
        scale = Scale(min(values, default=0.0), max(values, default=1.0))
    if not scale.drawable:
        return Markup()
    title = f"{short_name(ones[0].metric)}: {', '.join(map(number, values)) or 'no value'}"
    return drawn(charts.ticks([(value, one in best) for value, one in found], scale, title))


def _span(ones: Sequence[Estimate], *, percent: bool) -> str:
    values = [value for value, _ in _valued(ones)]
    return minus(ends(min(values), max(values), percent=percent)) if values else ""
