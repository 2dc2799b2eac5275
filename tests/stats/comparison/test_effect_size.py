"""Effect sizes of paired differences."""

import numpy as np
import pytest
from scipy import stats

from ragstone.stats.comparison.differences import relative_change, standardised_difference


def test_by_hand() -> None:
    assert standardised_difference([1, 2, 3]) == pytest.approx(2)
    assert standardised_difference([-1, 1]) == 0


def test_it_is_the_t_statistic_over_the_root_of_n() -> None:
    d = np.random.default_rng(0).normal(0.3, 1, 40)
    t = float(stats.ttest_1samp(d, 0).statistic)
    assert standardised_difference(d) == pytest.approx(t / np.sqrt(40))


@pytest.mark.parametrize("d", [[], [0.4], [0, 0, 0], [0.1 + 0.2, 0.3]])
def test_where_nothing_varies_there_is_none(d: list[float]) -> None:
    assert standardised_difference(d) is None


def test_relative_change_is_in_percent_of_the_second() -> None:
    assert relative_change(0.6, 0.5) == pytest.approx(20)
    assert relative_change(0.4, 0.5) == pytest.approx(-20)
    assert relative_change(-0.1, 0.5) == pytest.approx(-120)


@pytest.mark.parametrize("second", [0, -0.2])
def test_nothing_is_a_percentage_of_0_or_less(second: float) -> None:
    assert relative_change(0.5, second) is None
    assert relative_change(-0.1, second) is None
