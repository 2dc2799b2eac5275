"""Adjusted p-values: correction for multiple testing."""

from collections.abc import Sequence

from ragstone.core.errors import InputError

Ps = Sequence[float | None]


def holm(ps: Ps) -> tuple[float | None, ...]:
    """Holm's adjustment, which controls the family-wise error rate.

        the i-th smallest of m:  max over j <= i of (m - j + 1) · p_j,  at most 1

    Valid for any dependence between the tests.

    Args:
        ps: In [0, 1]; None was not tested and is not part of the family.

    Returns:
        In the same order; None for None.

    Raises:
        InputError: A p-value outside [0, 1].

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
    """Benjamini and Hochberg's adjustment, which controls the false discovery rate.

        the i-th smallest of m:  min over j >= i of m · p_j / j,  at most 1

    Valid for independent and for positively dependent tests.

    Args:
        ps: In [0, 1]; None was not tested and is not part of the family.

    Returns:
        In the same order; None for None.

    Raises:
        InputError: A p-value outside [0, 1].

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
    """The p-values of the family in ascending order, each with its index."""
    for p in ps:
        if p is not None and not 0 <= p <= 1:
            raise InputError(f"A p-value must lie in [0, 1], got {p}.")
    return sorted((p, place) for place, p in enumerate(ps) if p is not None)
