"""Arguments in messages: named to a Python caller and to a shell user in their own words."""

import ast
import inspect
import pickle
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

import ragstone
import ragstone.analysis
import ragstone.annotation
import ragstone.guard
import ragstone.monitor
from ragstone.analysis.label_sampling.queue_items import label_sheet
from ragstone.analysis.sample_sizes.label_sizes import Accuracy
from ragstone.cli.app import app
from ragstone.core.errors import DataError, Fault, InputError, RagstoneError
from ragstone.core.messages import (
    CLOSE,
    IN_PYTHON,
    OPEN,
    OPTIONS,
    Notice,
    argument,
    call,
    in_python,
    in_shell,
    throughout,
)
from ragstone.guard.confidence_gate.confidence_gate import calibrate_gate
from ragstone.report.page import Facts, Page, section
from ragstone.report.page import Note as FactsNote
from ragstone.report.reason_words import words
from ragstone.report.render.documents import as_html, as_junit, as_markdown
from ragstone.report.render.terminal import as_text
from ragstone.web.security import ServerAddress
from tests.project import parsed

FLAG = re.compile(r"(?<![-\w])--[a-z][a-z-]*")
SOURCE = Path(inspect.getfile(ragstone)).parent


@pytest.mark.parametrize(
    ("name", "value", "python", "shell"),
    [
        ("metrics", "mrr", 'metrics="mrr"', "--metric mrr"),
        ("metrics", 'rating(criterion="tone")', "metrics='rating(criterion=\"tone\")'",
         "--metric 'rating(criterion=\"tone\")'"),
        ("max_calls", 5, "max_calls=5", "--max-calls 5"),
        ("offline", True, "offline=True", "--offline"),
        ("prompts", None, "prompts=", "--prompts"),
        ("judge", "NAME", "judge=NAME", "--judge NAME"),
        ("run", "RUN", "run=RUN", "RUN"),
        ("cached", False, "cached=False", "--no-cache"),
        ("columns", {"answer": "my text"}, 'columns={"answer": "my text"}',
         "--map 'answer=my text'"),
        ("columns", {"METRIC": "COLUMN"}, "columns={METRIC: COLUMN}", "--map METRIC=COLUMN"),
        ("scales", {"correctness": "FIRST:LAST"}, 'scales={"correctness": (FIRST, LAST)}',
         "--scale correctness=FIRST:LAST"),
        ("metrics_from", "FILE", "an import of their file", "--metrics-from FILE"),
        ("judge", f"{OPEN}a{CLOSE}", 'judge="a"', "--judge a"),
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


def test_a_call_is_a_command_in_a_shell() -> None:
    text = f"To add it: {call('rescore', argument('run', 'a b'), argument('metrics', 'mrr'))}."
    assert in_python(text) == 'To add it: rescore(run="a b", metrics="mrr").'
    assert in_shell(text) == "To add it: ragstone score 'a b' --metric mrr."
    assert in_shell(f"{call('gate')} decides") == "ragstone gate decides"


def test_a_notice_tells_python_and_is_still_told_to_the_shell() -> None:
    note = Notice(f"Look again with {argument('anytime', True)}.")
    assert note == "Look again with anytime=True."
    assert in_python(note) == note
    assert in_shell(note) == "Look again with --anytime."
    assert Notice(note).marked == note.marked
    assert in_shell(pickle.loads(pickle.dumps(note))) == "Look again with --anytime."


def test_every_text_of_a_page_and_of_a_record_is_told() -> None:
    said = argument("force", True)
    shown = Page("compare", "a", (section(Facts((FactsNote("n", ("or ", said)),))),), notes=(said,))
    told = throughout(shown, in_shell)
    assert told.notes == ("--force",)
    (facts,) = told.sections[0].blocks
    assert facts.rows[0].words == ("or ", "--force")
    assert throughout({"a": [said, 1, None]}, in_python) == {"a": ["force=True", 1, None]}
    for page in (as_markdown(shown), as_junit(shown).decode(), as_html(shown)):
        assert OPEN not in page
    assert "force=True" in as_html(shown)
    assert "--force" in as_junit(shown).decode()
    assert "--force" in as_text(shown)
    assert f"note: {words(Notice(said))}" == f"note: {said}"
    reason = Page("run", "a", (), notes=("budget?max_calls=3",))
    assert "3 calls of max_calls= are made" in as_html(reason)
    assert "3 calls of --max-calls are made" in as_markdown(reason)
    assert "3 calls of --max-calls are made" in as_junit(reason).decode()


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
    assert faults.hint == "Or skip_bad=True."
    assert all("__str__" not in vars(one) for one in subclasses(RagstoneError))


def subclasses(kind: type[Exception]) -> set[type[Exception]]:
    """Every error below it that is loaded."""
    found = set(kind.__subclasses__())
    return found.union(*map(subclasses, found))


def named() -> Iterator[str]:
    """Every argument that a message of the library names."""
    for file in SOURCE.rglob("*.py"):
        yield from re.findall(r"\bargument\([\"'](\w+)[\"']", file.read_text(encoding="utf-8"))


OF_OTHERS = {"models/download.py": "pip", "models/onnx_encoder.py": "optimum-cli"}
"""Files that call another program, or tell how to: its flags are its own."""


def flags() -> Iterator[str]:
    """Every text of a room that knows no caller, and names a flag."""
    for file in SOURCE.rglob("*.py"):
        place = file.relative_to(SOURCE).as_posix()
        if place.startswith(("cli/", "report/")) or place == "core/messages.py":
            continue
        for one in ast.walk(parsed(file, mentions="--")):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield from (f"{place} {flag}" for flag in FLAG.findall(one.value))


def test_no_room_of_the_library_names_a_flag_of_the_command_line() -> None:
    named = {one: one.split()[0] for one in flags()}
    assert [one for one, place in named.items() if place not in OF_OTHERS] == []
    assert set(named.values()) == set(OF_OTHERS)


def parameters() -> set[str]:
    """Every parameter of every public function and class."""
    rooms = (ragstone, ragstone.analysis, ragstone.guard, ragstone.annotation, ragstone.monitor)
    public: list[Any] = [getattr(room, name) for room in rooms for name in room.__all__]
    public += [calibrate_gate, label_sheet, Accuracy, ragstone.Run.correct, ServerAddress]
    functions: list[Any] = [one for one in public if inspect.isfunction(one) or is_dataclass(one)]
    return {name for one in functions for name in inspect.signature(one).parameters}


def test_whatever_is_named_to_a_python_caller_is_there() -> None:
    assert sorted(set(named()) - parameters() - IN_PYTHON.keys()) == []


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
