"""Periodic duties: guard checks, score sums and write-back of scores, retried after a fault.

Scores are summed up by time so that figures over time are read in milliseconds.
"""

import json
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import time

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.messages import reason
from ragstone.guard import Assessment, Checks, Guard
from ragstone.guard.guard import unjudged
from ragstone.monitor.exports import HOURS, begin_write_back, write_back
from ragstone.monitor.series.metric_over_time import MeanInWindow, over_time
from ragstone.monitor.settings import WriteBackSettings
from ragstone.monitor.store.incoming import erasures
from ragstone.monitor.store.rows import log
from ragstone.monitor.store.scores import NewScore, sum_up
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_examples import (
    NewAssessment,
    next_to_assess,
    stored_example,
    write_assessed,
)

FIRST, LONGEST = 1.0, 60.0
"""Seconds until a duty that failed is tried again: at first, and at most."""


@dataclass
class Retried:
    """A duty that never raises: a fault is logged, and the duty waits the longer the more often."""

    name: str
    do: Callable[[], int]
    store: MonitorStore
    now: Callable[[], float]
    faults: int = 0
    waits_until: float = 0.0

    def step(self) -> int:
        """Do some; gives how much, which is 0 while it waits."""
        # Where the clock was set back, the wait is over, too.
        if self.now() < self.waits_until <= self.now() + LONGEST:
            return 0
        try:
            n = self.do()
        except Exception as error:
            self.faults += 1
            wait = min(FIRST * 2 ** (self.faults - 1), LONGEST)
            self.waits_until = self.now() + wait
            text = f"{self.name} failed ({fault_text(error)}); it is tried again in {wait:g} s."
            # Where the store itself is gone, nothing can be written; the server reports that.
            with suppress(Exception), self.store.database.transaction() as run:
                log(run, self.now(), "error", text)
            return 0
        self.faults = 0
        return n


def fault_text(error: Exception) -> str:
    """Return a fault without any text of a trace: our own words, or where it was raised."""
    if isinstance(error, RagstoneError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {Path(last[0].filename).name}:{last[0].lineno}" if last else ""
    return f"{type(error).__name__}{where}"


PAGE = 200
EVERY = 10.0
"""Seconds: the sums of the last two minutes change with every score, and need not be made as often;
what is not summed up yet is counted from the scores themselves."""


class Summing:
    """Makes the sums whose scores changed, a page at a time."""

    def __init__(self, store: MonitorStore, now: Callable[[], float] = time) -> None:
        self._store, self._now = store, now
        self._next = 0.0

    def step(self) -> int:
        """Make a page of sums; gives how many were made where more are to be made."""
        now = self._now()
        if now < self._next <= now + EVERY:
            return 0
        with self._store.database.transaction() as run:
            n = sum_up(run, PAGE)
        if n == PAGE:
            return n
        self._next = now + EVERY
        return 0


WRITE_BACK_EVERY = 15.0
"""Seconds between two times."""


class WritingBack:
    """Sends the scores that were not sent yet, now and then."""

    def __init__(
        self,
        store: MonitorStore,
        settings: WriteBackSettings | None,
        now: Callable[[], float] = time,
    ) -> None:
        self._store, self._settings, self._now = store, settings, now
        self._last = float("-inf")
        if settings is not None:
            begin_write_back(store)

    def step(self) -> int:
        """Send what there is, if it is time; gives how many scores that were.

        Raises:
            InputError: A header's environment variable is not set.
            NotTaken: The receiver refused them or is away.
        """
        now = self._now()
        if self._settings is None or abs(now - self._last) < WRITE_BACK_EVERY:
            return 0
        sent = write_back(self._store, self._settings.open(), partial(_mean, self._store, now))
        self._last = now
        return sent


def _mean(store: MonitorStore, now: float, metric: str) -> MeanInWindow | None:
    series = over_time(store, metric, since=now - HOURS * 3600, until=now, window=HOURS * 3600)
    return None if series.now is None or series.now.value is None else series.now


GUARD_PAGE = 50
"""Examples that are written in one transaction."""

UNHURRIED = 30.0
"""Seconds for one answer: nobody waits for it, and only absurd texts need more than one."""

STATUS = {"passed": "value", "failed": "value", "not_applicable": "undefined"}


def usual_guard(*, keep_thoughts: bool = False) -> Guard:
    """Return the guard that looks at production: not every system is asked to cite."""
    return Guard(Checks(citations=False, keep_thoughts=keep_thoughts), deadline=UNHURRIED)


@dataclass(frozen=True)
class GuardChecking:
    """Assesses what is settled, the longest waiting first."""

    store: MonitorStore
    guard: Guard = field(default_factory=usual_guard)
    now: Callable[[], float] = time

    def step(self, most: int = GUARD_PAGE) -> int:
        """Assess some; returns how many."""
        with self.store.database.reading() as run:
            before = erasures(run)
            waiting = next_to_assess(run, most)
        if not waiting:
            return 0
        assessments = [self._assessed(*example) for example in waiting]
        with self.store.database.transaction() as run:
            if erasures(run) == before:
                write_assessed(run, self.now(), assessments)
        return len(waiting)

    def _assessed(self, id: str, record: str, text_hash: str) -> NewAssessment:
        try:
            example = stored_example(record)
        except InputError:
            assessment = unjudged(reason("example_not_readable"), id)
        else:
            scores = example.meta.get("retrieval_scores")
            texts = (example.question, example.answer, example.contexts)
            assessment = self.guard.assess(*texts, retrieval_scores=scores, run_id=id)
        return NewAssessment(
            id, text_hash, None if assessment.ok is None else int(assessment.ok),
            assessment.confidence, json.dumps(assessment.to_dict()),
            tuple(guard_scores(id, assessment)),
        )  # fmt: skip


def guard_scores(example: str, assessment: Assessment) -> Iterator[NewScore]:
    """Give the scores that an assessment gives.

    ``guard_ok`` and ``guard_CHECK`` are 1 where it passed and 0 where not, undefined where a check
    does not apply, and missing where it could not be judged. ``guard_confidence`` is undefined
    where nothing is claimed.
    """
    unjudged = next(
        (check.reason for check in assessment.checks if check.status == "not_judged"), ""
    )

    def score(name: str, value: float | None, status: str, why: str) -> NewScore:
        return NewScore(example, f"guard_{name}", value, status, why, None, assessment.judge)

    if assessment.ok is None:
        yield score("ok", None, "missing", unjudged)
    else:
        yield score("ok", float(assessment.ok), "value", "")
    if assessment.confidence is not None:
        yield score("confidence", assessment.confidence, "value", "")
    elif unjudged:
        yield score("confidence", None, "missing", unjudged)
    else:
        yield score("confidence", None, "undefined", reason("no_claims_made"))
    for check in assessment.checks:
        status = STATUS.get(check.status, "missing")
        value = float(check.status == "passed") if status == "value" else None
        yield score(check.check, value, status, "" if status == "value" else check.reason)
