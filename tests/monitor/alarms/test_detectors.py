"""Detectors over a store: each score is looked at once, whatever happens in between."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.core.database import Sql
from ragstone.monitor.alarms import detectors as detecting
from ragstone.monitor.alarms.detectors import Detection, Fall, Recovery, detect
from ragstone.monitor.alarms.slice_rules import WatchedSlice
from ragstone.monitor.series.baselines import AlarmBar
from ragstone.monitor.settings import AlarmRule
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.store.watched_scores import kept_detectors
from ragstone.report.reason_words import words
from ragstone.stats.monitoring.detector import DetectorState

RULE = AlarmRule("grounded", "faithfulness", bar=0.8)
ALL = WatchedSlice(RULE, "", 1, AlarmBar(0.8), limit=1000.0)
HEALTHY = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0] * 5
FALLEN = [0.0, 1.0, 0.0, 0.0] * 10


def put(
    store: MonitorStore,
    values: Sequence[float | None],
    *,
    metric: str = "faithfulness",
    judge: str = "local",
    probabilities: Sequence[float] | None = None,
    facet: tuple[str, str] | None = None,
    source: str = "sample",
    again: int = 0,
) -> None:
    """Scores of new answers; the n-th of the store was given at n · 10 s."""
    with store.database.transaction() as run:
        ((n,),) = run("SELECT count(*) FROM scores")
        for place, value in enumerate(values, n + 1):
            status = "undefined" if value is None else "value"
            p = 1.0 if probabilities is None else probabilities[place - n - 1]
            run(
                "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, "
                "judge, probability, version, source, again) "
                "VALUES (?, ?, ?, ?, ?, ?, '', NULL, ?, ?, NULL, ?, ?)",
                f"e{place}", metric, place * 10.0, place * 10.0 + 5, value, status, judge, p,
                source, again,
            )  # fmt: skip
            if facet:
                run("INSERT INTO facets VALUES (?, ?, ?)", f"e{place}", *facet)


def looked(store: MonitorStore, *watching: WatchedSlice) -> Detection:
    with store.database.transaction() as run:
        return detect(run, watching or [ALL])


def test_a_fall_is_found_where_the_detector_finds_it_and_told_once(store: MonitorStore) -> None:
    put(store, HEALTHY + FALLEN)
    _, (alarm, *_) = ALL.falling.step(ALL.falling.start(), HEALTHY + FALLEN)
    first = looked(store).found[0]
    assert isinstance(first, Fall)
    assert (first.number, first.at) == (alarm.number, alarm.number * 10.0)
    assert first.since == alarm.since * 10.0 == 310.0
    assert first.answers == alarm.number - 30
    assert first.mean == pytest.approx(np.mean(FALLEN[: first.answers]))
    assert not first.again
    assert looked(store).found == ()


def test_what_is_looked_at_in_pieces_is_as_at_once(store: MonitorStore) -> None:
    values = (np.random.default_rng(4).random(300) < np.repeat([0.8, 0.4, 0.98], 100)).astype(float)
    put(store, values.tolist())
    with store.database.transaction() as run:
        at_once = detect(run, [ALL])
        run("DELETE FROM detectors")
        run("DELETE FROM scores")
    assert {type(one) for one in at_once.found} == {Fall, Recovery}
    found = list[Fall | Recovery]()
    for start in range(0, 300, 7):
        put(store, values[start : start + 7].tolist())
        found += looked(store).found

    def told(events: Sequence[Fall | Recovery]) -> list[tuple[object, ...]]:
        with store.database.reading() as run:
            ((first,),) = run("SELECT min(number) FROM scores")
        begin = int(first) if events is found else 1
        return [(type(one), one.number - begin, one.at, one.since) for one in events]

    assert told(found) == told(at_once.found)


def test_after_a_kill_no_score_is_left_out_or_counted_twice(store: MonitorStore) -> None:
    put(store, HEALTHY)
    looked(store)
    put(store, FALLEN)
    killed = list[Detection]()
    with pytest.raises(KeyboardInterrupt):
        _killed_while_looking(store, killed)
    assert killed[0].found
    assert looked(store) == killed[0]
    assert looked(store).found == ()


def _killed_while_looking(store: MonitorStore, killed: list[Detection]) -> None:
    with store.database.transaction() as run:
        killed.append(detect(run, [ALL]))
        raise KeyboardInterrupt


def test_a_slice_is_looked_at_by_itself(store: MonitorStore) -> None:
    german = replace(ALL, slice="language=de")
    english = replace(ALL, slice="language=en")
    for value in HEALTHY + FALLEN:
        put(store, [value], facet=("language", "de"))
        put(store, [1.0], facet=("language", "en"))
    found = looked(store, german, english)
    assert {one.watched.slice for one in found.found} == {"language=de"}
    _, alarms = ALL.falling.step(ALL.falling.start(), HEALTHY + FALLEN)
    assert [one.number for one in found.found] == [2 * one.number - 1 for one in alarms]
    assert found.standings[1].looks == 70


def test_a_rise_is_a_fall_where_less_is_better(store: MonitorStore) -> None:
    rule = AlarmRule("invented", "unsupported_claim", bar=0.2, better="-")
    watched = WatchedSlice(rule, "", 1, AlarmBar(0.2), limit=1000.0)
    put(store, [1 - one for one in HEALTHY + FALLEN], metric="unsupported_claim")
    put(store, HEALTHY + FALLEN)
    (mine, *_), (other, *_) = looked(store, watched).found, looked(store).found
    assert isinstance(mine, Fall)
    assert mine.number == other.number - 70
    assert mine.mean == pytest.approx(np.mean(np.subtract(1, FALLEN[: mine.answers])))


def test_answers_count_by_the_probability_with_which_they_were_drawn(store: MonitorStore) -> None:
    drawn = [0.2, 0.5, 1.0, 0.2, 0.5] * 14
    watched = replace(ALL, least=0.2)
    put(store, HEALTHY + FALLEN, probabilities=drawn)
    _, (alarm, *_) = watched.falling.step(
        watched.falling.start(), HEALTHY + FALLEN, probabilities=drawn
    )
    first = looked(store, watched).found[0]
    assert isinstance(first, Fall)
    assert first.number == alarm.number
    weights = 1 / np.array(drawn[alarm.since - 1 : alarm.number])
    values = (HEALTHY + FALLEN)[alarm.since - 1 : alarm.number]
    assert first.mean == pytest.approx(np.average(values, weights=weights))


def test_answers_that_were_drawn_more_rarely_than_now_do_no_harm(store: MonitorStore) -> None:
    put(store, HEALTHY + FALLEN, probabilities=[0.1] * 70)
    found = looked(store, replace(ALL, least=0.5)).found
    expected = looked(store, replace(ALL, rule=replace(RULE, name="other"), least=0.1)).found
    assert [one.number for one in found] == [one.number for one in expected] != []


def test_only_scores_of_new_answers_are_looked_at(store: MonitorStore) -> None:
    put(store, [None] * 10)
    put(store, [0.0] * 30, source="backfill")
    put(store, [0.0] * 30, again=1)
    put(store, [0.0] * 30, metric="hit")
    put(store, [1.0, 1.0])
    (standing,) = looked(store).standings
    assert standing.looks == 2
    assert not standing.fallen


def test_what_was_judged_before_a_rule_began_is_not_looked_at(store: MonitorStore) -> None:
    put(store, FALLEN)
    put(store, HEALTHY)
    (standing,) = looked(store, replace(ALL, begun=40)).standings
    assert standing.looks == 30


def test_the_standing_says_how_much_speaks_for_a_fall(store: MonitorStore) -> None:
    put(store, HEALTHY)
    state, _ = ALL.falling.step(ALL.falling.start(), HEALTHY)
    (standing,) = looked(store).standings
    assert standing.evidence == pytest.approx(sum(state.evidence) / 1000)


def test_another_bar_begins_anew_and_another_promise_does_not(store: MonitorStore) -> None:
    put(store, HEALTHY)
    looked(store)
    promised = looked(store, replace(ALL, limit=500.0))
    assert promised.anew == ()
    assert promised.standings[0].looks == 30
    stricter = replace(ALL, bar=AlarmBar(0.9))
    changed = looked(store, stricter)
    assert changed.anew == (("grounded", "", "rule_changed"),)
    assert changed.standings[0].looks == 0
    put(store, [1.0])
    assert looked(store, stricter).standings[0].looks == 1


def test_another_judge_begins_anew_and_one_that_stands_in_is_not_looked_at(
    store: MonitorStore,
) -> None:
    put(store, HEALTHY)
    for _ in range(5):
        put(store, [0.0] * 19, judge="stands in")
        put(store, [1.0])
    before = looked(store)
    assert (before.anew, before.found) == ((), ())
    assert before.standings[0].looks == 35
    put(store, [0.0] * 15, judge="new")
    assert looked(store).standings[0].looks == 35
    put(store, [0.0] * 5 + [1.0] * 8, judge="new")
    after = looked(store)
    ((_, _, why),) = after.anew
    assert words(why) == "the judge was local and is new now"
    assert after.standings[0].looks == 8


def test_what_came_before_a_rule_changed_is_not_looked_at(store: MonitorStore) -> None:
    put(store, HEALTHY)
    looked(store)
    put(store, FALLEN)
    (standing,) = looked(store, replace(ALL, bar=AlarmBar(0.9))).standings
    assert (standing.looks, standing.fallen) == (0, False)


def test_the_other_direction_begins_anew_though_the_bar_is_in_the_middle(
    store: MonitorStore,
) -> None:
    put(store, HEALTHY)
    middle = replace(ALL, bar=AlarmBar(0.5))
    looked(store, middle)
    turned = replace(middle, rule=replace(RULE, better="-"))
    assert looked(store, turned).anew == (("grounded", "", "rule_changed"),)


def test_two_that_stand_in_by_turns_are_no_new_judge(store: MonitorStore) -> None:
    put(store, HEALTHY)
    for judge in ("one", "other", "one", "other"):
        put(store, [0.0] * 10, judge=judge)
    found = looked(store)
    assert (found.anew, found.found) == ((), ())
    assert found.standings[0].looks == 30


def test_what_fell_has_to_recover_from_the_start_by_another_judge(store: MonitorStore) -> None:
    # Against a score of 1 the largest bet on a recovery from .8 gains a quarter each time.
    start = ALL.recovering.start()
    _, (alarm, *_) = ALL.recovering.step(start, [0.0] * 100)
    needed = alarm.number
    put(store, HEALTHY + FALLEN)
    assert looked(store).standings[0].fallen
    put(store, [1.0] * (needed - 2))
    assert looked(store).standings[0].fallen
    put(store, [1.0] * (20 + needed - 1), judge="new")
    assert looked(store).standings[0].fallen
    put(store, [1.0], judge="new")
    assert not looked(store).standings[0].fallen


def test_a_recovery_counts_answers_by_their_probabilities(store: MonitorStore) -> None:
    watched = replace(ALL, least=0.25)
    put(store, HEALTHY + FALLEN * 2, probabilities=[0.25] * 110)
    assert looked(store, watched).standings[0].fallen
    drawn = [1.0, 0.25] * 100
    state = kept_recovery(store)
    _, (alarm, *_) = watched.recovering.step(state, [0.0] * 200, probabilities=drawn)
    put(store, [1.0] * 200, probabilities=drawn)
    (recovery,) = looked(store, watched).found
    assert recovery.number - 110 == alarm.number - state.looks


def kept_recovery(store: MonitorStore) -> DetectorState:
    with store.database.reading() as run:
        return DetectorState.from_dict(
            json.loads(kept_detectors(run)["grounded", ""].state)["recovering"]
        )


def test_a_score_that_rounding_moved_out_of_its_range_is_the_end_of_it(store: MonitorStore) -> None:
    put(store, [1.0000000000000002, -1e-17, 1.0])
    (standing,) = looked(store).standings
    state, _ = ALL.falling.step(ALL.falling.start(), [1.0, 0.0, 1.0])
    assert standing.evidence == pytest.approx(sum(state.evidence) / 1000)


def test_the_detectors_of_rules_that_are_gone_are_forgotten(store: MonitorStore) -> None:
    put(store, HEALTHY)
    looked(store, ALL, replace(ALL, slice="language=de"))
    assert looked(store).anew == (("grounded", "language=de", "rule_gone"),)
    with store.database.reading() as run:
        assert list(kept_detectors(run)) == [("grounded", "")]


def test_a_fall_recovers_and_may_come_again(store: MonitorStore) -> None:
    put(store, HEALTHY + FALLEN * 3)
    falls = looked(store)
    assert [one.again for one in falls.found if isinstance(one, Fall)] == [
        False, *[True] * (len(falls.found) - 1)
    ]  # fmt: skip
    assert len(falls.found) > 1
    assert falls.standings[0].fallen
    put(store, [1.0] * 400)
    (recovery,) = looked(store).found
    assert isinstance(recovery, Recovery)
    assert recovery.since >= 1500.0
    assert recovery.at > recovery.since
    assert not looked(store).standings[0].fallen
    put(store, FALLEN)
    fall = looked(store).found[0]
    assert isinstance(fall, Fall)
    assert not fall.again


def test_a_long_backlog_is_looked_at_in_parts(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detecting, "MOST_SCORES", 25)
    rises = WatchedSlice(AlarmRule("hits", "hit", bar=0.8), "", 1, AlarmBar(0.8), limit=1000.0)
    put(store, HEALTHY)
    put(store, [1.0] * 60, metric="hit")
    put(store, FALLEN)
    found, calls, more = list[Fall | Recovery](), 0, True
    while more:
        part = looked(store, ALL, rises)
        found += part.found
        more, calls = part.more, calls + 1
    # 130 scores, 25 at a time.
    assert calls == 6
    assert [one.looks for one in part.standings][1] == 60
    _, alarms = ALL.falling.step(ALL.falling.start(), HEALTHY + FALLEN)
    assert [one.number for one in found] == [
        one.number if one.number <= 30 else one.number + 60 for one in alarms
    ]


def test_old_scores_are_not_read_again(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    put(store, HEALTHY + FALLEN)
    with store.database.transaction() as run:
        asked = _Asked(run)
        detect(asked, [ALL, replace(ALL, slice="language=de")])
        plans = [
            str(run(f"EXPLAIN QUERY PLAN {statement}", *values))
            for statement, values in asked.statements
            if "FROM scores s" in statement
        ]
    store.close()
    assert len(plans) > 2
    for plan in plans:
        assert re.search(r"scores_in_order \(metric=\? AND number[<>]\?", plan)
        assert "TEMP B-TREE" not in plan


class _Asked:
    """Remembers what a transaction is asked."""

    def __init__(self, run: Sql) -> None:
        self._run = run
        self.statements = list[tuple[str, tuple[object, ...]]]()

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        self.statements.append((statement, values))
        return self._run(statement, *values)

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._run.many(statement, rows)
