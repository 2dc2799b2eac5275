"""``ragstone monitor`` in the shell."""

import json
import os
import time
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragstone.cli.app import app
from ragstone.monitor.duties.draw_answers import draw_answers
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.rows import count
from ragstone.monitor.store.store import open_store
from tests.monitor.duties.arriving import (
    receive,
    receive_answers,
    receive_examples,
    spans_of_answer,
)


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
    for name in ("--since", "--until"):
        for given in ("then", ""):
            wrong = ["monitor", "export", "--store", str(tmp_path), name, given, "--out", str(out)]
            found = CliRunner().invoke(app, wrong)
            assert found.exit_code == 2
            assert "is no time: write 2026-11-23" in found.stderr


def test_an_export_ends_now_unless_another_end_is_named(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    now = time.time()
    for at in (now - 60, now + 3_600):
        said = {"question": "Who?", "contexts": ["Ann did."], "answer": "Ann.", "at": at}
        receive_examples(store, now, json.dumps(said).encode())
    Folding(store).fold_all()
    store.close()
    out = tmp_path / "new" / "window.jsonl"
    asked = ["monitor", "export", "--store", str(tmp_path), "--out", str(out), "--json"]
    found = CliRunner().invoke(app, [*asked, "--since", "5min"])
    assert json.loads(found.stdout)["examples"] == len(out.read_text().splitlines()) == 1
    found = CliRunner().invoke(app, [*asked, "--until", "2099-01-01"])
    assert json.loads(found.stdout)["examples"] == 2


def test_a_past_window_is_judged_once_that_was_agreed_to(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    receive_answers(store, 1000.0, range(4))
    Folding(store).fold_all()
    check_answers(store, usual_guard(), time.time)
    draw_answers(store, SamplingSettings(0.05), JudgingSettings(), time.time)
    with store.database.transaction() as run:
        run("UPDATE draws SET state = 'out'")
    store.close()
    asked = ["monitor", "backfill", "--store", str(tmp_path), "--since", "2026-01-01",
             "--until", "2027-01-01", "--sample", "1"]  # fmt: skip
    refused = CliRunner().invoke(app, asked, input="n\n")
    assert refused.exit_code == 1
    assert "4 answers, 0 of them drawn before. 4 more would be judged" in refused.stdout
    unanswered = CliRunner().invoke(app, asked, input="")
    assert unanswered.exit_code == 1
    assert "Not agreed to: no answer came. --yes" in unanswered.stderr
    unasked = CliRunner().invoke(app, [*asked, "--json"])
    assert (unasked.exit_code, json.loads(unasked.stdout)["due"]) == (1, 0)
    assert "--yes" in unasked.stderr
    nobody = CliRunner().invoke(app, [*asked, "--judge", "nosuch"])
    assert nobody.exit_code == 2
    assert "No judge is called 'nosuch'" in nobody.stderr
    agreed = CliRunner().invoke(app, [*asked, "--yes", "--json"])
    told = json.loads(agreed.stdout)
    assert (agreed.exit_code, told["to_judge"], told["due"], told["usd"]) == (0, 4, 4, 0.0)
    wrong = CliRunner().invoke(app, [*asked[:-1], "0.01"])
    assert wrong.exit_code == 2
    assert "--sample 0.01 is no probability" in wrong.stderr


def test_a_conversation_is_erased_once_that_was_agreed_to(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    receive(store, 1000.0, *spans_of_answer(1, attributes={"session.id": "s1"}))
    receive_answers(store, 1000.0, [2])
    store.close()
    asked = ["monitor", "erase", "--store", str(tmp_path), "--session", "s1"]
    refused = CliRunner().invoke(app, [*asked, "--user", "4711"], input="n\n")
    assert refused.exit_code == 1
    assert "Everything of session s1 and of user 4711 goes" in refused.stderr
    unanswered = CliRunner().invoke(app, asked, input="")
    assert unanswered.exit_code == 1
    assert "Not agreed to: no answer came. --yes" in unanswered.stderr
    unasked = CliRunner().invoke(app, [*asked, "--json"])
    assert (unasked.exit_code, unasked.stdout) == (1, "")
    gone = CliRunner().invoke(app, [*asked, "--yes"])
    assert gone.exit_code == 0
    assert "Gone: 1 trace, 1 answer, 0 items of queues" in gone.stdout
    again = CliRunner().invoke(app, [*asked, "--yes", "--json"])
    assert json.loads(again.stdout)["traces"] == 0
    unnamed = CliRunner().invoke(app, ["monitor", "erase", "--store", str(tmp_path)])
    assert unnamed.exit_code == 2
    assert unnamed.stderr == "Name --session ID or --user ID.\n"
    old = CliRunner().invoke(app, ["monitor", "forget", *asked[2:], "--yes"])
    assert old.exit_code == 0
    assert "monitor forget is now called " in old.stderr
    assert "monitor erase.\n" in old.stderr
    assert "forget" not in CliRunner().invoke(app, ["monitor", "--help"]).stdout


def test_what_is_no_place_of_a_store_is_not_taken_for_a_folder(tmp_path: Path) -> None:
    with chdir(tmp_path):
        for place in ("mysql://me:secret@host/db", "", " "):
            for command in (["status"], ["alarms"], ["serve", "--port", "0"]):
                found = CliRunner().invoke(app, ["monitor", *command, "--store", place])
                assert found.exit_code == 2
                assert "name a folder, or an address postgresql://…" in found.stderr
                assert "secret" not in found.stderr
    assert not list(tmp_path.iterdir())


def test_commands_that_write_see_beforehand_that_the_store_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(tmp_path).close()
    # The administrator, who may run this, can write to every file.
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "monitor.sqlite")
    for command in (
        ["serve", "--port", "0"],
        ["erase", "--session", "s1", "--yes"],
        ["backfill", "--since", "1d", "--sample", "1", "--yes"],
        ["resolve", "1"],
        ["silence", "traffic", "--for", "1h"],
    ):
        found = CliRunner().invoke(app, ["monitor", *command, "--store", str(tmp_path)])
        assert found.exit_code == 2
        assert "monitor.sqlite is read-only. Give yourself write permission" in found.stderr
    read = CliRunner().invoke(app, ["monitor", "status", "--store", str(tmp_path)])
    assert read.exit_code == 0


def test_tokens_of_apps_are_kept_as_hashes_and_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "tokens"

    def token(*words: str) -> Result:
        return CliRunner().invoke(app, ["monitor", "token", str(file), *words])

    shop, chat = token("shop").stdout.strip(), token("chat").stdout.strip()
    assert len({shop, chat, token("chat").stdout.strip()}) == 3
    assert token().stdout.split() == ["shop", "chat"]
    assert shop not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert token("shop", "--revoke").exit_code == 0
    assert token().stdout.split() == ["chat"]
    assert "No app is called 'shop'" in token("shop", "--revoke").stderr
    assert token("two words").exit_code == 2
    file.write_text("chat password\n")
    assert f"{file}:1 is not the name of an app" in token("shop").stderr
