"""Adjusted p-values: what a p is worth when many are looked at."""

from collections.abc import Sequence

from ragstone.errors import InputError

Ps = Sequence[float | None]


def holm(ps: Ps) -> tuple[float | None, ...]:
    """Adjusted so that the chance of any false finding in the family stays below the level.

        the i-th smallest of m:  max over j <= i of (m - j + 1) · p_j,  at most 1

    Holds however the tests depend on each other.

    Args:
        ps: In [0, 1]; None is not tested and not part of the family.

    Returns:
        In the same order; None where there was None.

    Raises:
        InputError: A p outside of [0, 1].

    Source: Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    order = _smallest_first(ps)
    found: dict[int, float] = {}
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, (len(order) - rank) * p)
        found[place] = min(1.0, largest)
    return tuple(found.get(place) for place in range(len(ps)))


def benjamini_hochberg(ps: Ps) -> tuple[float | None, ...]:
    """Adjusted so that the expected share of false ones among all findings stays below the level.

        the i-th smallest of m:  min over j >= i of m · p_j / j,  at most 1

    Holds for independent and for positively dependent tests.

    Args:
        ps: In [0, 1]; None is not tested and not part of the family.

    Returns:
        In the same order; None where there was None.

    Raises:
        InputError: A p outside of [0, 1].

    Source: Benjamini & Hochberg (1995), "Controlling the false discovery rate".
    """
    order = _smallest_first(ps)
    found: dict[int, float] = {}
    smallest = 1.0
    for rank, (p, place) in reversed(list(enumerate(order, start=1))):
        smallest = min(smallest, len(order) * p / rank)
        found[place] = smallest
    return tuple(found.get(place) for place in range(len(ps)))


def _smallest_first(ps: Ps) -> list[tuple[float, int]]:
    """The tests of the family, each with its place."""
    for p in ps:
        if p is not None and not 0 <= p <= 1:
            raise InputError(f"A p lies in [0, 1], got {p}.")
    return sorted((p, place) for place, p in enumerate(ps) if p is not None)
