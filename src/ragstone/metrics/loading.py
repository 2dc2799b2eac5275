"""Loading: metrics of a user's own, from entry points, from files, or handed over."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from ragstone.errors import InputError
from ragstone.own_file import own_module

from .aliases import ALIASES
from .core import BUILT_IN, Metric

_OWN: dict[str, Metric] = {}


def own_metrics() -> dict[str, Metric]:
    """Users' own metrics: from entry points, and from files and callers so far."""
    for point in entry_points(group="ragstone.metrics"):
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


def load_metrics(path: Path) -> list[Metric]:
    """Read the metrics that a Python file defines with ``@metric`` or as classes.

    Raises:
        InputError: The file is not there, does not run, defines no metric, or
            one whose name is taken.
    """
    module = own_module(path)
    found = [register(value) for value in _defined(module)]
    if not found:
        raise InputError(f"{path} defines no metric. Put @metric(over=Claims) before a function.")
    return found


def register(value: object) -> Metric:
    """Make a metric, or a class without required parameters, known by its name.

    Raises:
        InputError: It is no metric, or its name is taken.
    """
    made = _made(value) if isinstance(value, type) and issubclass(value, Metric) else value
    if not isinstance(made, Metric):
        raise InputError(f"{value!r} is not a metric.")
    if made.name in BUILT_IN or made.name in ALIASES:
        raise InputError(f"{made.name} is the name of a built-in metric. Choose another name.")
    _OWN[made.name] = made
    return made


def _made(kind: type[Metric]) -> Metric:
    try:
        return kind()
    except TypeError as error:
        raise InputError(
            f"{kind.__name__}: every parameter of a metric has a default. {error}"
        ) from error


def _defined(module: ModuleType) -> Iterator[object]:
    for value in vars(module).values():
        if isinstance(value, Metric) or (_is_metric(value) and value.__module__ == module.__name__):
            yield value


def _is_metric(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Metric) and "name" in vars(value)
