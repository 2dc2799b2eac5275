"""Human labels of a record: their names, their types and the rules between them.

A record carries what people said under ``labels``::

    {"contexts": [{"topically_relevant": 1, "evidence_sufficient": 0, "misleading": 0}],
     "answer": {"support_present": true, "unsupported_claim_present": false},
     "claims": [{"text": "…", "support": "supported", "evidence": ["2"]}],
     "statements": [{"text": "…", "agreement": "full"}],
     "criteria": [{"met": true}],
     "response_type": "answer"}

``contexts[i]`` is about the i-th context in the order given, ``criteria[i]`` about the i-th
criterion. Labels are 0, 1,
true, false, or null where the person left it open; ``grade`` of a context is 0
to 3. Names not listed here are kept and ignored. Values that break a rule
between labels are the person's, so they are never corrected: ``violations``
lists them.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragstone.core.user_code import registry

from .json_text import Problem, add_problem, shown

# What of an example something is said of; of a ``record``: under ``labels`` itself.
Unit = Literal[
    "answer", "context", "claim", "statement", "criterion", "evidence", "reference", "probe",
    "record",
]  # fmt: skip

Values = tuple[str, ...] | tuple[int, ...]

# Of a label that is yes or no.
YES_NO: Values = ()

SUPPORT = ("supported", "contradicted", "absent")

# The labels that a record may carry, and what each may be; kinds of a user's own add theirs.
LABELS: dict[Unit, dict[str, Values]] = {
    "context": {
        "topically_relevant": YES_NO,
        "evidence_sufficient": YES_NO,
        "misleading": YES_NO,
        "grade": (0, 1, 2, 3),
    },
    "answer": {
        "support_present": YES_NO,
        "unsupported_claim_present": YES_NO,
        "contradicted_claim_present": YES_NO,
        "source_cited": YES_NO,
        "fabricated_source": YES_NO,
        "proper_action": YES_NO,
        "response_on_topic": YES_NO,
        "helpful": YES_NO,
        "incomplete": YES_NO,
        "unsafe_content": YES_NO,
    },
    "claim": {"support": SUPPORT, "agreement": ("matches", "contradicts", "extra")},
    "statement": {"support": SUPPORT, "agreement": ("full", "partial", "missing", "contradicted")},
    "criterion": {"met": YES_NO},
    "record": {"response_type": ("answer", "partial", "abstain", "refuse", "clarify")},
}

for _labels_of_unit in LABELS.values():
    registry(_labels_of_unit)

# The labels of an answer, under their own names.
OF_ANSWER = frozenset(LABELS["answer"])

Severity = Literal["block", "warn"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule between two labels of a unit: where ``given`` is yes, ``then`` is what it says.

    A ``block`` rule stops an annotation form, a ``warn`` rule only asks; in files both are flagged.
    """

    name: str
    severity: Severity
    unit: Unit
    given: str
    then: str
    says: bool


# By name; kinds of a user's own add theirs.
RULES = registry({
    rule.name: rule
    for rule in (
        Rule("evidence_requires_relevance", "block", "context",
             "evidence_sufficient", "topically_relevant", True),
        Rule("evidence_excludes_misleading", "warn", "context",
             "evidence_sufficient", "misleading", False),
        Rule("contradiction_requires_unsupported", "block", "answer",
             "contradicted_claim_present", "unsupported_claim_present", True),
        Rule("fabricated_requires_cited", "block", "answer",
             "fabricated_source", "source_cited", True),
    )
})  # fmt: skip

# Labels of an answer as a whole: each is yes if some claim has one of these verdicts.
OF_SOME_CLAIM: Mapping[str, tuple[str, ...]] = {
    "support_present": ("supported",),
    "unsupported_claim_present": ("contradicted", "absent"),
    "contradicted_claim_present": ("contradicted",),
}

# The rule, which blocks, that these labels and those of the claims say the same.
AS_ITS_CLAIMS = "answer_as_its_claims"

# Where the labels of units of which there are several stand.
FIELDS: Mapping[Unit, str] = {"context": "contexts", "claim": "claims", "statement": "statements",
                              "criterion": "criteria"}  # fmt: skip
# Those that judges extract, and that labels give with their text.
EXTRACTED: tuple[Unit, ...] = ("claim", "statement")
# Those that people label by their number, from 1.
PROPOSITIONS: tuple[Unit, ...] = (*EXTRACTED, "criterion")

