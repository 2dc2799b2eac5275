"""Rules over sessions: each session has one score, once, when nothing is added to it any more."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ragstone.cli.monitor_doctor import standing
from ragstone.core.database import Sql
from ragstone.monitor.alarms import watch as closing
from ragstone.monitor.alarms.detectors import Fall, detect
from ragstone.monitor.alarms.slice_rules import WatchedSlice
from ragstone.monitor.alarms.watch import AGAIN, SILENCE, close_sessions, watch
from ragstone.monitor.duties.worker_status import monitor_status
from ragstone.monitor.series.baselines import AlarmBar
from ragstone.monitor.settings import (
    AlarmPromise,
    AlarmRule,
    BaselineSettings,
    MonitorSettings,
    NoDataSettings,
    SamplingSettings,
)
from ragstone.monitor.store.incoming import erase_examples
from ragstone.monitor.store.scores import answers_together
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_alarms import raised_alarms
from ragstone.monitor.store.watched_scores import watched_scores, watched_turns
from tests.monitor.duties.arriving import rows

RULE = AlarmRule("faith", "faithfulness", bar=0.8, of="sessions", no_data="ignore")
ALL = WatchedSlice(RULE, "", 1, AlarmBar(0.8), limit=1000.0)
SETTINGS = MonitorSettings(
    rules=(RULE,),
    promise=AlarmPromise(0.05, 1_000),
    no_data=NoDataSettings(policy="ignore"),
    sampling=SamplingSettings(1.0),
)
START = 1_700_000_000.0


def turns(
    store: MonitorStore,
    session: str | None,
    values: Sequence[float | None],
    *,
    at: float = START,
    first: int = 0,
    probability: float = 1.0,
    lot: float | None = 0.0,
    state: str = "judged",
    status: str | None = None,
    judge: str = "local",
    metric: str = "faithfulness",
    facet: tuple[str, str] | None = None,
) -> None:
    """Turns that came at one moment and were judged; None is undefined."""
    source = "guard" if metric.startswith("guard_") else "sample"
    with store.database.transaction() as run:
        for k, value in enumerate(values, first):
            name = f"{session}-{k}" if session else f"alone-{at}-{k}"
            run(
                "INSERT INTO examples VALUES (?, 't', '', ?, ?, 1, ?, NULL, NULL, 's', '{}', 'h', "
                "'{}')",
                name, at + k, at, session,
            )  # fmt: skip
            run(
                "INSERT INTO draws VALUES (?, ?, ?, ?, 0, 'h', 'sample', 0, ?)",
                name, at, probability, state, lot,
            )  # fmt: skip
            if facet:
                run("INSERT INTO facets VALUES (?, ?, ?)", name, *facet)
            if state == "judged":
                score(run, name, metric, value, at, probability, status, judge, source)


def score(
    run: Sql,
    name: str,
    metric: str,
    value: float | None,
    at: float,
    probability: float,
    status: str | None,
    judge: str,
    source: str,
) -> None:
    run(
        "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, judge, "
        "probability, version, source, again) VALUES (?, ?, ?, ?, ?, ?, '', NULL, ?, ?, NULL, ?, "
        "0)",
        name, metric, at, at, value, status or ("undefined" if value is None else "value"), judge,
        probability, source,
    )  # fmt: skip


def closed(store: MonitorStore, now: float, rule: AlarmRule = RULE) -> None:
    with store.database.transaction() as run:
        while close_sessions(run, [rule], now):
            pass


def scores(store: MonitorStore, metric: str = "faithfulness") -> list[tuple[object, ...]]:
    return rows(
        store,
        "SELECT session, value, status, probability FROM watched_sessions WHERE metric = ? "
        "ORDER BY number",
        metric,
    )


@pytest.fixture(autouse=True)
def begun(store: MonitorStore) -> None:
    """The rule is there before anything comes."""
    closed(store, START)


def test_a_session_has_the_mean_of_its_turns_after_a_silence(store: MonitorStore) -> None:
    turns(store, "a", [1.0, 0.0, None, 0.5], probability=0.5)
    closed(store, START + SILENCE - 1)
    assert scores(store) == []
    closed(store, START + SILENCE)
    assert scores(store) == [("a", 0.5, "value", 0.5)]


def test_the_turns_of_a_session_that_goes_on_are_not_read_at_each_of_its_scores(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def reading(run: Sql, metric: str, sessions: Sequence[str], *, guard: bool) -> Any:
        read.extend(sessions)
        return watched_turns(run, metric, sessions, guard=guard)

    monkeypatch.setattr("ragstone.monitor.store.watched_scores.watched_turns", reading)
    for k in range(20):
        turns(store, "a", [1.0], first=k, at=START + 60 * k)
        closed(store, START + 60 * k)
    assert read == ["a"]
    closed(store, START + SILENCE)
    assert read == ["a"] * 2
    assert scores(store) == []
    closed(store, START + 60 * 19 + SILENCE)
    assert scores(store) == [("a", 1.0, "value", 1.0)]


def test_another_turn_keeps_it_open_and_a_late_one_counts_no_second_time(
    store: MonitorStore,
) -> None:
    turns(store, "a", [1.0])
    turns(store, "a", [0.0], first=1, at=START + SILENCE - 1)
    closed(store, START + SILENCE)
    assert scores(store) == []
    closed(store, START + 2 * SILENCE)
    assert scores(store) == [("a", 0.5, "value", 1.0)]
    turns(store, "a", [0.0], first=2, at=START + 3 * SILENCE)
    closed(store, START + 9 * SILENCE)
    assert scores(store) == [("a", 0.5, "value", 1.0)]
    assert rows(store, "SELECT * FROM open_sessions") == []


def test_an_answer_without_a_session_is_one_by_itself_at_once(store: MonitorStore) -> None:
    turns(store, None, [0.25, 1.0])
    closed(store, START)
    assert [value for _, value, *_ in scores(store)] == [0.25, 1.0]


def test_a_session_waits_until_all_its_turns_are_judged(store: MonitorStore) -> None:
    turns(store, "a", [1.0])
    turns(store, "a", [None], first=1, state="due")
    closed(store, START + SILENCE)
    assert scores(store) == []
    later = START + SILENCE + AGAIN / 2
    with store.database.transaction() as run:
        run("UPDATE draws SET state = 'judged'")
        score(run, "a-1", "faithfulness", 0.0, later, 1.0, None, "local", "sample")
    closed(store, later)
    assert scores(store) == [("a", 0.5, "value", 1.0)]


def test_what_is_not_whole_is_no_score_and_says_why(store: MonitorStore) -> None:
    turns(store, "not drawn", [1.0], probability=0.5)
    turns(store, "not drawn", [None], first=1, state="out", probability=0.1, lot=0.3)
    turns(store, "failed", [1.0])
    turns(store, "failed", [None], first=1, status="missing")
    turns(store, "empty", [None, None])
    turns(store, "lots of their own", [1.0] * 3, probability=0.1, lot=None)
    closed(store, START + SILENCE)
    assert sorted(scores(store)) == [
        ("empty", None, "undefined", 1.0),
        ("failed", None, "missing", 1.0),
        ("lots of their own", None, "out", 1.0),
        ("not drawn", None, "out", 1.0),
    ]  # fmt: skip
    with store.database.reading() as run:
        assert watched_scores(run, "faithfulness", None, 0, 10, "sessions") == []


def test_the_guard_checks_every_turn_whatever_was_drawn(store: MonitorStore) -> None:
    rule = replace(RULE, metric="guard_ok")
    closed(store, START, rule)
    turns(store, "a", [1.0, 0.0], probability=0.1, metric="guard_ok")
    closed(store, START + SILENCE, rule)
    assert scores(store, "guard_ok") == [("a", 0.5, "value", 1.0)]


def test_what_was_judged_before_the_rule_is_left_alone(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        close_sessions(run, [], START)
    turns(store, "before", [0.0])
    closed(store, START + 1)
    turns(store, "after", [1.0], at=START + 2)
    closed(store, START + 9 * SILENCE)
    assert scores(store) == [("after", 1.0, "value", 1.0)]


def test_what_is_erased_is_gone_and_the_others_keep_their_numbers(store: MonitorStore) -> None:
    turns(store, None, [1.0])
    closed(store, START)
    turns(store, "gone", [0.0, 0.0])
    closed(store, START + SILENCE)
    turns(store, "open", [0.0], at=START + SILENCE)
    closed(store, START + SILENCE)
    with store.database.transaction() as run:
        erase_examples(run, ["gone-0", "gone-1", "open-0"])
    turns(store, None, [0.5], at=START + 2 * SILENCE)
    closed(store, START + 9 * SILENCE)
    assert rows(store, "SELECT number, value FROM watched_sessions ORDER BY number") == [
        (1, 1.0), (3, 0.5),
    ]  # fmt: skip
    assert rows(store, "SELECT * FROM open_sessions") == []


def test_sessions_are_closed_in_parts_and_each_once(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "MOST_SCORES", 7)
    monkeypatch.setattr(closing, "MOST_SESSIONS", 4)
    for n in range(15):
        turns(store, f"s{n:02}", [n / 20, n / 20], at=START + n)
    watch(store, SETTINGS, START + 100)
    watch(store, SETTINGS, START + 100 + SILENCE)
    assert [session for session, *_ in scores(store)] == [f"s{n:02}" for n in range(15)]
    ((through,),) = rows(store, "SELECT through FROM detectors")
    assert through == 15


def test_a_kill_between_loses_no_session_and_counts_none_twice(store: MonitorStore) -> None:
    for n in range(5):
        turns(store, f"s{n}", [0.5], at=START + n)
    with pytest.raises(KeyboardInterrupt):
        _killed_while_closing(store)
    closed(store, START + 2 * SILENCE)
    closed(store, START + 3 * SILENCE)
    assert [session for session, *_ in scores(store)] == [f"s{n}" for n in range(5)]


def _killed_while_closing(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        close_sessions(run, [RULE], START + 2 * SILENCE)
        raise KeyboardInterrupt


def test_the_detector_sees_the_means_of_sessions_with_their_weights(store: MonitorStore) -> None:
    random = np.random.default_rng(5)
    means, chances = [], []
    for n in range(60):
        values = (random.random(5) < (0.9 if n < 30 else 0.3)).astype(float).tolist()
        chance = float(random.choice([0.5, 1.0]))
        turns(store, f"s{n:02}", values, at=START + n, probability=chance)
        means.append(np.mean(values))
        chances.append(chance)
    closed(store, START + 2 * SILENCE)
    watched = replace(ALL, least=0.5)
    with store.database.transaction() as run:
        found = detect(run, [watched])
    _, (alarm, *_) = watched.falling.step(watched.falling.start(), means, probabilities=chances)
    fall = found.found[0]
    assert isinstance(fall, Fall)
    assert fall.number == alarm.number
    since = slice(alarm.since - 1, alarm.number)
    assert fall.answers == len(means[since])
    assert fall.mean == pytest.approx(
        np.average(means[since], weights=1 / np.array(chances[since]))
    )


def test_turns_that_fail_together_alarm_a_rule_of_answers_and_none_of_sessions(
    store: MonitorStore,
) -> None:
    """A healthy stream: the mean is at the bar, but sessions of eight are all good or all bad."""
    random = np.random.default_rng(2)
    answers = replace(RULE, name="by answers", of="answers")
    settings = replace(SETTINGS, rules=(RULE, answers))
    watch(store, settings, START)
    for n in range(400):
        turns(store, f"s{n:03}", [float(random.random() < 0.8)] * 8, at=START + n)
    watch(store, settings, START + 500 + SILENCE)
    with store.database.reading() as run:
        assert {one.rule for one in raised_alarms(run, 10)} == {"by answers"}
        assert answers_together(run) == {"by answers": 8.0}
        told = dict(standing(monitor_status(run, START), START))
    assert told["rule"].startswith("by answers takes answers as independent, but 8.0 of each")
    assert told["rule"].endswith('Write of = "sessions" in the rule.')


def test_a_margin_counts_from_the_first_sessions(store: MonitorStore) -> None:
    rule = replace(RULE, bar=None, margin=0.1)
    settings = replace(SETTINGS, rules=(rule,), baseline=BaselineSettings(answers=50))
    watch(store, settings, START)
    for n in range(49):
        turns(store, f"s{n:02}", [1.0, 0.0 if n % 5 == 0 else 1.0], at=START + n)
    watch(store, settings, START + 100 + SILENCE)
    assert rows(store, "SELECT count(*) FROM kept WHERE name = 'bar faith '") == [(0,)]
    turns(store, "s49", [1.0, 1.0], at=START + 50)
    watch(store, settings, START + 200 + 2 * SILENCE)
    ((bar,),) = rows(store, "SELECT value FROM kept WHERE name = 'bar faith '")
    assert '"n": 50' in bar
    assert '"mean": 0.9' in bar


def test_a_session_is_in_the_slices_of_its_last_turn(store: MonitorStore) -> None:
    turns(store, "a", [1.0], facet=("language", "de"))
    turns(store, "a", [0.0], first=1, facet=("language", "en"))
    closed(store, START + SILENCE)
    with store.database.reading() as run:
        for value, n in (("de", 0), ("en", 1)):
            found = watched_scores(run, "faithfulness", ("language", value), 0, 9, "sessions")
            assert len(found) == n
