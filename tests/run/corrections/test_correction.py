"""What was confirmed is kept, whatever happens to the process, and a damaged file is said to be."""

import os
import sqlite3
import subprocess
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.core.errors import InputError
from ragstone.data import cornwall
from ragstone.run import Run
from tests.forked import Forked
from tests.waiting import until

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
    process = Forked(CORRECT, copy.path, example, cwd=copy.path)
    until(lambda: process.printed().count("\n") >= after)
    process.kill()
    confirmed = process.communicate()[0].split()
    kept = [one.reason for one in copy.corrections()][::-1]
    assert kept[: len(confirmed)] == [f"Look {number}." for number in confirmed]
    assert len(kept) <= len(confirmed) + 1
    copy.correct(example, "support/claim", {"verdict": "absent"}, unit=1, author="Bo", reason="No.")
    assert copy.corrections()[0].author == "Bo"


def test_two_processes_at_once_lose_nothing_of_each_other(copy: Run) -> None:
    example = example_of(copy)
    program = CORRECT.replace("1_000", "6")
    others = [Forked(program, copy.path, example, cwd=copy.path) for _ in range(2)]
    for other in others:
        other.communicate()
    kept = copy.corrections()
    # Whoever says what the other just said is told so, which ends these processes.
    assert [one.number for one in kept] == list(range(len(kept), 0, -1))
    assert len(kept) >= 6 or any(other.returncode for other in others)
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
    with closing(sqlite3.connect(copy.path / "overrules.sqlite")) as connection, connection:
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
    # Not below pytest's own folder, which nobody else may enter.
    with TemporaryDirectory() as folder:
        subprocess.run(["cp", "-r", copy.path, folder], check=True)
        subprocess.run(["chmod", "-R", "a+rX,go-w", folder], check=True)
        _, errors = Forked(code, example, cwd=Path(folder)).communicate()
    assert "InputError" in errors
    assert "overrules.sqlite" in errors
    assert "write permission" in errors or "Make the folder writable" in errors
    assert len(copy.corrections()) == 1
