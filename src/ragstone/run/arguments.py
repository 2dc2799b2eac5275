"""Arguments: those of a call held against its annotations, with every wrong one in one error."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from ragstone.core.errors import InputError
from ragstone.data.json_text import shown

P = ParamSpec("P")
Result = TypeVar("Result")

WORDS: Mapping[object, str] = {
    str: "text", int: "a whole number", float: "a number", bool: "True or False",
    NoneType: "None", Path: "a path",
}  # fmt: skip
ABSTRACT: Mapping[object, type] = {int: Integral, float: Real, Path: os.PathLike}


def checked(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function, refusing arguments that its annotations do not allow before it does anything.

    Raises:
        InputError: Lists every argument of a wrong type.
    """
    form = signature(function)

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        check_arguments(function, form.bind(*args, **options).arguments)
        return function(*args, **options)

    return run


def check_arguments(form: Callable[..., object], given: Mapping[str, object]) -> None:
    """Raise ``InputError`` with every argument that the annotations of a function do not allow."""
    hints = get_type_hints(form)
    faults = [one for name in given for one in _faults(name, given[name], hints[name])]
    if faults:
        noun = "argument of a wrong type" if len(faults) == 1 else "arguments of a wrong type"
        raise InputError("\n  ".join([f"{len(faults)} {noun}:", *faults]))


def _faults(name: str, value: object, hint: Any) -> Iterator[str]:
    """What is wrong, down to the entry of a list or mapping."""
    choices = _choices(hint)
    if any(_fits(value, one) for one in choices):
        return
    for one in reversed(choices):
        if inside := list(_inside(name, value, one)):
            yield from inside
            return
    yield f"{name}: expected {_in_words(choices)}, got {shown(value)}"


def _inside(name: str, value: object, hint: Any) -> Iterator[str]:
    """What is wrong with the entries of a list or mapping."""
    if _takes_several(hint) and isinstance(value, list | tuple | set | frozenset):
        (each,) = get_args(hint)
        for at, entry in enumerate(value):
            yield from _faults(f"{name}[{at}]", entry, each)
    elif get_origin(hint) is Mapping and isinstance(value, Mapping):
        keys, values = get_args(hint)
        for key, entry in value.items():
            yield from _faults(f"a name in {name}", key, keys)
            yield from _faults(f"{name}[{key!r}]", entry, values)


def _choices(hint: Any) -> list[Any]:
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return [choice for one in get_args(hint) for choice in _choices(one)]
    return [hint]


def _takes_several(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Iterable) and len(get_args(hint)) == 1


def _fits(value: object, hint: Any) -> bool:
    """Whether it can be used; what needs more than its type to be seen is left to the function."""
    origin = get_origin(hint)
    if origin is Literal:
        return isinstance(value, str)
    if origin is Callable:
        return callable(value)
    if _takes_several(hint):
        # An iterator is empty when it is read again.
        several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Iterator)
        return several and not any(_inside("", value, hint))
    if origin is Mapping:
        return isinstance(value, Mapping) and not any(_inside("", value, hint))
    if hint is bool:
        return value is not None and hasattr(value, "__bool__")
    if hint is Any or origin is not None or not isinstance(hint, type):
        return True
    if getattr(hint, "_is_protocol", False):
        members = {name for name in vars(hint) if not name.startswith("_")}
        return hasattr(type(value), "__getattr__") or members <= set(dir(value))
    return isinstance(value, ABSTRACT.get(hint, hint))


def _in_words(choices: Sequence[Any]) -> str:
    """What is taken: ``text, a Metric or a list of these``."""
    several = [one for one in choices if _takes_several(one)]
    said = [_word(one) for one in choices if one not in several]
    if several:
        inside = _choices(get_args(several[0])[0])
        these = set(map(_word, inside)) <= set(said)
        said.append("a list of these" if these else f"a list of {_in_words(inside)}")
    said = list(dict.fromkeys(said))
    return " or ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _word(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Callable:
        return "a function"
    if origin is Mapping:
        return "a mapping"
    name = getattr(hint, "__name__", str(hint))
    return WORDS.get(hint, f"{'an' if name[0] in 'AEIO' else 'a'} {name}")
