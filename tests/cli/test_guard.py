"""``ragstone guard FILE``: the answers of a file, as the guard assesses them inside a request."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ragstone.guard import assess
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
        ([PIER], [], 1),
        ([PIER], ["--no-citations"], 0),
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
