"""Arguments in messages: named to a Python caller and to a shell user in their own words."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

import ragstone
from ragstone.argument import CLOSE, OPEN, OPTIONS, argument, in_python, in_shell
from ragstone.cli import app
from ragstone.errors import DataError, Fault, InputError

SOURCE = Path(inspect.getfile(ragstone)).parent


@pytest.mark.parametrize(
    ("name", "value", "python", "shell"),
    [
        ("metrics", "mrr", 'metrics="mrr"', "--metric mrr"),
        ("metrics", 'rating(criterion="tone")', 'metrics="rating(criterion="tone")"',
         "--metric 'rating(criterion=\"tone\")'"),
        ("max_calls", 5, "max_calls=5", "--max-calls 5"),
        ("offline", True, "offline=True", "--offline"),
        ("prompts", None, "prompts=", "--prompts"),
        ("judge", "NAME", "judge=NAME", "--judge NAME"),
        ("run", "RUN", "run=RUN", "RUN"),
        ("by", "near-threshold", 'by="near-threshold"', "--by near-threshold"),
    ],
)  # fmt: skip
def test_each_caller_reads_their_own_words(
    name: str, value: object, python: str, shell: str
) -> None:
    text = f"Give {argument(name, value)}, or not."
    assert in_python(text) == f"Give {python}, or not."
    assert in_shell(text) == f"Give {shell}, or not."


def test_a_text_without_arguments_is_told_as_it_is() -> None:
    odd = f"a {OPEN} lonely {CLOSE} sign"
    assert in_python(odd) == in_shell(odd) == odd
    assert in_python("--metric") == in_shell("--metric") == "--metric"


def test_an_error_tells_python_and_keeps_what_the_shell_is_told() -> None:
    error = InputError(f"Name one: {argument('metrics', 'NAME')}.")
    assert str(error) == "Name one: metrics=NAME."
    assert in_shell(error.text) == "Name one: --metric NAME."
    fault = Fault("a.csv", 3, "id", "text", "7")
    faults = DataError([fault], hint=f"Or {argument('skip_bad', True)}.")
    assert (
        str(faults)
        == "1 fault in the data.\n  a.csv:3  id  expected text, got 7\nOr skip_bad=True."
    )
    assert in_shell(faults.text).endswith("Or --skip-bad.")


def named() -> Iterator[str]:
    """Every argument that a message of the library names."""
    for file in SOURCE.rglob("*.py"):
        yield from re.findall(r"\bargument\([\"'](\w+)[\"']", file.read_text(encoding="utf-8"))


def options() -> set[str]:
    """Every option and argument of every command."""
    found: set[str] = set()
    commands = [typer.main.get_command(app)]
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        for param in command.params:
            found |= {*param.opts, str(param.metavar or param.name).strip("[]").upper()}
    return found


def test_whatever_is_named_to_a_shell_user_is_there() -> None:
    there = options()
    assert [
        name
        for name in sorted(set(named()))
        if OPTIONS.get(name, f"--{name.replace('_', '-')}") not in there
    ] == []
