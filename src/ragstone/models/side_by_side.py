"""Side by side: batches on several threads, a processor each, instead of all on one batch.

So the steps that a single thread takes, between the matrix products, go on at the same time too.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from ragstone.errors import MissingDependency

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], batches: Iterable[T]) -> Iterator[R]:
    """The result of each batch, in their order, as many at a time as there are threads."""
    waiting = list(batches)
    workers = min(threads(), len(waiting))
    if workers < 2:
        yield from map(work, waiting)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, waiting)


def threads() -> int:
    """OMP_NUM_THREADS, or one for each processor that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isdecimal() and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, a matrix product of NumPy takes one thread; for the whole process, until all left.

    Raises:
        MissingDependency: ``threadpoolctl`` is not installed.
    """
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
    """How many are inside, and what the first of them changed."""

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
