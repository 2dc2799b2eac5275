"""The commands that list what there is."""

import platform
import re
import tomllib
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ragstone as package
from ragstone.judgements import KINDS, filled, guideline_of
from ragstone.judges.judge_names import JUDGES
from ragstone.metrics import SUITES, metric_types
from ragstone.models.chat.chat_names import FORMS
from ragstone.models.chat.http_formats import ANTHROPIC, AZURE, GEMINI, OPENAI
from tests.project import ROOT

Command = Callable[..., Any]
doctor: Any = import_module("ragstone.cli.doctor")
"""The module, where the package has its command."""
PROJECT = ROOT / "pyproject.toml"


def test_metrics_lists_every_metric(ragstone: Command) -> None:
    outcome = ragstone("metrics")
    assert outcome.status == 0
    for name in metric_types():
        assert name in outcome.out
    assert "composite, ragas_score*" in outcome.out


def test_a_family_of_metrics_is_listed_with_what_each_says(ragstone: Command) -> None:
    listed = ragstone("metrics", "grounding", "--json").json
    assert {entry["family"] for entry in listed} == {"grounding"}
    printed = ragstone("metrics", "grounding").out
    assert all(entry["name"] in printed for entry in listed)
    assert "Share of answers with a claim that the contexts contradict." in printed


def test_a_metric_that_is_called_as_its_family_is_explained(ragstone: Command) -> None:
    assert ragstone("metrics", "composite", "--json").json["name"] == "composite"


