"""The life of an alarm: fired, firing, resolved; over restarts, kills and silence."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.monitor.alarms import watch as watching
from ragstone.monitor.alarms.lifecycle import (
    alarm_sentence,
    end,
    fire,
    over_sentence,
    resolve_alarm,
)
from ragstone.monitor.alarms.notifications import wait_until_notified
from ragstone.monitor.alarms.watch import HOUR, STANDINGS, check_alive, watch
from ragstone.monitor.duties.worker_status import monitor_status
from ragstone.monitor.series.baselines import settled_bar
from ragstone.monitor.settings import (
    AlarmPromise,
    AlarmRule,
    BaselineSettings,
    FileChannel,
    MonitorSettings,
    NoDataSettings,
    SamplingSettings,
)
from ragstone.monitor.store.rows import DEAD, HEARTBEAT, keep, remembered
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.store.stored_alarms import (
    NO_DATA,
    WORSE,
    RaisedAlarm,
    queued,
    raised_alarms,
    silence,
)
from tests.monitor.alarms.scores import START, give

RULE = AlarmRule("faith", "faithfulness", bar=0.8)
QUIET = NoDataSettings(policy="ignore")
PLAIN = MonitorSettings(
    rules=(replace(RULE, no_data="ignore"),),
    no_data=QUIET,
    promise=AlarmPromise(0.05, 1_000),
    sampling=SamplingSettings(1.0),
    debounce=900.0,
)
MINUTE = 60.0


class Monitored:
    """A monitor with a clock of its own: one answer a minute."""

    def __init__(self, store: MonitorStore, settings: MonitorSettings) -> None:
        self.store, self.settings = store, settings
        self.now = START

    def answers(self, *values: float | None, metric: str = "faithfulness", **more: Any) -> None:
        """Answers come and are judged."""
        with self.store.database.transaction() as run:
            give(run, metric, values, since=self.now, gap=MINUTE, **more)
        self.now += MINUTE * len(values)

    def traces(self, n: int, gap: float = MINUTE) -> None:
        """Traces come, while the monitor looks."""
        for _ in range(n):
            with self.store.database.transaction() as run:
                run(
                    "INSERT INTO traces VALUES (?, ?, ?, 1, 0, 0, 'there')",
                    f"t{self.now}", self.now, self.now,
                )  # fmt: skip
            self.idle(gap)

    def watch(self) -> list[RaisedAlarm]:
        """Look; the alarms, the oldest first."""
        watch(self.store, self.settings, self.now)
        return self.alarms()

    def alarms(self) -> list[RaisedAlarm]:
        with self.store.database.reading() as run:
            return sorted(raised_alarms(run, 100), key=lambda one: one.number)

    def idle(self, seconds: float, step: float = 60.0) -> list[RaisedAlarm]:
        """Time passes, while the monitor looks."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + step)
            watch(self.store, self.settings, self.now)
        return self.alarms()

    def told(self) -> set[tuple[int, str]]:
        """What is told or to be told: alarm and event."""
        with self.store.database.reading() as run:
            numbers = [one.number for one in raised_alarms(run, 100)]
            return {(alarm, event) for alarm, _, event in queued(run, numbers)}


@pytest.fixture
def monitored(store: MonitorStore) -> Iterator[Monitored]:
    one = Monitored(store, PLAIN)
    one.watch()
    yield one
    wait_until_notified(store, 30)


GOOD, BAD = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]


def test_a_fall_raises_one_alarm_and_a_recovery_resolves_it(monitored: Monitored) -> None:
    monitored.answers(*GOOD * 20)
    assert monitored.watch() == []
    fell = monitored.now
    monitored.answers(*BAD * 20)
    (alarm,) = monitored.watch()
    assert (alarm.rule, alarm.slice, alarm.kind, alarm.state) == ("faith", "", WORSE, "firing")
    assert abs(alarm.since - fell) <= 10 * MINUTE
    assert alarm.fired_at == monitored.now
    assert alarm.facts["bar"] == 0.8
    assert 0 < alarm.facts["mean"] < 0.5
    monitored.answers(*BAD * 20)
    assert [one.number for one in monitored.watch()] == [alarm.number]
    monitored.answers(*[1.0] * 200)
    (over,) = monitored.watch()
    assert (over.number, over.state, over.facts["over"]) == (alarm.number, "resolved", "recovered")
    assert over.resolved_at == monitored.now


