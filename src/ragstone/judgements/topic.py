"""Topic: what a metric wants to have rated, criticised or compared, beside the kind's name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """One thing that an ask is put about: a criterion, an aspect, a rival system.

    Args:
        ask: ``rating``, ``critique`` or ``preference``.
        name: The criterion, the aspect or the rival; empty means every rival.
        definition: What an aspect of the user's own means; empty for a known one.
        votes: How often it is asked.
    """

    ask: str
    name: str
    definition: str = ""
    votes: int = 1
