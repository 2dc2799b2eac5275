"""Human: the labels that people put into the data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.examples import Example
from ragstone.examples.labels import (
    GENERATION_LABELS,
    GROUNDING_LABELS,
    answer_labels,
    context_labels,
)

from .judge import Block, Filled, Sheet, fingerprint

SUPPORT_LABELS = GROUNDING_LABELS[:3]
CITATION_LABELS = GROUNDING_LABELS[3:]
RELEVANT, SUFFICIENT = 1, 3
"""The least grade of a context that is relevant, and that suffices."""


@dataclass(frozen=True)
class HumanJudge:
    """Reads ``labels`` of an example: contexts, answer, claims, statements, response type.

    A label that is left open is a gap in the row, which the metrics see. The
    grade of a context says whether it is relevant and suffices, where the
    person did not. An example without labels of a kind is left to the next judge.
    """

    name: str = "human"
    about: str = "labels that people put into the data"
    asks: frozenset[str] = frozenset(
        {
            "relevance",
            "grounding/support",
            "grounding/citation",
            "quality",
            "response",
            "claims",
            "statements",
            "support/claim",
            "support/statement",
            "agreement/claim",
            "agreement/statement",
        }
    )

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """One row per label given."""
        sheet = Sheet(ask, self.name)
        read = _READERS[ask]
        for row in rows:
            example = block.examples[row]
            if not example.labels:
                continue
            found = read(example)
            if found is not None:
                subject = fingerprint("labels", example.id)
                sheet.done(row, subject)
                for values in found:
                    sheet.add(subject, **values)
        return sheet.filled()


Found = list[dict[str, Any]] | None


def _relevance(example: Example) -> Found:
    rows = []
    graded: Sequence[Mapping[str, Any] | None] = example.labels.get("contexts") or ()
    for rank, labels in enumerate(context_labels(example.labels), start=1):
        grade = (graded[rank - 1] or {}).get("grade")
        if grade is not None or any(value is not None for value in labels.values()):
            relevant, sufficient = labels["topically_relevant"], labels["evidence_sufficient"]
            if grade is not None:
                relevant = grade >= RELEVANT if relevant is None else relevant
                sufficient = grade >= SUFFICIENT if sufficient is None else sufficient
            rows.append(
                {
                    "rank": rank,
                    "grade": grade,
                    "relevant": relevant,
                    "sufficient": sufficient,
                    "misleading": labels["misleading"],
                }
            )
    return rows or None


def _answer(names: Sequence[str]) -> Callable[[Example], Found]:
    def read(example: Example) -> Found:
        labels = answer_labels(example.labels)
        given = {name: labels[name] for name in names}
        return [given] if any(value is not None for value in given.values()) else None

    return read


def _response(example: Example) -> Found:
    kind = example.labels.get("response_type")
    return None if kind is None else [{"response_type": kind}]


def _claims(example: Example) -> Found:
    given: Sequence[Mapping[str, Any]] | None = example.labels.get("claims")
    if given is None:
        return None
    return [
        {
            "index": index,
            "text": claim["text"],
            "sentence": claim.get("sentence"),
            "factual": True,
        }
        for index, claim in enumerate(given)
    ]


def _statements(example: Example) -> Found:
    given: Sequence[Mapping[str, Any]] | None = example.labels.get("statements")
    if given is None:
        return None
    return [
        {
            "reference": statement.get("reference", 0),
            "index": index,
            "text": statement["text"],
        }
        for index, statement in enumerate(given)
    ]


def _support(field: str) -> Callable[[Example], Found]:
    def read(example: Example) -> Found:
        given = example.labels.get(field)
        if given is None or (given and all(one.get("support") is None for one in given)):
            return None
        return [
            {
                "origin": field[:-1],
                "author": "human",
                "reference": one.get("reference", 0),
                "index": index,
                "verdict": one.get("support"),
                "probability": None if one.get("support") is None else float(
                    one["support"] == "supported"
                ),
                "evidence": _evidence(one),
            }
            for index, one in enumerate(given)
        ]  # fmt: skip

    return read


def _agreement(field: str) -> Callable[[Example], Found]:
    def read(example: Example) -> Found:
        given = example.labels.get(field)
        if given is None or (given and all(one.get("agreement") is None for one in given)):
            return None
        return [
            {
                "origin": field[:-1],
                "author": "human",
                "reference": reference,
                "index": index,
                "verdict": one.get("agreement"),
            }
            for index, one in enumerate(given)
            for reference in _references(field, one, example)
        ]

    return read


def _evidence(one: Mapping[str, Any]) -> list[str] | None:
    """What a supported proposition rests on; null where the person did not say."""
    given: list[str] | None = one.get("evidence")
    return [] if given is None and one.get("support") != "supported" else given


def _references(field: str, one: Mapping[str, Any], example: Example) -> Sequence[int]:
    """A claim whose label names no reference was held against all of them."""
    if field == "claims" and one.get("reference") is None:
        return range(len(example.reference))
    return [one.get("reference", 0)]


_READERS: dict[str, Callable[[Example], Found]] = {
    "relevance": _relevance,
    "grounding/support": _answer(SUPPORT_LABELS),
    "grounding/citation": _answer(CITATION_LABELS),
    "quality": _answer(GENERATION_LABELS),
    "response": _response,
    "claims": _claims,
    "statements": _statements,
    "support/claim": _support("claims"),
    "support/statement": _support("statements"),
    "agreement/claim": _agreement("claims"),
    "agreement/statement": _agreement("statements"),
}
