"""Loading: user-defined metrics, from entry points, from files, or passed by the caller."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from ragstone.core.errors import InputError
from ragstone.core.user_code import nothing_if_refused, own_module, registry

from .aliases import ALIASES, EVERYDAY
from .core import BUILT_IN, Metric

_OWN: dict[str, Metric] = registry({})


def own_metrics() -> dict[str, Metric]:
    """User-defined metrics: from entry points, and those registered so far by files and callers."""
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


@nothing_if_refused()
def load_metrics(path: Path) -> list[Metric]:
    """Read the metrics that a Python file defines with ``@metric`` or as classes.

    Raises:
        InputError: The file does not exist, fails to run, defines no metric, or
            one whose name is taken.
    """
    module = own_module(path)
    found = [register(value) for value in _defined(module)]
    if not found:
        raise InputError(f"{path} defines no metric. Put @metric(over=Claims) before a function.")
    return found


def defines_metrics(module: ModuleType) -> bool:
    """Whether a module of the user's defines any."""
    return any(True for _ in _defined(module))


def register(value: object) -> Metric:
    """Register a metric, or a metric class without required parameters, under its name.

    Raises:
        InputError: It is not a metric, or its name is taken.
    """
    made = _made(value) if isinstance(value, type) and issubclass(value, Metric) else value
    if not isinstance(made, Metric):
        raise InputError(f"{value!r} is not a metric.")
    if made.name in BUILT_IN or made.name in ALIASES.keys() - EVERYDAY:
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
