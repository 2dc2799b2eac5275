"""The worker's process: started again when it dies, and ended with the server."""

import os
import signal
import sys
import time
from collections.abc import Callable
from queue import Queue

from ragstone.web.monitor_server import Death, WorkerProcess

SLEEPS = [sys.executable, "-c", "import time\nwhile True: time.sleep(1)"]


def until(what: Callable[[], bool]) -> None:
    """Wait for something that comes, on a machine however busy."""
    for _ in range(6_000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_a_worker_that_dies_is_started_again_each_time_later() -> None:
    deaths: Queue[Death] = Queue()
    dies = [sys.executable, "-c", "import sys; sys.exit('what it wrote last')"]
    worker = WorkerProcess(dies, deaths.put, first=0.01)
    worker.start()
    first, second = deaths.get(timeout=60), deaths.get(timeout=60)
    worker.stop()
    assert (first.deaths, second.deaths) == (1, 2)
    assert (first.wait, second.wait) == (0.01, 0.02)
    assert first.how == "it ended with status 1"
    assert first.last_words == "what it wrote last"


def test_a_worker_that_is_killed_is_replaced() -> None:
    deaths: Queue[Death] = Queue()
    worker = WorkerProcess(SLEEPS, deaths.put, first=0.01)
    worker.start()
    until(lambda: worker.pid is not None)
    first = worker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert deaths.get(timeout=60).how == "it was ended by SIGKILL"
    until(lambda: worker.pid not in (None, first))
    worker.stop()


def test_stopping_ends_the_worker_and_tells_of_no_death() -> None:
    deaths: Queue[Death] = Queue()
    worker = WorkerProcess(SLEEPS, deaths.put)
    worker.start()
    until(lambda: worker.pid is not None)
    worker.stop()
    assert worker.pid is None
    assert deaths.empty()


def test_a_worker_that_does_not_end_is_ended() -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    deaf += "print('deaf', flush=True)\nwhile True: time.sleep(1)"
    worker = WorkerProcess([sys.executable, "-c", deaf], lambda _: None)
    worker.start()
    until(lambda: worker.pid is not None)
    worker.stop(patience=0.2)
    until(lambda: worker.pid is None)
