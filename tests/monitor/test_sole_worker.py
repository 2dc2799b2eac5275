"""Of several workers of a store one is at work, and the next takes over when it ends."""

from threading import Event, Thread

from ragstone.monitor.sole_worker import sole_worker
from ragstone.monitor.store.store import MonitorStore

PATIENCE = 30.0


def test_a_second_worker_stands_by_until_the_first_is_gone(store: MonitorStore) -> None:
    notes: list[str] = []
    told, at_work = Event(), Event()

    def note(text: str) -> None:
        notes.append(text)
        told.set()

    def second() -> None:
        with sole_worker(store, note):
            at_work.set()

    with sole_worker(store, notes.append):
        waiting = Thread(target=second, daemon=True)
        waiting.start()
        assert told.wait(PATIENCE)
        assert not at_work.is_set()
        assert notes == ["Another process is judging this store; waiting for it."]
    assert at_work.wait(PATIENCE)
    waiting.join(PATIENCE)
