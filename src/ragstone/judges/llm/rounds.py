"""Rounds: which tasks share a question, according to the plan of the run.

The isolated plan asks each task by itself. The lean plan merges claims, quality and critiques of
one vote, and relevance and support: fewer calls, but a model does several tasks in one call.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragstone.core.errors import UnknownName
from ragstone.judgements import Claim, Critique, Quality, Relevance, Support

from .question import Piece


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tasks are asked together."""

    name: str
    together: tuple[tuple[str, ...], ...] = ()

    def rounds(self, tasks: Sequence[str]) -> list[tuple[str, ...]]:
        """The tasks in groups that are asked together, in the order of their first."""
        left = dict.fromkeys(tasks)
        rounds: list[tuple[str, ...]] = []
        for name in tasks:
            if name in left:
                group = next((group for group in self.together if name in group), (name,))
                rounds.append(tuple(one for one in group if one in left))
                for one in rounds[-1]:
                    del left[one]
        return rounds


ISOLATED = Plan("isolated")
LEAN = Plan("lean", ((Claim.name, Quality.name, Critique.name), (Relevance.name, Support.name)))
PLANS = {plan.name: plan for plan in (ISOLATED, LEAN)}


def plan_named(name: str) -> Plan:
    """The plan of that name.

    Raises:
        UnknownName: There is none.
    """
    if name not in PLANS:
        raise UnknownName("plan", name, PLANS, hint=f"There are: {', '.join(PLANS)}.")
    return PLANS[name]


def merged(tasks: Iterable[Sequence[Piece]]) -> list[list[Piece]]:
    """Merge pieces of several tasks into questions.

    Pieces of a task stand in questions of their own, but for those of further tasks, which join
    the first that shows the same contexts. What is asked in several votes is asked by itself.
    """
    questions: list[list[Piece]] = []
    for pieces in tasks:
        if not questions:
            questions = [[piece] for piece in pieces]
            continue
        joined: set[int] = set()
        repeated = {name for piece in pieces if piece.vote for name in piece.items}
        for piece in pieces:
            place = next(
                (
                    at
                    for at, question in enumerate(questions)
                    if at not in joined
                    and repeated.isdisjoint(piece.items)
                    and _fits(piece, question)
                ),
                None,
            )
            if place is None:
                questions.append([piece])
                place = len(questions) - 1
            else:
                questions[place].append(piece)
            if piece.task != Critique.name:
                joined.add(place)
    return questions


def _fits(piece: Piece, question: Sequence[Piece]) -> bool:
    """Whether a question shows the same contexts."""
    shown = {one.contexts for one in question if one.contexts}
    return piece.contexts in shown if piece.contexts else not shown
