"""Worker: the process that folds, assesses, draws and judges what came, and raises alarms.

    python -m ragstone.monitor.worker STORE [SETTINGS]

SETTINGS is JSON as ``worker_command`` writes it. The worker meets the server only in the store.
Killed at any moment, it goes on from the same place. Several servers may share a store, but only
a single worker at a time judges and raises alarms.
"""

import json
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from threading import Event, Thread

from ragstone.core.database import POSTGRES, connect
from ragstone.data.traces import Corpus
from ragstone.models.model_store import locked

from .alarms.notifications import wait_until_notified
from .alarms.watch import watch
from .duties import periodic_steps
from .duties.draw_answers import draw_answers
from .duties.erasure import drop_old_traces
from .duties.fold_traces import Folding
from .duties.human_scores import take_labels
from .duties.judge_answers import Judging, judge_anchors
from .duties.periodic_steps import Retried
from .exports import begin_write_back
from .settings import DEFAULTS, MonitorSettings, read_settings
from .store.rows import HEARTBEAT, keep
from .store.store import LAYOUT, MonitorStore, open_store

LOCK = "worker.lock"
# Seconds between two looks whether the other worker is gone.
LOOK = 0.5

# Beside the lock of writers, which has the layout's number alone.
TURN = 1


@contextmanager
def sole_worker(store: MonitorStore, note: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Wait until no other worker is at work on the store, and be the one.

    The lock goes with the process, however that ends, or with its connection to PostgreSQL.

    Yields:
        What says whether this is still the one, to be asked now and then.
    """
    if not store.place.startswith(POSTGRES):
        with locked(store.folder / LOCK, note=note, doing="judging this store"):
            yield lambda: True
        return
    with _turn_on_server(store.place, note) as held:
        yield held


@contextmanager
def _turn_on_server(address: str, note: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Wait for the lock in PostgreSQL, which its server frees when the connection breaks."""
    from psycopg import Error

    connection, lost = connect(address, autocommit=True), False

    def is_taken() -> bool:
        lock = "SELECT pg_try_advisory_lock(%s, %s)"
        row = connection.execute(lock, (LAYOUT.owner, TURN)).fetchone()
        return row is not None and row[0] is True

    def is_held() -> bool:
        """Tell whether the lock is still held; once another has it, never again.

        After the connection broke it is taken again, if it is free. While the database cannot be
        reached nobody else is at work on it either.
        """
        nonlocal connection, lost
        if lost:
            return False
        try:
            connection.execute("SELECT 1")
        except Error:
            try:
                connection.close()
                connection = connect(address, autocommit=True)
                lost = not is_taken()
            except Error:
                return True
        return not lost

    try:
        waiting = False
        while not is_taken():
            if not waiting:
                note("Another process is judging this store; waiting for it.")
                waiting = True
            time.sleep(LOOK)
        yield is_held
    finally:
        connection.close()


# Seconds between two signs of life in the store, and between two looks for alarms.
BEAT = 5.0

# Seconds for notifications at the end; what is not sent then is sent by the next worker.
NOTIFYING = 3.0

# Seconds: the sums of the last two minutes change with every score, and need not be made as often;
# what is not summed up yet is counted from the scores themselves.
SUM_EVERY = 10.0

WRITE_BACK_EVERY = 15.0
# Seconds between two looks for what people labelled, and for traces that are too old.
HOUSEKEEPING = 60.0

# Seconds until the store is looked at again where nothing was to be done.
PAUSE = 0.25

# Seconds in which what came is folded before the end.
DRAINING = 4.0

# Seconds in which a judge may end what it is at.
PATIENCE = 3.0

# Seconds until more is judged, so that what is drawn meanwhile is judged together.
JUDGING_PAUSE = 2.0


def worker_command(
    store: str, *, rules: Path | None = None, judges: Sequence[str] = (), rate: float | None = None
) -> list[str]:
    """Return the command that starts a worker of a store."""
    file = None if rules is None else str(rules)
    settings = {"rules": file, "judges": list(judges), "rate": rate}
    return [sys.executable, "-m", "ragstone.monitor.worker", store, json.dumps(settings)]


class MonitorWorker:
    """Does all that follows from the store, a page at a time."""

    def __init__(
        self,
        store: MonitorStore,
        settings: MonitorSettings = DEFAULTS,
        *,
        now: Callable[[], float] = time.time,
        is_sole: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store, self._settings, self._now = store, settings, now
        self._is_sole = is_sole
        corpus = None if settings.corpus is None else Corpus(settings.corpus)
        self._folding = Folding(store, corpus, settings.judging.settle, now)
        guard = periodic_steps.usual_guard(keep_thoughts=settings.judging.keep_thoughts)
        judging = settings.judging

        def duty(
            name: str, do: Callable[..., int], *more: object, rest: float = 0.0, page: float = 1
        ) -> Retried:
            return Retried(name, partial(do, *more), store, now, rest, page)

        self._duties = [
            duty("Folding traces", self._folding.step),
            duty("Checking answers", periodic_steps.check_answers, store, guard, now),
            duty("Drawing answers", draw_answers, store, settings.sampling, judging, now),
            duty("Summing up scores", periodic_steps.sum_scores, store, rest=SUM_EVERY,
                 page=periodic_steps.SUM_PAGE),
            duty("Taking over labels", take_labels, store, now, rest=HOUSEKEEPING, page=inf),
            duty("Watching for alarms", self._watch, rest=BEAT),
            duty("Keeping house", drop_old_traces, store, settings.retention, now,
                 rest=HOUSEKEEPING),
            duty("The sign of life", self._beat, rest=BEAT),
        ]  # fmt: skip
        self._judging = Judging(store, judging, now)
        self._judges = [
            duty("Judging", self._judging.step),
            duty("Judging the anchors", judge_anchors, store, judging, now),
        ]
        self._sending: Retried | None = None
        if (to := settings.write_back) is not None:
            begin_write_back(store)
            self._sending = duty(
                "Writing scores back", periodic_steps.write_scores_back, store, to, now,
                rest=WRITE_BACK_EVERY, page=inf,
            )  # fmt: skip
        self._stopping = Event()

    def step(self) -> int:
        """Do a page of everything but judging; gives how much that was."""
        return sum(duty.step() for duty in self._duties)

    def judge(self) -> int:
        """Judge a batch, and the anchors where it is time; gives how many examples that were."""
        return sum(duty.step() for duty in self._judges)

    def send(self) -> int:
        """Write scores back, if that is asked for and it is time; gives how many that were."""
        return 0 if self._sending is None else self._sending.step()

    def run(self) -> None:
        """Work until ``stop``, then drain. Slow judges keep nothing else waiting."""
        judging = Thread(target=self._repeat, args=(self.judge,), daemon=True)
        judging.start()
        Thread(target=self._repeat, args=(self.send,), daemon=True).start()
        while not self._stopping.is_set():
            if not self.step():
                self._stopping.wait(PAUSE)
        self._judging.stop()
        self.drain()
        judging.join(PATIENCE)
        if judging.is_alive():
            self._judging.excuse()

    def stop(self) -> None:
        """Ask it to end; can be called from a handler of signals."""
        self._stopping.set()

    def drain(self) -> None:
        """Fold what there is, so that it can be exported; the rest goes on with the next worker."""
        fold_all = partial(self._folding.fold_all, DRAINING)
        Retried("Folding the last traces", fold_all, self._store, self._now).step()

    def _repeat(self, step: Callable[[], int]) -> None:
        while not self._stopping.is_set():
            step()
            self._stopping.wait(JUDGING_PAUSE)

    def _watch(self) -> int:
        watch(self._store, self._settings, self._now())
        return 0

    def _beat(self) -> int:
        if not self._is_sole():
            text = "Another process judges this store now; this one stops."
            self._store.log(self._now(), "info", text)
            self.stop()
            return 0
        with self._store.database.transaction() as run:
            keep(run, HEARTBEAT, {"at": self._now(), "pid": os.getpid()})
        return 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a worker until SIGTERM, or until the server that started it is gone."""
    where, *rest = sys.argv[1:] if arguments is None else arguments
    settings = _settings(**json.loads(rest[0])) if rest else DEFAULTS
    store = open_store(where)
    # Who stands by has nothing to drain, and may end at once.
    ends: list[Callable[[], object]] = [lambda: os._exit(0)]
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        Thread(target=_until_input_ends, args=(ends,), daemon=True).start()
    with sole_worker(store, lambda text: store.log(time.time(), "info", text)) as is_sole:
        worker = MonitorWorker(store, settings, is_sole=is_sole)
        ends[:] = [worker.stop]
        for item in (signal.SIGTERM, signal.SIGINT):
            signal.signal(item, lambda *_: worker.stop())
        worker.run()
        wait_until_notified(store, NOTIFYING)
        # A model that still computes does not hold up the end: its batch goes on with the next.
        os._exit(0)


def _settings(rules: str | None, judges: Sequence[str], rate: float | None) -> MonitorSettings:
    settings_read = DEFAULTS if rules is None else read_settings(rules)
    return settings_read.with_options(judges=tuple(judges), rate=rate)


def _until_input_ends(ends: list[Callable[[], object]]) -> None:
    """The server holds the other end of the input: it closes, however the server ends."""
    while os.read(0, 1024):
        pass
    ends[0]()


if __name__ == "__main__":
    main()
