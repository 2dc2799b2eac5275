"""User-defined metrics: functions as metrics, and metrics loaded from entry points or files.

A function without arguments returns a Polars expression over the view. A function with an
argument receives an example's rows, as a list of dictionaries, or the example itself, and returns
a number, or None if the metric is undefined.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import make_dataclass
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, cast

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.user_code import nothing_if_refused, own_module, registry
from ragstone.data import Example
from ragstone.data.write_examples import from_frame
from ragstone.judgements import ExampleTexts, View

from .aliases import ALIASES, EVERYDAY
from .metric import BUILT_IN, Metric, Range, Undefined

Rows = list[dict[str, Any]]


class FunctionMetric(Metric):
    """A metric whose rule is a plain function of an example's rows, or of the example itself."""

    columns: ClassVar[tuple[str, ...]]
    of_example: ClassVar[bool]
    made_by: ClassVar[Callable[[Any], float | None]]
    undefined = "function_gave_none"

    def rule(self) -> pl.Expr:
        function = type(self).made_by
        name = self.name

        def call(rows: pl.Series) -> pl.Series:
            argument: Any = rows.to_list()
            if self.of_example:
                argument = from_frame(rows.struct.field("record").struct.unnest())[0]
            of = f" for the example {argument.id}" if isinstance(argument, Example) else ""
            try:
                value = function(argument)
            except Exception as error:
                raise InputError(f"{name} failed{of}: {type(error).__name__}: {error}") from error
            if value is not None and not isinstance(value, Real):
                raise InputError(
                    f"{name} gave {value!r}{of}: a metric gives a number, or None for undefined."
                )
            return pl.Series([None if value is None else float(value)], dtype=pl.Float64)

        return pl.struct(self.columns).map_batches(call, return_dtype=pl.Float64).first()


def metric(
    *,
    over: type[View] | type[Example],
    columns: Iterable[str] = (),
    range: Range = Range(0, 1),  # noqa: B008
    empty: float | Undefined = Undefined("no_rows"),  # noqa: B008
    family: str = "own",
    identity: str = "",
) -> Callable[[Callable[..., Any]], Metric]:
    """Define a metric by a function; the metric takes the function's name.

    Args:
        over: View whose rows the function receives, or ``Example`` for a function of one example.
        columns: For a plain function, the columns it reads; they determine which
            judgements are needed.
        range: Range of the values, and which end is better.
        empty: Value for an example without rows.
        family: Section of the report in which the metric appears.
        identity: Identifies the definition in place of its source code; change it
            whenever the values change. Required if the source does not show all that
            the function does, for instance if it uses variables of an enclosing
            function. That applies to plain functions and to expressions that call one.

    Raises:
        InputError: A plain function without ``columns``, or an expression that
            names columns the view does not have.
    """

    of_example = over is Example
    view = ExampleTexts if of_example else cast("type[View]", over)

    def make(function: Callable[..., Any]) -> Metric:
        takes_rows = bool(inspect.signature(function).parameters)
        names = ("record",) if of_example else tuple(columns)
        if of_example and not takes_rows:
            raise InputError(f"{function.__name__}: a function over Example takes the example.")
        if takes_rows and not names:
            raise InputError(
                f"{function.__name__}: a plain function names the columns it reads, such as "
                f'columns=("{next(iter(view.columns))}",).'
            )
        namespace: dict[str, Any] = {
            "name": function.__name__, "family": family, "over": view, "range": range,
            "empty": empty, "identity": identity, "made_by": staticmethod(function),
            "__doc__": function.__doc__ or "A user's own metric.",
        }  # fmt: skip
        bases: tuple[type, ...] = (Metric,)
        if takes_rows:
            bases = (FunctionMetric,)
            namespace |= {"columns": names, "of_example": of_example}
        else:
            namespace["rule"] = lambda self: _single(view, function())  # noqa: ARG005
        cls = make_dataclass(function.__name__, [], bases=bases, namespace=namespace, frozen=True)
        # From Python 3.12 on, make_dataclass names this module instead.
        cls.__module__ = function.__module__
        instance: Metric = cls()
        for part in instance.parts().values():
            if not isinstance(part.rule, pl.Expr):
                raise InputError(
                    "A metric function without arguments must return a Polars expression."
                )
            part.columns  # noqa: B018
        return instance

    return make


def _single(view: type[View], rule: Any) -> Any:
    """The rule's value for the only row of an example, where a view has one at the most."""
    return rule.first() if view.alone and isinstance(rule, pl.Expr) else rule


_OWN: dict[str, Metric] = registry({})


@cache
def _entry_points(path: tuple[str, ...]) -> EntryPoints:  # noqa: ARG001
    return entry_points(group="ragstone.metrics")


def own_metrics() -> dict[str, Metric]:
    """User-defined metrics: from entry points, and those registered so far by files and callers."""
    for point in _entry_points(tuple(sys.path)):
        if point.name not in _OWN:
            try:
                register(point.load())
            except InputError:
                raise
            except Exception as error:
                raise InputError(
                    f"The metric {point.name} of {point.value} cannot be loaded: "
                    f"{type(error).__name__}: {error}"
                ) from error
    return dict(_OWN)


@nothing_if_refused()
def load_metrics(path: Path) -> list[Metric]:
    """Read the metrics that a Python file defines with ``@metric`` or as classes.

    Raises:
        InputError: The file does not exist, fails to run, defines no metric, or
            one whose name is taken.
    """
    module = own_module(path)
    metrics = [register(value) for value in _defined(module)]
    if not metrics:
        raise InputError(f"{path} defines no metric. Put @metric(over=Claims) before a function.")
    return metrics


def defines_metrics(module: ModuleType) -> bool:
    return any(True for _ in _defined(module))


def register(value: object) -> Metric:
    """Register a metric, or a metric class without required parameters, under its name.

    Raises:
        InputError: It is not a metric, or its name is taken.
    """
    instance = _made(value) if isinstance(value, type) and issubclass(value, Metric) else value
    if not isinstance(instance, Metric):
        raise InputError(f"{value!r} is not a metric.")
    if instance.name in BUILT_IN or instance.name in ALIASES.keys() - EVERYDAY:
        raise InputError(f"{instance.name} is the name of a built-in metric. Choose another name.")
    _OWN[instance.name] = instance
    return instance


def _made(kind: type[Metric]) -> Metric:
    try:
        return kind()
    except TypeError as error:
        raise InputError(
            f"{kind.__name__}: every parameter of a metric has a default. {error}"
        ) from error


def _defined(module: ModuleType) -> Iterator[object]:
    for value in vars(module).values():
        is_class = isinstance(value, type) and issubclass(value, Metric) and "name" in vars(value)
        if isinstance(value, Metric) or (is_class and value.__module__ == module.__name__):
            yield value
