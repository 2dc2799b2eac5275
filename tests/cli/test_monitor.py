"""``ragstone monitor`` in the shell."""

import json
import time
from pathlib import Path

from typer.testing import CliRunner

from ragstone.cli import app
from ragstone.monitor.following.assessing import GuardChecking
from ragstone.monitor.following.folding import Folding
from ragstone.monitor.following.sampling import Sampling
from ragstone.monitor.settings.judging import SamplingSettings
from ragstone.monitor.store.counts import count
from ragstone.monitor.store.store import open_store
from tests.monitor.following.arriving import receive, receive_answers, spans_of_answer


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


def test_a_past_window_is_judged_once_that_was_agreed_to(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    receive_answers(store, 1000.0, range(4))
    Folding(store).fold_all()
    GuardChecking(store).step()
    Sampling(store, SamplingSettings(0.05)).step()
    with store.database.transaction() as run:
        run("UPDATE draws SET state = 'out'")
    store.close()
    asked = ["monitor", "backfill", "--store", str(tmp_path), "--since", "2026-01-01",
             "--until", "2027-01-01", "--sample", "1"]  # fmt: skip
    refused = CliRunner().invoke(app, asked, input="n\n")
    assert refused.exit_code == 1
    assert "4 answers, 0 of them drawn before. 4 more would be judged" in refused.stdout
    agreed = CliRunner().invoke(app, [*asked, "--yes", "--json"])
    told = json.loads(agreed.stdout)
    assert (agreed.exit_code, told["to_judge"], told["due"], told["usd"]) == (0, 4, 4, 0.0)
    wrong = CliRunner().invoke(app, [*asked[:-1], "0.01"])
    assert wrong.exit_code == 2
    assert "--sample 0.01 is no probability" in wrong.stderr


def test_a_conversation_is_forgotten_once_that_was_agreed_to(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    receive(store, 1000.0, *spans_of_answer(1, attributes={"session.id": "s1"}))
    receive_answers(store, 1000.0, [2])
    store.close()
    asked = ["monitor", "forget", "--store", str(tmp_path), "--session", "s1"]
    assert CliRunner().invoke(app, asked, input="n\n").exit_code == 1
    gone = CliRunner().invoke(app, [*asked, "--yes"])
    assert gone.exit_code == 0
    assert "Gone: 1 trace, 1 answer, 0 items of queues" in gone.stdout
    again = CliRunner().invoke(app, [*asked, "--yes", "--json"])
    assert json.loads(again.stdout)["traces"] == 0
    unnamed = CliRunner().invoke(app, ["monitor", "forget", "--store", str(tmp_path), "--yes"])
    assert unnamed.exit_code == 2
    assert "--session" in unnamed.stderr
