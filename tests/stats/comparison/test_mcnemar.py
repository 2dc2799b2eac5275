"""McNemar's exact test."""

import sys

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from ragstone.stats.comparison.differences import mcnemar_exact


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [(0, 0, 1), (1, 0, 1), (3, 3, 1), (0, 5, 2 / 32), (1, 5, 14 / 64), (6, 0, 2 / 64)],
)
def test_by_hand(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar_exact(only_a, only_b) == pytest.approx(p)


def test_it_is_statsmodels() -> None:
    rng = np.random.default_rng(0)
    for b, c in rng.integers(0, 60, size=(200, 2)):
        expected = mcnemar([[10, b], [c, 20]], exact=True).pvalue
        assert mcnemar_exact(int(b), int(c)) == pytest.approx(min(1.0, float(expected)), rel=1e-9)


def test_large_counts_are_scipys_binomial_test() -> None:
    for b, c in [(5000, 5200), (400_000, 401_000), (30, 300)]:
        expected = stats.binomtest(min(b, c), b + c).pvalue
        assert mcnemar_exact(b, c) == pytest.approx(float(expected), rel=1e-7)


def test_p_is_never_0() -> None:
    assert mcnemar_exact(0, 100_000) == sys.float_info.min
    assert mcnemar_exact(100_000, 10) == sys.float_info.min
