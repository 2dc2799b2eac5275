"""A judge that says something else of the same answers than before has drifted."""

from collections.abc import Sequence

import pytest

from ragstone.monitor.series.drift import judge_drift
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.comparison.paired import paired_difference


def judge(
    store: MonitorStore, at: float, values: Sequence[float | None], metric: str = "f"
) -> None:
    with store.database.transaction() as run:
        run.many(
            "INSERT INTO anchor_scores VALUES (?, ?, ?, ?, 'local')",
            [(f"a{k}", metric, at, value) for k, value in enumerate(values)],
        )


def test_the_first_and_the_last_round_are_compared_answer_by_answer(store: MonitorStore) -> None:
    judge(store, 1, [1.0] * 40, "faithfulness")
    judge(store, 2, [0.5] * 40, "faithfulness")
    judge(store, 3, [1.0] * 10 + [0.25] * 30, "faithfulness")
    (found,) = judge_drift(store)
    assert (found.metric, found.n, found.rounds) == ("faithfulness", 40, 3)
    assert (found.first, found.last, found.change) == (1, 0.4375, -0.5625)
    assert found.moved
    last = [1.0] * 10 + [0.25] * 30
    expected = paired_difference(
        last, [1.0] * 40, [1.0] * 40, rate=False, low=0, high=1, level=1 - 0.05 / 6
    ).interval
    assert expected is not None
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high])


def test_a_judge_that_says_the_same_has_not(store: MonitorStore) -> None:
    for at in range(5):
        judge(store, at, [0.0, 1.0] * 20, "faithfulness")
    assert not judge_drift(store)[0].moved


def test_anchors_that_were_judged_once_or_not_at_all_do_not_count(store: MonitorStore) -> None:
    judge(store, 1, [1.0, None, 1.0], "faithfulness")
    judge(store, 2, [0.0, 1.0, None], "faithfulness")
    (found,) = judge_drift(store)
    assert found.n == 1
    assert not found.moved


def test_of_several_metrics_each_has_its_part_of_the_promise(store: MonitorStore) -> None:
    for at, value in ((1, 1.0), (2, 0.5)):
        judge(store, at, [value] * 30, "faithfulness")
    alone = judge_drift(store)[0]
    for at in (1, 2):
        judge(store, at, [1.0] * 30, "token_f1")
    together = judge_drift(store)[0]
    assert together.metric == "faithfulness"
    assert (together.high or 0) > (alone.high or 0)


def test_without_anchors_there_is_nothing(store: MonitorStore) -> None:
    assert judge_drift(store) == ()
