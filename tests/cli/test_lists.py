"""The commands that list what there is."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.cli.doctor import EXTRAS, KEYS
from ragstone.judges.names import JUDGES
from ragstone.metrics import SUITES, metric_types
from ragstone.models.chat.names import FORMS

Command = Callable[..., Any]
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_metrics_lists_every_metric(ragstone: Command) -> None:
    outcome = ragstone("metrics")
    assert outcome.status == 0
    for name in metric_types():
        assert name in outcome.out


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


def test_formats_come_with_two_lines(ragstone: Command) -> None:
    found = ragstone("formats", "--json").json
    assert all(len(one["example"]) == 2 for one in found)
    printed = ragstone("formats").out
    for one in found:
        for line in one["example"]:
            assert line in printed, "an example is printed whole"


def test_judges_say_what_they_fill(ragstone: Command) -> None:
    found = ragstone("judges", "--json").json
    names = [one["name"] for one in found]
    assert names == [*(judge.name for judge in JUDGES), "nli:NAME", *FORMS]
    assert all(one["kinds"] and one["about"] for one in found)
    assert "calibrated" in ragstone("judges").out


def test_doctor_names_the_keys_that_are_set_and_shows_none(
    ragstone: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    assert ragstone("doctor", "--json").json["keys"] == []
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-mine")
    told = ragstone("doctor")
    assert "ANTHROPIC_API_KEY" in told.out
    assert "sk-of-mine" not in told.out


def test_doctor_knows_every_extra() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(EXTRAS) == set(extras) - {"dev"}


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


def test_judges_of_an_unknown_kind_ends_with_2(ragstone: Command) -> None:
    outcome = ragstone("judges", "suport")
    assert outcome.status == 2
    assert "Did you mean support?" in outcome.err


@pytest.mark.parametrize("command", ["metrics", "formats", "judges"])
def test_lists_are_json_too(command: str, ragstone: Command) -> None:
    assert isinstance(ragstone(command, "--json").json, list)
