"""Names of arguments in messages, rendered for Python callers or for shell users.

A library cannot know who calls it: a Python caller writes ``metrics="mrr"``, a shell user
``--metric mrr``. So a message holds a placeholder for the argument, delimited by private-use
characters that occur in no other text, and is rendered where it is shown: ``str(error)`` gives the
Python form, the command line the shell form.
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
"""Arguments whose shell option is not simply their name with dashes for underscores."""

COMMANDS: Mapping[str, str] = {
    "draw_sample": "sample",
    "mean_sizes": "plan mean",
    "rescore": "score",
}
"""Functions whose shell command has another name."""

IN_PYTHON: Mapping[str, str] = {
    **dict.fromkeys(("kinds", "metrics_from"), "an import of their file"),
    "undo": "undo_overrule",
    "without_overrules": "without_overrules()",
}
"""Options of the command line for which a function has no argument, with what to do in Python."""


class Notice(str):
    """A string in its Python form that keeps its placeholders, so the shell form can be made."""

    marked: str

    def __new__(cls, text: str) -> Self:
        """Make one from a text with placeholders for arguments."""
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
        name: Its name in Python.
        value: The value given or suggested; None if only the argument is meant, True or False for
            a flag. A word in capitals is a placeholder for the caller's own value.
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
    """A call of a function with these arguments; for shell users, the equivalent command.

    >>> said = call("rescore", argument("run", "RUN"), argument("metrics", "mrr"))
    >>> in_python(said), in_shell(said)
    ('rescore(run=RUN, metrics="mrr")', 'ragstone score RUN --metric mrr')
    """
    return f"{OPEN}{function}({CLOSE}{BETWEEN.join(given)}{OPEN}){CLOSE}"


def marked(text: str) -> str:
    """The text with its placeholders, before it was rendered."""
    return text.marked if isinstance(text, Notice) else text


def noticed(text: str) -> str:
    """A stored text, as a ``Notice`` if it holds placeholders."""
    return Notice(text) if OPEN in text else text


def in_python(text: str) -> str:
    """The text in its form for Python callers."""
    if OPEN not in text:
        return text
    text = _CALL.sub(lambda one: f"{one[1]}({one[2].replace(_NEXT, f'{CLOSE}, {OPEN}')})", text)
    return _ARGUMENT.sub(lambda one: _assigned(*one[1].split(BETWEEN)), text)


def in_shell(text: str) -> str:
    """The text in its form for shell users."""
    text = marked(text)
    if OPEN not in text:
        return text
    text = _CALL.sub(lambda one: _command(one[1], one[2].replace(_NEXT, f"{CLOSE} {OPEN}")), text)
    return _ARGUMENT.sub(lambda one: _option(*one[1].split(BETWEEN)), text)


def throughout(value: Any, words: Callable[[str], str]) -> Any:
    """Apply ``words`` to every string in a value, also within lists, mappings and dataclasses."""
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
    """The value of a key: ``FIRST:LAST`` as a pair, anything else as one value."""
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
