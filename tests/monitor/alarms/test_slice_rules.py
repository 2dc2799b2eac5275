"""Rules at work on slices: bars, shares of the promise, and which slices there are."""

from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.data import cornwall
from ragstone.monitor.alarms.lifecycle import slices_at_work
from ragstone.monitor.alarms.slice_rules import (
    MOST_SLICES,
    WatchedSlice,
    limit_for,
    share_of,
    shares_of,
    watched,
)
from ragstone.monitor.series.baselines import AlarmBar, bar_beforehand, bar_of_first, bar_of_run
from ragstone.monitor.settings import (
    AlarmPromise,
    AlarmRule,
    BaselineSettings,
    MonitorSettings,
    SamplingSettings,
)
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.watched_scores import WatchedScore
from tests.monitor.alarms.scores import give

PLAIN = AlarmRule("a", "faithfulness", bar=0.8)
BY_LANGUAGE = AlarmRule("b", "faithfulness", "language", bar=0.8)
LESS = AlarmRule("c", "contradiction", bar=0.1, better="-")


def score(value: float, probability: float = 1.0) -> WatchedScore:
    return WatchedScore(1, "e", 0.0, 0.0, value, probability, None, "local")


def test_the_promise_is_divided_evenly_by_the_rules_that_share_it() -> None:
    own = replace(LESS, promise=AlarmPromise(0.01, 1_000))
    settings = MonitorSettings(rules=(PLAIN, BY_LANGUAGE, own))
    assert shares_of(settings, PLAIN, 1) == 2
    assert shares_of(settings, own, 1) == 1
    assert watched(settings, PLAIN, AlarmBar(0.8)).limit == pytest.approx(10_000 * 2 / 0.05)
    assert watched(settings, own, AlarmBar(0.1)).limit == pytest.approx(1_000 / 0.01)


def test_the_slices_of_a_rule_share_its_part_evenly() -> None:
    settings = MonitorSettings(rules=(PLAIN, BY_LANGUAGE))
    assert shares_of(settings, BY_LANGUAGE, 5) == 10


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


def test_the_bar_of_first_answers_is_their_lower_limit_less_the_margin() -> None:
    rule = replace(PLAIN, bar=None, margin=0.05)
    bar = bar_of_first(rule, [score(1.0)] * 450 + [score(0.0)] * 50)
    # Wilson's lower end for 450 of 500 at z = 1.645, where the half row changes it in the third
    # decimal.
    z = NormalDist().inv_cdf(0.95)
    n, p = 500, 0.9
    low = (p + z * z / (2 * n) - z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5) / (
        1 + z * z / n
    )
    assert bar.mean == pytest.approx(0.9)
    assert bar.limit == pytest.approx(low, abs=0.002)
    assert bar.value == pytest.approx(bar.limit - 0.05)  # type: ignore[operator]
    assert (bar.source, bar.n) == ("first_answers", 500)


def test_the_bar_of_a_metric_that_is_better_if_less_lies_above_the_first_answers() -> None:
    rule = replace(LESS, bar=None, margin=0.05)
    bar = bar_of_first(rule, [score(0.0)] * 450 + [score(1.0)] * 50)
    assert bar.mean == pytest.approx(0.1)
    assert bar.value > 0.16


def test_first_answers_are_weighted_by_their_probabilities() -> None:
    rule = replace(PLAIN, bar=None, margin=0.0)
    scores = [score(1.0, 0.1)] * 100 + [score(0.0, 0.5)] * 100
    assert bar_of_first(rule, scores).mean == pytest.approx(1_000 / 1_200)


