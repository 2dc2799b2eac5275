"""Kolmogorov and Smirnov's test beside SciPy's."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from ragstone.stats.risk_control import MOST_POINTS, thinned, two_samples


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (20, 33), (120, 40), (500, 300)])
def test_distance_and_p_are_those_of_scipy(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random(n), rng.random(m) ** 1.3
    found, peer = two_samples(first, second), ks_2samp(first, second, method="exact")
    assert found is not None
    assert found.n == (n, m)
    assert found.distance == pytest.approx(peer.statistic)
    assert found.p == pytest.approx(peer.pvalue, abs=1e-9)


def test_samples_of_one_distribution_are_seldom_called_apart() -> None:
    rng = np.random.default_rng(0)
    found = [two_samples(rng.random(100), rng.random(60)) for _ in range(400)]
    assert 0.02 < np.mean([one is not None and one.p <= 0.1 for one in found]) < 0.13


def test_ties_make_p_larger_and_not_smaller() -> None:
    rng = np.random.default_rng(1)
    found = [two_samples(rng.integers(0, 3, 80), rng.integers(0, 3, 80)) for _ in range(400)]
    assert np.mean([one is not None and one.p <= 0.1 for one in found]) < 0.1


def test_equal_samples_are_no_distance_apart() -> None:
    found = two_samples([0.1, 0.5, 0.5], [0.1, 0.5, 0.5])
    assert found is not None
    assert (found.distance, found.p) == (0, 1)


def test_long_samples_are_thinned_to_evenly_spaced_ranks() -> None:
    points = thinned(np.arange(2000, dtype=float))
    assert len(points) == MOST_POINTS
    assert points[:3].tolist() == [2, 6, 10]
    assert points[-1] == 1998
    assert thinned([3.0, 1.0]).tolist() == [1, 3]


def test_no_scores_are_compared_with_nothing() -> None:
    assert two_samples([], [0.1]) is None
    assert two_samples([0.1], []) is None
