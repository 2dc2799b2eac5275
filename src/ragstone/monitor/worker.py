"""Worker: folds, assesses, draws and judges what came, in a process of its own.

    python -m ragstone.monitor.worker STORE [SETTINGS]

It meets the server only in the store. Killed at any moment, it goes on where it was.
``worker_command`` gives the command; SETTINGS is what it says in JSON.
"""

import json
import os
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from time import time

from .alarms.telling.sending import wait_until_told
from .alarms.watch import watch
from .following.anchoring import Anchoring
from .following.assessing import GuardChecking
from .following.folding import Folding
from .following.judging import Judging
from .following.people import People
from .following.retention import Retention
from .following.retried import Retried
from .following.sampling import Sampling
from .following.sign_of_life import HEARTBEAT
from .following.summing import Summing
from .following.writing_back import WritingBack
from .settings import DEFAULTS, MonitorSettings, read_settings
from .sole_worker import sole_worker
from .store.kept import keep
from .store.log import log
from .store.store import MonitorStore, open_store
from .traces import Corpus

__all__ = ["HEARTBEAT", "MonitorWorker", "main", "worker_command"]

BEAT = 5.0
"""Seconds between two signs of life in the store, and between two looks for alarms."""

TELLING = 3.0
"""Seconds that a message has to be told at the end; what is not is told by the next worker."""

PAUSE = 0.25
"""Seconds until the store is looked at again where nothing was to be done."""

DRAINING = 4.0
"""Seconds in which what came is folded before the end."""

PATIENCE = 3.0
"""Seconds in which a judge may end what it is at."""

JUDGING_PAUSE = 2.0
"""Seconds until more is judged, so that what is drawn meanwhile is judged together."""


def worker_command(
    store: str, *, rules: Path | None = None, judges: Sequence[str] = (), rate: float | None = None
) -> list[str]:
    """The command that starts a worker of a store.

    Args:
        store: A folder or an address.
        rules: The file of settings.
        judges: In the place of the file's.
        rate: In the place of the file's.
    """
    said = {"rules": None if rules is None else str(rules), "judges": list(judges), "rate": rate}
    return [sys.executable, "-m", "ragstone.monitor.worker", store, json.dumps(said)]


class MonitorWorker:
    """Does all that follows from the store, a page at a time.

    Args:
        store: Where all of it is.
        settings: How it judges and keeps.
        now: Seconds since the epoch.
        is_sole: Whether no other worker is at work on the store; where one is, this one stops.
    """

    def __init__(
        self,
        store: MonitorStore,
        settings: MonitorSettings = DEFAULTS,
        *,
        now: Callable[[], float] = time,
        is_sole: Callable[[], bool] = lambda: True,
    ) -> None:
        self._store, self._settings, self._now = store, settings, now
        self._is_sole = is_sole
        corpus = None if settings.corpus is None else Corpus(settings.corpus)
        self._folding = Folding(store, corpus, settings.judging.settle, now)
        assessing = GuardChecking(store, now=now)
        sampling = Sampling(store, settings.sampling, settings.judging, now)
        self._steps = [
            Retried(name, do, store, now)
            for name, do in (
                ("Folding traces", self._folding.step),
                ("Checking answers", assessing.step),
                ("Drawing answers", sampling.step),
                ("Summing up scores", Summing(store, now).step),
                ("Taking over labels", People(store, now).step),
                ("Watching for alarms", self._watch),
                ("Keeping house", Retention(store, settings.retention, now).step),
                ("The sign of life", self._beat),
            )
        ]
        self._judging = Judging(store, settings.judging, now)
        anchoring = Anchoring(store, settings.judging, now=now)
        self._judges = [
            Retried("Judging", self._judging.step, store, now),
            Retried("Judging the anchors", anchoring.step, store, now),
        ]
        sending = WritingBack(store, settings.write_back, now)
        self._sending = Retried("Writing scores back", sending.step, store, now)
        self._beaten = self._watched = 0.0
        self._stopping = Event()

    def step(self) -> int:
        """Do a page of everything but judging; gives how much that was."""
        return sum(one.step() for one in self._steps)

    def judge(self) -> int:
        """Judge a batch, and the anchors where it is time; gives how many examples that were."""
        return sum(one.step() for one in self._judges)

    def send(self) -> int:
        """Write scores back, if that is asked for and it is time; gives how many that were."""
        return self._sending.step()

    def run(self) -> None:
        """Work until ``stop``, then drain. Slow judges keep nothing else waiting."""
        judging = Thread(target=self._judge_on, daemon=True)
        judging.start()
        Thread(target=self._send_on, daemon=True).start()
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
        Retried(
            "Folding the last traces",
            lambda: self._folding.fold_all(DRAINING),
            self._store,
            self._now,
        ).step()

    def _judge_on(self) -> None:
        while not self._stopping.is_set():
            self.judge()
            self._stopping.wait(JUDGING_PAUSE)

    def _send_on(self) -> None:
        while not self._stopping.is_set():
            self.send()
            self._stopping.wait(JUDGING_PAUSE)

    def _watch(self) -> int:
        now = self._now()
        if now - self._watched >= BEAT:
            self._watched = now
            watch(self._store, self._settings, now)
        return 0

    def _beat(self) -> int:
        now = self._now()
        if now - self._beaten >= BEAT:
            if not self._is_sole():
                _say(self._store, "Another process judges this store now; this one stops.")
                self.stop()
                return 0
            with self._store.database.transaction() as run:
                keep(run, HEARTBEAT, {"at": now, "pid": os.getpid()})
            self._beaten = now
        return 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a worker until SIGTERM, or until the server that started it is gone."""
    place, *rest = sys.argv[1:] if arguments is None else arguments
    settings = _settings(**json.loads(rest[0])) if rest else DEFAULTS
    store = open_store(place)
    # Who stands by has nothing to drain, and may end at once.
    ends: list[Callable[[], object]] = [lambda: os._exit(0)]
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        Thread(target=_until_input_ends, args=(ends,), daemon=True).start()
    with sole_worker(store, lambda text: _say(store, text)) as is_sole:
        worker = MonitorWorker(store, settings, is_sole=is_sole)
        ends[:] = [worker.stop]
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, lambda *_: worker.stop())
        worker.run()
        wait_until_told(store, TELLING)
        # A model that still computes does not hold up the end: its batch goes on with the next.
        os._exit(0)


def _say(store: MonitorStore, text: str) -> None:
    with store.database.transaction() as run:
        log(run, time(), "info", text)


def _settings(rules: str | None, judges: Sequence[str], rate: float | None) -> MonitorSettings:
    found = DEFAULTS if rules is None else read_settings(rules)
    return found.with_options(judges=tuple(judges), rate=rate)


def _until_input_ends(ends: list[Callable[[], object]]) -> None:
    """The server holds the other end of the input: it closes, however the server ends."""
    while os.read(0, 1024):
        pass
    ends[0]()


if __name__ == "__main__":
    main()
