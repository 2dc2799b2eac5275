"""The sums of slots are right whether they are ready or not, whatever happens to scores."""

import random

import pytest

from ragstone.monitor.store.scores import slot_sums, sum_up
from ragstone.monitor.store.store import WIDTH, MonitorStore
from tests.monitor.series.scores import put


def sums(
    store: MonitorStore, facet: tuple[str, str] | None = None, metric: str = "faithfulness"
) -> list[tuple[float, ...]]:
    with store.database.reading() as run:
        return slot_sums(run, metric, 0, 1_000, facet)


def summed(store: MonitorStore) -> int:
    with store.database.transaction() as run:
        return sum_up(run)


def test_sums_by_hand(store: MonitorStore) -> None:
    put(store, [(0, 1.0), (119.9, 0.5)], probability=0.25)
    put(store, [(60, 0.0)], first=2)
    put(store, [(120, 1.0)], first=3)
    put(store, [(130, None), (131, None)], first=4, probability=0.5)
    put(store, [(132, None)], first=6, status="undefined")
    expected = [(0, 3, 9, 6, 33, 24, 20, 4, 0, 0, 0), (1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4)]
    assert sums(store) == expected
    assert summed(store) == 2
    assert sums(store) == expected
    assert summed(store) == 0


def test_times_at_the_ends_of_slots_are_in_the_later_one(store: MonitorStore) -> None:
    times = [0.0, 119.0, 119.5, 119.999, 120.0, 120.5, 121.0, 239.5, 240.0, 241.0, 360.0]
    put(store, [(at, 1.0) for at in times])
    expected = [(0, 4), (1, 4), (2, 2), (3, 1)]
    assert [(one[0], one[1]) for one in sums(store)] == expected
    summed(store)
    assert [(one[0], one[1]) for one in sums(store)] == expected


def test_what_people_said_is_not_summed_up_with_judges(store: MonitorStore) -> None:
    put(store, [(0, 1.0)])
    put(store, [(0, 0.0)], source="people")
    assert [one[1] for one in sums(store)] == [1]
    summed(store)
    assert [one[1] for one in sums(store)] == [1]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE scores SET value = 0 WHERE example = 'e0'",
        "UPDATE scores SET at = 250 WHERE example = 'e0'",
        "DELETE FROM scores WHERE example = 'e0'",
        "DELETE FROM scores",
        "INSERT INTO facets VALUES ('e0', 'system', 'b')",
        "UPDATE facets SET value = 'v2' WHERE example = 'e0'",
        "DELETE FROM facets WHERE example = 'e0'",
    ],
)
def test_sums_follow_what_happens_to_scores_and_facets(store: MonitorStore, change: str) -> None:
    put(store, [(0, 1.0), (1, 1.0), (130, 0.5)], facets={"version": "v1"})
    summed(store)
    with store.database.transaction() as run:
        run(change)
    facets = [None, ("version", "v1"), ("version", "v2"), ("system", "b")]
    now = [sums(store, facet) for facet in facets]
    with store.database.transaction() as run:
        ((waiting,),) = run("SELECT count(*) FROM to_sum")
        run("DELETE FROM score_sums")
        run("INSERT INTO to_sum SELECT 'faithfulness', 0 ON CONFLICT DO NOTHING")
        run("INSERT INTO to_sum SELECT 'faithfulness', 1 ON CONFLICT DO NOTHING")
        run("INSERT INTO to_sum SELECT 'faithfulness', 2 ON CONFLICT DO NOTHING")
    assert waiting, "a slot is summed up anew"
    assert now == [sums(store, facet) for facet in facets], "as from the scores alone"
    summed(store)
    assert now == [sums(store, facet) for facet in facets]


def test_a_slice_has_the_scores_of_its_examples(store: MonitorStore) -> None:
    put(store, [(0, 1.0), (130, 1.0)], facets={"version": "v1", "model": "m"})
    put(store, [(1, 0.0)], facets={"version": "v2", "model": "m"}, first=2)
    for _ in range(2):
        assert [(one[0], one[1], one[3]) for one in sums(store, ("version", "v1"))] == [
            (0, 1, 1), (1, 1, 1),
        ]  # fmt: skip
        assert [(one[0], one[1], one[3]) for one in sums(store, ("model", "m"))] == [
            (0, 2, 1), (1, 1, 1),
        ]  # fmt: skip
        assert sums(store, ("model", "v1")) == []
        summed(store)


def test_ready_and_open_slots_are_joined(store: MonitorStore) -> None:
    rng = random.Random(1)
    rows = [(rng.random() * 50 * WIDTH, rng.random()) for _ in range(300)]
    put(store, rows)
    whole = sums(store)
    with store.database.transaction() as run:
        for _ in range(3):
            assert sum_up(run, 7) == 7
    joined = sums(store)
    assert [one[0] for one in joined] == [one[0] for one in whole]
    for one, other in zip(joined, whole, strict=True):
        assert one == pytest.approx(other)
    with store.database.reading() as run:
        part = slot_sums(run, "faithfulness", 10, 30)
    assert part == [one for one in joined if 10 <= one[0] < 30]


def test_each_metric_has_its_own(store: MonitorStore) -> None:
    put(store, [(0, 1.0)])
    put(store, [(0, 0.0)], metric="hit")
    summed(store)
    assert [one[3] for one in sums(store)] == [1]
    assert [one[3] for one in sums(store, metric="hit")] == [0]
