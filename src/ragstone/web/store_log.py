"""Store log: what the server would write to a terminal goes to the log in its store."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.monitor.store.log import Level

Say = Callable[[Level, str], None]
"""Writes a line some time. Whoever logs must not wait for the store: it may be what is broken."""

NAMES = ("ragstone", "uvicorn.error")
"""The loggers whose words are kept."""


class StoreLog(logging.Handler):
    """Writes warnings and errors to the log of a store; neither fails nor waits."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line. Of an error its kind and its place, for its words may be a trace's."""
        level: Level = "error" if record.levelno >= logging.ERROR else "warning"
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            trace = record.exc_info[2]
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            where = f" in {trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else ""
            text = f"{text}: {record.exc_info[0].__name__}{where}"
        self._say(level, text)


@contextmanager
def logged_to(say: Say) -> Iterator[None]:
    """Keep what is logged meanwhile in the store, and off the terminal."""
    handler = StoreLog(say)
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [one.propagate for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.propagate = False
    try:
        yield
    finally:
        for one, propagated in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.propagate = propagated
