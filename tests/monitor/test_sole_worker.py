"""Of several workers of a store one is at work, and the next takes over when it ends."""

from contextlib import closing
from pathlib import Path
from threading import Event, Thread

from ragstone.monitor.store.store import LAYOUT, MonitorStore, open_store
from ragstone.monitor.worker import TURN, MonitorWorker, sole_worker
from tests.programs.postgres import PostgresServer

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


def test_a_worker_that_lost_its_turn_stops_when_another_has_it(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    at_work, over = Event(), Event()
    with (
        closing(open_store(postgres.database(), folder=tmp_path)) as store,
        sole_worker(store, print) as is_sole,
    ):
        worker = MonitorWorker(store, is_sole=is_sole)
        assert is_sole()
        end_the_connection(store)
        assert is_sole(), "nobody else wanted it"

        def second() -> None:
            with sole_worker(store, print):
                at_work.set()
                over.wait(PATIENCE)

        other = Thread(target=second, daemon=True)
        other.start()
        end_the_connection(store)
        assert at_work.wait(PATIENCE)
        try:
            working = Thread(target=worker.run, daemon=True)
            working.start()
            working.join(PATIENCE)
            assert not working.is_alive()
            assert not is_sole()
        finally:
            worker.stop()
            over.set()
            other.join(PATIENCE)


def end_the_connection(store: MonitorStore) -> None:
    """As a network does, or the server's administrator; returns when the lock is free."""
    holds = "FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ? AND objid = ?"
    with store.database.transaction() as run:
        ended = run(f"SELECT pid, pg_terminate_backend(pid, 30000) {holds}", LAYOUT.owner, TURN)
    assert [ok for _, ok in ended] == [True]
