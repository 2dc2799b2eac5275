"""Padding: rows of different lengths as one matrix."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def inside(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Shape (rows, longest), true up to the end of each row."""
    lengths = np.array([len(row) for row in rows])
    found: NDArray[np.bool_] = np.arange(lengths.max()) < lengths[:, None]
    return found


def padded(rows: Sequence[NDArray[np.int32]], padding: int = 0) -> NDArray[np.int32]:
    """The rows as a matrix, shorter ones filled up with ``padding`` at the end."""
    there = inside(rows)
    matrix = np.full(there.shape, padding, np.int32)
    matrix[there] = np.concatenate(rows)
    return matrix
