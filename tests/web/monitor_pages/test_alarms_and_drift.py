"""The page about drift says first whether anything moved, then by how much."""

import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ragstone.monitor.series.drift import DAY, FEATURES
from ragstone.monitor.series.metric_over_time import CONFIDENCE
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.store import open_store
from ragstone.web.monitor_pages.alarms_and_drift import FEATURE_NAMES
from ragstone.web.runs_folder import MonitorScreens, RunsFolder
from ragstone.web.security import Access
from ragstone.web.templating import fact_in_words, in_full
from ragstone.web.web_app import make_app
from tests.monitor.stored import put_example
from tests.web.conftest import HOST, SECRET


def page_of(folder: Path, questions: dict[int, str]) -> str:
    """The page over a store with 40 answers a day, whose questions are these so many days ago."""
    store = open_store(folder)
    midnight = time.time() // DAY * DAY
    for ago, question in questions.items():
        for at in range(40):
            put_example(
                store, f"{ago}-{at}", midnight - ago * DAY + 60 + at,
                question=question + "?" * (at % 3), contexts=["The pier is 90 m long."],
            )  # fmt: skip
    place = RunsFolder(store.folder, watching=MonitorScreens(store, DEFAULTS))
    client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
    answer = client.get("/monitor/drift")
    store.close()
    assert answer.status_code == 200, answer.text
    return answer.text


def test_questions_that_became_longer_are_said_first(tmp_path: Path) -> None:
    usual = dict.fromkeys(range(2, 9), "How long is the pier")
    page = page_of(tmp_path, usual | {1: "How long is the pier, and who built it, and when"})
    assert "The traffic has changed: length of the question." in page
    assert "passages retrieved" in page


def test_what_stays_the_same_shows_no_sign(tmp_path: Path) -> None:
    page = page_of(tmp_path, dict.fromkeys(range(1, 9), "How long is the pier"))
    assert "The traffic shows no sign of change." in page
    assert "No anchor was judged twice yet." in page


@pytest.mark.parametrize("questions", [{}, {0: "How long is the pier"}])
def test_without_a_whole_day_nothing_is_said_to_have_stayed(
    tmp_path: Path, questions: dict[int, str]
) -> None:
    assert "Too little is known of the last whole day" in page_of(tmp_path, questions)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("latency", 1.3999998569488525, "1.4 s"),
        ("latency", 0.8200000524520874, "820 ms"),
        ("first_token", 12.4, "12 s"),
        ("usual_gap", 5_280.0, "88 min"),
        ("ended", 12.0, "12"),
        ("input_tokens", 12_000, "12,000"),
        ("year", 1801, "1801"),
        ("temperature", 0.30000000000000004, "0.3"),
        ("mean", 0.71349, "0.713"),
        ("cached", True, "true"),
        ("language", "日本語", "日本語"),
        ("finish_reasons", ["stop", "length"], "stop, length"),
    ],
)
def test_facts_are_written_as_people_write_them(name: str, value: object, words: str) -> None:
    assert fact_in_words(name, value) == words


@pytest.mark.parametrize("name", ["ended", "at", "since", "judged_at"])
def test_times_are_shown_by_the_clock(name: str) -> None:
    at = 1795901694.1223073
    assert fact_in_words(name, at) == in_full(at)
    assert fact_in_words("deploys", [["v42", at]]) == f"v42, {in_full(at)}"


def test_each_feature_has_its_words() -> None:
    assert FEATURE_NAMES.keys() == {*FEATURES, CONFIDENCE}