def test_a_fall_after_a_recovery_is_another_alarm(monitored: Monitored) -> None:
    for values in (GOOD * 10, BAD * 30, [1.0] * 300, BAD * 60):
        monitored.answers(*values)
        monitored.watch()
    assert [one.state for one in monitored.alarms()] == ["resolved", "firing"]


def test_healthy_answers_just_above_the_bar_raise_none(monitored: Monitored) -> None:
    for _ in range(10):
        monitored.answers(*[1.0, 1.0, 1.0, 1.0, 0.5] * 40)
        assert monitored.watch() == []


def test_where_less_is_better_a_rise_raises_the_alarm(monitored: Monitored) -> None:
    rule = AlarmRule("c", "contradiction", bar=0.2, better="-", no_data="ignore")
    monitored.settings = replace(PLAIN, rules=(rule,))
    monitored.watch()
    monitored.answers(*[0.0] * 100, metric="contradiction")
    assert monitored.watch() == []
    monitored.answers(*[1.0, 0.0] * 60, metric="contradiction")
    (alarm,) = monitored.watch()
    assert "contradiction has been above its bar since" in alarm_sentence(alarm)


def test_a_slice_falls_by_itself(monitored: Monitored) -> None:
    rule = replace(RULE, facet="language", no_data="ignore")
    monitored.settings = replace(PLAIN, rules=(rule,))
    monitored.watch()
    for _ in range(20):
        monitored.answers(*GOOD, facets={"language": "en"})
        monitored.answers(*BAD * 3, facets={"language": "de"})
        monitored.watch()
    assert [one.slice for one in monitored.alarms()] == ["language=de"]


def test_the_deploys_in_the_time_in_which_a_fall_may_have_begun_are_named(
    monitored: Monitored,
) -> None:
    monitored.answers(*GOOD * 20)
    with monitored.store.database.transaction() as run:
        for version, minutes in (("v1", -90), ("v2", -5), ("v3", 0), ("v4", 80)):
            run("INSERT INTO versions VALUES (?, ?)", version, monitored.now + minutes * MINUTE)
    monitored.answers(*BAD * 40)
    (alarm,) = monitored.watch()
    assert [version for version, _ in alarm.facts["deploys"]] == ["v2", "v3"]
    assert "It may have begun with one of these deploys: v2 (" in alarm_sentence(alarm)
    with monitored.store.database.transaction() as run:
        assert not fired(run, NO_DATA, START, START + HOUR).facts


def test_the_bad_deploy_is_named_in_nine_of_ten_runs(tmp_path: Path) -> None:
    """As examples/watched: graded scores of every fourth answer, which fall half way."""
    named = []
    for seed in range(20):
        rng = random.Random(seed)
        store = open_store(tmp_path / str(seed))
        one = Monitored(store, replace(PLAIN, sampling=SamplingSettings(0.25)))
        one.watch()
        with store.database.transaction() as run:
            for hour in range(0, 16, 3):
                at = START + 8 * HOUR + (hour - 6) * HOUR
                run("INSERT INTO versions VALUES (?, ?)", f"v{hour}", at)
        for fails in (0.1, 0.5):
            values = (0.5 * (rng.random() > fails) + 0.5 * (rng.random() > fails)
                      for _ in range(480))  # fmt: skip
            one.answers(*values, probability=0.25)
        (alarm,) = one.watch()[:1]
        named.append([version for version, _ in alarm.facts["deploys"]])
        store.close()
    assert sum("v6" in versions for versions in named) >= 18
    assert sum(map(len, named)) <= 2 * len(named)


