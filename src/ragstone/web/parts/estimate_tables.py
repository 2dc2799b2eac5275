"""Estimate tables: means by metric and system or by slice, each with its interval.

Up to ``ROWS`` groups have a row each per metric. With more groups, a metric is a single line with
a tick for each group, and opens into rows.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragstone.analysis.calibration.checked_run import CheckedRun
from ragstone.analysis.summaries.run_summary import Histograms, WeightShares
from ragstone.report import charts
from ragstone.report import number_format as fmt
from ragstone.report.page import IntervalCell, Scale
from ragstone.report.pages.full_run_page import slice_rows, slice_values
from ragstone.report.reason_words import short_words
from ragstone.report.sentences.analysis_words import corrected
from ragstone.run import Estimate
from ragstone.web.templating import View, bounds, cut_alike, drawn, minus, written

MOST_VALUES = 6


def slice_tables(
    groups: fmt.Groups,
    same: Collection[str],
    themselves: Mapping[str, Collection[str]],
    suites: Sequence[str],
) -> Iterator[View]:
    """Return a table of means for each field by which the run was sliced."""
    for field in groups.fields:
        estimates = groups.sliced(field)
        values, rarer = slice_values(field, estimates)
        columns = values[:MOST_VALUES]
        rows = []
        for name, first, by_system in slice_rows(field, estimates, columns):
            merged = first.metric in same and len(by_system) > 1
            for system, cells in list(by_system.items())[: 1 if merged else None]:
                rows.append({
                    "name": name,
                    "better": first.better,
                    "who": f"all {len(by_system)}, same inputs" if merged else system,
                    "itself": not merged and first.metric in themselves.get(system, ()),
                    "cells": cells,
                })  # fmt: skip
        if rows:
            yield {
                "field": field,
                "columns": columns,
                "rarer": rarer + len(values) - len(columns),
                "level": estimates[0].level,
                "percent": fmt.in_percent(suites),
                "rows": rows,
            }


# Groups that have a row each, of a metric and of a page.
ROWS, ALL_ROWS = 6, 90

# The family that stands last: systems often share it, and one looks for the answers first.
LAST = "Retrieval"

NOBODY: Mapping[str, Collection[str]] = {}
NOTHING: Mapping[Any, Any] = {}
NOT_CHECKED = CheckedRun({})
REASONS = 2


def shown_estimates(
    estimates: Sequence[Estimate],
    *,
    path: Callable[[str], str],
    opens: Callable[[str], str],
    opened: Collection[str] = (),
    by: str = fmt.SYSTEM,
    same: Collection[str] = (),
    themselves: Mapping[str, Collection[str]] = NOBODY,
    lie: Histograms = NOTHING,
    weights: WeightShares = NOTHING,
    suites: Sequence[str] = (),
    called: Mapping[str, str] = NOTHING,
    checked: CheckedRun = NOT_CHECKED,
) -> View:
    """Return a table of means, for the macro ``estimates``.

    Groups differ in the field ``by``. A metric leads to ``path``, and its line, if it is not among
    ``opened``, to ``opens``. On the metrics ``same`` all systems have the same inputs; those in
    ``themselves`` hold a system against itself. ``lie`` and ``weights`` are of single scores.
    """
    names, in_hundred = fmt.row_names(estimates), fmt.in_percent(suites)
    most = max(map(len, fmt.by_metric(estimates).values()), default=0)
    lines = most > ROWS or len(estimates) > ALL_ROWS
    scales = {ones[0].family: _scale(ones) for ones in fmt.by_family(estimates).values()}
    shorter = cut_alike(estimate.group.get(by, "") for estimate in estimates)

    def metric(name: str, ones: Sequence[Estimate]) -> View:
        with_itself = [each for each in ones if name in themselves.get(each.group.get(by, ""), ())]
        merged = (
            name in same and len(ones) > 1 and all(fmt.same_mean(ones[0], each) for each in ones)
        )
        is_open = not lines or name in opened
        lacking = fmt.as_one(ones) if by == fmt.SYSTEM else None
        in_rows = [lacking] if lacking else ones[:1] if merged else ones
        all_of = len(ones) if merged or lacking else 0
        rows = [
            _row(each, by, all_of, each in with_itself, lie, weights, suites, shorter, checked)
            for each in (in_rows if is_open else ())
        ]
        best = _best([estimate for estimate in ones if estimate not in with_itself])
        leader, scale = _named(best, by), fmt.scale_for(name)
        differs = scale and scale.drawable and scale != scales[ones[0].family]
        return {
            "metric": name,
            "name": called.get(name) or names[name],
            "better": ones[0].better,
            "path": path(name),
            "rows": rows,
            "height": len(rows) + sum(row["below"] for row in rows),
            "ticks": _ticks(ones, best) if lines else Markup(),
            "span": _span(ones, percent=in_hundred),
            "best": leader,
            "best_short": shorter.get(leader, leader),
            "scale": _ends(scale, percent=in_hundred) if scale and differs else "",
            "opens": opens(name),
            "is_open": is_open,
        }

    families: list[View] = [
        {
            "name": title,
            "axis": _axis(scales[ones[0].family], percent=in_hundred),
            "metrics": [metric(name, of_metric) for name, of_metric in fmt.by_metric(ones).items()],
        }
        for title, ones in fmt.by_family(estimates).items()
    ]
    families.sort(key=lambda family: family["name"] == LAST)
    metrics = [metric for family in families for metric in family["metrics"]]
    return {
        "families": families,
        "what": by,
        "level": estimates[0].level if estimates else 0.95,
        "lines": lines,
        "percent": in_hundred,
        "histograms": any(row["histogram"] for each in metrics for row in each["rows"]),
    }


def reasons_counted(estimate: Estimate) -> str:
    """Return why scores have no value: each reason with how many, the most frequent first."""
    ranked = sorted(estimate.reasons.items(), key=lambda pair: -pair[1])
    reasons = [
        f"{count:,}: {short_words(why).replace('_', ' ')}" for why, count in ranked[:REASONS]
    ]
    more = len(ranked) - REASONS
    return "; ".join([*reasons, *([fmt.counted(more, "other reason")] if more > 0 else [])])


def _row(
    estimate: Estimate,
    by: str,
    merged: int,
    itself: bool,
    lie: Histograms,
    weights: WeightShares,
    suites: Sequence[str],
    shorter: Mapping[str, str],
    checked: CheckedRun,
) -> View:
    in_hundred, who = fmt.in_percent(suites), estimate.group.get(by, "")
    key = (estimate.metric, estimate.group.get(fmt.SYSTEM, ""))
    scale = fmt.scale_for(estimate.metric)
    cell = IntervalCell(estimate.value, estimate.low, estimate.high, scale, percent=in_hundred)
    has_value = estimate.value is not None
    bins = lie.get(key, ()) if by == fmt.SYSTEM else ()
    weight = weights.get(key, 1.0) if by == fmt.SYSTEM else 1.0
    span = bounds(estimate, percent=in_hundred) if has_value else ""
    made_of = fmt.percent(weight, 0) if has_value and weight < 1 else ""
    mean = checked.corrected(estimate.metric, {} if merged else estimate.group)
    by_people = minus(corrected(mean, percent=in_hundred))
    everybody = f"all {merged}{', same inputs' if has_value else ''}"
    return {
        "who": everybody if merged else who or "all answers",
        "short": everybody if merged else shorter.get(who) or "all answers",
        "estimate": estimate,
        "value": written(estimate.value, in_hundred) if has_value else "",
        "interval": minus(fmt.interval_of(estimate, percent=in_hundred)) if has_value else "",
        "strip": drawn(charts.strip(cell)) if has_value else "",
        "histogram": drawn(charts.histogram(bins, _in_words(bins, scale))) if bins else "",
        "why": "" if has_value else reasons_counted(estimate),
        "bounds": span,
        "weight": made_of,
        "corrected": by_people,
        "below": bool(span or made_of or by_people),
        "shared": bool(merged),
        "itself": itself,
        "word": fmt.band(estimate, suites),
    }


def _in_words(bins: Sequence[int], scale: Scale | None) -> str:
    low, high = (scale.low, scale.high) if scale else (0.0, 1.0)
    wide = (high - low) / len(bins)
    parts = (f"{count:,} from {low + at * wide:g}" for at, count in enumerate(bins) if count)
    return f"single scores: {', '.join(parts)}"


def _scale(ones: Sequence[Estimate]) -> Scale | None:
    names = dict.fromkeys(estimate.metric for estimate in ones)
    scales = Counter(scale for name in names if (scale := fmt.scale_for(name)) and scale.drawable)
    return scales.most_common(1)[0][0] if scales else None


def _ends(scale: Scale, *, percent: bool) -> str:
    low, high = (end * 100 if percent else end for end in (scale.low, scale.high))
    return minus(f"{low:g} to {high:g}")


def _axis(scale: Scale | None, *, percent: bool) -> Markup:
    return drawn(charts.axis(scale, percent=percent, quarters=True)) if scale else Markup()


def _values(ones: Sequence[Estimate]) -> list[float]:
    return [estimate.value for estimate in ones if estimate.value is not None]


def _best(ones: Sequence[Estimate]) -> list[Estimate]:
    """Return the groups with the best mean; none if all have it, or neither end is better."""
    values = _values(ones)
    if not values or ones[0].better == "0":
        return []
    end = min(values) if ones[0].better == "-" else max(values)
    best = [estimate for estimate in ones if estimate.value == end]
    return best if len(best) < len(values) else []


def _named(best: Sequence[Estimate], by: str) -> str:
    return best[0].group.get(by, "") if len(best) == 1 else f"{len(best)} of them" if best else ""


def _ticks(ones: Sequence[Estimate], best: Sequence[Estimate]) -> Markup:
    values, scale = _values(ones), fmt.scale_for(ones[0].metric)
    if scale is None or not scale.drawable:
        scale = Scale(min(values, default=0.0), max(values, default=1.0))
    if not scale.drawable:
        return Markup()
    title = f"{fmt.short_name(ones[0].metric)}: {', '.join(map(fmt.number, values)) or 'no value'}"
    ticks = [(each.value, each in best) for each in ones if each.value is not None]
    return drawn(charts.ticks(ticks, scale, title))


def _span(ones: Sequence[Estimate], *, percent: bool) -> str:
    values = _values(ones)
    return minus(fmt.ends(min(values), max(values), percent=percent)) if values else ""
