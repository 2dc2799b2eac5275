"""Metric: a pure rule over judgement rows with its description, and the states of a score.

A score is a value, undefined or missing, and stays so.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import isfinite
from operator import attrgetter
from types import UnionType
from typing import Any, ClassVar, Literal, cast, get_args, get_origin, get_type_hints

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.user_code import Frozen
from ragstone.judgements import Topic, View


@dataclass(frozen=True, slots=True)
class Undefined:
    """The metric's definition gives no value, as for faithfulness without claims."""

    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A value exists, but is not known because a judge failed or gave no answer."""

    reason: str


Score = float | Undefined | Missing


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a metric's values, and which end is better.

    ``better`` is ``+`` if higher is better, ``-`` if lower is better, ``0`` if
    neither is. If ``rate`` is true, the only values are 0 and 1.
    """

    low: float
    high: float
    better: Literal["+", "-", "0"] = "+"
    rate: bool = False

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """``low`` and ``high``; None for an end that the range does not have."""
        return self.low if isfinite(self.low) else None, self.high if isfinite(self.high) else None


@dataclass(frozen=True)
class Part:
    """One aggregate over one view, evaluated once per example.

    Args:
        over: The view whose rows the rule sees.
        rule: An aggregating expression over the view's columns. If it gives
            null or NaN although its rows are settled, the metric is undefined.
        empty: The value for an example without rows.
        settled: An aggregating expression: true if no unknown value could change
            the result. None: settled if no column the rule needs is null in
            these rows.
        empty_flag: A flag added to the score when ``empty`` was used.
        only: A condition on the view's rows; the part uses only those that fulfil
            it. If no row of a block does, the rule is not evaluated.
    """

    over: type[View]
    rule: pl.Expr
    empty: float | Undefined
    settled: pl.Expr | None = None
    empty_flag: str | None = None
    only: pl.Expr | None = None

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of the view that the part names.

        Raises:
            InputError: The part names a wildcard, a selector, or a column the view does not have.
        """
        names: set[str] = set()
        for expr in (self.rule, self.settled, self.only):
            if expr is None:
                continue
            if expr.meta.has_multiple_outputs():
                raise InputError(
                    f"A rule over {self.over.__name__} uses a wildcard or selector, so the "
                    "judgements it needs cannot be known. Name its columns one by one."
                )
            names.update(expr.meta.root_names())
        unknown = sorted(names - set(self.over.columns))
        if unknown:
            raise InputError(
                f"A rule names {', '.join(unknown)}, which {self.over.__name__} does not have. "
                f"It has: {', '.join(self.over.columns)}."
            )
        return frozenset(names)

    @property
    def asks(self) -> frozenset[str]:
        return self.over.needs(self.columns)


# Every metric that comes with Ragstone, by name; each is registered when its class is defined.
BUILT_IN: "dict[str, type[Metric]]" = {}


@dataclass(frozen=True)
class Metric(Frozen):
    """A metric. Its fields are its parameters; its text form names it everywhere.

    A metric over one view defines ``over``, ``empty`` and ``rule``. One over several
    views overrides ``parts`` and ``combine``.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    """Its section in a report: retrieval, grounding, answer, reference, composite."""
    over: ClassVar[type[View]]
    range: ClassVar[Range] = Range(0, 1)
    empty: ClassVar[float | Undefined]
    empty_flag: ClassVar[str | None] = None
    undefined: ClassVar[str] = "zero_denominator"
    """The reason if the rule itself gives no value for settled rows."""
    gap: ClassVar[str] = "incomplete_judgement"
    """The reason if the judgement of a row is missing."""
    by_reference: ClassVar[bool] = False
    """True if it is evaluated for each reference; the best of them counts."""
    how: ClassVar[str] = ""
    """Conventions that its signature names, as the library does that has them too."""
    identity: ClassVar[str] = ""
    """Identifies the definition of a user-defined metric, in place of its rule and source."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls) and cls.__module__.startswith(__package__ + "."):
            BUILT_IN[cls.name] = cls

    def __post_init__(self) -> None:
        """Check the types of all parameters; a metric that overrides this calls it first."""
        parameters = self.parameters
        if not parameters:
            return
        kind: Any = type(self)
        hints = _hints(kind)
        wrong = [f"{name} must be {_in_words(hints[name])}, not {value!r}"
                 for name, value in parameters.items()
                 if not _fits(value, hints[name])]  # fmt: skip
        if wrong:
            raise InputError(f"{self.name}: {'; '.join(wrong)}.")

    def rule(self) -> pl.Expr:
        """The value as an expression, evaluated once per example over that example's rows."""
        raise NotImplementedError

    def settled(self) -> pl.Expr | None:
        """True if no way of filling the gaps could change the value; see ``Part``."""
        return None

    def parts(self) -> Mapping[str, Part]:
        """The aggregates the metric is computed from, by name."""
        return {"value": Part(self.over, self.rule(), self.empty, self.settled(), self.empty_flag)}

    def combine(self) -> pl.Expr:
        """The value, computed from the parts."""
        return pl.col("value")

    def decided(self) -> pl.Expr | None:
        """True if the known parts determine the value, whatever the missing ones are."""
        return None

    def label(self) -> pl.Expr | None:
        """A word for the value, from ``value`` and the parts; None if there is none."""
        return None

    def flags(self) -> Mapping[str, pl.Expr]:
        """Flags of a value, each with its condition on ``value`` and the parts."""
        return {}

    @cached_property
    def made_parts(self) -> Mapping[str, Part]:
        return self.parts()

    @cached_property
    def asks(self) -> frozenset[str]:
        return frozenset[str]().union(*map(attrgetter("asks"), self.made_parts.values()))

    @cached_property
    def requires(self) -> tuple[str, ...]:
        """Fields that an example must have for the views, in addition to those the asks require."""
        return tuple(
            dict.fromkeys(name for part in self.made_parts.values() for name in part.over.requires)
        )

    @cached_property
    def reads(self) -> frozenset[str]:
        """Fields of an example that its views show, beside those that the asks read."""
        parts = self.parts().values()
        return frozenset[str]().union(*(part.over.reads(part.columns) for part in parts))

    @property
    def topics(self) -> frozenset[Topic]:
        """The criteria, aspects and rivals that have to be judged."""
        return frozenset()

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)
                if getattr(self, field.name) != field.default}  # fmt: skip

    def __str__(self) -> str:
        """The text form, which ``parse_metric`` reads back: ``ndcg(k=10)``."""
        parameters = self.parameters
        if not parameters:
            return self.name
        texts = (f"{name}={_literal(value)}" for name, value in parameters.items())
        return f"{self.name}({', '.join(texts)})"


