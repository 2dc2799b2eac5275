"""Topic: the criterion, aspect or rival for which a metric has an ask repeated."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """Something an ask is repeated for: a criterion, an aspect or a rival system.

    Args:
        ask: ``rating``, ``critique`` or ``preference``.
        name: The criterion, aspect or rival; empty: every rival.
        definition: Definition of a custom aspect; empty for a built-in one.
        votes: Number of times it is asked.
    """

    ask: str
    name: str
    definition: str = ""
    votes: int = 1
