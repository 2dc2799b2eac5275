"""The runs that the app holds open: checked once, opened again when they change, few at a time."""

from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import DamagedRun
from ragstone.run import Run
from ragstone.run.folder import run_list
from ragstone.run.folder.run_list import FoundRun
from ragstone.web import runs_folder
from ragstone.web.example_rows import ExampleRows, example_rows
from ragstone.web.runs_folder import HELD, RunsFolder

ROWS: list[dict[str, Any]] = [
    {"id": f"r{number}", "question": "How long?", "answer": "Long.", "reference": "Long."}
    for number in range(20)
]


@pytest.fixture
def no_background_checks() -> None:
    """Here they are what is tested."""


def made(path: Path) -> Path:
    ragstone.evaluate(ROWS, metrics="token_f1", judge="rules", out=path)
    return path


def changed(file: Path, at: int) -> None:
    """Another byte at this place, and the same size."""
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


def test_a_run_is_opened_once_and_its_rows_are_made_ready(tmp_path: Path) -> None:
    made(tmp_path / "run")
    runs = RunsFolder(tmp_path)
    opened = runs.opened("run")
    assert runs.opened("run") is opened
    assert opened.checked.wait(30)
    assert not opened.faults


def test_a_run_that_was_scored_elsewhere_is_opened_again(tmp_path: Path) -> None:
    made(tmp_path / "run")
    runs = RunsFolder(tmp_path)
    before = runs.opened("run")
    before.checked.wait(30)
    ragstone.rescore(tmp_path / "run", metrics="exact_match")
    after = runs.opened("run")
    assert after is not before
    assert set(after.run.scores()["metric"]) == {"token_f1", "exact_match"}
    assert runs.opened("run") is after


def test_of_a_run_that_was_made_anew_nothing_is_kept(tmp_path: Path) -> None:
    path = made(tmp_path / "run")
    before = example_rows(Run.open(path))
    assert before.ids.len() == 20
    assert example_rows(Run.open(path)) is before
    rmtree(path)
    ragstone.evaluate(ROWS[5:], metrics="token_f1", judge="rules", out=path)
    assert example_rows(Run.open(path)).ids.to_list() == [f"r{number}" for number in range(5, 20)]


def test_rows_are_the_same_however_few_scores_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = ["token_f1", "exact_match", "abstention"]
    run = ragstone.evaluate(ROWS, metrics=metrics, judge="rules", out=tmp_path / "run")
    rows = ExampleRows(run).rows
    for at_once in (1, 40):
        monkeypatch.setattr("ragstone.web.example_rows.SCORES_AT_ONCE", at_once)
        assert ExampleRows(run).rows.equals(rows)
    for metric in metrics:
        assert rows[metric].to_list() == run.scores([metric])["value"].to_list()


def test_a_file_of_another_size_is_refused_at_once(tmp_path: Path) -> None:
    file = made(tmp_path / "run") / "scores" / "000000.parquet"
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(DamagedRun, match=r"scores/000000\.parquet"):
        RunsFolder(tmp_path).run("run")


def test_another_byte_is_found_in_the_background_and_said_from_then_on(tmp_path: Path) -> None:
    changed(made(tmp_path / "run") / "examples" / "000000.parquet", 40)
    runs = RunsFolder(tmp_path)
    opened = runs.opened("run")
    assert opened.checked.wait(30)
    with pytest.raises(DamagedRun, match=r"(?s)examples/000000\.parquet.*makes it anew"):
        runs.opened("run")


def test_the_run_that_was_not_looked_at_for_longest_is_let_go(tmp_path: Path) -> None:
    runs = RunsFolder(tmp_path)
    made(tmp_path / "0")
    others = [f"{number}" for number in range(1, HELD + 1)]
    for name in others:
        ragstone.evaluate(ROWS[:2], metrics="token_f1", judge="rules", out=tmp_path / name)
    opened = runs.opened("0")
    held = [runs.opened(name) for name in others]
    assert [runs.opened(name) for name in others] == held
    assert runs.opened("0") is not opened


def test_a_run_that_is_deleted_meanwhile_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = run_list.found_run

    def found_run(file: Path) -> FoundRun:
        if file.parent.name == "gone":
            raise FileNotFoundError(file)
        return real(file)

    made(tmp_path / "run")
    made(tmp_path / "gone")
    monkeypatch.setattr(runs_folder, "found_run", found_run)
    assert [run.path.name for run in RunsFolder(tmp_path).runs()] == ["run"]


def test_a_run_may_be_deleted_while_the_pages_are_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = []

    def summary(_: RunsFolder, name: str) -> None:
        if name == "2":
            raise FileNotFoundError(name)
        prepared.append(name)

    made(tmp_path / "1")
    made(tmp_path / "2")
    monkeypatch.setattr(RunsFolder, "summary", summary)
    runs_folder._prepare(RunsFolder(tmp_path))
    assert prepared == ["1"]
