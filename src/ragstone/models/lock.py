"""Lock: a file lock between processes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(file: Path, *, note: Callable[[str], None], doing: str) -> Iterator[None]:
    """Hold an exclusive lock on ``file``; the system releases it when the process ends.

    On a file system without locks the work is done anyway: everything done under this lock is
    safe without it, only possibly done twice.
    """
    with file.open("a+b") as handle:
        waiting = False
        while not _try_lock(handle.fileno()):
            if not waiting:
                note(f"Another process is {doing}; waiting for it.")
                waiting = True
            time.sleep(0.1)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True
