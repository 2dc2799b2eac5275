"""What was confirmed is kept, whatever happens to the process, and a damaged file is said to be."""

import os
import signal
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.core.errors import InputError
from ragstone.data import cornwall
from ragstone.run import Run

CORRECT = """
import sys
from ragstone.run import Run
run = Run.open(sys.argv[1])
for number in range(1_000):
    verdict = ["contradicted", "supported"][number % 2]
    run.correct(sys.argv[2], "support/claim", {"verdict": verdict}, unit=1, author="Ann",
                 reason=f"Look {number}.")
    print(number, flush=True)
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return evaluate(
        cornwall(), metrics="faithfulness", out=tmp_path_factory.mktemp("store") / "run"
    )


@pytest.fixture
def copy(run: Run, tmp_path: Path) -> Run:
    subprocess.run(["cp", "-r", run.path, tmp_path / "run"], check=True)
    return Run.open(tmp_path / "run")


def example_of(run: Run) -> str:
    rows = run.judgements("support")
    return str(rows["example_id"][0])


@pytest.mark.kill
@pytest.mark.parametrize("after", [1, 2, 5])
def test_nothing_that_was_confirmed_is_lost_to_a_kill(copy: Run, after: int) -> None:
    example = example_of(copy)
    command = [sys.executable, "-c", CORRECT, str(copy.path), example]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        confirmed = [int(process.stdout.readline()) for _ in range(after)]
        os.kill(process.pid, signal.SIGKILL)
        confirmed += map(int, process.stdout.read().split())
    kept = [one.reason for one in copy.corrections()][::-1]
    assert kept[: len(confirmed)] == [f"Look {number}." for number in confirmed]
    assert len(kept) <= len(confirmed) + 1
    copy.correct(example, "support/claim", {"verdict": "absent"}, unit=1, author="Bo", reason="No.")
    assert copy.corrections()[0].author == "Bo"


def test_two_processes_at_once_lose_nothing_of_each_other(copy: Run) -> None:
    example = example_of(copy)
    command = [sys.executable, "-c", CORRECT.replace("1_000", "6"), str(copy.path), example]
    others = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    ends = [one.wait() for one in others]
    kept = copy.corrections()
    # Whoever says what the other just said is told so, which ends these processes.
    assert [one.number for one in kept] == list(range(len(kept), 0, -1))
    assert len(kept) >= 6 or any(ends)
    said = [one.said["verdict"] for one in kept]
    assert all(one != other for one, other in pairwise(said))


def test_a_file_whose_first_writer_was_stopped_holds_nothing(copy: Run) -> None:
    (copy.path / "overrules.sqlite").touch()
    assert copy.corrections() == ()
    copy.correct(
        example_of(copy), "support/claim", {"verdict": "contradicted"}, unit=1, author="Bo",
        reason="No.",
    )  # fmt: skip
    assert len(copy.corrections()) == 1


def test_a_damaged_file_is_said_to_be_and_the_run_without_it_can_be_read(copy: Run) -> None:
    (copy.path / "overrules.sqlite").write_bytes(b"no database" * 1_000)
    with pytest.raises(InputError, match="It holds what people corrected") as error:
        copy.scores()
    assert "asked again" not in str(error.value)
    assert copy.without_corrections().scores().height


def test_a_file_with_other_words_than_ours_is_damaged(copy: Run) -> None:
    example = example_of(copy)
    copy.correct(
        example, "support/claim", {"verdict": "contradicted"}, unit=1, author="Bo", reason="No."
    )
    with sqlite3.connect(copy.path / "overrules.sqlite") as connection:
        connection.execute("UPDATE overrules SET said = '[1]'")
    with pytest.raises(InputError, match="damaged"):
        Run.open(copy.path).corrections()


def test_a_run_that_cannot_be_written_to_is_read_and_says_why_it_takes_no_correction(
    copy: Run,
) -> None:
    if os.getuid():
        pytest.skip("only root can become somebody who may not write")
    example = example_of(copy)
    said: dict[str, Any] = {"unit": 1, "author": "Bo", "reason": "No."}
    copy.correct(example, "support/claim", {"verdict": "contradicted"}, **said)
    code = (
        "import os, sys\n"
        "from ragstone.run import Run\n"
        "run = Run.open('run')\n"
        "run.correctable(sys.argv[1])\n"
        "os.setegid(65534); os.seteuid(65534)\n"
        "assert Run.open('run').corrections()[0].author == 'Bo'\n"
        "assert 'person:Bo' in set(Run.open('run').judgements('support')['judge'])\n"
        "run.correct(sys.argv[1], 'support/claim', {'verdict': 'absent'}, unit=1, author='A', "
        "reason='b')\n"
    )
    command = [sys.executable, "-c", code, example]
    # Not below pytest's own folder, which nobody else may enter.
    with TemporaryDirectory() as folder:
        subprocess.run(["cp", "-r", copy.path, folder], check=True)
        subprocess.run(["chmod", "-R", "a+rX,go-w", folder], check=True)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "InputError" in done.stderr
    assert "overrules.sqlite" in done.stderr
    assert "write permission" in done.stderr or "Make the folder writable" in done.stderr
    assert len(copy.corrections()) == 1
