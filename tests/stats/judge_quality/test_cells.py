"""Intervals from the cells of a table."""

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.stats.judge_quality.confusion import cell_bootstrap

Floats = NDArray[np.float64]


def second(shares: Floats) -> Floats:
    return shares[:, 1]


def test_ends_of_a_share_are_quantiles_of_the_binomial() -> None:
    # Binomial(20, .5): 6 and 14 are its quantiles of .025 and .975.
    found = cell_bootstrap(
        np.repeat([0, 1], 10), 2, second, clusters=None, seed=1, resamples=4000, level=0.95
    )
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.3, 0.7))


@pytest.mark.parametrize("clusters", [None, range(20)])
@pytest.mark.parametrize("level", [0.01, 0.1])
def test_ends_that_fall_on_one_value_are_no_interval(clusters: range | None, level: float) -> None:
    # Half of 20 is the middle sixth of the draws, so both ends are 1/2.
    found = cell_bootstrap(
        np.repeat([0, 1], 10), 2, second, clusters=clusters, seed=1, resamples=4000, level=level
    )
    assert found is None


def test_one_row_and_cells_that_are_all_the_same_have_no_interval() -> None:
    for cells in ([1], [1, 1, 1]):
        found = cell_bootstrap(
            np.array(cells), 2, second, clusters=None, seed=1, resamples=50, level=0.95
        )
        assert found is None
