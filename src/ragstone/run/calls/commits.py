"""Commits: a writer thread that groups many entries into one transaction."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Entry = TypeVar("Entry")

AT_ONCE = 64
GATHERING = 0.001
"""Seconds that the first entry of a batch waits for others."""


class Commits(Generic[Entry]):
    """The only writer of a file. After a fault it writes nothing more.

    Args:
        connection: Used only by this writer, and closed at the end.
        write: Writes a batch inside a transaction.
        explain: Turns a fault into the exception to raise.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        write: Callable[[sqlite3.Connection, Sequence[Entry]], None],
        explain: Callable[[Exception], Exception],
    ) -> None:
        self._connection, self._write, self._explain = connection, write, explain
        self._queue: SimpleQueue[tuple[Entry, asyncio.Future[None] | None] | None] = SimpleQueue()
        self.fault: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="commits", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Queue an entry without waiting for it to be written."""
        self._queue.put((entry, None))

    async def commit(self, entry: Entry) -> None:
        """Queue an entry and wait until it is on disk.

        Raises:
            Exception: From ``explain``; the entry is not written.
        """
        done = asyncio.get_running_loop().create_future()
        self._queue.put((entry, done))
        await done

    def close(self, seconds: float | None = None) -> bool:
        """Write the queued entries and end; False if that takes longer than ``seconds``."""
        self._queue.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        queue, more = self._queue, True
        # Every transaction waits for an fsync; entries that arrive together share one.
        while more and (first := queue.get()) is not None:
            if queue.qsize() < AT_ONCE:
                time.sleep(GATHERING)
            batch = [first]
            while len(batch) < AT_ONCE:
                try:
                    following = queue.get_nowait()
                except Empty:
                    break
                if following is None:
                    more = False
                    break
                batch.append(following)
            self._commit([entry for entry, _ in batch])
            _settle([done for _, done in batch if done is not None], self.fault)
        self._connection.close()

    def _commit(self, entries: Sequence[Entry]) -> None:
        if self.fault is not None:
            return
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._write(connection, entries)
            connection.execute("COMMIT")
        except Exception as error:  # any error must reach the callers that wait
            self.fault = self._explain(error)
            with suppress(sqlite3.Error):
                connection.rollback()


def _settle(waiting: list["asyncio.Future[None]"], fault: Exception | None) -> None:
    """Complete the waiting futures in their own event loop, unless that has ended."""
    if not waiting:
        return

    def tell() -> None:
        for done in waiting:
            if done.done():
                continue
            if fault is None:
                done.set_result(None)
            else:
                done.set_exception(fault)

    # Futures are not thread-safe: they may only be completed inside their loop.
    with suppress(RuntimeError):
        waiting[0].get_loop().call_soon_threadsafe(tell)
