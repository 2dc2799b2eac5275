"""Catalogue page: every metric and suite with its description, for ``ragstone metrics``."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from math import isfinite
from typing import Any, Literal

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.grouping import grouped
from ragstone.judgements import ASKS
from ragstone.metrics import (
    ALIASES,
    QUICK_SUITE,
    SUITES,
    Metric,
    Suite,
    alias_note,
    metric_types,
    own_metrics,
    parse_metric,
)
from ragstone.report import page as ui
from ragstone.report.number_format import BETTER, FAMILIES, bands_of
from ragstone.report.reason_words import FIRST, who_can, words


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """The description of a metric.

    ``filled_by`` names who can answer each of its asks, joined with commas; ``about`` is the
    first sentence of ``docstring``.
    """

    name: str
    family: str
    about: str
    better: Literal["+", "-", "0"]
    range: tuple[float, float]
    rate: bool
    judgements: tuple[str, ...]
    filled_by: tuple[str, ...]
    requires: tuple[str, ...]
    parameters: Mapping[str, Any]
    aliases: tuple[str, ...]
    docstring: str

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ragstone metrics --json`` prints; an end that the range lacks is null."""
        ends = tuple(end if isfinite(end) else None for end in self.range)
        return {**asdict(self), "range": ends}


def catalogue() -> list[MetricEntry]:
    """One entry for each metric, in the order of a report, user-defined ones last."""
    types = [*metric_types().values(), *(type(own_metric) for own_metric in own_metrics().values())]
    order = list(FAMILIES)
    return sorted(
        (entry(kind) for kind in types),
        key=lambda item: order.index(item.family) if item.family in order else len(order),
    )


def entry(kind: type[Metric]) -> MetricEntry:
    """The description of a metric."""
    docstring = inspect.cleandoc(kind.__doc__ or "")
    try:
        metric: Metric | type[Metric] = kind()
    except InputError:  # It has no default for one of its parameters.
        metric = kind
    instances = [metric] if isinstance(metric, Metric) else []
    parts = [parse_metric(name) for name, _ in getattr(metric, "terms", ())] if instances else []
    parts = parts or instances
    asks = frozenset[str]().union(*(part.asks for part in parts))
    range, plain = metric.range, (str, int, float, bool, tuple, type(None))
    defaults = {field.name: field.default for field in fields(kind)
                if field.init and field.default is not MISSING}  # fmt: skip
    return MetricEntry(
        name=kind.name,
        family=kind.family,
        about=" ".join(docstring.split("\n\n")[0].split()),
        better=range.better,
        range=(range.low, range.high),
        rate=range.rate,
        judgements=tuple(sorted({ASKS[ask].kind for ask in asks})),
        filled_by=tuple(sorted({",".join(ASKS[ask].by) for ask in asks})),
        requires=tuple(dict.fromkeys(name for part in parts for name in part.requires)),
        parameters={
            name: value if isinstance(value, plain) else str(value)
            for name, value in defaults.items()
        },
        aliases=tuple(
            alias for alias, (target, _) in ALIASES.items() if target.split("(")[0] == kind.name
        ),
        docstring=docstring,
    )


def named(name: str) -> MetricEntry:
    """The entry of one metric, by its name, an alias or a text form."""
    if name in metric_types():
        return entry(metric_types()[name])
    return entry(type(parse_metric(name)))


def suites() -> list[Suite]:
    """Return every suite, the default first."""
    return [QUICK_SUITE, *SUITES.values()]


def named_suite(name: str) -> Suite:
    """Return the suite of that name."""
    known = {suite.name: suite for suite in suites()}
    if name not in known:
        raise UnknownName("suite", name, known, hint=f"There are {', '.join(known)}.")
    return known[name]


def catalogue_page() -> ui.Page:
    """The names of all metrics by family; a star marks those that need a chat model or people."""
    entries = catalogue()
    families: dict[str, list[str]] = {}
    for entry in entries:
        needs_more = any(by.startswith(("people", "model")) for by in entry.filled_by)
        families.setdefault(entry.family, []).append(entry.name + "*" * needs_more)
    notes = tuple(ui.Note(family, ", ".join(names)) for family, names in families.items())
    more = (
        "* needs a chat model or people's labels.",
        "ragstone metrics NAME explains one, ragstone metrics grounding lists a family, and "
        "ragstone metrics --suite lists the suites.",
    )
    return ui.Page(
        "metrics", "", (ui.section(ui.Facts(notes), ui.Paragraphs(more)),),
        record=lambda: [entry.to_dict() for entry in entries],
    )  # fmt: skip


