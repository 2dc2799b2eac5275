"""Remote lock: only one process at a time writes to a run's folder at a URL.

It is a file there with the name of who writes, made only if there is none, and renewed while the
run goes on. One that was not renewed for ten minutes is of a machine that is gone.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from ragstone.core.errors import NothingThere, RagstoneError, RunConflict
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument
from ragstone.core.remote_files import Remote

RENEWED = 60.0
"""Seconds between two renewals."""
GONE = 600.0
"""Seconds after which a lock that was not renewed counts no more."""


@contextmanager
def locked_at(
    remote: Remote, owner: str, now: Callable[[], float] = time.time
) -> Iterator[Callable[[], None]]:
    """Lock the folder; gives a function that raises if another has taken the lock over.

    Args:
        remote: The folder.
        owner: Who locks it: the same again may, for it is one that was killed.
        now: The clock.

    Raises:
        RunConflict: Another writes there.
    """

    def said() -> bytes:
        return json.dumps({"owner": owner, "at": now()}).encode()

    if not remote.create(RunEntry.LOCK, said()):
        whose, at = _holder(remote)
        # One from the future is of a clock that was wrong, and would never count as gone.
        if whose not in (owner, "") and abs(now() - at) < GONE:
            raise RunConflict(
                f"Another run is writing into {remote.name}. Wait for it, or name another folder "
                f"with {argument('out', 'FOLDER')}. If its machine is gone, that counts "
                f"{GONE / 60:.0f} minutes after its last sign."
            )
        remote.put(RunEntry.LOCK, said())

    def check() -> None:
        if _holder(remote)[0] != owner:
            raise RunConflict(f"Another run has taken over {remote.name}. Leave it to that one.")

    stop = Event()

    def renew() -> None:
        while not stop.wait(RENEWED):
            with suppress(RagstoneError):
                check()
                remote.put(RunEntry.LOCK, said())

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield check
    finally:
        stop.set()
        thread.join()
        with suppress(RagstoneError):
            if _holder(remote)[0] == owner:
                remote.remove([RunEntry.LOCK])


def _holder(remote: Remote) -> tuple[str, float]:
    """Who holds the lock, and when they said so last; nobody, if it is not there or no lock."""
    try:
        found = json.loads(remote.read(RunEntry.LOCK))
        return str(found["owner"]), float(found["at"])
    except (NothingThere, ValueError, KeyError, TypeError):
        return "", 0.0
