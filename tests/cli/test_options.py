"""What every option keeps to, and arguments of two parts such as ``NAME=VALUE``."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

import ragstone as package
from ragstone.analysis.comparison.compare import compare
from ragstone.analysis.composite_weights.fit_weights import fit_weights
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.label_sampling.make_queue import annotate as make_queue
from ragstone.analysis.label_sampling.sample_designs import By
from ragstone.analysis.release_gate import gate_checks
from ragstone.analysis.release_gate.release_gate import gate
from ragstone.analysis.sample_sizes.label_sizes import label_size
from ragstone.analysis.sample_sizes.question_sizes import mean_sizes, paired_sizes, rate_size
from ragstone.annotation.annotator_agreement import agreement
from ragstone.annotation.label_export import Layout, write_labels
from ragstone.annotation.queue import assignment, form
from ragstone.cli.annotate import Order, Route, annotate
from ragstone.cli.app import app
from ragstone.cli.decide import On
from ragstone.cli.labels import AllocationOption, LayoutOption, Way
from ragstone.cli.options import column_names, names_of, scale_ends
from ragstone.cli.plan import plan
from ragstone.run import Instructions, Limits
from ragstone.run.rescore import rescore
from ragstone.stats.planning.sampling import Allocation

from .conftest import Outcome, call

LIBRARY: dict[str, tuple[Callable[..., Any], ...]] = {
    "evaluate": (package.evaluate, Limits, Instructions),
    "score": (rescore,),
    "compare": (compare,),
    "gate": (gate,),
    "sample": (draw_sample,),
    "agreement": (agreement,),
    "annotate new": (make_queue,),
    "labels": (write_labels,),
    "calibrate": (package.calibrate,),
    "weights": (fit_weights,),
    "plan rate": (rate_size,),
    "plan mean": (mean_sizes,),
    "plan paired": (paired_sizes,),
    "plan labels": (label_size,),
}


@dataclass(frozen=True)
class Option:
    """An option or argument of a command, as its function declares it."""

    command: str
    name: str
    types: frozenset[Any]
    default: Any
    metavar: str | None
    help: str


def within(annotation: Any) -> Iterator[Any]:
    """The types that a type is made of."""
    inner = get_args(annotation)
    yield from (one for part in inner for one in within(part)) if inner else (annotation,)


def declared() -> Iterator[Option]:
    for prefix, group in (("", app), ("plan ", plan), ("annotate ", annotate)):
        for command in group.registered_commands:
            assert command.callback is not None
            name = prefix + (command.name or command.callback.__name__)
            for one in inspect.signature(command.callback).parameters.values():
                kind, shown = get_args(one.annotation)
                yield Option(
                    name, one.name, frozenset(within(kind)), one.default, shown.metavar, shown.help
                )


EVERY = list(declared())
READ = ("run", "data", "labels", "files", "source", "queue")
REQUIRED: dict[str, list[object]] = {
    "gate": ["-r", "mrr > 0"],
    "sample": ["--n", 1],
    "weights": ["--preferences", "nowhere"],
    "annotate new": ["--tasks", "grounding"],
    "annotate revoke": ["ann"],
    "annotate import": ["nowhere.csv"],
    "annotate export": ["--out", "nowhere.csv"],
    "plan mean": ["--half-width", 0.1],
    "plan labels": ["--half-width", 0.1, "-m", "mrr"],
    "score": ["-m", "mrr"],
}


@pytest.fixture(scope="module")
def on_nothing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What each command says that reads what is not there."""
    nowhere = tmp_path_factory.mktemp("nowhere") / "nowhere"
    reading = dict.fromkeys(one.command for one in EVERY if one.name in READ)
    return {name: call(*name.split(), nowhere, *REQUIRED.get(name, ())) for name in reading}


