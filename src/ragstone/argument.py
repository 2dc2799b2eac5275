"""Argument: what the caller gave or may give, named to each caller in their own words.

A library cannot know who calls it: to a Python caller the metrics are ``metrics="mrr"``, to a shell
user ``--metric mrr``. So a message holds the argument itself, between two signs that no text has,
and becomes words at the door: ``str(error)`` tells Python's, the command line the shell's.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self

OPEN, BETWEEN, CLOSE = "\ue000", "\ue001", "\ue002"
_SIGNS = re.compile(f"[{OPEN}{BETWEEN}{CLOSE}]")
_ARGUMENT = re.compile(f"{OPEN}([a-z_]+(?:{BETWEEN}[^{OPEN}{BETWEEN}{CLOSE}]*)*){CLOSE}")
_CALL = re.compile(f"{OPEN}([a-z_]+)\\({CLOSE}(.*?){OPEN}\\){CLOSE}", re.DOTALL)
_NEXT = f"{CLOSE}{BETWEEN}{OPEN}"

OPTIONS: Mapping[str, str] = {
    "asked": "--label",
    "cached": "--cache",
    "columns": "--map",
    "data": "DATA",
    "metrics": "--metric",
    "others": "--other",
    "people": "--labels",
    "run": "RUN",
    "scales": "--scale",
    "scored": "RUN",
    "suites": "--suite",
}
"""The options whose names are not those of the arguments with dashes for underlines."""

COMMANDS: Mapping[str, str] = {
    "draw_sample": "sample",
    "mean_sizes": "plan mean",
    "rescore": "score",
}
"""The commands whose names are not those of the functions."""

IN_PYTHON: Mapping[str, str] = dict.fromkeys(("kinds", "metrics_from"), "an import of their file")
"""What is an option in a shell, and no argument of a function."""


class Notice(str):
    """A text of a result: told to a Python caller as it stands, and still told to a shell user."""

    marked: str

    def __new__(cls, text: str) -> Self:
        """Take a text with the arguments that it names."""
        one: Self = super().__new__(cls, in_python(text))
        one.marked = marked(text)
        return one


def argument(name: str, value: object = None) -> str:
    """An argument in a message.

    >>> in_python(argument("metrics", "mrr")), in_shell(argument("metrics", "mrr"))
    ('metrics="mrr"', '--metric mrr')
    >>> in_python(argument("offline", True)), in_shell(argument("offline", True))
    ('offline=True', '--offline')
    >>> in_python(argument("skip_bad")), in_shell(argument("skip_bad"))
    ('skip_bad=', '--skip-bad')
    >>> in_python(argument("columns", {"id": "ID"})), in_shell(argument("columns", {"id": "ID"}))
    ('columns={"id": ID}', '--map id=ID')

    >>> in_python(argument("by", ["a", "b"])), in_shell(argument("by", ["a", "b"]))
    ('by=["a", "b"]', '--by a --by b')

    Args:
        name: As Python callers give it.
        value: What was given, or might be; None where the argument alone is meant, True or False
            where it is yes or no. Words in capitals stand for what the caller chooses.
    """
    match value:
        case None:
            said = []
        case list():
            said = ["", *value]
        case Mapping():
            (said,) = ([key, of] for key, of in value.items())
        case _:
            said = [value]
    return f"{OPEN}{BETWEEN.join([name, *(_SIGNS.sub('', str(each)) for each in said)])}{CLOSE}"


def call(function: str, *given: str) -> str:
    """A call with these arguments: in a shell, the command that makes it.

    >>> said = call("rescore", argument("run", "RUN"), argument("metrics", "mrr"))
    >>> in_python(said), in_shell(said)
    ('rescore(run=RUN, metrics="mrr")', 'ragstone score RUN --metric mrr')
    """
    return f"{OPEN}{function}({CLOSE}{BETWEEN.join(given)}{OPEN}){CLOSE}"


def marked(text: str) -> str:
    """The text before it was told to anybody."""
    return text.marked if isinstance(text, Notice) else text


def noticed(text: str) -> str:
    """A text that was stored, told to a Python caller where it names an argument."""
    return Notice(text) if OPEN in text else text


def in_python(text: str) -> str:
    """The text as a Python caller reads it."""
    if OPEN not in text:
        return text
    text = _CALL.sub(lambda one: f"{one[1]}({one[2].replace(_NEXT, f'{CLOSE}, {OPEN}')})", text)
    return _ARGUMENT.sub(lambda one: _assigned(*one[1].split(BETWEEN)), text)


def in_shell(text: str) -> str:
    """The text as who typed a command reads it."""
    text = marked(text)
    if OPEN not in text:
        return text
    text = _CALL.sub(lambda one: _command(one[1], one[2].replace(_NEXT, f"{CLOSE} {OPEN}")), text)
    return _ARGUMENT.sub(lambda one: _option(*one[1].split(BETWEEN)), text)


def throughout(value: Any, words: Callable[[str], str]) -> Any:
    """The value with every text in it told by ``words``: in lists, mappings and dataclasses."""
    match value:
        case str():
            return words(value)
        case list():
            return [throughout(one, words) for one in value]
        case tuple():
            return tuple(throughout(one, words) for one in value)
        case Mapping():
            return {throughout(key, words): throughout(one, words) for key, one in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            inside = {one.name: getattr(value, one.name) for one in fields(value)}
            return replace(value, **throughout(inside, words))
    return value


def _assigned(name: str, *said: str) -> str:
    match said:
        case _ if name in IN_PYTHON:
            return IN_PYTHON[name]
        case []:
            return f"{name}="
        case [one]:
            return f"{name}={_value(one)}"
        case ["", *several]:
            return f"{name}=[{', '.join(map(_value, several))}]"
    key, of = said
    return f"{name}={{{_value(key)}: {_ends(of)}}}"


def _value(said: str) -> str:
    if said in ("True", "False") or said.isupper() or re.fullmatch(r"-?[\d.]+", said):
        return said
    return f"'{said}'" if '"' in said else f'"{said}"'


def _ends(said: str) -> str:
    """What a key has: of FIRST:LAST, both."""
    first, _, last = said.partition(":")
    return f"({first}, {last})" if said.isupper() and last else _value(said)


def _command(function: str, given: str) -> str:
    return f"ragstone {COMMANDS.get(function, function)}{' ' if given else ''}{given}"


def _option(name: str, *said: str) -> str:
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    lead = "" if option.isupper() else f"{option} "
    match said:
        case [] | ["True"]:
            return option
        case ["False"]:
            return f"--no-{option.removeprefix('--')}"
        case [one]:
            return lead + shlex.quote(one)
        case ["", *several]:
            return " ".join(lead + shlex.quote(one) for one in several)
    key, of = said
    return lead + shlex.quote(f"{key}={of}")