def test_a_kill_before_the_commit_leaves_neither_state_nor_alarm_behind(
    monitored: Monitored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitored.answers(*GOOD * 10, *BAD * 40)
    with monkeypatch.context() as patched:

        def killed(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(watching, "queue_due_notifications", killed)
        with pytest.raises(KeyboardInterrupt):
            monitored.watch()
    assert monitored.alarms() == []
    assert len(monitored.watch()) == 1
    assert len(monitored.watch()) == 1


def test_another_process_goes_on_with_what_is_kept(monitored: Monitored) -> None:
    whole = [*GOOD * 10, *BAD * 8]
    for value in whole:
        monitored.answers(value)
        monitored.watch()
    began = [one.since for one in monitored.alarms()]
    assert len(began) <= 1
    monitored.answers(*BAD * 40)
    (alarm,) = monitored.watch()
    assert abs(alarm.since - (START + 100 * MINUTE)) < 15 * MINUTE


def test_two_processes_raise_one_alarm(monitored: Monitored) -> None:
    monitored.answers(*BAD * 60)
    watch(monitored.store, monitored.settings, monitored.now)
    watch(monitored.store, monitored.settings, monitored.now)
    assert len(monitored.alarms()) == 1


def test_a_rule_whose_bar_changes_ends_its_alarm_and_begins_anew(monitored: Monitored) -> None:
    monitored.answers(*BAD * 60)
    monitored.watch()
    monitored.settings = replace(PLAIN, rules=(replace(PLAIN.rules[0], bar=0.1),))
    (alarm,) = monitored.watch()
    assert (alarm.state, alarm.facts["over"]) == ("resolved", "rule_changed")
    assert "rule was changed" in over_sentence(alarm)


def test_a_rule_that_is_taken_away_ends_its_alarm(monitored: Monitored) -> None:
    monitored.answers(*BAD * 60)
    monitored.watch()
    monitored.settings = replace(PLAIN, rules=())
    (alarm,) = monitored.watch()
    assert alarm.state == "resolved"


def test_a_rule_that_cannot_be_watched_keeps_its_alarm(
    monitored: Monitored, tmp_path: Path
) -> None:
    monitored.answers(*BAD * 60)
    monitored.watch()
    baseline = replace(PLAIN.baseline, run=tmp_path / "gone")
    broken = replace(PLAIN.rules[0], bar=None, margin=0.1)
    monitored.settings = replace(PLAIN, rules=(broken,), baseline=baseline)
    assert [alarm.state for alarm in monitored.watch()] == ["firing"]
    with monitored.store.database.reading() as run:
        assert list(remembered(run, STANDINGS)["broken"]) == ["faith"]


def test_a_person_can_call_an_alarm_over_and_the_next_fall_is_another(monitored: Monitored) -> None:
    monitored.answers(*BAD * 60)
    (alarm,) = monitored.watch()
    over = resolve_alarm(monitored.store, alarm.number, "ann\n<b>", monitored.now)
    assert (over.state, over.facts["person"]) == ("resolved", "ann <b>")
    assert monitored.watch()[0].state == "resolved"
    monitored.answers(*BAD * 60)
    assert [one.state for one in monitored.watch()] == ["resolved", "firing"]
    with pytest.raises(InputError, match="no alarm 77"):
        resolve_alarm(monitored.store, 77, "ann", monitored.now)


def fired(run: Sql, kind: str, since: float, now: float) -> RaisedAlarm:
    return fire(run, PLAIN, now, rule="faith", slice="", kind=kind, since=since, facts={})


@pytest.mark.parametrize(
    ("kind", "over", "seconds", "number"),
    [
        (WORSE, "recovered", 899, 1),
        (WORSE, "recovered", 900, 2),
        (WORSE, "by_hand", 1, 2),
        (WORSE, "rule_changed", 1, 2),
        (NO_DATA, "recovered", 1, 2),
    ],
)
def test_only_what_fires_again_by_itself_and_soon_is_the_same_alarm(
    store: MonitorStore, kind: str, over: Any, seconds: float, number: int
) -> None:
    with store.database.transaction() as run:
        end(run, fired(run, WORSE, START, START), START, over)
        assert fired(run, kind, START, START + seconds).number == number


# No data.

WATCHFUL = replace(PLAIN, rules=(), no_data=NoDataSettings())


@pytest.fixture
def quiet(monitored: Monitored) -> Monitored:
    monitored.settings = WATCHFUL
    return monitored


def test_silence_of_a_quarter_of_an_hour_is_an_alarm(quiet: Monitored) -> None:
    quiet.traces(50)
    assert quiet.idle(13 * MINUTE) == []
    (alarm,) = quiet.idle(3 * MINUTE)
    assert (alarm.rule, alarm.kind, alarm.state) == ("traffic", "no_data", "firing")
    assert alarm.facts["usual_gap"] == MINUTE
    assert alarm.since == START + 49 * MINUTE
    assert alarm_sentence(alarm).startswith("No answers have come in since ")
    quiet.traces(1)
    assert quiet.watch()[0].state == "resolved"


def test_a_quiet_system_is_given_ten_times_its_usual_gap(quiet: Monitored) -> None:
    quiet.traces(10, gap=10 * MINUTE)
    assert quiet.idle(88 * MINUTE) == []
    assert len(quiet.idle(3 * MINUTE)) == 1


def test_nothing_that_ever_came_is_an_alarm_too(quiet: Monitored) -> None:
    (alarm,) = quiet.idle(16 * MINUTE)
    assert alarm.facts["last_at"] is None
    assert "none ever did" in alarm_sentence(alarm)


def test_a_monitor_that_was_away_itself_calls_nothing_silent(quiet: Monitored) -> None:
    quiet.traces(50)
    quiet.watch()
    quiet.now += 3 * 24 * HOUR
    assert quiet.watch() == []
    assert quiet.idle(14 * MINUTE) == []
    assert len(quiet.idle(2 * MINUTE)) == 1


def test_what_fires_again_soon_is_the_same_alarm(quiet: Monitored) -> None:
    quiet.settings = replace(WATCHFUL, debounce=60)
    quiet.traces(50)
    for _ in range(3):
        quiet.idle(16 * MINUTE)
        quiet.traces(1)
        quiet.watch()
    assert len(quiet.alarms()) == 3
    quiet.settings = replace(WATCHFUL, debounce=HOUR)
    (*_, last) = quiet.idle(16 * MINUTE)
    assert (last.number, last.state, last.facts["again"]) == (3, "firing", 1)


def test_silence_can_be_ignored(quiet: Monitored) -> None:
    quiet.settings = PLAIN
    quiet.traces(50)
    assert quiet.idle(2 * HOUR) == []


def test_a_rule_that_sees_no_score_while_traffic_comes_is_an_alarm(quiet: Monitored) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    quiet.watch()
    for _ in range(30):
        quiet.answers(1.0)
        quiet.traces(1, gap=0)
        quiet.watch()
    assert quiet.alarms() == []
    for _ in range(16):
        quiet.answers(None)
        quiet.traces(1, gap=0)
        quiet.watch()
    (alarm,) = quiet.alarms()
    assert (alarm.rule, alarm.kind) == ("faith", "no_data")
    assert "The judge failed on" in alarm_sentence(alarm)
    quiet.answers(1.0)
    assert quiet.watch()[0].state == "resolved"


def test_a_fall_in_the_first_scores_after_a_silence_is_an_alarm_of_its_own(
    quiet: Monitored,
) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    quiet.answers(*GOOD * 3)
    quiet.traces(62)
    quiet.answers(*BAD * 40)
    quiet.traces(1, gap=0)
    quiet.watch()
    assert [(one.kind, one.state, one.facts.get("over")) for one in quiet.alarms()] == [
        (NO_DATA, "resolved", "data_again"),
        (WORSE, "firing", None),
    ]


def test_scores_that_stop_while_their_mean_is_below_the_bar_are_an_alarm_too(
    quiet: Monitored,
) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    quiet.answers(*BAD * 40)
    quiet.traces(62)
    assert [(one.kind, one.state) for one in quiet.alarms()] == [
        (WORSE, "firing"),
        (NO_DATA, "firing"),
    ]
    quiet.answers(0.0)
    quiet.watch()
    assert [(one.kind, one.state) for one in quiet.alarms()] == [
        (WORSE, "firing"),
        (NO_DATA, "resolved"),
    ]


def test_a_bar_of_first_answers_is_learnt_again_from_those_of_another_judge(
    quiet: Monitored,
) -> None:
    rule = replace(RULE, bar=None, margin=0.05)
    first = BaselineSettings(answers=100)
    quiet.settings = replace(WATCHFUL, rules=(rule,), baseline=first)

    def bar() -> float | None:
        with quiet.store.database.reading() as run:
            found = settled_bar(run, quiet.settings, rule, "")
        return None if found is None else found.value

    quiet.answers(*[1.0] * 100)
    quiet.watch()
    kind = bar()
    assert kind is not None
    assert kind > 0.85
    quiet.answers(*[1.0, 0.0] * 60, judge="stricter")
    assert quiet.watch() == []
    assert bar() is None, "a hundred of those that came after the twentieth are not there yet"
    quiet.answers(*[1.0, 0.0] * 100, judge="stricter")
    assert quiet.watch() == []
    strict = bar()
    assert strict is not None
    assert 0.3 < strict < 0.45, "of one half, at its lower limit less the margin"
    quiet.answers(*[0.0] * 60, judge="stricter")
    assert [(one.kind, one.state) for one in quiet.watch()] == [(WORSE, "firing")]


def test_a_fall_that_goes_on_while_the_judge_changes_fires_on_until_it_recovers(
    quiet: Monitored,
) -> None:
    rule = replace(RULE, bar=None, margin=0.05)
    quiet.settings = replace(WATCHFUL, rules=(rule,), baseline=BaselineSettings(answers=100))

    def states() -> list[tuple[str, str, object]]:
        return [(one.kind, one.state, one.facts.get("over")) for one in quiet.watch()]

    def bar() -> float | None:
        with quiet.store.database.reading() as run:
            found = settled_bar(run, quiet.settings, rule, "")
        return None if found is None else found.value

    quiet.answers(*[1.0] * 100)
    quiet.watch()
    usual = bar()
    quiet.answers(*[0.0] * 60)
    assert states() == [(WORSE, "firing", None)]
    quiet.answers(*[0.0] * 150, judge="another")
    assert states() == [(WORSE, "firing", None)]
    assert bar() == usual, "answers that fell are no measure of what is usual"
    quiet.answers(*[1.0] * 200, judge="another")
    assert states() == [(WORSE, "resolved", "recovered")]
    quiet.answers(*GOOD * 10, judge="another")
    assert states() == [(WORSE, "resolved", "recovered")]
    quiet.answers(1.0, judge="another")
    quiet.watch()
    learnt = bar()
    assert learnt is not None
    assert usual is not None
    assert 0.7 < learnt < 0.85 < usual, "of nine in ten, at its lower limit less the margin"


def test_a_fall_called_over_by_hand_lets_the_bar_be_learnt_from_the_judge_at_work(
    quiet: Monitored,
) -> None:
    rule = replace(RULE, bar=None, margin=0.05)
    quiet.settings = replace(WATCHFUL, rules=(rule,), baseline=BaselineSettings(answers=100))
    quiet.answers(*[1.0] * 100)
    quiet.watch()
    quiet.answers(*[0.0] * 60)
    (alarm,) = quiet.watch()
    quiet.answers(*[1.0, 0.0] * 60, judge="stricter")
    (alarm,) = quiet.watch()
    resolve_alarm(quiet.store, alarm.number, "Ann", quiet.now)
    for _ in range(2):
        quiet.answers(*[1.0, 0.0] * 60, judge="stricter")
        quiet.watch()
    with quiet.store.database.reading() as run:
        bar = settled_bar(run, quiet.settings, rule, "")
    assert bar is not None
    assert 0.3 < bar.value < 0.45, "of one half, at its lower limit less the margin"
    assert [one.state for one in quiet.alarms()] == ["resolved"]


def test_scores_that_go_on_coming_end_no_alarm_about_their_mean(quiet: Monitored) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    quiet.answers(*BAD * 40)
    for _ in range(3):
        quiet.traces(1)
        quiet.answers(0.0)
        assert [(one.kind, one.state) for one in quiet.watch()] == [(WORSE, "firing")]


def test_scores_that_recover_after_a_silence_end_it_as_data_that_came_again(
    quiet: Monitored,
) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    quiet.answers(*BAD * 40)
    quiet.traces(1)
    resolve_alarm(quiet.store, 1, "ann", quiet.now)
    quiet.traces(62)
    assert [one.state for one in quiet.alarms()] == ["resolved", "firing"]
    quiet.answers(*[1.0] * 300)
    assert [one.facts["over"] for one in quiet.watch()] == ["by_hand", "data_again"]


def test_the_first_score_may_take_as_long_as_the_rarest_draws_do(quiet: Monitored) -> None:
    # A trace a minute, of which one in ten is drawn: ten times ten minutes.
    quiet.settings = replace(WATCHFUL, rules=(RULE,), sampling=SamplingSettings(0.1))
    quiet.traces(98)
    assert quiet.alarms() == []
    quiet.traces(4)
    assert [one.rule for one in quiet.alarms()] == ["faith"]


def test_where_nothing_comes_at_all_only_that_is_an_alarm(quiet: Monitored) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    for _ in range(30):
        quiet.answers(1.0)
        quiet.traces(1, gap=0)
    assert [one.rule for one in quiet.idle(2 * HOUR)] == ["traffic"]


def test_after_a_silence_a_rule_waits_anew_for_its_first_score(quiet: Monitored) -> None:
    quiet.settings = replace(WATCHFUL, rules=(RULE,))
    for _ in range(30):
        quiet.answers(1.0)
        quiet.traces(1, gap=0)
        quiet.watch()
    quiet.idle(2 * HOUR)
    quiet.traces(14)
    assert [(one.rule, one.state) for one in quiet.alarms()] == [("traffic", "resolved")]
    quiet.traces(3)
    assert [one.rule for one in quiet.alarms()] == ["traffic", "faith"]


def test_a_slice_that_came_a_few_times_and_no_more_is_no_silence(quiet: Monitored) -> None:
    rule = replace(RULE, facet="language")
    quiet.settings = replace(WATCHFUL, rules=(rule,))
    quiet.watch()
    for language in [*["de"] * 9, *["en"] * 80]:
        quiet.answers(1.0, facets={"language": language})
        quiet.traces(1, gap=0)
        quiet.watch()
    assert quiet.alarms() == []


@pytest.mark.parametrize("budget", [{"answers_an_hour": 60}, {"usd_an_hour": 0.5}])
def test_a_budget_that_is_used_up_for_the_hour_is_no_silence(
    quiet: Monitored, budget: dict[str, Any]
) -> None:
    judging = replace(WATCHFUL.judging, **budget)
    quiet.settings = replace(WATCHFUL, rules=(RULE,), judging=judging)
    quiet.watch()
    quiet.answers(*[1.0] * 30)
    quiet.traces(70)
    assert quiet.alarms() == []
    quiet.traces(10)
    assert [one.rule for one in quiet.alarms()] == ["faith"]


# Judging stopped.


def due(run: Sql, at: float) -> None:
    run("INSERT INTO draws VALUES (?, ?, 0.1, 'due', ?, '', 'sample', 0, NULL)", f"d{at}", at, at)


def test_answers_that_wait_for_an_hour_are_an_alarm(monitored: Monitored) -> None:
    with monitored.store.database.transaction() as run:
        due(run, monitored.now)
        due(run, monitored.now + 1)
    assert monitored.idle(59 * MINUTE) == []
    (alarm,) = monitored.idle(3 * MINUTE)
    assert (alarm.rule, alarm.kind) == ("judging", "judging_stopped")
    assert alarm_sentence(alarm).endswith("2 answers wait.")
    with monitored.store.database.transaction() as run:
        run("UPDATE draws SET state = 'judged'")
    assert monitored.watch()[0].state == "resolved"


def test_a_long_queue_of_which_some_is_judged_is_none(monitored: Monitored) -> None:
    with monitored.store.database.transaction() as run:
        due(run, monitored.now)
    for _ in range(10):
        monitored.answers(1.0)
        assert monitored.idle(20 * MINUTE) == []


def worker_at(monitored: Monitored, now: float) -> str:
    """What the status, and by it the screens, say of the worker."""
    with monitored.store.database.reading() as run:
        return monitor_status(run, now).worker


def test_a_dead_worker_is_noticed_by_the_server(monitored: Monitored) -> None:
    now = START
    with monitored.store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": now, "pid": 1})
    told = []
    for _ in range(5):
        assert check_alive(monitored.store, monitored.settings, now)
        told.append(worker_at(monitored, now))
        now += DEAD / 5
    assert told == ["alive", *["silent"] * 4]
    assert worker_at(monitored, now) == "dead"
    assert not check_alive(monitored.store, monitored.settings, now)
    (alarm,) = monitored.alarms()
    assert (alarm.kind, alarm.facts["why"]) == ("judging_stopped", "no_sign_of_life")
    assert "the worker is dead, with no sign of life since" in alarm_sentence(alarm)
    with monitored.store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": now, "pid": 2})
    assert check_alive(monitored.store, monitored.settings, now + 1)
    assert monitored.alarms()[0].state == "resolved"


def test_a_server_that_just_started_waits_for_the_worker(monitored: Monitored) -> None:
    with monitored.store.database.transaction() as run:
        keep(run, HEARTBEAT, {"at": START - 24 * HOUR, "pid": 1})
    assert check_alive(monitored.store, monitored.settings, START)
    assert monitored.alarms() == []


# Who is told.


@pytest.fixture
def telling(monitored: Monitored, tmp_path: Path) -> Monitored:
    # A folder is no file: nothing is ever told, so that what is queued can be seen.
    channel = FileChannel("file", tmp_path)
    monitored.settings = replace(PLAIN, tells=(channel,))
    monitored.answers(*BAD * 60)
    return monitored


def test_that_an_alarm_is_over_is_told_once_it_stays_so(telling: Monitored) -> None:
    telling.watch()
    assert telling.told() == {(1, "fired")}
    telling.answers(*[1.0] * 300)
    assert telling.watch()[0].state == "resolved"
    assert telling.told() == {(1, "fired")}
    telling.now += 901
    telling.watch()
    assert telling.told() == {(1, "fired"), (1, "resolved")}


def test_a_silenced_rule_is_shown_and_not_told_until_the_silence_is_over(
    telling: Monitored,
) -> None:
    with telling.store.database.transaction() as run:
        silence(run, "faith", telling.now + HOUR, "ann")
    assert telling.watch()[0].state == "firing"
    assert telling.told() == set()
    telling.now += HOUR + 1
    telling.watch()
    assert telling.told() == {(1, "fired")}


def test_an_alarm_that_came_and_went_in_silence_is_never_told(telling: Monitored) -> None:
    with telling.store.database.transaction() as run:
        silence(run, "faith", telling.now + 24 * HOUR, "ann")
    telling.watch()
    telling.answers(*[1.0] * 300)
    telling.watch()
    telling.now += 25 * HOUR
    telling.watch()
    assert telling.told() == set()


@pytest.mark.parametrize(("days", "told"), [(6, {"fired", "resolved"}), (8, {"fired"})])
def test_the_end_of_a_silenced_alarm_is_told_after_the_silence_but_not_a_week_late(
    telling: Monitored, days: int, told: set[str]
) -> None:
    telling.watch()
    with telling.store.database.transaction() as run:
        silence(run, "faith", telling.now + days * 24 * HOUR, "ann")
    resolve_alarm(telling.store, 1, "bob", telling.now)
    telling.watch()
    assert telling.told() == {(1, "fired")}
    telling.now += days * 24 * HOUR + 1
    telling.watch()
    assert {event for _, event in telling.told()} == told


def test_what_a_person_called_over_is_told_at_once(telling: Monitored) -> None:
    telling.watch()
    resolve_alarm(telling.store, 1, "ann", telling.now)
    telling.watch()
    assert (1, "resolved") in telling.told()


def test_the_server_queues_what_it_raised_itself(telling: Monitored) -> None:
    check_alive(telling.store, telling.settings, START)
    for one in range(1, 7):
        check_alive(telling.store, telling.settings, START + one * 60)
    assert [one.kind for one in telling.alarms()] == ["judging_stopped"]
    assert telling.told() == {(1, "fired")}
