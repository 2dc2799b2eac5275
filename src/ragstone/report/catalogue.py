"""Catalogue: every metric, its description, and who can fill the judgements it needs."""

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from math import isfinite
from typing import Any, Literal

from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import ASKS
from ragstone.metrics import (
    ALIASES,
    QUICK_SUITE,
    SUITES,
    Bands,
    Limit,
    Metric,
    Suite,
    metric_types,
    own_metrics,
    parse_metric,
)

from .groups import FAMILIES


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
        """What ``ragstone metrics --json`` prints; an end that the range does not have is null."""
        ends = tuple(end if isfinite(end) else None for end in self.range)
        return {**asdict(self), "range": ends}


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """The description of a suite."""

    name: str
    about: str
    metrics: tuple[str, ...]
    by: tuple[str, ...]
    percent: bool
    bands: tuple[Bands, ...]
    limits: tuple[Limit, ...]
    conventions: str

    def to_dict(self) -> dict[str, Any]:
        """What ``ragstone metrics --suite --json`` prints."""
        bands = [
            asdict(one) | {"words": [{"from": least, "word": word} for least, word in one.words]}
            for one in self.bands
        ]
        return asdict(self) | {"bands": bands}


def catalogue() -> list[MetricEntry]:
    """One entry for each metric, in the order of a report, user-defined ones last."""
    types = [*metric_types().values(), *(type(own) for own in own_metrics().values())]
    order = list(FAMILIES)
    return sorted(
        (entry(kind) for kind in types),
        key=lambda one: order.index(one.family) if one.family in order else len(order),
    )


def entry(kind: type[Metric]) -> MetricEntry:
    """The description of a metric."""
    docstring = inspect.cleandoc(kind.__doc__ or "")
    asks, requires = _needs(kind)
    range = _made(kind).range
    return MetricEntry(
        name=kind.name,
        family=kind.family,
        about=" ".join(docstring.split("\n\n")[0].split()),
        better=range.better,
        range=(range.low, range.high),
        rate=range.rate,
        judgements=tuple(sorted({ASKS[ask].kind for ask in asks})),
        filled_by=tuple(sorted({",".join(ASKS[ask].by) for ask in asks})),
        requires=requires,
        parameters={
            field.name: _default(field.default)
            for field in fields(kind)
            if field.init and field.default is not MISSING
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


def suite_entry(suite: Suite) -> SuiteEntry:
    """The description of a suite."""
    return SuiteEntry(
        name=suite.name,
        about=suite.about,
        metrics=tuple(suite.names),
        by=tuple(suite.by),
        percent=suite.percent,
        bands=suite.bands,
        limits=suite.limits,
        conventions=suite.conventions,
    )


def suite_entries() -> list[SuiteEntry]:
    """Every suite, the default first."""
    return [suite_entry(suite) for suite in (QUICK_SUITE, *SUITES.values())]


def named_suite(name: str) -> SuiteEntry:
    """The entry of one suite.

    Raises:
        UnknownName: No suite is called that.
    """
    suites = {one.name: one for one in suite_entries()}
    if name not in suites:
        raise UnknownName("suite", name, suites, hint=f"There are {', '.join(suites)}.")
    return suites[name]


def _needs(kind: type[Metric]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The asks and requirements of a metric; for a composite, those of its components."""
    made = _made(kind)
    if not isinstance(made, Metric):
        return frozenset(), ()
    terms = getattr(made, "terms", ())
    parts = [parse_metric(name) for name, _ in terms] if terms else [made]
    asks = frozenset[str]().union(*(part.asks for part in parts))
    return asks, tuple(dict.fromkeys(name for part in parts for name in part.requires))


def _made(kind: type[Metric]) -> Metric | type[Metric]:
    """The metric with its default parameters; its type if some parameter has no default."""
    try:
        return kind()
    except InputError:
        return kind


def _default(value: object) -> Any:
    plain = (str, int, float, bool, tuple, type(None))
    return value if isinstance(value, plain) else str(value)