Vote = TypeVar("Vote", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Violation:
    """Labels of one unit that contradict each other; ``where`` is ``contexts[2]`` or ``answer``."""

    rule: str
    severity: Severity
    where: str


def of_taxonomy(labels: dict[str, Any]) -> dict[str, Any]:
    """Return the answer's labels that stand under ``labels`` itself; ``chunks`` become contexts."""
    if "chunks" in labels and "contexts" not in labels:
        labels["contexts"] = labels.pop("chunks")
    return {
        name: value for name, value in labels.items() if name in OF_ANSWER and says_yes_or_no(value)
    }


def says_yes_or_no(value: object) -> bool:
    """Return True if a label of the answer that stands by itself is read as one."""
    return type(value) in (bool, int) and value in (0, 1)


def unread_labels(labels: Mapping[str, Any]) -> list[Problem]:
    """Return the labels of the answer that ``of_taxonomy`` leaves: nobody judges by them."""
    return [
        Problem(f"labels.{name}", _expected(YES_NO), shown(value))
        for name, value in labels.items()
        if name in OF_ANSWER and value is not None and not says_yes_or_no(value)
    ]


def of_contexts(contexts: object) -> list[dict[str, Any]] | None:
    """Return the labels that contexts carry themselves; None if none does."""
    if not isinstance(contexts, list) or not all(isinstance(context, dict) for context in contexts):
        return None
    labels = [
        {name: context[name] for name in LABELS["context"] if name in context}
        for context in contexts
    ]
    return labels if any(labels) else None


def know_label(unit: Unit, name: str, values: Values) -> None:
    """Add a label to those that a record may carry; a ``ValueError`` if it has other values."""
    known = known_values(unit, name)
    if known is None:
        LABELS[unit][name] = values
    elif known != values:
        raise ValueError(f"The label {name} of a {unit} is {known}, not {values}.")


def known_values(unit: Unit, name: str) -> Values | None:
    """Return the values of a unit's label; None if it has no label of that name."""
    of_record = LABELS["record"].get(name) if unit == "answer" else None
    return LABELS[unit].get(name) if of_record is None else of_record


def verdicts_left(answer: Mapping[str, Any], claims: int) -> tuple[str, ...]:
    """Return the verdicts that each claim can have after people's labels of the whole answer.

    Where some claim has a verdict, it is not known which, unless there is only one.

    >>> verdicts_left({"unsupported_claim_present": False}, 3)

    ('supported',)
    """
    left = set(SUPPORT)
    for label, verdicts in OF_SOME_CLAIM.items():
        if answer.get(label) is None:
            continue
        if not answer[label]:
            left.difference_update(verdicts)
        elif claims == 1:
            left.intersection_update(verdicts)
    return tuple(verdict for verdict in SUPPORT if verdict in left)


def implied_labels(answer: Mapping[str, Any]) -> dict[str, bool]:
    """Return the labels of an answer that its other labels settle, by the rules above.

    >>> implied_labels({"unsupported_claim_present": False})
    {'contradicted_claim_present': False}
    """
    implied: dict[str, bool] = {}
    for rule in RULES.values():
        condition, then = answer.get(rule.given), answer.get(rule.then)
        if rule.unit == "answer" and condition and then is None:
            implied[rule.then] = rule.says
        if rule.unit == "answer" and condition is None and then is not None and then != rule.says:
            implied[rule.given] = False
    return implied


def violations(labels: Mapping[str, Any]) -> list[Violation]:
    """Return every broken rule of one record's labels. An unknown label breaks none."""
    broken: list[Violation] = []
    for unit, where, values in _units(labels):
        for rule in RULES.values():
            if rule.unit == unit and values.get(rule.given):
                value = values.get(rule.then)
                if value is not None and bool(value) != rule.says:
                    broken.append(Violation(rule.name, rule.severity, where))
    verdicts = [claim.get("support") for claim in labels.get("claims") or ()]
    answer = labels.get("answer") or {}
    for label, some in OF_SOME_CLAIM.items() if verdicts else ():
        is_some = any(verdict in some for verdict in verdicts)
        known = is_some or None not in verdicts
        if answer.get(label) is not None and known and bool(answer[label]) != is_some:
            broken.append(Violation(AS_ITS_CLAIMS, "block", "answer"))
    return broken


def _units(labels: Mapping[str, Any]) -> Iterator[tuple[Unit, str, Mapping[str, Any]]]:
    for unit, field in FIELDS.items():
        for index, values in enumerate(labels.get(field) or ()):
            if values:
                yield unit, f"{field}[{index}]", values
    if labels.get("answer"):
        yield "answer", "answer", labels["answer"]


def context_labels(labels: Mapping[str, Any]) -> list[dict[str, bool | None]]:
    """Return each context's yes-or-no labels in the order given; None where one is open."""
    names = [name for name, values in LABELS["context"].items() if values == YES_NO]
    return [
        {name: _truth((values or {}).get(name)) for name in names}
        for values in labels.get("contexts") or ()
    ]


def answer_labels(labels: Mapping[str, Any]) -> dict[str, bool | None]:
    """Return the answer's yes-or-no labels; None where one is open."""
    answer = labels.get("answer") or {}
    return {
        name: _truth(answer.get(name))
        for name, values in LABELS["answer"].items()
        if values == YES_NO
    }


def majority(votes: Iterable[Vote | None]) -> Vote | None:
    """Return the most frequent vote; None on a tie or without votes.

    >>> majority([1, 1, 0]), majority([1, 0]), majority([0, None])
    (1, None, 0)
    """
    counts = Counter(vote for vote in votes if vote is not None)
    most = max(counts.values(), default=0)
    winners = [vote for vote, count in counts.items() if count == most]
    return winners[0] if len(winners) == 1 else None


def label_problems(
    labels: Mapping[str, Any], n_contexts: int | None, n_criteria: int = 0
) -> list[Problem]:
    """Find known labels of a wrong type, or for contexts or criteria that are not there."""
    problems: list[Problem] = []
    numbers: dict[Unit, int] = {"context": n_contexts or 0, "criterion": n_criteria}
    for unit, number in numbers.items():
        if labels.get(FIELDS[unit]) is not None:
            _check_listed(labels[FIELDS[unit]], unit, number, problems)
    answer = labels.get("answer")
    if answer is not None:
        if isinstance(answer, dict):
            _check_labels(answer, "answer", "labels.answer", problems)
        else:
            add_problem(problems, "labels.answer", "an object of labels", answer)
    for unit in EXTRACTED:
        if labels.get(FIELDS[unit]) is not None:
            _check_propositions(labels[FIELDS[unit]], unit, problems)
    _check_labels(labels, "record", "labels", problems)
    return problems


def is_label(value: object) -> bool:
    """Return True if the value may stand for yes, no or open."""
    return value is None or (isinstance(value, (int, float)) and value in (0, 1))


def _check_listed(listed: object, unit: Unit, number: int, problems: list[Problem]) -> None:
    field = FIELDS[unit]
    if not isinstance(listed, list):
        expected = f"a list with an object of labels for each {unit}"
        add_problem(problems, f"labels.{field}", expected, listed)
        return
    if len(listed) > number:
        n = f"at most {number}, one for each {unit}" if number else f"none without {field}"
        problems.append(Problem(f"labels.{field}", n, f"labels of {len(listed)}"))
    for index, values in enumerate(listed):
        if values is None:
            continue
        if not isinstance(values, dict):
            add_problem(problems, f"labels.{field}[{index}]", "an object of labels", values)
            continue
        _check_labels(values, unit, f"labels.{field}[{index}]", problems)


def _check_labels(
    labels: Mapping[str, Any], unit: Unit, where: str, problems: list[Problem]
) -> None:
    for name, values in LABELS[unit].items():
        value = labels.get(name)
        # ``True`` equals 1 in Python, and 3.0 equals 3.
        is_one_of = type(value) in (str, int) and value in values
        if value is None or (is_label(value) if values == YES_NO else is_one_of):
            continue
        add_problem(problems, f"{where}.{name}", _expected(values), value)


def _expected(values: Values) -> str:
    if values == YES_NO:
        return "0, 1, true, false or null"
    if isinstance(values[0], int):
        return f"{', '.join(map(str, values))} or null"
    return f"one of {', '.join(map(str, values))}"


def _check_propositions(propositions: object, unit: Unit, problems: list[Problem]) -> None:
    where = f"labels.{FIELDS[unit]}"
    if not isinstance(propositions, list):
        add_problem(problems, where, "a list of objects with text", propositions)
        return
    for index, proposition in enumerate(propositions):
        item = f"{where}[{index}]"
        if not isinstance(proposition, dict) or not isinstance(proposition.get("text"), str):
            add_problem(problems, item, "an object with text", proposition)
            continue
        _check_labels(proposition, unit, item, problems)
        for name in ("reference", "sentence"):
            value = proposition.get(name)
            if value is not None and (not isinstance(value, int) or not 0 <= value < 1 << 31):
                add_problem(problems, f"{item}.{name}", "a whole number from 0", value)
        evidence = proposition.get("evidence")
        if evidence is not None and not (
            isinstance(evidence, list) and all(isinstance(id, str) for id in evidence)
        ):
            add_problem(problems, f"{item}.evidence", "a list of context ids", evidence)


def _truth(value: object) -> bool | None:
    return None if value is None else bool(value)
