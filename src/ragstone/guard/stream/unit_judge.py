"""Unit judge: judges the units of one answer, and the answer by what came of them."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from logging import getLogger

from ragstone.core.messages import reason
from ragstone.guard import form, grounding
from ragstone.guard.answered import Answered
from ragstone.guard.assessment import AnswerSpan, Assessment, CheckResult, CheckStatus, Issue
from ragstone.guard.event import tell
from ragstone.guard.grounding import Grounded
from ragstone.guard.grounds import ReadContexts
from ragstone.guard.guard import Guard, unjudged
from ragstone.judges.judge_names import STRINGS
from ragstone.judges.local.claims_and_evidence import Passages

from .answered_part import AnsweredPart
from .grouping import UnitGroup
from .unit_verdict import UnitVerdict

LOGGER = getLogger("ragstone.guard")


@dataclass
class UnitJudge:
    """Judges the units of one answer by a guard, each within the guard's deadline.

    Args:
        guard: The settings.
        question: What was asked.
        contexts: What the answer should rest on.
        scores: The retrieval scores; None: those of the contexts, if they carry any.
        run_id: The caller's name for the request.
    """

    guard: Guard
    question: str | None
    contexts: object
    scores: object = None
    run_id: str | None = None
    seconds: float = 0.0
    _grounds: ReadContexts | None = None
    _grounded: list[tuple[int, Grounded]] = field(default_factory=list)

    def read(self) -> None:
        """Read the contexts."""
        begun = time.monotonic()
        try:
            self._grounds = self.guard.read(self.contexts)
        except Exception as error:
            fault = reason("guard_failed", error=type(error).__name__)
            self._grounds = ReadContexts((), Passages(()), fault)
        self.seconds += time.monotonic() - begun

    def judge(self, group: UnitGroup) -> UnitVerdict:
        """Judge units that belong together. Nothing is raised."""
        begun = time.monotonic()
        try:
            return self._judged(group)
        except Exception as error:
            # Inside a user's request nothing may break; what broke is told, without any text.
            name = type(error).__name__
            LOGGER.error("guard failed run_id=%r: %s", self.run_id, name)
            return self.left_open(group, reason("guard_failed", error=name))
        finally:
            self.seconds += time.monotonic() - begun

    def left_open(self, group: UnitGroup, why: str) -> UnitVerdict:
        """Units that are not judged."""
        self._grounded.append((group.start, Grounded(fault=why, unseen=why)))
        return UnitVerdict(group.text, group.start, group.kind, "not_judged", reason=why)

    def conclude(self, answer: str, cut: str | None) -> Assessment:
        """The assessment of the answer, by the claims of its units. Nothing is raised.

        Args:
            answer: As the model wrote it, as far as it was read.
            cut: Why that is not all of it; None if it is.
        """
        begun = time.monotonic()
        try:
            grounds = self.contexts if self._grounds is None else self._grounds
            one = self.guard.answered(self.question, answer, grounds, self.scores)
            found = self.guard.conclude(one, self._together(one), self.run_id)
        except Exception as error:
            name = type(error).__name__
            LOGGER.error("guard failed run_id=%r: %s", self.run_id, name)
            found = unjudged(reason("guard_failed", error=name), self.run_id)
        if cut is not None:
            found = replace(found, notes=(*found.notes, cut))
        self.seconds += time.monotonic() - begun
        tell(found, self.seconds, self.guard.listener)
        return found

    def _judged(self, group: UnitGroup) -> UnitVerdict:
        start = group.start
        whole = self.guard.answered(self.question, group.text, self._grounds, ())
        settings = {one.name: getattr(whole, one.name) for one in fields(whole)}
        one = AnsweredPart(**settings, stated=group.claims)
        found = self.guard.ground(one)
        self._grounded.append((start, found))
        results = _checked(one, found)
        status = _status(results)
        open_ = [check.reason for check in results if check.status == "not_judged"]
        return UnitVerdict(
            group.text,
            start,
            group.kind,
            status,
            tuple(_moved(issue, start) for check in results for issue in check.issues),
            _shifted(found, start).claims,
            open_[0] if status == "not_judged" else "",
            found.late is not None,
        )

    def _together(self, one: Answered) -> Grounded:
        """The claims of the whole answer, as its units were judged."""
        if one.empty or one.failure or one.silent:
            return Grounded()
        if one.grounds.unread is not None or not one.grounds.given:
            return Grounded(fault=one.grounds.unread, unseen=one.grounds.unread)
        parts = [_shifted(found, start) for start, found in self._grounded]
        return Grounded(
            claims=tuple(claim for part in parts for claim in part.claims),
            seen=tuple(verdict for part in parts for verdict in part.seen),
            fault=_first(part.fault for part in parts),
            unseen=_first(part.unseen for part in parts),
            late=_first(part.late for part in parts),
            judge=_first(part.judge for part in parts if part.claims) or STRINGS,
        )


def _checked(one: AnsweredPart, found: Grounded) -> list[CheckResult]:
    """The checks that can be made of a part."""
    checks = one.checks
    claimed = any(claim is not None and claim.factual for claim in one.stated)
    switched: tuple[tuple[bool, Callable[[], CheckResult]], ...] = (
        (claimed, lambda: form.of_contexts(one)),
        (True, lambda: form.of_cited_contexts(one)),
        (
            claimed and checks.least_support is not None,
            lambda: grounding.of_groundedness(one, found),
        ),
        (claimed and checks.numbers, lambda: grounding.of_numbers(one, found)),
        (claimed and checks.names, lambda: grounding.of_names(one, found)),
    )
    return [check() for on, check in switched if on]


def _first(told: Iterable[str | None]) -> str | None:
    return next((one for one in told if one is not None), None)


def _status(results: Sequence[CheckResult]) -> CheckStatus:
    found = {check.status for check in results}
    order: tuple[CheckStatus, ...] = ("failed", "not_judged", "passed")
    return next((one for one in order if one in found), "not_applicable")


def _shifted(found: Grounded, by: int) -> Grounded:
    return replace(
        found, claims=tuple(replace(claim, span=_at(claim.span, by)) for claim in found.claims)
    )


def _moved(issue: Issue, by: int) -> Issue:
    return replace(issue, spans=tuple(_at(span, by) for span in issue.spans))


def _at(span: AnswerSpan, by: int) -> AnswerSpan:
    return AnswerSpan(span.start + by, span.end + by, span.text)
