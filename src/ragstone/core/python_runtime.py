"""Python runtime: how often it collects garbage, and calls in threads of their own."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Result = TypeVar("Result")

# Imports and judgements are many objects that stay; looking at them after every 700, as Python
# does by default, takes a seventh of a run's processor time.
OBJECTS = 20_000


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


def in_daemon(call: Callable[[], Result], name: str) -> "Future[Result]":
    """Run a call in a daemon thread, which does not delay the program's exit.

    Whoever waits for the future gets what the call returns or raises.
    """
    from concurrent.futures import Future  # Commands that need no thread start sooner without.

    future: Future[Result] = Future()

    def work() -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

    Thread(target=work, daemon=True, name=name).start()
    return future