# Numeric parameters must be below this, which excludes NaN and infinity.
LARGEST = 1e300


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: object, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_fits(value, choice) for choice in get_args(hint))
    if get_origin(hint) is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(hint))
    if get_origin(hint) is tuple:
        first, *others = get_args(hint)
        length = len(value) if isinstance(value, tuple) else -1
        hints = [first] * length if others == [...] else [first, *others]
        return length == len(hints) and all(map(_fits, cast("tuple[object, ...]", value), hints))
    if hint in (int, float):
        kinds = int | float if hint is float else int
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        return is_number and abs(cast(float, value)) < LARGEST
    return not isinstance(hint, type) or isinstance(value, hint)


def _in_words(hint: Any) -> str:
    if isinstance(hint, UnionType):
        return _either(map(_in_words, get_args(hint)))
    if get_origin(hint) is Literal:
        return _either(map(str, get_args(hint)))
    if get_origin(hint) is tuple:
        return f"({', '.join(map(_in_words, get_args(hint)))})"
    words = {int: "a whole number", float: "a number", str: "text", type(None): "None", ...: "…"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _either(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def wanted_topics(metrics: Iterable[Metric]) -> tuple[Topic, ...]:
    """The criteria, aspects and rivals that these metrics want judged, each once, in order."""
    return tuple(sorted(frozenset[Topic]().union(*map(attrgetter("topics"), metrics))))


# By how much rounding may move a value: .3 · (2/3) is a little less than .2.
SLACK = 1e-9


def reaches(value: pl.Expr, least: float) -> pl.Expr:
    """Return an expression: the value is at least ``least``, whatever rounding did to it."""
    return value >= least - SLACK


def share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """``part / whole``; null, and so undefined, if the whole is zero."""
    return pl.when(whole > 0).then(part / whole)


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
