"""Rules at work on slices: shares of the promise, and which slices there are."""

from dataclasses import replace

import pytest

from ragstone.monitor.alarms.lifecycle import slices_at_work
from ragstone.monitor.alarms.slice_rules import (
    MOST_SLICES,
    WatchedSlice,
    limit_for,
    share_of,
    shares_of,
    watched,
)
from ragstone.monitor.series.baselines import AlarmBar
from ragstone.monitor.settings import (
    AlarmPromise,
    AlarmRule,
    BaselineSettings,
    MonitorSettings,
    SamplingSettings,
)
from ragstone.monitor.store.store import MonitorStore
from tests.monitor.alarms.scores import give

PLAIN = AlarmRule("a", "faithfulness", bar=0.8)
BY_LANGUAGE = AlarmRule("b", "faithfulness", "language", bar=0.8)
LESS = AlarmRule("c", "contradiction", bar=0.1, better="-")


def test_the_promise_is_divided_evenly_by_the_rules_that_share_it() -> None:
    own = replace(LESS, promise=AlarmPromise(0.01, 1_000))
    settings = MonitorSettings(rules=(PLAIN, BY_LANGUAGE, own))
    assert shares_of(settings, PLAIN, 1) == 2
    assert shares_of(settings, own, 1) == 1
    assert watched(settings, PLAIN, AlarmBar(0.8)).limit == pytest.approx(10_000 * 2 / 0.05)
    assert watched(settings, own, AlarmBar(0.1)).limit == pytest.approx(1_000 / 0.01)


def test_slices_that_keep_coming_never_spend_more_than_their_rule_has() -> None:
    settings = MonitorSettings(rules=(PLAIN, BY_LANGUAGE))
    shares = [shares_of(settings, BY_LANGUAGE, k) for k in range(1, MOST_SLICES + 1)]
    assert shares[:3] == [2 * 2, 2 * 6, 2 * 12]
    assert 0.49 < sum(1 / share for share in shares) < 1 / 2
    assert shares_of(settings, replace(BY_LANGUAGE, value="de")) == 2


def test_a_promise_of_a_distance_multiplies_it_by_the_shares() -> None:
    assert limit_for(AlarmPromise(None, 200_000), 6) == 1_200_000


@pytest.mark.parametrize(("rule", "value", "share"), [(PLAIN, 0.8, 0.8), (LESS, 0.1, 0.9)])
def test_less_is_mirrored_where_less_is_better(rule: AlarmRule, value: float, share: float) -> None:
    assert share_of(rule, value) == pytest.approx(share)
    assert watched(MonitorSettings(rules=(rule,)), rule, AlarmBar(value)).falling.bar == (
        pytest.approx(share)
    )


def test_recovery_is_watched_from_the_other_side() -> None:
    one = watched(MonitorSettings(rules=(PLAIN,)), PLAIN, AlarmBar(0.8))
    assert one.recovering.bar == pytest.approx(0.2)
    assert one.recovering.limit == pytest.approx(200 / 0.05)


def test_the_guard_sees_every_answer_and_judges_the_least_rate() -> None:
    settings = MonitorSettings(sampling=SamplingSettings(0.25))
    guard = AlarmRule("g", "guard_ok", bar=0.9)
    assert watched(settings, guard, AlarmBar(0.9)).least == 1
    assert watched(settings, PLAIN, AlarmBar(0.8)).least == 0.25


def test_a_bar_that_a_margin_moves_out_of_the_range_is_kept_inside() -> None:
    rule = replace(PLAIN, bar=None, margin=0.5)
    assert 0 < watched(MonitorSettings(), rule, AlarmBar(-0.2)).bar_share < 0.01
    assert 0.99 < watched(MonitorSettings(), rule, AlarmBar(1.2)).bar_share < 1


def at_work(store: MonitorStore, settings: MonitorSettings) -> tuple[WatchedSlice, ...]:
    with store.database.transaction() as run:
        return slices_at_work(run, settings).watched


