"""Slices: the means within each value of a field, a column a value."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.report.number_format import (
    SYSTEM,
    Groups,
    by_family,
    by_metric,
    in_percent,
    interval_of,
    number,
    short_name,
)
from ragstone.report.pages.full_run_page import slice_values
from ragstone.run.estimates.estimate import Estimate

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
            yield SliceRow(short_name(metric), ones[0].better, who, itself, cells)


def _cell(one: Estimate | None, *, percent: bool) -> SliceCell:
    if one is None or not one.total:
        return SliceCell("")
    if one.value is None:
        return SliceCell("missing" if one.n_missing else "undefined")
    interval = interval_of(one, percent=percent)
    return SliceCell("value", number(one.value, percent=percent), interval, one.n)