def test_a_command_names_what_is_not_there(on_nothing: dict[str, Outcome]) -> None:
    assert set(LIBRARY) - set(on_nothing) == {"plan rate"}
    assert {name: one.status for name, one in on_nothing.items()} == dict.fromkeys(on_nothing, 2)
    assert [name for name, one in on_nothing.items() if "nowhere" not in one.err] == []


def test_a_flag_is_off_unless_it_is_given() -> None:
    flags = [one for one in EVERY if bool in one.types]
    assert [one for one in flags if one.default is not False] == []


@pytest.mark.parametrize("command", LIBRARY)
def test_an_option_that_is_left_out_is_what_a_python_caller_has(command: str) -> None:
    in_python = {
        name: one.default
        for function in LIBRARY[command]
        for name, one in inspect.signature(function).parameters.items()
    }
    differing = [
        (one.name, one.default, in_python[one.name])
        for one in EVERY
        if one.command == command and one.name in in_python and bool not in one.types
        and one.default not in (None, inspect.Parameter.empty)
        and one.default != in_python[one.name]
    ]  # fmt: skip
    assert differing == []


@pytest.mark.parametrize(
    ("typed", "known"),
    [
        (Way, By),
        (AllocationOption, Allocation),
        (On, gate_checks.On),
        (LayoutOption, Layout),
        (Order, form.Order),
        (Route, assignment.Route),
    ],
)
def test_the_words_of_a_choice_are_those_of_python(typed: Any, known: Any) -> None:
    assert get_args(typed) == get_args(known)


def test_what_stands_for_a_path_or_a_number_stands_for_nothing_else() -> None:
    stands = {
        "FILE": Path, "DIR": Path, "RUN2": Path, "[RUN_B]": Path, "FILE.csv": Path,
        "[DIR]": Path, "[SOURCE]": Path, "LABELS": str, "FOLDER": str,
        "FILE|URL": str, "N": int, "RUN": Path, "[RUN]": Path,
        "USD": float, "SECONDS": float, "SHARE": float,
    }  # fmt: skip
    told = {(one.metavar, kind) for one in EVERY for kind in one.types if one.metavar in stands}
    assert {(name, kind) for name, kind in told if kind is not type(None)} == set(stands.items())
    others = [one for one in EVERY if one.metavar and one.metavar not in stands]
    assert [one for one in others if {Path, int} & one.types] == []


def test_what_is_called_dir_is_a_folder() -> None:
    files = [one for one in EVERY if one.metavar in ("FILE", "DIR", "[DIR]")]
    folders = [one.name for one in files if one.help.startswith(("Folder", "A folder"))]
    assert folders == [one.name for one in files if one.metavar != "FILE"]


def test_a_column_stands_behind_the_last_equals_sign() -> None:
    assert column_names(["answer = reply", "ndcg(k=10)=gain"]) == {
        "answer": "reply", "ndcg(k=10)": "gain",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ["answer", "=reply", "answer=", " = ", ""])
def test_a_column_has_a_name_and_a_field(wrong: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not FIELD=COLUMN"):
        column_names(["id=ID", wrong])


def test_the_ends_of_a_scale_stand_behind_the_last_equals_sign() -> None:
    assert scale_ends(["faithfulness = 1:5", "ndcg(k=10)=0:100", "tone=-2:2.5"]) == {
        "faithfulness": (1, 5), "ndcg(k=10)": (0, 100), "tone": (-2, 2.5),
    }  # fmt: skip


@pytest.mark.parametrize("wrong", ["tone", "tone=1", "=1:5", " =1:5", "tone=1:", "tone=a:b", ""])
def test_a_scale_has_a_name_and_two_numbers(wrong: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not METRIC=FIRST:LAST"):
        scale_ends(["helpfulness=1:4", wrong])


def test_an_old_name_is_replaced_with_a_note_and_any_other_stays_as_it_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert names_of(["ragas_faithfulness", "precision( k = 3 )"]) == [
        "faithfulness", "precision( k = 3 )",
    ]  # fmt: skip
    assert capsys.readouterr().err.count("note:") == 1
    assert names_of(None) == []
