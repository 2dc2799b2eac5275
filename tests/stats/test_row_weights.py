"""Weights of rows: of mean 1, and above 0."""

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats.weights_and_groups import row_weights


def test_weights_have_mean_1_and_equal_ones_are_1() -> None:
    assert row_weights([1, 3], 2).tolist() == [0.5, 1.5]
    assert row_weights([7, 7], 2).tolist() == row_weights(None, 2).tolist() == [1, 1]
    assert len(row_weights([], 0)) == 0


@pytest.mark.parametrize(
    "weights", [[1, 2, 3], [[1, 2]], [1, 0], [1, -1], [1, np.nan], [1, np.inf]]
)
def test_weights_of_another_shape_or_not_above_0_are_refused(weights: object) -> None:
    with pytest.raises(InputError, match="one for each of the 2 rows"):
        row_weights(weights, 2)  # type: ignore[arg-type]
