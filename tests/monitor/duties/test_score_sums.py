"""Scores are summed up a page at a time, and those of the last minutes not all the time."""

from ragstone.monitor.duties.periodic_steps import SUM_PAGE, sum_scores
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.worker import SUM_EVERY, MonitorWorker
from tests.clock import Clock
from tests.monitor.duties.arriving import rows
from tests.monitor.series.scores import put

TO_SUM = "SELECT count(*) FROM to_sum"


def test_all_slots_are_summed_up_page_by_page(store: MonitorStore) -> None:
    put(store, [(120.0 * k, 1.0) for k in range(SUM_PAGE + 1)])
    assert sum_scores(store) == SUM_PAGE
    assert rows(store, TO_SUM) == [(1,)]
    assert sum_scores(store) == 1
    assert rows(store, TO_SUM) == [(0,)]


def test_new_scores_wait_until_it_is_time(store: MonitorStore) -> None:
    clock = Clock()
    worker = MonitorWorker(store, now=clock)
    worker.step()
    put(store, [(0.0, 1.0)])
    worker.step()
    assert rows(store, TO_SUM) == [(1,)]
    clock.wait(SUM_EVERY)
    worker.step()
    assert rows(store, TO_SUM) == [(0,)]
