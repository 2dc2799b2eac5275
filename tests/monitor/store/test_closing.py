"""A store is closed while other threads use it."""

from threading import Event, Thread

from ragstone.monitor.store.rows import keep, remembered
from ragstone.monitor.store.store import MonitorStore


def test_closing_waits_for_a_transaction_of_another_thread(store: MonitorStore) -> None:
    within, go_on, seen = Event(), Event(), list[object]()

    def work() -> None:
        with store.database.transaction() as run:
            within.set()
            go_on.wait(30)
            keep(run, "a", 1)
            seen.append(remembered(run, "a"))

    worker = Thread(target=work)
    closer = Thread(target=store.close)
    worker.start()
    assert within.wait(30)
    closer.start()
    closer.join(0.2)
    assert closer.is_alive()
    go_on.set()
    worker.join(30)
    closer.join(30)
    assert seen == [1]
