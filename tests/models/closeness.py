"""How close the numbers of two models are."""

from typing import Any

import numpy as np


def furthest(got: Any, expected: Any) -> float:
    """The largest difference between numbers of the same shape."""
    assert got.shape == expected.shape
    return float(np.abs(got - expected).max(initial=0))
