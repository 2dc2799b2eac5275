"""A fixed set is judged again and again, and tells whether the judge drifts."""

import json

from ragstone.monitor.duties.judge_answers import judge_anchors
from ragstone.monitor.series.drift import judge_drift
from ragstone.monitor.settings.sections import JudgingSettings
from ragstone.monitor.store.batches import anchors, draw_anchors, write_round
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock
from tests.monitor.duties.arriving import PASSAGE, QUESTION, TRUE, rows

LOCAL = JudgingSettings(("faithfulness", "abstention"), ("local:strings",))


def test_the_set_is_judged_again_after_a_day(store: MonitorStore) -> None:
    clock = Clock()
    records = [
        {"id": f"a{n}", "question": QUESTION, "answer": TRUE, "contexts": [PASSAGE]}
        for n in range(3)
    ]
    with store.database.transaction() as run:
        run.many(
            "INSERT INTO anchors VALUES (?, ?)", [(one["id"], json.dumps(one)) for one in records]
        )
    assert judge_anchors(store, LOCAL, clock) == 3
    assert judge_anchors(store, LOCAL, clock) == 0
    clock.wait(86_399)
    assert judge_anchors(store, LOCAL, clock) == 0
    clock.wait(1)
    assert judge_anchors(store, LOCAL, clock) == 3
    found = rows(store, "SELECT metric, count(*), min(value) FROM anchor_scores GROUP BY metric "
                 "ORDER BY metric")  # fmt: skip
    assert found == [("abstention", 6, 0.0), ("faithfulness", 6, 1.0)]
    assert not (store.folder / "anchors").exists()
    drift = judge_drift(store)
    assert [(one.metric, one.n, one.change, one.moved) for one in drift] == [
        ("abstention", 3, 0.0, False), ("faithfulness", 3, 0.0, False),
    ]  # fmt: skip


def test_a_clock_that_ran_ahead_stops_no_round(store: MonitorStore) -> None:
    clock = Clock()
    record = {"id": "a", "question": QUESTION, "answer": TRUE, "contexts": [PASSAGE]}
    with store.database.transaction() as run:
        run("INSERT INTO anchors VALUES (?, ?)", "a", json.dumps(record))
    clock.wait(400 * 86_400)
    assert judge_anchors(store, LOCAL, clock) == 1
    clock.wait(-400 * 86_400)
    assert judge_anchors(store, LOCAL, clock) == 1
    assert judge_anchors(store, LOCAL, clock) == 0


def test_the_set_is_drawn_once_there_is_enough(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        for n in range(10):
            run(
                "INSERT INTO examples VALUES (?, 't', '', 0, 0, 1, NULL, NULL, NULL, 's', '{}', "
                "'h', '{}')",
                f"e{n}",
            )
            run("INSERT INTO judged VALUES (?, 0, 'h', 'j', '{}')", f"e{n}")
        assert draw_anchors(run, 11, 4, lambda one: float(one[1:])) == 0
        assert draw_anchors(run, 10, 4, lambda one: -float(one[1:])) == 4
        assert list(anchors(run)) == ["e6", "e7", "e8", "e9"]


def test_what_is_no_longer_in_the_set_is_not_kept(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        run("INSERT INTO anchors VALUES ('a', '{}')")
        write_round(run, 1.0, [("a", "m", 0.5), ("gone", "m", 0.5)], "j")
    assert rows(store, "SELECT example, value, judge FROM anchor_scores") == [("a", 0.5, "j")]
