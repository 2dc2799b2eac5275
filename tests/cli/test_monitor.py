"""``ragstone monitor`` in the shell."""

import json
import time
from pathlib import Path

from typer.testing import CliRunner

from ragstone.cli import app
from ragstone.monitor.store.counts import count
from ragstone.monitor.store.store import open_store


def test_status_counts_what_came_in_the_last_day(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.database.transaction() as run:
        count(run, time.time(), {"received": 8, "content_none": 3, "content_there": 1})
        count(run, time.time() - 200_000, {"received": 5})
    store.close()
    found = CliRunner().invoke(app, ["monitor", "status", "--store", str(tmp_path), "--json"])
    told = json.loads(found.stdout)
    assert (told["received"], told["kept"], told["judged"], told["due"]) == (8, 0, 0, 0)
    assert told["alarms"] == 0
    words = CliRunner().invoke(app, ["monitor", "status", "--store", str(tmp_path)]).stdout
    assert "8 came" in words
    assert "25% of traces have texts" in words
    assert "CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT" in words
    assert "never ran" in words


def test_a_store_that_is_not_there_is_said(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["monitor", "status", "--store", str(tmp_path / "none")])
    assert found.exit_code == 2
    assert "ragstone monitor serve" in found.stderr


def test_a_window_is_exported(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    out = tmp_path / "window.jsonl"
    found = CliRunner().invoke(
        app, ["monitor", "export", "--store", str(tmp_path), "--since", "24h", "--out", str(out)]
    )
    assert found.exit_code == 0
    assert f"ragstone evaluate {out}" in found.stdout
    assert out.read_text() == ""
    wrong = ["monitor", "export", "--store", str(tmp_path), "--since", "then", "--out", str(out)]
    assert "--since then is no time" in CliRunner().invoke(app, wrong).stderr
