"""Catalogue page: every metric and suite with its description, for ``ragstone metrics``."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from math import isfinite
from typing import Any, Literal

from ragstone.core.errors import InputError, UnknownName
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
from ragstone.report.number_format import FAMILIES, bands_of
from ragstone.report.page import (
    Facts,
    Group,
    Heading,
    Note,
    Outline,
    OutlineItem,
    Page,
    Paragraphs,
    Row,
    RowName,
    Table,
    quiet,
    section,
    strong,
)
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
    """The entry of one metric, by its name, an alias or a text form.

    Raises:
        UnknownName: No metric is called that.
    """
    if name in metric_types():
        return entry(metric_types()[name])
    return entry(type(parse_metric(name)))


def suites() -> list[Suite]:
    """Return every suite, the default first."""
    return [QUICK_SUITE, *SUITES.values()]


def named_suite(name: str) -> Suite:
    """Return the suite of that name.

    Raises:
        UnknownName: No suite is called that.
    """
    known = {suite.name: suite for suite in suites()}
    if name not in known:
        raise UnknownName("suite", name, known, hint=f"There are {', '.join(known)}.")
    return known[name]


BETTER = {"+": "more is better", "-": "less is better", "0": "neither end is better"}


def catalogue_page() -> Page:
    """All metrics by family: the better direction, the range, the judgements, who gives them."""
    entries = catalogue()
    families: dict[str, list[Row]] = {}
    for entry in entries:
        families.setdefault(entry.family, []).append(_row(entry))
    groups = tuple(
        Group(tuple(rows), FAMILIES.get(family, family.capitalize()))
        for family, rows in families.items()
    )
    columns = (*map(Heading, ("metric", "range", "judgements")), Heading("filled by", drop=1))
    more = "One of them in full: ragstone metrics NAME · the suites: ragstone metrics --suite"
    return Page(
        "metrics", "", (section(Table(columns, groups), Paragraphs((quiet(more),))),),
        record=lambda: [entry.to_dict() for entry in entries],
    )  # fmt: skip


def metric_page(entry: MetricEntry) -> Page:
    """One metric in full."""
    facts = [
        Note("metric", (strong(entry.name), f"  {entry.family}")),
        Note("range", f"{_range(entry)}, {BETTER[entry.better]}"),
        Note("judgements", ", ".join(entry.judgements) or "none"),
        *(Note("filled by", who_can(by)) for by in entry.filled_by),
        *([Note("requires", ", ".join(entry.requires))] if entry.requires else []),
        *(Note("parameters", f"{name} = {value!r}") for name, value in entry.parameters.items()),
        *(Note("aliases", words(alias_note(alias) or alias)) for alias in entry.aliases),
    ]
    lines = tuple(OutlineItem(line) for line in entry.docstring.split("\n"))
    sections = (section(Facts(tuple(facts)), Outline(lines)),)
    return Page("metrics", entry.name, sections, record=entry.to_dict)


def suite_page(listed: Sequence[Suite]) -> Page:
    """Return the page of suites with their metrics and conventions."""
    sections, records = [], []
    for suite in listed:
        facts = [Note("", suite.about), Note("metrics", ", ".join(suite.names))]
        facts += [Note("by", ", ".join(suite.by))] if suite.by else []
        facts += [Note("conventions", suite.conventions)] if suite.conventions else []
        facts += [Note("reading", line) for line in bands_of(suite)]
        sections.append(section(Facts(tuple(facts)), title=strong(suite.name)))
        bands = [
            asdict(band) | {"words": [{"from": least, "word": word} for least, word in band.words]}
            for band in suite.bands
        ]
        records.append({
            "name": suite.name, "about": suite.about, "metrics": suite.names, "by": suite.by,
            "percent": suite.percent, "bands": bands, "limits": list(map(asdict, suite.limits)),
            "conventions": suite.conventions,
        })  # fmt: skip
    return Page("metrics", "", tuple(sections), record=lambda: records)


def _row(entry: MetricEntry) -> Row:
    first = dict.fromkeys(FIRST[by.partition(",")[0]] for by in entry.filled_by)
    filled_by = quiet(" and ".join(first) or "the data")
    name = RowName(entry.name, entry.better)
    cells = (name, _range(entry), ", ".join(entry.judgements) or "–", filled_by)
    return Row(cells, (quiet(entry.about),))


def _range(entry: MetricEntry) -> str:
    low, high = entry.range
    return f"{low:g} or {high:g}" if entry.rate else f"{low:g} to {high:g}"
