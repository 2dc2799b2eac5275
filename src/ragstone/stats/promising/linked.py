"""Linked: rows that share any one of several things belong to one cluster."""

from collections.abc import Hashable, Sequence

import numpy as np

from ragstone.core.errors import InputError
from ragstone.stats.codes import Ints, codes_of


def linked_clusters(*keys: Sequence[Hashable]) -> Ints:
    """A cluster for each row: rows are linked by any equal key, also by way of other rows.

    Answers to one question belong together, and so do those from one set of contexts.

    Args:
        keys: Each of length n. A row whose key is None is linked by its other keys alone.

    Returns:
        Shape (n,), codes from 0 in the order of the rows.

    Raises:
        InputError: The keys are not equally long.
    """
    sizes = {len(key) for key in keys}
    if len(sizes) != 1:
        raise InputError(f"The keys that link rows must be equally long, got {sorted(sizes)}.")
    parent = list(range(sizes.pop()))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for key in keys:
        first: dict[Hashable, int] = {}
        for row, value in enumerate(key):
            if value is not None:
                parent[root(row)] = root(first.setdefault(value, row))
    return np.asarray(codes_of([root(row) for row in range(len(parent))]))
