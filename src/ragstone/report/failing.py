"""Failing: the worst examples of requirements that do not pass, with the judges' reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .dossier import Dossier, dossiers
from .stored import Readable
from .why import why

if TYPE_CHECKING:
    # Every run's page shows such examples; only a gate needs to import how decisions are made.
    from ragstone.analysis.release_gate.release_gate import Decided, GateResult

SHOWN = 3


@dataclass(frozen=True, slots=True)
class FailingExample:
    """An example on the wrong side of a threshold.

    ``value`` is its score, or for ``no worse than`` the difference from the baseline, positive if
    better. ``reasons`` are the judgements that lowered its score.
    """

    example_id: str
    value: float
    question: str | None
    answer: str | None
    reasons: tuple[str, ...]


Failing = Mapping[int, Sequence[FailingExample]]
"""The worst examples of a requirement, by its index in the result."""


def failing(run: Readable, result: "GateResult", *, limit: int = SHOWN) -> Failing:
    """The worst examples of every requirement that does not pass.

    Args:
        run: The run that the gate checked.
        result: The result of the gate.
        limit: Examples per requirement; at most ten, which is what the gate keeps.
    """
    asked = {
        place: one.worst[:limit]
        for place, one in enumerate(result.requirements)
        if one.decision != "pass"
    }
    names = dict.fromkeys(name for worst in asked.values() for name, _ in worst)
    known = dossiers(run, names)
    return {
        place: [_example(result.requirements[place], value, known[name]) for name, value in worst]
        for place, worst in asked.items()
    }


def _example(one: "Decided", value: float, found: Dossier) -> FailingExample:
    reasons, of = tuple(why(found, one.metric)), found.example
    return FailingExample(of.id, value, of.question, of.answer, reasons)
