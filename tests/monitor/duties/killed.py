"""Killed: a worker that is killed in the middle of a transaction.

    python killed.py STORE FOLDER TRANSACTIONS NOW

It lets as many transactions through, and dies before the next is confirmed.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from ragstone.core.database import KeptDatabase, Sql
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.store import open_store
from ragstone.monitor.worker import MonitorWorker


@dataclass
class Mortal:
    """A database whose user dies in one of its transactions."""

    database: KeptDatabase
    left: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.database, name)

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        with self.database.transaction() as run:
            yield run
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)
            self.left -= 1


def main() -> None:
    place, folder, transactions, now = sys.argv[1:]
    store = open_store(place, folder=Path(folder))
    mortal = cast(KeptDatabase, Mortal(store.database, int(transactions)))
    settings = DEFAULTS.with_options(judges=("local:strings",), rate=1.0)
    worker = MonitorWorker(replace(store, database=mortal), settings, now=lambda: float(now))
    for _ in range(3):
        worker.step()
        worker.judge()


if __name__ == "__main__":
    main()
