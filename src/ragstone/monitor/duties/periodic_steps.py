"""Periodic duties: guard checks, score sums and write-back of scores, retried after a fault.

Scores are summed up by time so that figures over time are read in milliseconds.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragstone.core.errors import InputError, RagstoneError, innermost
from ragstone.core.messages import reason
from ragstone.data.records import own_example
from ragstone.guard import Assessment, Checks, Guard
from ragstone.guard.guard import unjudged
from ragstone.monitor.exports import HOURS, write_back
from ragstone.monitor.series.metric_over_time import MeanInWindow, over_time
from ragstone.monitor.settings import WriteBackSettings
from ragstone.monitor.store.incoming import erasures
from ragstone.monitor.store.scores import NewScore, sum_up
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_examples import NewAssessment, next_to_assess, write_assessed

# Seconds until a duty that failed is tried again: at first, and at most.
FIRST, LONGEST = 1.0, 60.0


@dataclass
class Retried:
    """A duty that never raises: a fault is logged, and each further one makes the duty wait longer.

    Attributes:
        rest: Seconds that it waits once it did less than a ``page``.
    """

    name: str
    do: Callable[[], int]
    store: MonitorStore
    now: Callable[[], float]
    rest: float = 0.0
    page: float = 1
    faults: int = 0
    wait: float = 0.0
    waits_until: float = 0.0

    def step(self) -> int:
        """Do some; gives how much, which is 0 while it waits."""
        # Where the clock was set back, the wait is over, too.
        if 0 < self.waits_until - self.now() <= self.wait:
            return 0
        try:
            n = self.do()
        except Exception as error:
            n = 0
            self.faults += 1
            wait = self.wait = min(FIRST * 2 ** (self.faults - 1), LONGEST)
            text = f"{self.name} failed ({fault_text(error)}); it is tried again in {wait:g} s."
            # Where the store itself is gone, nothing can be written; the server reports that.
            with suppress(Exception):
                self.store.log(self.now(), "error", text)
        else:
            self.faults = 0
            self.wait = self.rest if n < self.page else 0.0
        self.waits_until = self.now() + self.wait
        return n


def fault_text(error: Exception) -> str:
    """Return a fault without any text of a trace: our own words, or where it was raised."""
    if isinstance(error, RagstoneError):
        return str(error)
    last = innermost(error.__traceback__)
    where = f" at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else ""
    return f"{type(error).__name__}{where}"


SUM_PAGE = 200


def sum_scores(store: MonitorStore) -> int:
    """Make the sums whose scores changed, a page of them; gives how many were made."""
    with store.database.transaction() as run:
        return sum_up(run, SUM_PAGE)


def write_scores_back(
    store: MonitorStore, to: WriteBackSettings, clock: Callable[[], float]
) -> int:
    """Send the scores that were not sent yet; gives how many that were."""
    return write_back(store, to, partial(_mean, store, clock()))


def _mean(store: MonitorStore, now: float, metric: str) -> MeanInWindow | None:
    series = over_time(store, metric, since=now - HOURS * 3600, until=now, window=HOURS * 3600)
    return None if series.now is None or series.now.value is None else series.now


# Examples that are written in one transaction.
GUARD_PAGE = 50

# Seconds for one answer: nobody waits for it, and only absurd texts need more than one.
UNHURRIED = 30.0

STATUS = {"passed": "value", "failed": "value", "not_applicable": "undefined"}


def usual_guard(*, keep_thoughts: bool = False) -> Guard:
    """Return the guard that looks at production: not every system is asked to cite."""
    return Guard(Checks(citations=False, keep_thoughts=keep_thoughts), deadline=UNHURRIED)


def check_answers(
    store: MonitorStore, guard: Guard, clock: Callable[[], float], most: int = GUARD_PAGE
) -> int:
    """Let the guard assess some of what is settled, the longest waiting first; returns how many."""
    with store.database.reading() as run:
        before = erasures(run)
        waiting = next_to_assess(run, most)
    if not waiting:
        return 0
    rows, scores = list[NewAssessment](), list[NewScore]()
    for id, record, text_hash in waiting:
        result = _assessed(guard, id, record)
        ok = None if result.ok is None else int(result.ok)
        text = json.dumps(result.to_dict())
        rows.append(NewAssessment(id, text_hash, ok, result.confidence, text))
        scores += guard_scores(id, result)
    with store.database.transaction() as run:
        if erasures(run) == before:
            write_assessed(run, clock(), rows, scores)
    return len(waiting)


def _assessed(guard: Guard, id: str, record: str) -> Assessment:
    try:
        example = own_example(json.loads(record))
    except InputError:
        return unjudged(reason("example_not_readable"), id)
    scores = example.meta.get("retrieval_scores")
    texts = (example.question, example.answer, example.contexts)
    return guard.assess(*texts, retrieval_scores=scores, run_id=id)


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
