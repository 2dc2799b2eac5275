"""Drawn together: the probability with which all turns of a session are in the sample."""

from collections.abc import Iterable
from math import prod
from typing import NamedTuple


class DrawnTurn(NamedTuple):
    """How a turn was drawn: if its ``lot`` is less than its ``probability``.

    The turns of a session share their lot. ``lot`` is None where it is not kept, and then one of
    the turn's own.
    """

    example: str
    probability: float
    lot: float | None


def probability_of_all(turns: Iterable[DrawnTurn]) -> float:
    """The probability that all of them are drawn.

    Those with one lot are if it is less than the least of their probabilities; lots are drawn
    apart.
    """
    least: dict[float | str, float] = {}
    for one in turns:
        of = one.example if one.lot is None else one.lot
        least[of] = min(one.probability, least.get(of, 1.0))
    return prod(least.values())
