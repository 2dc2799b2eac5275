"""Parse: from a metric's text form to the metric."""

import ast
import dataclasses
from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ragstone.argument import argument
from ragstone.errors import InputError, UnknownName

from .aliases import ALIASES
from .core import BUILT_IN, Metric
from .loading import own_metrics

LARGEST = 1e300
"""Numeric parameters must be below this, which excludes NaN and infinity."""


def metric_types() -> dict[str, type[Metric]]:
    """Every metric that comes with Ragstone, by name."""
    return dict(BUILT_IN)


def parse_metric(text: str) -> Metric:
    """Parse a metric's text form: ``faithfulness``, ``ndcg(k=10)``, ``answer_relevancy``.

    Raises:
        UnknownName: There is no such metric.
        InputError: The text cannot be parsed, or a parameter is unknown or invalid.
    """
    name, given = _split(text)
    if name in ALIASES and name not in BUILT_IN:
        target, _ = ALIASES[name]
        name, preset = _split(target)
        given = preset | given
    if name in BUILT_IN:
        kind = BUILT_IN[name]
    else:
        own = own_metrics()
        if name not in own:
            known = [*BUILT_IN, *own, *ALIASES]
            raise UnknownName(
                "metric",
                name,
                known,
                hint="ragstone metrics lists them; your own come with "
                f"{argument('metrics_from', 'FILE')}.",
            )
        if not given:
            return own[name]
        kind = type(own[name])
    fields = {field.name: field for field in dataclasses.fields(kind)}
    unknown = sorted(set(given) - set(fields))
    if unknown:
        takes = ", ".join(fields) or "none"
        raise InputError(f"{name} has no parameter {', '.join(unknown)}. It takes: {takes}.")
    _check_types(kind, given)
    return kind(**given)


def _split(text: str) -> tuple[str, dict[str, object]]:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            return tree.func.id, {
                str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords
            }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise InputError(
        f"{text!r} is not a metric. Write name or name(parameter=value): precision(k=5)."
    )


def _check_types(kind: type[Metric], given: Mapping[str, object]) -> None:
    """Reject values of the wrong type for a parameter before a rule uses them."""
    hints = get_type_hints(kind)
    wrong = [
        f"{name} must be {_in_words(hints[name])}, not {value!r}"
        for name, value in given.items()
        if not _fits(value, hints[name])
    ]
    if wrong:
        raise InputError(f"{kind.name}: {'; '.join(wrong)}.")


def _fits(value: object, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is tuple:
        return (
            isinstance(value, tuple)
            and len(value) == len(get_args(hint))
            and all(map(_fits, value, get_args(hint)))
        )
    if hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return abs(value) < LARGEST
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def _in_words(hint: Any) -> str:
    if isinstance(hint, UnionType):
        return " or ".join(map(_in_words, get_args(hint)))
    if get_origin(hint) is Literal:
        return " or ".join(get_args(hint))
    if get_origin(hint) is tuple:
        return f"({', '.join(map(_in_words, get_args(hint)))})"
    words = {int: "a whole number", float: "a number", str: "text", type(None): "None"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))
