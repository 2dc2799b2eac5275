"""Assessing: every example by the guard's checks, as soon as it is settled."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import time

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.guard import Assessment, Checks, Guard
from ragstone.guard.guard import unjudged
from ragstone.monitor.store.assessed import (
    NewAssessment,
    ToAssess,
    next_to_assess,
    write_assessed,
)
from ragstone.monitor.store.erased import erasures
from ragstone.monitor.store.scores import NewScore
from ragstone.monitor.store.store import MonitorStore

from .kept_example import kept_example

PAGE = 50
"""Examples that are written in one transaction."""

UNHURRIED = 30.0
"""Seconds for one answer: nobody waits for it, and only absurd texts need more than one."""

STATUS = {"passed": "value", "failed": "value", "not_applicable": "undefined"}


def usual_guard() -> Guard:
    """The guard that looks at production: not every system is asked to cite."""
    return Guard(Checks(citations=False), deadline=UNHURRIED)


@dataclass(frozen=True)
class GuardChecking:
    """Assesses what is settled, the longest waiting first.

    Args:
        store: Where all of it is.
        guard: What is checked.
        now: Seconds since the epoch.
    """

    store: MonitorStore
    guard: Guard = field(default_factory=usual_guard)
    now: Callable[[], float] = time

    def step(self, most: int = PAGE) -> int:
        """Assess some; returns how many."""
        with self.store.database.reading() as run:
            before = erasures(run)
            waiting = next_to_assess(run, most)
        if not waiting:
            return 0
        assessments = [self._assessed(one) for one in waiting]
        with self.store.database.transaction() as run:
            if erasures(run) == before:
                write_assessed(run, self.now(), assessments)
        return len(waiting)

    def _assessed(self, one: ToAssess) -> NewAssessment:
        try:
            example = kept_example(one.record)
        except InputError:
            found = unjudged(reason("example_not_readable"), one.example)
        else:
            found = self.guard.assess(
                example.question,
                example.answer,
                example.contexts,
                retrieval_scores=example.meta.get("retrieval_scores"),
                run_id=one.example,
            )
        return NewAssessment(
            one.example,
            one.text_hash,
            found.ok,
            found.confidence,
            json.dumps(found.to_dict()),
            tuple(guard_scores(one.example, found)),
        )


def guard_scores(example: str, found: Assessment) -> Iterator[NewScore]:
    """The scores that an assessment gives.

    ``guard_ok`` and ``guard_CHECK`` are 1 where it passed and 0 where not, undefined where a check
    does not apply, and missing where it could not be judged. ``guard_confidence`` is undefined
    where nothing is claimed.
    """
    unjudged = next((one.reason for one in found.checks if one.status == "not_judged"), "")

    def score(name: str, value: float | None, status: str, why: str) -> NewScore:
        return NewScore(example, f"guard_{name}", value, status, why, None, found.judge)

    if found.ok is None:
        yield score("ok", None, "missing", unjudged)
    else:
        yield score("ok", float(found.ok), "value", "")
    if found.confidence is not None:
        yield score("confidence", found.confidence, "value", "")
    elif unjudged:
        yield score("confidence", None, "missing", unjudged)
    else:
        yield score("confidence", None, "undefined", reason("no_claims_made"))
    for check in found.checks:
        status = STATUS.get(check.status, "missing")
        value = float(check.status == "passed") if status == "value" else None
        yield score(check.check, value, status, "" if status == "value" else check.reason)
