"""A file for a result is written in full, or left as it was."""

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import queues
from ragstone.core.errors import InputError
from ragstone.core.files import result_lines, write_result


def test_it_replaces_what_the_file_held_and_makes_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.txt"
    write_result(file, "a longer text")
    write_result(file, b"short")
    assert file.read_bytes() == b"short"


@pytest.mark.parametrize("writes", ["whole", "by line"])
def test_texts_are_readable_by_this_user_alone_unless_the_file_was_there(
    tmp_path: Path, writes: str
) -> None:
    for name, mode in (("new", 0o600), ("there", 0o640)):
        file = tmp_path / name
        if name == "there":
            file.touch()
            file.chmod(0o640)
        if writes == "whole":
            write_result(file, "text", private=True)
        else:
            with result_lines(file) as write:
                write("text")
        assert file.stat().st_mode & 0o777 == mode
    write_result(tmp_path / "report.html", "for others")
    assert (tmp_path / "report.html").stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize(
    "name",
    [
        "run.json",
        "overrules.sqlite",
        "judgements/claims/000000.parquet",
        "shards.jsonl",
        "parts/judgements/claims/000000.parquet",
        "rescored.ready/chosen/scores/000000.parquet",
    ],
)
def test_a_file_of_a_run_stays(tmp_path: Path, name: str) -> None:
    run, file = tmp_path / "run", tmp_path / "run" / name
    file.parent.mkdir(parents=True)
    file.write_text("whole")
    (run / "run.json").write_text("{}")
    held = file.read_text()
    (tmp_path / "link").symlink_to(file)
    for asked in (file, tmp_path / "link"):
        with pytest.raises(InputError, match="part of the run"):
            write_result(asked, "a report")
    assert file.read_text() == held


def test_a_result_beside_a_run_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"files": {}}')
    for text in ("old", "new"):
        write_result(tmp_path / "report.html", text)
    assert (tmp_path / "report.html").read_text() == "new"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every file")
def test_a_file_that_is_not_to_be_written_stays(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("mine")
    file.chmod(0o444)
    with pytest.raises(PermissionError):
        write_result(file, "x" * 100)
    assert file.read_text() == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a program that runs is written to")
def test_a_program_that_runs_stays(tmp_path: Path) -> None:
    """This file not even root can write to."""
    program = Path(shutil.copy(shutil.which("sleep") or "", tmp_path / "sleep"))
    size = program.stat().st_size
    with subprocess.Popen([program, "60"]) as running:
        try:
            with pytest.raises(OSError, match="busy"):
                write_result(program, "x" * (size + 1))
        finally:
            running.kill()
    assert program.stat().st_size == size


@pytest.mark.parametrize("name", ["labels.sqlite", "of-a-team.db"])
def test_a_database_stays_with_what_is_not_yet_written_into_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "live").mkdir()
    with closing(open_labels(tmp_path / "live" / name)) as labels:
        assert queues(labels) == []
        shutil.copytree(tmp_path / "live", tmp_path / "copy")
    files = {one: one.read_bytes() for one in (tmp_path / "copy").iterdir()}
    assert {one.name for one in files} == {name, f"{name}-wal", f"{name}-shm"}
    for one, held in files.items():
        with pytest.raises(InputError, match="database"):
            write_result(one, "a report")
        assert one.read_bytes() == held