def family_page(family: str, entries: Sequence[MetricEntry]) -> ui.Page:
    """The metrics of a family: better direction, range, judgements, who gives them."""
    columns = (*map(ui.Heading, ("metric", "range", "judgements")), ui.Heading("filled by", drop=1))
    group = ui.Group(tuple(map(_row, entries)), FAMILIES.get(family, family.capitalize()))
    return ui.Page(
        "metrics", family, (ui.section(ui.Table(columns, (group,))),),
        record=lambda: [entry.to_dict() for entry in entries],
    )  # fmt: skip


def metric_page(entry: MetricEntry, asked_as: str = "") -> ui.Page:
    """One metric in full, with what another tool's name for it means here."""
    note = alias_note(asked_as)
    facts = [
        ui.Note("metric", (ui.strong(entry.name), f"  {entry.family}")),
        *([ui.Note("", words(note))] if note else []),
        ui.Note("range", f"{range_in_words(entry)}, {BETTER[entry.better]}"),
        ui.Note("judgements", ", ".join(entry.judgements) or "none"),
        *(ui.Note("filled by", who_can(by)) for by in entry.filled_by),
        *([ui.Note("requires", ", ".join(entry.requires))] if entry.requires else []),
        *(ui.Note("parameters", f"{name} = {value!r}") for name, value in entry.parameters.items()),
        *(ui.Note("aliases", line) for line in _by_meaning(entry.aliases)),
    ]
    lines = tuple(ui.OutlineItem(line) for line in entry.docstring.split("\n"))
    sections = (ui.section(ui.Facts(tuple(facts)), ui.Outline(lines)),)
    return ui.Page("metrics", entry.name, sections, record=entry.to_dict)


def _by_meaning(aliases: Iterable[str]) -> Iterator[str]:
    """A line for all aliases that mean the same."""
    by_meaning = grouped((ALIASES.get(alias, ("", "")), alias) for alias in aliases)
    for (form, meaning), names in by_meaning.items():
        yield ", ".join(names) + (f": {form}, {meaning}." if form else "")


def suite_page(listed: Sequence[Suite]) -> ui.Page:
    """Return the page of suites with their metrics and conventions."""
    sections, records = [], []
    for suite in listed:
        facts = [ui.Note("", suite.about), ui.Note("metrics", ", ".join(suite.names))]
        facts += [ui.Note("by", ", ".join(suite.by))] if suite.by else []
        facts += [ui.Note("conventions", suite.conventions)] if suite.conventions else []
        facts += [ui.Note("reading", line) for line in bands_of(suite)]
        sections.append(ui.section(ui.Facts(tuple(facts)), title=ui.strong(suite.name)))
        bands = [
            asdict(band) | {"words": [{"from": least, "word": word} for least, word in band.words]}
            for band in suite.bands
        ]
        records.append({
            "name": suite.name, "about": suite.about, "metrics": suite.names, "by": suite.by,
            "percent": suite.percent, "bands": bands, "limits": list(map(asdict, suite.limits)),
            "conventions": suite.conventions,
        })  # fmt: skip
    return ui.Page("metrics", "", tuple(sections), record=lambda: records)


def _row(entry: MetricEntry) -> ui.Row:
    first = dict.fromkeys(FIRST[by.partition(",")[0]] for by in entry.filled_by)
    filled_by = ui.quiet(" and ".join(first) or "the data")
    name = ui.RowName(entry.name, entry.better)
    cells = (name, range_in_words(entry), ", ".join(entry.judgements) or "–", filled_by)
    return ui.Row(cells, (ui.quiet(entry.about),))


def range_in_words(entry: MetricEntry) -> str:
    """A metric's range, such as ``0 to 1``, ``0 or 1`` for a rate, and ``from 0`` without end."""
    low, high = entry.range
    if not isfinite(high):
        return f"from {low:g}"
    return f"{low:g} or {high:g}" if entry.rate else f"{low:g} to {high:g}"
