"""``ragstone guard``: the answers of a file are assessed, gates are calibrated and checked."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ragstone.cli.app import app
from ragstone.guard import Gate, assess
from ragstone.guard.guard import SHOWN

from .conftest import Outcome

PIER = "The pier at Clevedon is 312 m long."
QUESTION = "How long is the pier?"
GOOD = "The pier at Clevedon is 312 m long [1]."
BAD = "The pier has a café with excellent fish and chips every morning [1]."

Command = Callable[..., Outcome]


def written(file: Path, *answers: str, **fields: Any) -> Path:
    rows = [
        {"id": f"a{at}", "question": QUESTION, "answer": answer, "contexts": [PIER]} | fields
        for at, answer in enumerate(answers)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("answers", "options", "status"),
    [
        ([GOOD], [], 0),
        ([GOOD, BAD], [], 1),
        ([PIER], [], 0),
        ([PIER], ["--no-citations"], 0),
        ([PIER], ["--citations"], 1),
        (["I don't know."], [], 1),
        (["I don't know."], ["--abstain-ok"], 0),
        ([GOOD], ["--least-support", "0.99"], 1),
        ([GOOD], ["--deadline", "0.000001"], 3),
        ([GOOD], ["--judge", "nobody"], 2),
        ([GOOD], ["--judge", "human"], 2),
        ([GOOD], ["--deadline", "0"], 2),
    ],
)
def test_the_exit_status_says_what_came_of_it(
    ragstone: Command, tmp_path: Path, answers: list[str], options: list[str], status: int
) -> None:
    file = written(tmp_path / "a.jsonl", *answers)
    assert ragstone("guard", file, *options).status == status


def test_the_answer_comes_before_the_table(ragstone: Command, tmp_path: Path) -> None:
    out = ragstone("guard", written(tmp_path / "a.jsonl", GOOD, BAD, "")).out
    assert "2 answers of 3 failed a check." in out
    assert out.index("failed a check") < out.index("groundedness") < out.index("a1")
    assert BAD in out


def test_each_row_is_the_assessment_that_python_gives(ragstone: Command, tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    file = written(tmp_path / "a.jsonl", GOOD, BAD)
    told = ragstone("guard", file, "--out", out, "--json").json
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert told["assessments"] == rows
    assert (told["answers"], told["ok"], told["failed"]) == (2, 1, 1)
    for row, answer in zip(rows, (GOOD, BAD), strict=True):
        expected = assess(QUESTION, answer, [PIER], run_id=row["id"]).to_dict()
        assert row == {"id": row["id"], "system": "default"} | json.loads(json.dumps(expected))


def test_retrieval_scores_are_those_of_the_contexts_or_of_the_record(
    ragstone: Command, tmp_path: Path
) -> None:
    own = written(tmp_path / "a.jsonl", GOOD, contexts=[{"text": PIER, "score": 0.1}])
    beside = written(tmp_path / "b.jsonl", GOOD, retrieval_scores=[0.1, None])
    low = written(tmp_path / "c.jsonl", GOOD, retrieval_scores=[0.1])
    found = [ragstone("guard", one, "--json").json["issues"] for one in (own, beside, low)]
    assert found == [{"low_retrieval_score": 1}, {}, {"low_retrieval_score": 1}]
    assert ragstone("guard", low, "--least-retrieval-score", "0.05").status == 0


def test_only_some_of_many_are_shown_and_the_rest_counted(
    ragstone: Command, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.jsonl", *[BAD] * (SHOWN + 5))
    out = ragstone("guard", file).out
    assert "and 5 more" in out
    assert out.count(BAD) == SHOWN


def test_rows_that_cannot_be_read_are_told_and_no_file_is_left(
    ragstone: Command, tmp_path: Path
) -> None:
    file = written(tmp_path / "a.jsonl", GOOD)
    with file.open("a") as more:
        more.write('{"answer": ["x"]}\n')
    out = tmp_path / "rows.jsonl"
    outcome = ragstone("guard", file, "--out", out)
    assert outcome.status == 2
    assert "answer" in outcome.err
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]
    assert ragstone("guard", file, "--skip-bad").status == 0


def test_data_without_answers_is_not_ok(ragstone: Command, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    assert ragstone("guard", tmp_path / "a.jsonl").status == 2


def test_a_gate_decides_and_a_void_one_asks_about_every_answer(
    ragstone: Command, tmp_path: Path
) -> None:
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text("".join(
        json.dumps({"id": str(at), "question": f"How long is pier {at}?",
                    "answer": GOOD if at % 2 else BAD, "contexts": [f"{PIER} Pier {at}."],
                    "labels": {"faithful": bool(at % 2)}}) + "\n"
        for at in range(60)
    ))  # fmt: skip
    gate = tmp_path / "gate.json"
    made = ("guard", "calibrate", labelled, "--max-false-pass", "0.1", "--out", gate)
    assert ragstone(*made, "--json").status == 0
    file = written(tmp_path / "a.jsonl", GOOD, BAD)
    told = ragstone("guard", file, "--gate", gate, "--json").json
    assert told["decisions"] == {"pass": 1, "ask": 1}
    text = gate.read_text("utf-8").replace("local:strings", "somebody")
    gate.write_text(text, encoding="utf-8")
    outcome = ragstone("guard", file, "--gate", gate)
    assert "asks about every answer: the gate was calibrated with another judge" in " ".join(
        outcome.out.split()
    )
    assert "pass 0, ask 2, block 0" in outcome.out
    assert ragstone("guard", file, "--gate", file).status == 2


def test_the_file_that_is_read_is_never_written_over(ragstone: Command, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", GOOD)
    before = file.read_bytes()
    link = tmp_path / "link.jsonl"
    link.symlink_to(file)
    for out in (file, link):
        told = ragstone("guard", file, "--out", out)
        assert (told.status, file.read_bytes()) == (2, before)
        assert "is the file that is read" in told.err


def test_rows_written_to_a_pipe_or_a_device_leave_it_what_it_is(
    ragstone: Command, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = Thread(target=lambda: heard.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    assert ragstone("guard", written(tmp_path / "a.jsonl", GOOD), "--out", pipe).status == 0
    reader.join(20)
    assert pipe.is_fifo()
    assert [json.loads(line)["ok"] for line in heard[0].splitlines()] == [True]


def test_rows_written_to_a_link_go_where_it_leads(ragstone: Command, tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.touch()
    link.symlink_to(target)
    assert ragstone("guard", written(tmp_path / "a.jsonl", GOOD), "--out", link).status == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["ok"] is True
    refused = ragstone("guard", tmp_path / "a.jsonl", "--out", tmp_path)
    assert (refused.status, "is a folder" in refused.err) == (2, True)


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
