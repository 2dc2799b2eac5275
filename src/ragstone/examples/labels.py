"""Human labels of a record: their names, their types and the rules between them.

A record carries what people said under ``labels``::

    {"contexts": [{"topically_relevant": 1, "evidence_sufficient": 0, "misleading": 0}],
     "answer": {"support_present": true, "unsupported_claim_present": false},
     "claims": [{"text": "…", "support": "supported", "evidence": ["2"]}],
     "statements": [{"text": "…", "agreement": "full"}],
     "response_type": "answer"}

``contexts[i]`` is about the i-th context in the order given. Labels are 0, 1,
true, false, or null where the person left it open; ``grade`` of a context is 0
to 3. Names not listed here are kept and ignored. Values that break a rule
between labels are the person's, so they are never mended: ``violations`` lists
them.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragstone.examples.problem import Problem, shown

CONTEXT_LABELS = ("topically_relevant", "evidence_sufficient", "misleading")
GRADES = (0, 1, 2, 3)
GROUNDING_LABELS = (
    "support_present",
    "unsupported_claim_present",
    "contradicted_claim_present",
    "source_cited",
    "fabricated_source",
)
GENERATION_LABELS = (
    "proper_action",
    "response_on_topic",
    "helpful",
    "incomplete",
    "unsafe_content",
)
ANSWER_LABELS = GROUNDING_LABELS + GENERATION_LABELS

SUPPORT = ("supported", "contradicted", "absent")
CLAIM_AGREEMENT = ("matches", "contradicts", "extra")
STATEMENT_AGREEMENT = ("full", "partial", "missing", "contradicted")
RESPONSE_TYPES = ("answer", "partial", "abstain", "refuse", "clarify")

Severity = Literal["block", "warn"]

SEVERITY: Mapping[str, Severity] = {
    "evidence_requires_relevance": "block",
    "evidence_excludes_misleading": "warn",
    "contradiction_requires_unsupported": "block",
    "fabricated_requires_cited": "block",
}

Vote = TypeVar("Vote", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Violation:
    """Labels of one unit that contradict each other.

    ``block`` rules stop an annotation form, ``warn`` rules only ask; in files
    both are flagged. ``where`` is ``contexts[2]`` or ``answer``.
    """

    rule: str
    severity: Severity
    where: str


def violations(labels: Mapping[str, Any]) -> list[Violation]:
    """Every broken rule of one record's labels. An unknown label breaks none.

    The rules: sufficient evidence is relevant; sufficient evidence does not
    mislead; a contradicted claim is an unsupported one; a fabricated source is
    a cited one.
    """
    found: list[Violation] = []
    for index, one in enumerate(labels.get("contexts") or ()):
        if one and one.get("evidence_sufficient"):
            if _is_no(one.get("topically_relevant")):
                found.append(_violation("evidence_requires_relevance", f"contexts[{index}]"))
            if one.get("misleading"):
                found.append(_violation("evidence_excludes_misleading", f"contexts[{index}]"))
    answer = labels.get("answer")
    if answer:
        if answer.get("contradicted_claim_present") and _is_no(
            answer.get("unsupported_claim_present")
        ):
            found.append(_violation("contradiction_requires_unsupported", "answer"))
        if answer.get("fabricated_source") and _is_no(answer.get("source_cited")):
            found.append(_violation("fabricated_requires_cited", "answer"))
    return found


def context_labels(labels: Mapping[str, Any]) -> list[dict[str, bool | None]]:
    """The three labels of each context in the order given; None where a label is open."""
    return [
        {name: _truth((one or {}).get(name)) for name in CONTEXT_LABELS}
        for one in labels.get("contexts") or ()
    ]


def answer_labels(labels: Mapping[str, Any]) -> dict[str, bool | None]:
    """The ten labels of the answer; None where a label is open."""
    answer = labels.get("answer") or {}
    return {name: _truth(answer.get(name)) for name in ANSWER_LABELS}


def majority(votes: Iterable[Vote | None]) -> Vote | None:
    """What most annotators said; None on a tie and where nobody said anything.

    >>> majority([1, 1, 0]), majority([1, 0]), majority([0, None])
    (1, None, 0)
    """
    counts: dict[Vote, int] = {}
    for vote in votes:
        if vote is not None:
            counts[vote] = counts.get(vote, 0) + 1
    if not counts:
        return None
    most = max(counts.values())
    winners = [vote for vote, count in counts.items() if count == most]
    return winners[0] if len(winners) == 1 else None


def label_problems(labels: Mapping[str, Any], n_contexts: int | None) -> list[Problem]:
    """Known labels of a wrong type or for contexts that are not there."""
    problems: list[Problem] = []
    contexts = labels.get("contexts")
    if contexts is not None:
        _check_contexts(contexts, n_contexts, problems)
    answer = labels.get("answer")
    if answer is not None:
        if isinstance(answer, dict):
            _check_truths(answer, ANSWER_LABELS, "labels.answer", problems)
        else:
            problems.append(Problem("labels.answer", "an object of labels", shown(answer)))
    if labels.get("claims") is not None:
        _check_propositions(labels["claims"], "labels.claims", CLAIM_AGREEMENT, problems)
    if labels.get("statements") is not None:
        _check_propositions(
            labels["statements"], "labels.statements", STATEMENT_AGREEMENT, problems
        )
    response_type = labels.get("response_type")
    if response_type is not None and response_type not in RESPONSE_TYPES:
        problems.append(
            Problem("labels.response_type", _one_of(RESPONSE_TYPES), shown(response_type))
        )
    return problems


def is_label(value: object) -> bool:
    """Whether the value may stand for yes, no or open."""
    return value is None or value is True or value is False or _is_binary_number(value)


def _check_contexts(contexts: object, n_contexts: int | None, problems: list[Problem]) -> None:
    if not isinstance(contexts, list):
        problems.append(
            Problem("labels.contexts", "a list, one object of labels a context", shown(contexts))
        )
        return
    if len(contexts) > (n_contexts or 0):
        n = "no contexts" if not n_contexts else f"at most {n_contexts}, one a context"
        problems.append(Problem("labels.contexts", n, f"labels of {len(contexts)}"))
    for index, one in enumerate(contexts):
        if one is None:
            continue
        if not isinstance(one, dict):
            problems.append(Problem(f"labels.contexts[{index}]", "an object of labels", shown(one)))
            continue
        for name in CONTEXT_LABELS:
            value = one.get(name)
            if not (value is None or value is True or value is False or _is_binary_number(value)):
                problems.append(_not_a_label(f"labels.contexts[{index}].{name}", value))
        grade = one.get("grade")
        if grade is not None and (type(grade) is not int or grade not in GRADES):
            problems.append(
                Problem(f"labels.contexts[{index}].grade", "0, 1, 2, 3 or null", shown(grade))
            )


def _check_truths(
    labels: Mapping[str, Any], names: Sequence[str], where: str, problems: list[Problem]
) -> None:
    for name in names:
        value = labels.get(name)
        if not is_label(value):
            problems.append(_not_a_label(f"{where}.{name}", value))


def _check_propositions(
    propositions: object, where: str, agreement: Sequence[str], problems: list[Problem]
) -> None:
    if not isinstance(propositions, list):
        problems.append(Problem(where, "a list of objects with text", shown(propositions)))
        return
    for index, one in enumerate(propositions):
        place = f"{where}[{index}]"
        if not isinstance(one, dict) or not isinstance(one.get("text"), str):
            problems.append(Problem(place, "an object with text", shown(one)))
            continue
        for name, allowed in (("support", SUPPORT), ("agreement", agreement)):
            value = one.get(name)
            if value is not None and value not in allowed:
                problems.append(Problem(f"{place}.{name}", _one_of(allowed), shown(value)))
        for name in ("reference", "sentence"):
            value = one.get(name)
            if value is not None and (not isinstance(value, int) or not 0 <= value < 1 << 31):
                problems.append(Problem(f"{place}.{name}", "a whole number from 0", shown(value)))
        evidence = one.get("evidence")
        if evidence is not None and not (
            isinstance(evidence, list) and all(isinstance(id, str) for id in evidence)
        ):
            problems.append(Problem(f"{place}.evidence", "a list of context ids", shown(evidence)))


def _is_binary_number(value: object) -> bool:
    return isinstance(value, (int, float)) and value in (0, 1)


def _is_no(value: object) -> bool:
    return value is not None and not value


def _truth(value: object) -> bool | None:
    return None if value is None else bool(value)


def _violation(rule: str, where: str) -> Violation:
    return Violation(rule, SEVERITY[rule], where)


def _not_a_label(field: str, value: object) -> Problem:
    return Problem(field, "0, 1, true, false or null", shown(value))


def _one_of(names: Sequence[str]) -> str:
    return f"one of {', '.join(names)}"
