"""Features: what of an answer's inputs and outputs may drift."""

from collections.abc import Callable, Mapping

from ragstone.data import Example


def _top_score(example: Example) -> float | None:
    scores = [one.score for one in example.contexts or () if one.score is not None]
    return max(scores) if scores else None


def _foreign(example: Example) -> float | None:
    """Share of the question's letters that are no plain Latin ones: a sign of its language."""
    letters = [one for one in example.question or "" if one.isalpha()]
    return sum(not one.isascii() for one in letters) / len(letters) if letters else None


def _length(text: str | None) -> float | None:
    return None if text is None else float(len(text))


CONFIDENCE = "guard_confidence"

FEATURES: Mapping[str, Callable[[Example], float | None]] = {
    "question_length": lambda one: _length(one.question),
    "question_non_ascii": _foreign,
    "contexts": lambda one: None if one.contexts is None else float(len(one.contexts)),
    "without_contexts": lambda one: float(not one.contexts),
    "top_retrieval_score": _top_score,
    "answer_length": lambda one: _length(one.answer),
}
"""By name; None where an example has no such thing. Lengths are in characters."""