@pytest.mark.parametrize("command", ["metrics", "judges", "models", "formats"])
def test_a_list_fits_on_one_screen(
    command: str, ragstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert len(ragstone(command).out.splitlines()) <= 45


@pytest.mark.parametrize("command", ["labels", "agreement", "sample", "annotate", "calibrate"])
def test_what_belongs_together_is_found_from_one_another(command: str, ragstone: Command) -> None:
    names = {"labels", "agreement", "sample", "annotate", "calibrate", "weights"}
    last = ragstone(command, "--help").out.splitlines()[-1]
    assert set(last.removeprefix("See also: ").split(", ")) == names - {command}


def test_metrics_explains_one(ragstone: Command) -> None:
    outcome = ragstone("metrics", "faithfulness")
    assert "supported claims / all claims" in outcome.out
    assert ragstone("metrics", "faithfulness", "--json").json["range"] == [0, 1]


def test_an_unknown_metric_ends_with_2(ragstone: Command) -> None:
    outcome = ragstone("metrics", "faithfulnes")
    assert outcome.status == 2
    assert "Did you mean faithfulness" in outcome.err


def test_metrics_lists_the_suites(ragstone: Command) -> None:
    assert [one["name"] for one in ragstone("metrics", "--suite", "--json").json] == [
        "quick",
        *SUITES,
    ]
    assert "ragas_score" in ragstone("metrics", "graphrag", "--suite").out


def test_each_format_has_an_example_of_two_lines(ragstone: Command) -> None:
    layouts = ragstone("formats", "--json").json
    listed = " ".join(ragstone("formats").out.split())
    for layout in layouts:
        assert " ".join([layout["name"], layout["what"], *layout["extensions"]]) in listed
        assert len(layout["example"]) == 2
        printed = ragstone("formats", layout["name"]).out
        assert all(line in printed for line in layout["example"]), "an example is printed whole"
        assert ragstone("formats", layout["name"], "--json").json == layout


def test_an_unknown_format_ends_with_2(ragstone: Command) -> None:
    outcome = ragstone("formats", "raga")
    assert outcome.status == 2
    assert "Did you mean ragas" in outcome.err


def test_judges_say_what_they_fill(ragstone: Command) -> None:
    found = ragstone("judges", "--json").json
    names = [one["name"] for one in found]
    assert names == [*(judge.name for judge in JUDGES), "nli:NAME", *FORMS]
    assert all(one["kinds"] and one["about"] for one in found)
    assert all(one["kinds"] == sorted(set(one["kinds"])) for one in found)
    assert "calibrated" in ragstone("judges").out


def test_doctor_names_the_keys_that_are_set_and_shows_none(
    ragstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in doctor.KEYS:
        monkeypatch.delenv(name, raising=False)
    assert ragstone("doctor", "--json").json["keys"] == []
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-mine")
    told = ragstone("doctor")
    assert "ANTHROPIC_API_KEY" in told.out
    assert "sk-of-mine" not in told.out


def packages(requirements: list[str]) -> set[str]:
    return {str(re.split(r"[\[<>=]", one)[0]) for one in requirements}


def test_doctor_looks_for_what_the_project_needs(ragstone: Command) -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    found = ragstone("doctor", "--json").json
    assert set(found["base"]) == packages(project["dependencies"])
    assert {one["name"]: set(one["packages"]) for one in found["extras"]} == {
        name: packages(extras[name]) for name in extras
    }


def test_doctor_knows_the_key_of_every_server(
    ragstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = [OPENAI.variable, AZURE.variable, ANTHROPIC.variable, GEMINI.variable]
    for name in (*variables, "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "set")
    assert ragstone("doctor", "--json").json["keys"] == [*variables, "GOOGLE_API_KEY"]


def test_an_extra_is_installed_where_all_its_packages_are() -> None:
    assert doctor._extra("mine", ["numpy", "polars"])["installed"]
    assert not doctor._extra("mine", ["numpy", "no-such-package"])["installed"]


def test_doctor_has_a_line_for_each_thing_that_it_looked_at() -> None:
    torch = {"name": "torch", "packages": ["torch"], "installed": False, "install": "pip …"}
    onnx = {"name": "onnx", "packages": ["onnxruntime", "tokenizers"], "installed": True}
    found = doctor.examination() | {
        "base": {"numpy": "9.9", "polars": None},
        "extras": [onnx, torch],
        "keys": ["OPENAI_API_KEY", "GEMINI_API_KEY"],
        "own_metrics": ["mine", "yours"],
        "terminal": {"width": 80, "encoding": "utf-8", "colours": True},
        "folder": {"path": "/here", "writable": True},
    }
    lines = dict(doctor._rows(found))
    assert list(lines) == [
        "ragstone", "python", "numpy", "polars", "extra onnx", "extra torch", "encoder", "keys",
        "own metrics", "terminal", "folder", "network",
    ]  # fmt: skip
    assert lines["ragstone"] == package.__version__
    assert lines["python"].startswith(platform.python_version())
    assert (lines["numpy"], lines["polars"]) == ("9.9", "not installed")
    assert lines["extra onnx"] == "installed  (onnxruntime, tokenizers)"
    assert lines["extra torch"] == "not installed: pip …  (torch)"
    assert lines["encoder"].startswith("builtin:minilm, ")
    assert lines["keys"] == "OPENAI_API_KEY, GEMINI_API_KEY"
    assert lines["own metrics"] == "mine, yours"
    assert lines["terminal"] == "80 columns, utf-8, colours"
    assert lines["folder"] == "/here, writable"
    nothing = found | {
        "keys": [],
        "own_metrics": [],
        "folder": {"path": "/here", "writable": False},
        "terminal": {"width": 80, "encoding": "ascii", "colours": False},
    }
    lines = dict(doctor._rows(nothing))
    assert lines["keys"].startswith("none set of OPENAI_API_KEY, ")
    assert lines["own metrics"] == "none installed"
    assert lines["folder"] == "/here, NOT writable"
    assert lines["terminal"] == "80 columns, ascii, no colours"


def test_doctor_says_what_is_installed(ragstone: Command) -> None:
    found = ragstone("doctor", "--json")
    assert found.status == 0
    assert found.json["base"]["polars"]
    assert found.json["network"] == "not needed"
    printed = ragstone("doctor")
    assert printed.status == 0
    assert "polars" in printed.out


def test_judges_of_a_kind_are_told_what_people_and_models_are(ragstone: Command) -> None:
    outcome = ragstone("judges", "support")
    assert "# Support: do the passages say so?" in outcome.out
    assert "- `absent`: they do not settle it" in outcome.out
    assert '- "The author thinks that X" does not support X.' in outcome.out
    assert "`details`" not in outcome.out, "what only models are told"
    assert "Filled by: human, local" in outcome.out
    found = ragstone("judges", "quality", "--json").json
    assert found["columns"]["helpful"]["label"] == "helpful"
    assert found["columns"]["focus"]["values"]["0"] == "all is"
    assert found["filled_by"] == ["human", "LLM"]


def test_a_program_reads_all_that_is_told_of_a_kind(ragstone: Command) -> None:
    found = ragstone("judges", "support", "--json").json
    guideline = guideline_of(KINDS["support"])
    assert found["kind"] == "support"
    assert found["question"] == guideline.title
    assert found["hard_cases"] == guideline.hard_cases.splitlines()
    for part in ("definition", "for_models", "for_people"):
        assert found[part] == filled(getattr(guideline, part), KINDS["support"])
    assert set(found["columns"]) == set(KINDS["support"].columns)
    verdict = found["columns"]["verdict"]
    assert set(verdict) == {"says", "values", "label"}
    assert verdict["label"] == "support"
    assert list(verdict["values"]) == ["supported", "contradicted", "absent"]
    assert found["columns"]["evidence"]["label"] is None
    assert set(found["filled_by"]) > {"human", "local"}


def test_judges_of_an_unknown_kind_ends_with_2(ragstone: Command) -> None:
    outcome = ragstone("judges", "suport")
    assert outcome.status == 2
    assert "Did you mean support?" in outcome.err


@pytest.mark.parametrize("command", ["metrics", "formats", "judges"])
def test_lists_are_json_too(command: str, ragstone: Command) -> None:
    assert isinstance(ragstone(command, "--json").json, list)
