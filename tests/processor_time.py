"""Processor time that work takes, with as little from other work as possible."""

import time
from collections.abc import Callable


def least_processor_time(work: Callable[[], object], times: int = 3) -> float:
    """Return the least of several times: other work on the machine only ever adds to them."""
    spent = []
    for _ in range(times):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)
