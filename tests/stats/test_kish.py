"""Kish's effective number of rows."""

import pytest

from ragstone.stats.weights_and_groups import kish_df, kish_size


def test_kish_by_hand() -> None:
    assert kish_size([1, 1, 1, 1, 4, 4]) == pytest.approx(144 / 36)
    assert kish_size([2, 2, 2]) == pytest.approx(3)
    assert kish_size([1, 0]) == 1
    assert kish_size([1e200, 1e200]) == pytest.approx(2)


def test_no_weight_is_worth_no_row() -> None:
    assert kish_size([]) == 0
    assert kish_size([0, 0]) == 0


def test_degrees_of_freedom_are_one_less_but_one_at_least() -> None:
    assert kish_df([2, 2, 2]) == pytest.approx(2)
    assert kish_df([1, 100]) == 1
    assert kish_df([]) == 1
