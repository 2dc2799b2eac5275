"""The oldest traces go when they are too old, or when all together are too large."""

from dataclasses import replace

from ragstone.monitor.duties.erasure import GIGABYTE, drop_old_traces
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.settings.sections import RetentionSettings
from ragstone.monitor.store.incoming import insert_malformed, last_malformed
from ragstone.monitor.store.rows import count, counted
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock
from tests.monitor.duties.arriving import receive_answers, rows

DAY = 86_400


def test_what_is_too_old_goes_with_all_that_hangs_on_it(store: MonitorStore) -> None:
    clock = Clock()
    old = clock.at
    with store.database.transaction() as run:
        count(run, old, {"kept": 1})
        insert_malformed(run, old, [("body_not_json", b"old")])
    receive_answers(store, clock.at, range(3))
    Folding(store, now=clock).fold_all()
    clock.wait(20 * DAY)
    receive_answers(store, clock.at, range(3, 5))
    Folding(store, now=clock).fold_all()
    settings = RetentionSettings(days=30)
    assert drop_old_traces(store, settings, clock) == 0
    clock.wait(11 * DAY)
    assert drop_old_traces(store, settings, clock) == 3
    assert drop_old_traces(store, settings, clock) == 0
    assert [rows(store, f"SELECT count(*) FROM {one}")[0][0]
            for one in ("received", "traces", "examples", "to_do")] == [2, 2, 2, 2]  # fmt: skip
    with store.database.reading() as run:
        assert "kept" not in counted(run, 0)
        assert last_malformed(run) == []


def test_what_is_too_much_goes_the_oldest_first(store: MonitorStore) -> None:
    clock = Clock()
    for number in range(40):
        receive_answers(store, clock.at, [number])
        clock.wait(1)
    Folding(store, now=clock).fold_all()
    size = store.database.size()
    assert size > 100_000
    sizes = [size]

    class Sized:
        def __getattr__(self, name: str) -> object:
            return (lambda: sizes[-1]) if name == "size" else getattr(store.database, name)

    small = replace(store, database=Sized())  # type: ignore[arg-type]
    settings = RetentionSettings(days=365, gigabytes=size / GIGABYTE * 0.8)
    while drop_old_traces(small, settings, clock):
        pass
    ((left, first),) = rows(store, "SELECT count(*), min(first_at) FROM traces")
    assert left == 28, "a tenth below what may be kept: 1 - .9 · .8 of them went"
    assert first == clock.at - 28
    # A server gives nothing back: only what grows beyond counts again.
    assert drop_old_traces(small, settings, clock) == 0
    sizes.append(int(size * 1.02))
    assert drop_old_traces(small, settings, clock) > 0
