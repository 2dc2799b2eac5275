"""Catalogue pages: all metrics, one metric in full, the suites; printed by ``ragstone metrics``."""

from collections.abc import Sequence

from ragstone.metrics import alias_note
from ragstone.report.catalogue import MetricEntry, SuiteEntry, catalogue
from ragstone.report.figures import bands_of
from ragstone.report.groups import FAMILIES
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
    Section,
    Table,
    quiet,
    section,
    strong,
)
from ragstone.report.words import FIRST, who_can, words

BETTER = {"+": "more is better", "-": "less is better", "0": "neither end is better"}


def catalogue_page() -> Page:
    """All metrics by family: the better direction, the range, the judgements, who gives them."""
    entries = catalogue()
    families: dict[str, list[MetricEntry]] = {}
    for one in entries:
        families.setdefault(one.family, []).append(one)
    groups = tuple(
        Group(tuple(map(_row, ones)), FAMILIES.get(family, family.capitalize()))
        for family, ones in families.items()
    )
    heads = ("metric", "range", "judgements")
    columns = (*map(Heading, heads), Heading("filled by", drop=1))
    more = quiet(
        "One of them in full: ragstone metrics NAME · the suites: ragstone metrics --suite"
    )
    return Page(
        "metrics", "", (section(Table(columns, groups), Paragraphs((more,))),),
        record=lambda: [one.to_dict() for one in entries],
    )  # fmt: skip


def metric_page(one: MetricEntry) -> Page:
    """One metric in full."""
    facts = [
        Note("metric", (strong(one.name), f"  {one.family}")),
        Note("range", f"{_range(one)}, {BETTER[one.better]}"),
        Note("judgements", ", ".join(one.judgements) or "none"),
        *(Note("filled by", who_can(by)) for by in one.filled_by),
        *([Note("requires", ", ".join(one.requires))] if one.requires else []),
        *(Note("parameters", f"{name} = {value!r}") for name, value in one.parameters.items()),
        *(Note("aliases", words(alias_note(alias) or alias)) for alias in one.aliases),
    ]
    lines = tuple(OutlineItem(line) for line in one.docstring.split("\n"))
    sections = (section(Facts(tuple(facts)), Outline(lines)),)
    return Page("metrics", one.name, sections, record=one.to_dict)


def suite_page(suites: Sequence[SuiteEntry]) -> Page:
    """Suites with their metrics and conventions."""
    sections = []
    for one in suites:
        facts = [Note("", one.about), Note("metrics", ", ".join(one.metrics))]
        facts += [Note("by", ", ".join(one.by))] if one.by else []
        facts += [Note("conventions", one.conventions)] if one.conventions else []
        facts += [Note("reading", line) for line in bands_of(one)]
        sections.append(Section((Facts(tuple(facts)),), strong(one.name)))
    record = [one.to_dict() for one in suites]
    return Page("metrics", "", tuple(sections), record=lambda: record)


def _row(one: MetricEntry) -> Row:
    name = RowName(one.name, one.better)
    cells = (name, _range(one), ", ".join(one.judgements) or "–", quiet(_short(one)))
    return Row(cells, (quiet(one.about),))


def _range(one: MetricEntry) -> str:
    low, high = one.range
    return f"{low:g} or {high:g}" if one.rate else f"{low:g} to {high:g}"


def _short(one: MetricEntry) -> str:
    """Who can give the judgements of a metric, in a few words."""
    first = dict.fromkeys(FIRST[by.partition(",")[0]] for by in one.filled_by)
    return " and ".join(first) or "the data"
