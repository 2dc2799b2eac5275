"""Factual accuracy rated: three rubric criteria instead of claims and statements."""

from dataclasses import dataclass
from typing import ClassVar

from ragstone.judgements import Ratings, Topic

from .core import Part
from .correctness import FactualAccuracy
from .outcome import Undefined
from .rating import score_of

CRITERIA = {name: f"factual_{name}" for name in ("correctness", "completeness", "consistency")}
"""The rubric criterion of each part."""


@dataclass(frozen=True)
class FactualAccuracyRated(FactualAccuracy):
    """Whether the answer is correct, complete and consistent, each rated on a rubric.

        factual_accuracy_rated = .5 correctness + .3 completeness + .2 consistency

    Rates ``factual_correctness``, ``factual_completeness`` and ``factual_consistency`` in five
    steps each, reasoning first. ``letters`` and ``abstention`` as in ``factual_accuracy``, which is
    the same sum over claims and statements. A criterion that could not be rated makes it missing,
    never E.

    Source: Liu et al. (2023), "G-Eval", on rating by steps; the weights are those of
    GraphRAG reports.
    """

    name: ClassVar[str] = "factual_accuracy_rated"
    by_reference: ClassVar[bool] = False
    undefined: ClassVar[str] = "not_rated"

    @property
    def topics(self) -> frozenset[Topic]:
        """The three criteria."""
        return frozenset(Topic("rating", criterion) for criterion in CRITERIA.values())

    def criteria(self) -> dict[str, Part]:
        """The three ratings."""
        return {
            name: Part(
                Ratings,
                score_of(criterion).mean(),
                Undefined("not_rated"),
                score_of(criterion).is_not_null().all(),
            )
            for name, criterion in CRITERIA.items()
        }
