"""The first screen has for each metric what it is, what it was, and what can be said of it."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from ragstone.monitor.alarms.lifecycle import slices_at_work
from ragstone.monitor.series.overview import MetricNow, MonitorPageFacts, monitored
from ragstone.monitor.settings import AlarmRule, BaselineSettings, MonitorSettings
from ragstone.monitor.store.rows import Facet
from ragstone.monitor.store.scores import sum_up
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_alarms import RaisedAlarm
from tests.monitor.series.scores import put

DAY, HOUR = 86_400.0, 3_600.0
NOW = 10 * DAY + 1_000
RULE = AlarmRule("answers", "faithfulness", bar=0.6)
RULES = MonitorSettings(rules=(RULE,))
NO_RULES = MonitorSettings(rules=())


def day(
    share: float, *, since: float = NOW - DAY, gap: float = 60.0
) -> Iterable[tuple[float, float]]:
    """A day of answers, so many of ten good."""
    return [(since + gap * k, float(k % 10 < 10 * share)) for k in range(int(DAY / gap))]


def raise_alarm(
    store: MonitorStore,
    *,
    fired: float,
    resolved: float | None = None,
    kind: str = "worse",
    slice: str = "",
    rule: str = "answers",
) -> None:
    with store.database.transaction() as run:
        run(
            "INSERT INTO alarms (rule, slice, kind, state, since, fired_at, resolved_at, facts) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, '{\"n\": 3}')",
            rule, slice, kind, "firing" if resolved is None else "resolved", fired - 60, fired,
            resolved,
        )  # fmt: skip


def page(
    store: MonitorStore, settings: MonitorSettings = RULES, slice: Facet | None = None
) -> MonitorPageFacts:
    return monitored(store, settings, NOW, slice=slice)


def first(
    store: MonitorStore, settings: MonitorSettings = RULES, slice: Facet | None = None
) -> MetricNow:
    return page(store, settings, slice).metrics[0]


def test_metrics_of_rules_come_first_then_all_others_by_name(store: MonitorStore) -> None:
    for metric in ("hit", "abstention", "guard_ok"):
        put(store, [(NOW - 60, 1.0)], metric=metric, prefix=metric)
    found = page(store)
    assert [one.metric for one in found.metrics] == [
        "faithfulness", "abstention", "guard_ok", "hit",
    ]  # fmt: skip


def test_a_metric_has_its_last_hour_and_at_most_240_windows(store: MonitorStore) -> None:
    put(store, day(0.8))
    found = first(store)
    assert len(found.series.windows) == 240
    assert found.window == found.series.windows[-1]
    assert found.window.end - found.window.start == HOUR
    assert found.judged_last_hour == 60


def test_nothing_judged_is_no_data(store: MonitorStore) -> None:
    assert first(store).state == "no_data"
    put(store, [(NOW - 5 * HOUR, 1.0)])
    found = first(store)
    assert found.state == "no_data"
    assert found.window is not None
    assert found.window.n == 1
    assert found.judged_last_hour == 0


def test_a_band_beyond_the_bar_is_below_or_above_it(store: MonitorStore) -> None:
    put(store, day(0.2))
    put(store, day(0.2), metric="unsupported_claim", prefix="u")
    assert first(store).state == "below_bar"
    high = MonitorSettings(rules=(AlarmRule("a", "faithfulness", bar=0.001),))
    assert first(store, high).state == "above_bar"
    less = MonitorSettings(rules=(AlarmRule("a", "unsupported_claim", bar=0.9, better="-"),))
    assert first(store, less).state == "above_bar"
    less = MonitorSettings(rules=(AlarmRule("a", "unsupported_claim", bar=0.001, better="-"),))
    assert first(store, less).state == "below_bar"
    assert first(store).bar == 0.6


def test_a_firing_alarm_of_the_same_slice_is_below_the_bar(store: MonitorStore) -> None:
    put(store, day(0.9), facets={"version": "v1"})
    raise_alarm(store, fired=NOW - HOUR)
    assert first(store).state == "below_bar"
    assert first(store, slice=("version", "v1")).state != "below_bar"


def test_of_several_rules_the_bar_of_the_one_that_fires_is_shown(store: MonitorStore) -> None:
    put(store, day(0.9), facets={"version": "v1"})
    rules = (
        AlarmRule("lax", "faithfulness", bar=0.1),
        AlarmRule("answers", "faithfulness", bar=0.8),
        AlarmRule("of v1", "faithfulness", bar=0.7, facet="version", value="v1"),
    )
    settings = MonitorSettings(rules=rules)
    v1 = ("version", "v1")
    assert (first(store, settings).bar, first(store, settings, v1).bar) == (0.1, 0.7)
    raise_alarm(store, fired=NOW - HOUR)
    assert (first(store, settings).bar, first(store, settings).state) == (0.8, "below_bar")
    assert first(store, settings, v1).bar == 0.7


@pytest.mark.parametrize(
    "alarm", [{"resolved": NOW - 60}, {"slice": "version=v1"}, {"kind": "no_data"}, {"rule": "x"}]
)
def test_other_alarms_are_shown_and_say_nothing_of_the_mean(
    store: MonitorStore, alarm: dict[str, float]
) -> None:
    put(store, day(0.9))
    raise_alarm(store, fired=NOW - HOUR, **alarm)  # type: ignore[arg-type]
    found = page(store)
    assert found.metrics[0].state != "below_bar"
    assert len(found.alarms) == 1
    assert len(found.metrics[0].alarms) == (0 if alarm.get("rule") else 1)


def test_alarms_are_those_that_fired_within_what_is_shown(store: MonitorStore) -> None:
    raise_alarm(store, fired=NOW - 3 * DAY, resolved=NOW - 2 * DAY)
    raise_alarm(store, fired=NOW - 3 * DAY, resolved=NOW - HOUR)
    raise_alarm(store, fired=NOW - 2 * DAY)
    found = page(store).alarms
    assert [one.fired_at for one in found] == [NOW - 3 * DAY, NOW - 2 * DAY]
    assert found[0] == RaisedAlarm(
        2, "answers", "", "worse", "resolved", NOW - 3 * DAY - 60, NOW - 3 * DAY, NOW - HOUR,
        {"n": 3},
    )  # fmt: skip


def test_without_a_run_it_is_compared_with_the_day_before(store: MonitorStore) -> None:
    put(store, day(0.9, since=NOW - 2 * DAY, gap=20))
    put(store, day(0.6, gap=20), prefix="f")
    worse = first(store, NO_RULES)
    assert (worse.state, worse.baseline) == ("worse", None)
    assert worse.before.value == pytest.approx(0.9, abs=0.01)


def test_of_many_metrics_each_has_to_be_the_surer(store: MonitorStore) -> None:
    put(store, day(0.9, since=NOW - 2 * DAY, gap=240))
    put(store, day(0.8, gap=240), prefix="f")
    others = [f"guard_{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(39)]
    alone = monitored(store, NO_RULES, NOW, metrics=["faithfulness"]).metrics[0]
    among = monitored(store, NO_RULES, NOW, metrics=["faithfulness", *others]).metrics[0]
    assert (alone.state, among.state) == ("worse", "cannot_tell")


def test_as_before_is_equivalent_by_the_margin_of_the_rule(store: MonitorStore) -> None:
    put(store, day(0.9, since=NOW - 2 * DAY, gap=20))
    put(store, day(0.9, gap=20), prefix="f")
    assert first(store, NO_RULES).state == "as_before"
    narrow = MonitorSettings(rules=(AlarmRule("a", "faithfulness", margin=0.001),))
    assert first(store, narrow).state == "cannot_tell"


def test_a_bar_by_the_first_answers_is_what_the_alarms_settled_on(store: MonitorStore) -> None:
    put(store, day(0.9, since=NOW - 2 * DAY))
    put(store, day(0.2), prefix="f")
    margin = MonitorSettings(rules=(AlarmRule("a", "faithfulness", margin=0.05),))
    assert first(store, margin).bar is None
    with store.database.transaction() as run:
        (watched,) = slices_at_work(run, margin).watched
    assert 0.8 < watched.bar.value < 0.85
    assert first(store, margin).bar == watched.bar.value
    assert first(store, margin).state == "below_bar"
    wider = MonitorSettings(rules=(AlarmRule("a", "faithfulness", margin=0.1),))
    assert first(store, wider).bar is None, "it was not counted for this margin"


def test_a_slice_has_its_own_numbers(store: MonitorStore) -> None:
    put(store, day(0.9), facets={"version": "v1"})
    put(store, day(0.3), facets={"version": "v2"}, prefix="f")
    for version, mean in (("v1", 0.9), ("v2", 0.3)):
        hours = first(store, slice=("version", version)).series.windows[::-10]
        answers = sum(hour.n for hour in hours)
        total = sum(hour.n * (hour.value or 0) for hour in hours)
        assert total / answers == pytest.approx(mean, abs=0.01)


def test_deploys_and_slices_of_what_is_shown(store: MonitorStore) -> None:
    put(store, [(NOW - 60, 1.0), (NOW - 50, 1.0)], facets={"version": "v2", "language": "de"})
    put(store, [(NOW - 40, 1.0)], facets={"version": "v1"}, first=2)
    with store.database.transaction() as run:
        run("INSERT INTO versions VALUES ('v1', ?)", NOW - 5 * DAY)
        run("INSERT INTO versions VALUES ('v2', ?)", NOW - 60)
        sum_up(run)
    found = page(store)
    assert found.deploys == [("v2", NOW - 60)]
    assert found.slices == {"language": ["de"], "version": ["v2", "v1"]}
    assert found.baseline is None


def test_a_baseline_run_that_has_the_metric_is_what_it_is_compared_with(
    store: MonitorStore, baseline: Path
) -> None:
    put(store, day(0.5), metric="token_f1")
    put(store, day(0.5), metric="guard_ok", prefix="g")
    settings = MonitorSettings(
        rules=(AlarmRule("f1", "token_f1", margin=0.05),), baseline=BaselineSettings(baseline)
    )
    found = page(store, settings)
    f1, ok = found.metrics
    assert found.baseline == "baseline"
    assert (f1.baseline, ok.baseline) == ("baseline", None)
    assert f1.before.n == 24
    assert f1.before.low is not None
    assert f1.bar is not None
    assert f1.bar < (f1.before.value or 0)
