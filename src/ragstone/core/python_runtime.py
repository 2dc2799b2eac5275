"""Garbage: how often Python looks for objects that only refer to each other."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 20_000
"""Imports and judgements are many objects that stay; looking at them after every 700, as Python
does by default, takes a seventh of a run's processor time."""


@contextmanager
def kept_out() -> Iterator[None]:
    """Exempt existing objects from garbage collection, which Ray starts every second."""
    if gc.get_freeze_count():
        yield  # Somebody else froze what is theirs.
        return
    # Without collecting before: in a process of many modules that takes longer than a small run.
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def relax_garbage_collector() -> None:
    """Collect garbage less often, in a process that is Ragstone's own."""
    gc.set_threshold(OBJECTS, 20, 50)
