"""Retrieval: what was found for a question is assessed before anybody answers by it."""

import logging
from collections.abc import Sequence
from typing import Any

from ragstone.guard import form
from ragstone.guard.answered import Answered
from ragstone.guard.assessment import Assessment
from ragstone.guard.checks import Checks
from ragstone.guard.deadline import Deadline

LOGGER = logging.getLogger("ragstone.guard")

READING = 1.0
"""Seconds until contexts count as not read."""


def assess_retrieval(
    question: str | None,
    contexts: Any,
    *,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
    checks: Checks | None = None,
) -> Assessment:
    """Assess what was retrieved, by the checks that need no answer.

    These are ``contexts``, that there is one at all, and ``retrieval_scores``, whose mean must
    reach ``least_retrieval_score``. Scores on another scale than from 0 to 1 are not looked at.

    Args:
        question: What was asked.
        contexts: Texts, mappings with ``text``, ``id`` and ``score``, or ``Context``s.
        retrieval_scores: None: those of the contexts.
        run_id: Your name for the request.
        checks: The least mean; None: ``Checks()``.
    """
    switched = Checks() if checks is None else checks
    deadline = Deadline(READING)
    one = Answered.of(
        question, "", contexts, retrieval_scores, switched, deadline, abstain_ok=False
    )
    results = [form.of_contexts(one)]
    if switched.least_retrieval_score is not None:
        results.append(form.of_retrieval_scores(one))
    ok = not any(result.status == "failed" for result in results)
    issues = tuple(issue for result in results for issue in result.issues)
    return Assessment(
        ok, "pass" if ok else "ask", tuple(results), issues, (), None, run_id, judge=""
    )
