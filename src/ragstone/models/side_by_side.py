"""Side by side: one batch per thread, instead of all threads on the same batch.

This way the single-threaded steps between the matrix products run in parallel too.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from ragstone.core.errors import MissingDependency

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], batches: Iterable[T]) -> Iterator[R]:
    """The result of each batch, in order; up to ``threads()`` batches run concurrently."""
    waiting = list(batches)
    workers = min(threads(), len(waiting))
    if workers < 2:
        yield from map(work, waiting)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, waiting)


def threads() -> int:
    """OMP_NUM_THREADS, or the number of processors that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isdecimal() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit NumPy's matrix products to one thread, process-wide, until the last user leaves.

    Raises:
        MissingDependency: ``threadpoolctl`` is not installed.
    """
    # The limit is process-wide, so only the first to enter sets it and the last to leave undoes it.
    with _HELD.lock:
        if not _HELD.depth:
            _HELD.limit = _pools().limit(limits=1, user_api="blas")
        _HELD.depth += 1
    try:
        yield
    finally:
        with _HELD.lock:
            _HELD.depth -= 1
            if not _HELD.depth:
                _HELD.limit.restore_original_limits()


class _Held:
    """How many callers hold the limit, and the limit to undo."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth = 0
        self.limit: Any = None


_HELD = _Held()


@cache
def _pools() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError as error:
        raise MissingDependency("The NumPy back end", "local") from error
    return ThreadpoolController()
