"""Scores are summed up a page at a time, and those of the last minutes not all the time."""

from ragstone.monitor.duties.periodic_steps import EVERY, PAGE, Summing
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.worker import MonitorWorker
from tests.clock import Clock
from tests.monitor.duties.arriving import rows
from tests.monitor.series.scores import put

TO_SUM = "SELECT count(*) FROM to_sum"


def test_all_slots_are_summed_up_page_by_page(store: MonitorStore) -> None:
    put(store, [(120.0 * k, 1.0) for k in range(PAGE + 1)])
    summing = Summing(store, Clock())
    assert summing.step() == PAGE
    assert rows(store, TO_SUM) == [(1,)]
    assert summing.step() == 0
    assert rows(store, TO_SUM) == [(0,)]


def test_new_scores_wait_until_it_is_time(store: MonitorStore) -> None:
    clock = Clock()
    summing = Summing(store, clock)
    summing.step()
    put(store, [(0.0, 1.0)])
    summing.step()
    assert rows(store, TO_SUM) == [(1,)]
    clock.wait(EVERY)
    summing.step()
    assert rows(store, TO_SUM) == [(0,)]


def test_the_worker_sums_up(store: MonitorStore) -> None:
    put(store, [(0.0, 1.0)])
    MonitorWorker(store, now=Clock()).step()
    assert rows(store, TO_SUM) == [(0,)]
