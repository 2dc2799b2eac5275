"""A run that is killed goes on behind its last whole block."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import ragstone
from ragstone import evaluate
from ragstone.run import Run, streaming

PROGRAM = """
import sys, time
from ragstone import evaluate
from ragstone.run import streaming
streaming.BLOCK = 50
evaluate(sys.argv[1], out=sys.argv[2], progress=lambda told: time.sleep(.15))
"""


def write_rows(path: Path, n: int) -> None:
    ragstone.write(
        ragstone.read(
            {
                "id": f"e{number}",
                "system": f"s{number % 3}",
                "question": f"Who built engine {number // 3}?",
                "contexts": [f"Engine {number // 3} was built by Mr. Harvey in Hayle."],
                "answer": "Harvey built it." if number % 2 else "I don't know.",
                "reference": "Harvey",
            }
            for number in range(n)
        ),
        path,
    )


def assert_same(one: Run, other: Run) -> None:
    assert_frame_equal(one.estimates(), other.estimates(), rel_tol=1e-12)
    order = ["metric", "example_id"]
    assert_frame_equal(one.scores().sort(order), other.scores().sort(order))


def contents(run: Path) -> dict[str, bytes]:
    """All that a run keeps, but the manifest, which knows the time."""
    return {
        file.name: file.read_bytes()
        for file in run.rglob("*")
        if file.is_file() and file.name not in ("run.json", ".lock")
    }


def test_killed_at_any_moment_the_same_call_finishes_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, out = tmp_path / "rows.jsonl", tmp_path / "run"
    write_rows(data, 400)
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, str(data), str(out)])
    parts = out / "parts"
    deadline = time.monotonic() + 60
    while not (parts.is_dir() and len(list(parts.glob("00000[1-9]"))) >= 2):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    before = sorted(part.name for part in parts.iterdir() if part.name.isdigit())
    stamps = {name: (parts / name / "scores.parquet").stat().st_mtime_ns for name in before}
    kept: dict[str, int] = {}

    def look(_: object) -> None:
        for name in stamps:
            file = parts / name / "scores.parquet"
            if file.exists():
                kept[name] = file.stat().st_mtime_ns

    monkeypatch.setattr(streaming, "BLOCK", 50)
    evaluate(data, out=out, progress=look)
    assert kept == stamps
    evaluate(data, out=tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")
    assert not parts.exists()


def test_blocks_of_any_size_give_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "rows.jsonl"
    write_rows(data, 130)
    whole = evaluate(data)
    monkeypatch.setattr(streaming, "BLOCK", 7)
    cut = evaluate(data, out=tmp_path / "cut")
    assert_same(cut, whole)
    claims = Run.open(tmp_path / "cut").judgements("claims")
    assert_frame_equal(claims, whole.judgements("claims"))


def test_killed_while_its_tables_are_put_together_it_still_finishes(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    write_rows(data, 130)
    whole = evaluate(data)

    def stopped_at(moment: str) -> Run:
        out = tmp_path / moment
        program = PROGRAM.replace("sys, time", "sys, time, os").replace(
            "evaluate(sys", f"from ragstone.run.parts import Parts\n"
            f"Parts.{moment} = lambda *_: os._exit(9)\nevaluate(sys"
        )  # fmt: skip
        ended = subprocess.run([sys.executable, "-c", program, str(data), str(out)], check=False)
        assert ended.returncode == 9
        return evaluate(data, out=out)

    for moment in ("join", "drop"):
        assert_same(stopped_at(moment), whole)


def test_a_hole_among_the_finished_blocks_is_judged_again(tmp_path: Path) -> None:
    data, out = tmp_path / "rows.jsonl", tmp_path / "run"
    write_rows(data, 130)
    whole = evaluate(data)
    program = PROGRAM.replace("sys, time", "sys, time, os").replace(
        "evaluate(sys", "from ragstone.run.parts import Parts\n"
        "Parts.join = lambda *_: os._exit(9)\nevaluate(sys"
    )  # fmt: skip
    subprocess.run([sys.executable, "-c", program, str(data), str(out)], check=False)
    shutil.rmtree(out / "parts" / "000001")
    assert_same(evaluate(data, out=out), whole)
