"""In time: runs what cannot be interrupted in a thread, and waits for it only so long."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import TIMEOUT_MAX, Semaphore, Thread
from typing import TypeVar

Result = TypeVar("Result")


class InTime:
    """Runs functions in threads of their own, a few at a time.

    A function that is too late runs on to its end, and nobody waits for it; so only a few may run,
    or a judge that hangs would use up the machine.

    Args:
        most: How many may run at the same time.
    """

    def __init__(self, most: int) -> None:
        self._free = Semaphore(most)

    def run(self, function: Callable[[], Result], seconds: float) -> Result:
        """The result of a function.

        Raises:
            TimeoutError: It takes longer than this, or no thread becomes free in that time.
            Exception: What the function raised.
        """
        seconds = min(max(0.0, seconds), TIMEOUT_MAX)
        if not self._free.acquire(timeout=seconds):
            raise TimeoutError
        done: Future[Result] = Future()
        # A daemon, for the program may end while a judge still hangs.
        Thread(target=self._work, args=(function, done), name="guard", daemon=True).start()
        return done.result(seconds)

    def _work(self, function: Callable[[], Result], done: "Future[Result]") -> None:
        try:
            done.set_result(function())
        except BaseException as error:
            done.set_exception(error)
        finally:
            self._free.release()