def test_new_slices_are_watched_in_the_order_in_which_they_come(store: MonitorStore) -> None:
    settings = MonitorSettings(rules=(BY_LANGUAGE,))
    assert at_work(store, settings) == ()
    with store.database.transaction() as run:
        give(run, "faithfulness", [1.0], facets={"language": "de"})
        give(run, "faithfulness", [1.0], facets={"language": "en"})
        give(run, "mrr", [1.0], facets={"language": "fr"})
    first = at_work(store, settings)
    assert [(one.slice, one.number, one.begun) for one in first] == [
        ("language=de", 1, 0),
        ("language=en", 2, 0),
    ]
    with store.database.transaction() as run:
        give(run, "faithfulness", [1.0, 1.0], facets={"language": "aa"})
    assert [one.slice for one in at_work(store, settings)][2:] == ["language=aa"]
    limits = [one.limit for one in at_work(store, settings)]
    assert limits == pytest.approx([share * 10_000 / 0.05 for share in (2, 6, 12)])
    assert [one.limit for one in first] == limits[:2]


def test_a_facet_with_very_many_values_does_not_grow_without_end(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        for one in range(MOST_SLICES + 3):
            give(run, "faithfulness", [1.0], facets={"language": f"v{one:03}"})
        found = slices_at_work(run, MonitorSettings(rules=(BY_LANGUAGE,)))
    assert len(found.watched) == MOST_SLICES
    assert found.overfull == ("b",)


def test_what_was_judged_before_a_rule_was_made_raises_no_alarm(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        give(run, "faithfulness", [0.0] * 5)
    assert [one.begun for one in at_work(store, MonitorSettings(rules=(PLAIN,)))] == [5]


def test_a_margin_without_a_run_waits_for_the_first_answers_and_stays(store: MonitorStore) -> None:
    rule = replace(PLAIN, bar=None, margin=0.1)
    settings = MonitorSettings(rules=(rule,), baseline=BaselineSettings(answers=50))
    with store.database.transaction() as run:
        found = slices_at_work(run, settings)
        give(run, "faithfulness", [1.0] * 40 + [None] * 30)
        give(run, "faithfulness", [0.0] * 9, again=1)
        waits = slices_at_work(run, settings)
    assert [answers for *_, answers, _ in found.learning] == [0]
    assert [tuple(counts) for _, _, *counts in waits.learning] == [(40, 50)]
    with store.database.transaction() as run:
        give(run, "faithfulness", [1.0] * 10 + [0.0] * 30)
    (one,) = at_work(store, settings)
    assert (one.bar.mean, one.bar.n, one.begun) == (1.0, 50, 89)
    with store.database.transaction() as run:
        run("DELETE FROM scores WHERE number < 60")
    assert at_work(store, settings) == (one,)


def test_another_margin_is_taken_from_the_same_first_answers(store: MonitorStore) -> None:
    rule = replace(PLAIN, bar=None, margin=0.1)
    settings = MonitorSettings(rules=(rule,), baseline=BaselineSettings(answers=50))
    at_work(store, settings)
    with store.database.transaction() as run:
        give(run, "faithfulness", [1.0] * 50 + [0.0] * 20)
    (before,) = at_work(store, settings)
    wider = replace(settings, rules=(replace(rule, margin=0.25),))
    (after,) = at_work(store, wider)
    assert (after.bar.mean, after.bar.limit) == (1.0, before.bar.limit)
    assert after.bar.value == pytest.approx(before.bar.value - 0.15)


def test_a_rule_that_comes_back_begins_with_what_comes_then(store: MonitorStore) -> None:
    at_work(store, MonitorSettings(rules=(PLAIN,)))
    at_work(store, MonitorSettings(rules=(LESS,)))
    with store.database.transaction() as run:
        give(run, "faithfulness", [0.0] * 7)
    assert [one.begun for one in at_work(store, MonitorSettings(rules=(PLAIN,)))] == [7]
