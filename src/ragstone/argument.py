"""Argument: what the caller gave or may give, named to each caller in their own words.

A library cannot know who calls it: to a Python caller the metrics are ``metrics="mrr"``, to a shell
user ``--metric mrr``. So a message holds the argument itself, between two signs that no text has,
and becomes words at the door: ``str(error)`` tells Python's, the command line the shell's.
"""

import re
import shlex
from collections.abc import Mapping

OPEN, BETWEEN, CLOSE = "\ue000", "\ue001", "\ue002"
_ARGUMENT = re.compile(f"{OPEN}([a-z_]+)(?:{BETWEEN}([^{OPEN}{BETWEEN}{CLOSE}]*))?{CLOSE}")

OPTIONS: Mapping[str, str] = {
    "columns": "--map",
    "data": "DATA",
    "labels": "--label",
    "metrics": "--metric",
    "requirements": "--require",
    "run": "RUN",
    "scales": "--scale",
    "suites": "--suite",
}
"""The options whose names are not those of the arguments with dashes for underlines."""


def argument(name: str, value: object = None) -> str:
    """An argument in a message.

    >>> in_python(argument("metrics", "mrr")), in_shell(argument("metrics", "mrr"))
    ('metrics="mrr"', '--metric mrr')
    >>> in_python(argument("offline", True)), in_shell(argument("offline", True))
    ('offline=True', '--offline')
    >>> in_python(argument("skip_bad")), in_shell(argument("skip_bad"))
    ('skip_bad=', '--skip-bad')

    Args:
        name: As Python callers give it.
        value: What was given, or might be; None where the argument alone is meant, True where it
            is yes or no. Words in capitals stand for what the caller chooses.
    """
    return f"{OPEN}{name}{CLOSE}" if value is None else f"{OPEN}{name}{BETWEEN}{value}{CLOSE}"


def in_python(text: str) -> str:
    """The text as a Python caller reads it."""
    return _ARGUMENT.sub(lambda one: f"{one[1]}={_value(one[2])}", text) if OPEN in text else text


def in_shell(text: str) -> str:
    """The text as who typed a command reads it."""
    return _ARGUMENT.sub(lambda one: _option(one[1], one[2]), text) if OPEN in text else text


def _value(said: str | None) -> str:
    if said is None:
        return ""
    plain = said == "True" or said.isupper() or re.fullmatch(r"[\d.]+", said)
    return said if plain else f'"{said}"'


def _option(name: str, said: str | None) -> str:
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if said is None or said == "True":
        return option
    value = shlex.quote(said)
    return value if option.isupper() else f"{option} {value}"
