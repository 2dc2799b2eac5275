"""``ragstone guard calibrate`` and ``ragstone guard check``, as typed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ragstone.cli.app import app
from ragstone.guard import Gate


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["guard", *map(str, words)], env={"COLUMNS": "200"})


def scores(file: Path, bad: Sequence[float], good: Sequence[float]) -> Path:
    rows = [f"{score},no" for score in bad] + [f"{score},yes" for score in good]
    file.write_text("score,faithful\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    return scores(tmp_path / "labelled.csv", [0.1] * 45, [0.5, 0.9])


def test_calibrate_writes_a_gate(labelled: Path, tmp_path: Path) -> None:
    done = run("calibrate", labelled, "--out", tmp_path / "gate.json", "--judge", "mine")
    assert done.exit_code == 0, done.output
    assert "from 0.500 on" in done.stdout
    gate = Gate.read(tmp_path / "gate.json")
    assert (gate.pass_at, gate.max_false_pass, gate.judge.name) == (0.5, 0.05, "mine")


def test_promise_and_confidence_are_those_that_were_asked_for(
    labelled: Path, tmp_path: Path
) -> None:
    done = run("calibrate", labelled, "--max-false-pass", 0.1, "--confidence", 0.95,
               "--out", tmp_path / "gate.json", "--json")  # fmt: skip
    assert done.exit_code == 0
    gate = Gate.read(tmp_path / "gate.json")
    assert (gate.max_false_pass, gate.confidence, gate.block_below) == (0.1, 0.95, None)
    assert json.loads(done.stdout)["gate"] == gate.to_dict()


def test_labels_that_cannot_carry_the_promise_end_with_status_three(
    labelled: Path, tmp_path: Path
) -> None:
    asked = ("calibrate", labelled, "--max-false-pass", 0.02, "--out", tmp_path / "gate.json")
    done = run(*asked)
    assert done.exit_code == 3
    assert "--max-false-pass 0.0499 is what they can carry" in done.stdout
    assert not (tmp_path / "gate.json").exists()
    told: dict[str, Any] = json.loads(run(*asked, "--json").stdout)
    assert (told["gate"], told["tightest"], told["needed"]) == (None, 0.0499, 114)


@pytest.mark.parametrize(
    ("bad", "status", "word"),
    [([0.2] * 45, 0, "HOLDS"), ([0.95] * 45, 1, "BROKEN"), ([0.2] * 44, 3, "CANNOT TELL")],
)
def test_check_ends_with_the_status_of_what_new_labels_show(
    bad: list[float], status: int, word: str, labelled: Path, tmp_path: Path
) -> None:
    run("calibrate", labelled, "--out", tmp_path / "gate.json")
    new = scores(tmp_path / "new.csv", bad, [0.9])
    done = run("check", tmp_path / "gate.json", new)
    assert (done.exit_code, word in done.stdout) == (status, True)
    told = json.loads(run("check", tmp_path / "gate.json", new, "--json").stdout)
    assert told["state"] == word.lower().replace(" ", "_")


def test_examples_without_a_score_are_scored_as_the_guard_does(tmp_path: Path) -> None:
    context = "The bridge over the river was opened in 1859."
    rows = [
        {"question": f"{at}?", "contexts": [f"{at}. {context}"], "grounded": at % 10 == 0,
         "answer": "The bridge was opened in 1859." if at % 10 == 0 else "Cats sleep in Paris."}
        for at in range(60)
    ]  # fmt: skip
    file = tmp_path / "examples.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    gate = tmp_path / "gate.json"
    done = run("calibrate", file, "--label", "grounded", "--out", gate)
    assert done.exit_code == 0, done.output
    assert Gate.read(gate).judge.name == "local:strings"
    assert run("check", gate, file, "--label", "grounded").exit_code == 0
    other = scores(tmp_path / "new.csv", [0.2] * 45, [0.9])
    refused = run("check", gate, other, "--judge", "mine")
    assert refused.exit_code == 2
    assert "calibrated with another judge: local:strings" in refused.stderr


def test_answers_of_a_file_are_decided_by_a_gate(tmp_path: Path) -> None:
    context = "The bridge over the river was opened in 1859."
    rows = [
        {"question": "When?", "contexts": [context], "answer": answer}
        for answer in ("The bridge was opened in 1859 [1].", "Cats sleep in Paris [1].")
    ]
    file = tmp_path / "examples.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    labelled = scores(tmp_path / "labelled.csv", [*[0.1] * 90, 0.3], [0.05, *[0.5] * 80])
    gate = tmp_path / "gate.json"
    asked = ("calibrate", labelled, "--max-false-block", 0.05, "--out", gate, "--judge")
    assert run(*asked, "local:strings").exit_code == 0
    told = json.loads(run("assess", file, "--gate", gate, "--json").stdout)
    assert [one["decision"] for one in told["assessments"]] == ["pass", "block"]
    assert run(*asked, "other").exit_code == 0
    told = json.loads(run("assess", file, "--gate", gate, "--json").stdout)
    assert [one["decision"] for one in told["assessments"]] == ["ask", "ask"]


def test_named_field_makes_clusters(tmp_path: Path) -> None:
    file = tmp_path / "labelled.csv"
    lines = [f"0.1,no,s{at // 2}" for at in range(90)] + ["0.9,yes,s0"]
    file.write_text("score,faithful,session\n" + "\n".join(lines), encoding="utf-8")
    done = run("calibrate", file, "--cluster", "session", "--json")
    assert json.loads(done.stdout)["gate"]["false_pass"]["clusters"] == 45


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["calibrate", "none.csv"], "none.csv"),
        (["calibrate", "labelled.csv", "--max-false-pass", "2"], "--max-false-pass is 2.0"),
        (["calibrate", "labelled.csv", "--label", "other"], "--label NAME"),
        (["check", "labelled.csv", "labelled.csv"], "is no gate"),
    ],
)
def test_bad_input_ends_with_status_two_and_says_what(
    words: list[str], said: str, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(labelled.parent)
    done = run(*words)
    assert done.exit_code == 2
    assert said in done.stderr
