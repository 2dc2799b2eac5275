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
    assert "What comes has changed: length of the question." in page
    assert "passages retrieved" in page


def test_what_stays_the_same_shows_no_sign(tmp_path: Path) -> None:
    page = page_of(tmp_path, dict.fromkeys(range(1, 9), "How long is the pier"))
    assert "What comes shows no sign of change." in page
    assert "No anchor was judged twice yet." in page


@pytest.mark.parametrize("questions", [{}, {0: "How long is the pier"}])
def test_without_a_whole_day_nothing_is_said_to_have_stayed(
    tmp_path: Path, questions: dict[int, str]
) -> None:
    assert "too little is known" in page_of(tmp_path, questions)


def test_each_feature_has_its_words() -> None:
    assert FEATURE_NAMES.keys() == {*FEATURES, CONFIDENCE}
