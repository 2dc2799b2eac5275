"""``ragstone monitor alarms``, ``resolve``, ``silence`` and ``rules`` in the shell."""

import json
import re
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragstone.cli.app import app
from ragstone.monitor.settings import read_settings
from ragstone.monitor.store.store import open_store
from ragstone.monitor.store.stored_alarms import (
    add_alarm,
    end_notification,
    queue_notifications,
    take_notification,
)
from tests.project import ROOT

DOCUMENT = ROOT / "docs" / "monitor-rules.md"
EXAMPLE = ROOT / "examples" / "watched" / "all-settings.toml"
FACTS = {"metric": "faithfulness", "better": "+", "mean": 0.62, "answers": 117, "bar": 0.75}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["monitor", *arguments])


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with an alarm that could not be told."""
    opened = open_store(tmp_path)
    now = time.time()
    with opened.database.transaction() as sql:
        alarm = add_alarm(sql, "faith", "", "worse", since=now - 60, fired_at=now, facts=FACTS)
        queue_notifications(sql, now, [(alarm.number, "hook", "fired")])
        one = take_notification(sql, "hook", now, now)
        assert one is not None
        end_notification(sql, one, "due", now + 5, "the server answered with status 500")
    opened.close()
    return str(tmp_path)


def test_alarms_are_told_in_words_with_what_could_not_be_told(store: str) -> None:
    found = run("alarms", "--store", store)
    assert found.exit_code == 0
    assert "1  firing  faithfulness has been below its bar since " in found.stdout
    assert "0.620 in 117 judged answers (bar 0.750)" in found.stdout
    assert "channel hook: 1 waiting, 0 given up: the server answered with status 500" in (
        found.stdout
    )


def test_alarms_are_given_as_data(store: str) -> None:
    found = json.loads(run("alarms", "--store", store, "--json").stdout)
    assert [one["rule"] for one in found["alarms"]] == ["faith"]
    assert found["channels"][0]["waiting"] == 1


def test_an_alarm_is_called_over(store: str) -> None:
    assert "ann called it over" in run("resolve", "1", "--store", store, "--by", "ann").stdout
    assert "1  resolved" in run("alarms", "--store", store).stdout
    assert run("resolve", "2", "--store", store).exit_code == 2


def test_a_rule_is_silenced_and_told_again(store: str) -> None:
    told = run("silence", "faith", "--for", "2h", "--store", store, "--by", "ann")
    assert "faith is silenced until" in told.stdout
    assert "1  firing, silenced" in run("alarms", "--store", store).stdout
    assert "faith is told again." in (
        run("silence", "faith", "--for", "0s", "--store", store).stdout
    )
    assert "silenced" not in run("alarms", "--store", store).stdout


def test_a_rule_that_is_not_there_is_not_silenced(store: str) -> None:
    found = run("silence", "fait", "--for", "2h", "--store", store)
    assert found.exit_code == 2
    assert "traffic" in found.stderr
    assert run("silence", "traffic", "--for", "1h", "--store", store).exit_code == 0
    assert run("silence", "traffic", "--for", "long", "--store", store).exit_code == 2
    assert run("silence", "traffic", "--for", "365d", "--store", store).exit_code == 0
    endless = run("silence", "traffic", "--for", "366d", "--store", store)
    assert endless.exit_code == 2
    assert "366d is longer than a year: write 365d or less" in endless.stderr


def test_the_example_of_all_settings_is_right_and_its_delays_are_told() -> None:
    assert [rule.slice for rule in read_settings(EXAMPLE).rules] == ["", "language", "tier=gold"]
    found = json.loads(run("rules", str(EXAMPLE), "--json").stdout)
    by_name = {one["rule"]: one for one in found["rules"]}
    assert "for 2 rules together" in by_name["guard_ok"]["promise"]
    assert by_name["faithfulness by language"]["bar"] == (
        "faithfulness for each language below 0.800"
    )
    assert by_name["faithfulness by language"]["median"] > 10
    assert found["channels"] == ["webhook", "email", "file"]
    assert found["unset_variables"] == ["ALARM_SECRET", "SMTP_PASSWORD"]
    said = run("rules", str(EXAMPLE)).stdout
    assert "half noticed after" in said
    assert "does not start here with this file. Not set in the environment: ALARM_SECRET, S" in said


def test_a_file_with_faults_is_told_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[[rule]]\nmetric = "faithfullness"\nbar = 2\n', encoding="utf-8")
    found = run("rules", str(file))
    assert found.exit_code == 2
    assert "rules.toml:2" in found.stderr
    assert "rules.toml:3" in found.stderr
    assert found.stdout == ""
    data = run("rules", str(file), "--json")
    assert (data.exit_code, data.stderr) == (2, found.stderr)
    told = json.loads(data.stdout)
    assert told["file"] == str(file)
    assert [(one["line"], one["key"]) for one in told["faults"]] == [
        (2, "[[rule]] metric"),
        (3, "[[rule]] bar"),
    ]
    file.write_text('[[rule]]\nmetric = "\n', encoding="utf-8")
    (fault,) = json.loads(run("rules", str(file), "--json").stdout)["faults"]
    assert "at line 2" in fault["text"]


def test_the_short_example_of_the_page_is_right(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    file = tmp_path / "rules.toml"
    file.write_text(found[1], encoding="utf-8")
    assert [rule.slice for rule in read_settings(file).rules] == ["language"]


def test_every_key_of_the_example_is_explained() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    below = text[text.index("## A rule") :]
    example = EXAMPLE.read_text(encoding="utf-8")
    keys = set(re.findall(r"^(\w+)(?:\.\w+)? =", example, re.MULTILINE))
    assert {one for one in keys if f"`{one}" not in below and f"{one}`" not in below} == set()