def test_before_any_answer_came_85_of_100_are_taken_to_be_right_in_either_direction() -> None:
    more, less = (replace(one, bar=None, margin=0.05) for one in (PLAIN, LESS))
    right, wrong = (bar_beforehand(one, BaselineSettings(answers=500)) for one in (more, less))
    assert (right.mean, wrong.mean) == pytest.approx((0.85, 0.15))
    assert wrong.value == pytest.approx(1 - right.value)
    assert 0.2 < wrong.value < 0.25


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
    assert limits == pytest.approx([3 * 10_000 / 0.05] * 3)
    assert [one.limit for one in first] == pytest.approx([2 * 10_000 / 0.05] * 2)


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
    assert [one.answers for one in found.learning] == [0]
    assert [(one.answers, one.wanted) for one in waits.learning] == [(40, 50)]
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


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "base"
    ragstone.evaluate(cornwall(), metrics=["faithfulness"], judge="local:strings", out=out)
    return out


def test_the_bar_of_a_run_is_its_lower_limit_less_the_margin(run_folder: Path) -> None:
    rule = replace(PLAIN, bar=None, margin=0.05)
    estimate = next(
        one for one in ragstone.Run.open(run_folder).estimate_list if "system" in one.group
    )
    bar = bar_of_run(rule, BaselineSettings(run_folder, estimate.group["system"]), "")
    assert bar.mean == pytest.approx(estimate.value)
    assert bar.source == "run"
    assert bar.limit is not None
    assert estimate.low is not None
    assert estimate.value is not None
    assert estimate.low <= bar.limit < estimate.value
    assert bar.value == pytest.approx(bar.limit - 0.05)


def test_a_slice_that_the_run_does_not_have_is_compared_with_all_of_it(run_folder: Path) -> None:
    rule = replace(BY_LANGUAGE, bar=None, margin=0.05)
    assert bar_of_run(rule, BaselineSettings(run_folder), "language=de").source == "run"


def test_a_slice_of_the_run_counts_by_itself_where_it_has_thirty_answers(tmp_path: Path) -> None:
    examples = [
        {
            "id": f"{language}{number}",
            "question": f"How high is hill {number} of {language}?",
            "contexts": [{"id": "c", "text": "The hill is 420 metres high."}],
            "answer": f"The hill is {420 if number % 2 else 999} metres high.",
            "slices": {"language": language},
        }
        for language, n in (("de", 30), ("en", 29))
        for number in range(n)
    ]
    out = tmp_path / "base"
    ragstone.evaluate(examples, metrics=["faithfulness"], judge="local:strings", out=out)
    rule, baseline = replace(BY_LANGUAGE, bar=None, margin=0.05), BaselineSettings(out)
    german, english = (bar_of_run(rule, baseline, f"language={one}") for one in ("de", "en"))
    assert (german.source, german.n) == ("slice_of_run", 30)
    assert (english.source, english.n) == ("run", 59)


def test_a_run_without_the_metric_is_refused(run_folder: Path) -> None:
    rule = AlarmRule("x", "mrr", margin=0.1)
    with pytest.raises(InputError, match="mrr"):
        bar_of_run(rule, BaselineSettings(run_folder), "")


def test_a_rule_of_sessions_counts_from_the_mean_of_each_session_of_the_run(
    tmp_path: Path,
) -> None:
    answers = {"right": "Rome is in Italy.", "none": "I do not know."}
    turns = ["right", "none", "none"]
    data = [
        {
            "id": f"{session}-{turn}",
            "question": f"Where is Rome {session}-{turn}?", "session": f"s{session}",
            "contexts": ["Rome is in Italy."], "answer": answers[turns[turn]],
        }
        for session in range(40)
        for turn in range(1 if session < 20 else 3)
    ]  # fmt: skip
    folder = tmp_path / "run"
    ragstone.evaluate(data, metrics=["abstention"], judge="local:strings", out=folder)
    rule = AlarmRule("x", "abstention", margin=0.05, better="-")
    by_answers = bar_of_run(rule, BaselineSettings(folder), "")
    assert by_answers.n == 80
    assert by_answers.mean == pytest.approx(0.5)
    by_sessions = bar_of_run(replace(rule, of="sessions"), BaselineSettings(folder), "")
    assert by_sessions.n == 40
    assert by_sessions.mean == pytest.approx((20 * 0 + 20 * 2 / 3) / 40)
