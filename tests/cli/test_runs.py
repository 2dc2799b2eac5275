"""``ragstone runs``, and the word latest in the place of a run."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.report.pages.runs_page import runs_page
from ragstone.report.render.terminal import as_text
from ragstone.run.folder.checksums import signed, write_json
from ragstone.run.folder.run_list import Beat, latest_run, runs_in

Command = Callable[..., Any]


@pytest.fixture
def runs(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four runs, an hour between each: two finished, one under way, and the newest damaged."""
    folder = tmp_path / "runs"
    for name in ("first", "second", "under-way", "broken"):
        shutil.copytree(demo, folder / name)
    under_way = folder / "under-way" / "run.json"
    content = json.loads(under_way.read_text(encoding="utf-8"))
    write_json(
        under_way,
        signed(
            {name: content[name] for name in content if name != "checksum"} | {"finished": False}
        ),
    )
    (folder / "broken" / "run.json").write_text("{}")
    for at, name in enumerate(("first", "second", "under-way", "broken")):
        os.utime(folder / name / "run.json", (at * 3600, at * 3600))
    (folder / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    return folder


def test_runs_are_listed_newest_first_with_their_state(ragstone: Command, runs: Path) -> None:
    found = ragstone("runs", runs, "--json").json["runs"]
    assert [(Path(one["run"]).name, one["state"]) for one in found] == [
        ("broken", "damaged"),
        ("under-way", "unfinished"),
        ("second", "finished"),
        ("first", "finished"),
    ]
    assert (found[2]["written"], found[2]["systems"]) == ("1970-01-01T01:00:00+00:00", 3)
    assert [one["data"] is None for one in found] == [True, True, False, False]


def test_a_person_sees_a_line_a_run(ragstone: Command, runs: Path) -> None:
    lines = ragstone("runs", runs).out.splitlines()
    named = [at for at, line in enumerate(lines) if line.startswith(str(runs / "broken"))]
    damaged, unfinished, second, _ = (line for line in lines[named[0] :] if "1970" in line)
    assert damaged.endswith("damaged")
    assert unfinished.endswith("unfinished")
    assert "cornwall.jsonl" in second
    assert "1970-01-01 01:00" in second


def test_latest_is_the_newest_finished_run(ragstone: Command, runs: Path) -> None:
    assert latest_run(runs) == runs / "second"
    shown = ragstone("show", "latest", "--limit", 1)
    assert shown.status == 0, shown.err
    assert str(Path("runs", "second")) in shown.out
    compared = ragstone("compare", "latest", "latest", "-m", "token_f1")
    assert compared.status == 0, compared.err


def test_a_folder_called_latest_is_that_folder(ragstone: Command, runs: Path) -> None:
    shutil.copytree(runs / "first", "latest")
    assert "runs" not in ragstone("export", "latest", "--what", "estimates").err
    assert "run        latest" in ragstone("show", "latest").out


def test_where_there_is_no_run_the_way_to_one_is_told(
    ragstone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = ragstone("show", "latest")
    assert outcome.status == 2
    assert "There is no folder runs: `ragstone evaluate DATA` makes a run." in outcome.err
    (tmp_path / "runs").mkdir()
    with pytest.raises(InputError, match="no finished run in runs"):
        latest_run(Path("runs"))
    assert "ragstone evaluate DATA" in as_text(runs_page(Path("runs"), runs_in()), 80)


def test_a_file_has_no_runs_in_it(ragstone: Command, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.touch()
    outcome = ragstone("runs", file)
    assert outcome.status == 2
    assert "answers.jsonl is a file. Name a folder" in outcome.err


def test_a_run_that_goes_on_says_how_far_it_is_and_by_how_many_workers(
    ragstone: Command, runs: Path
) -> None:
    beat = Beat(
        at=datetime.now(UTC), stage="judging", examples=62_000, fraction=0.62, seconds=9,
        judges=["human"], workers=3,
    )  # fmt: skip
    file = runs / "under-way" / "progress.json"
    file.write_text(beat.model_dump_json())
    assert "running, 62%, 3 workers" in ragstone("runs", runs).out.replace(" %", "%")
    found = ragstone("runs", runs, "--json").json["runs"][1]
    assert (found["state"], found["progress"]["workers"]) == ("unfinished", 3)
    file.write_text(replaced(beat, at=beat.at - timedelta(hours=1)))
    assert "running" not in ragstone("runs", runs).out
    one_process = replaced(beat, fraction=None, workers=None)
    file.write_text(one_process)
    assert "running, 62,000 rows" in ragstone("runs", runs).out


def replaced(beat: Beat, **changes: Any) -> str:
    return beat.model_copy(update=changes).model_dump_json()
