"""Codes: integer codes for names, for sorting and grouped sums."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = Sequence[Hashable] | NDArray[np.generic]
"""One name per row, such as its cluster."""


def codes_of(values: Codes) -> Ints:
    """An integer code from 0 for each distinct value, shape (n,), in no particular order."""
    array = np.asarray(values) if isinstance(values, np.ndarray) else None
    if array is not None and array.ndim == 1 and array.dtype.kind in "iub":
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    seen: dict[Hashable, int] = {}
    listed = array.tolist() if array is not None else values
    return np.fromiter((seen.setdefault(one, len(seen)) for one in listed), dtype=np.int64)


def in_order(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The distinct labels, sorted; if they are not comparable, by type and then as text."""
    different = set(labels)
    try:
        return tuple(sorted(different))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(different, key=lambda one: (type(one).__name__, str(one))))


def sums_by(codes: Ints, values: Floats, parts: int = 0) -> Floats:
    """Sum of the values of each code, shape (at least ``parts``,)."""
    return np.bincount(codes, weights=values, minlength=parts).astype(np.float64)


def shared_codes(codes: Ints) -> Ints | None:
    """The codes; None if every row has its own, so that rows are independent."""
    return None if len(np.unique(codes)) == len(codes) else codes
