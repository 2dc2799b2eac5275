"""Waiting for what comes soon, on a machine however busy."""

import time
from collections.abc import Callable

PATIENCE = 120
"""Seconds; a busy machine is far below it."""


def until(holds: Callable[[], object]) -> None:
    """Wait until this holds; the test fails if it never does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)
