"""Power of McNemar's exact test, against every outcome summed over and against simulation."""

import numpy as np
import pytest
from scipy.stats import binom

from ragstone.core.errors import InputError
from ragstone.stats.comparison.differences import mcnemar_exact
from ragstone.stats.planning.mcnemar_power import (
    mcnemar_detectable,
    mcnemar_power,
    mcnemar_sample_size,
)


def summed(difference: float, differing: float, pairs: int, alpha: float) -> float:
    """Over every number of differing pairs and every split of them, with SciPy's binomials."""
    share = (1 + difference / differing) / 2
    power = 0.0
    for k in range(pairs + 1):
        ahead = np.arange(k + 1)
        p = np.minimum(1, 2 * binom.cdf(np.minimum(ahead, k - ahead), k, 0.5))
        power += binom.pmf(k, pairs, differing) * binom.pmf(ahead, k, share)[p <= alpha].sum()
    return power


@pytest.mark.parametrize(
    ("difference", "differing", "pairs", "alpha"),
    [(0.1, 0.3, 100, 0.05), (0.05, 0.2, 150, 0.001), (0.2, 0.2, 40, 0.05), (0.3, 1.0, 30, 0.05),
     (0.0, 0.4, 60, 0.05)],
)  # fmt: skip
def test_power_is_the_sum_over_all_outcomes(
    difference: float, differing: float, pairs: int, alpha: float
) -> None:
    expected = summed(difference, differing, pairs, alpha)
    assert mcnemar_power(difference, differing, pairs, level=1 - alpha) == pytest.approx(
        expected, abs=1e-5
    )
    assert mcnemar_power(-difference, differing, pairs, level=1 - alpha) == pytest.approx(
        expected, abs=1e-5
    )


def test_three_pairs_that_all_differ_can_show_nothing_and_six_can() -> None:
    # Of k pairs on one side the exact p is 2^(1 - k): 1/4 of three, 1/32 of six.
    assert mcnemar_power(1, 1, 3) == 0
    assert mcnemar_power(1, 1, 6) == pytest.approx(1)
    assert mcnemar_sample_size(1, 1) == 6
    assert mcnemar_detectable(0.5, 3) is None


def test_so_many_pairs_find_it_so_often_and_hardly_fewer_do() -> None:
    pairs = mcnemar_sample_size(0.1, 0.25, power=0.8, level=0.95)
    rng = np.random.default_rng(2)
    found = []
    for _ in range(4000):
        ahead, behind, _ = rng.multinomial(pairs, [0.175, 0.075, 0.75])
        found.append(mcnemar_exact(int(ahead), int(behind)) <= 0.05)
    assert np.mean(found) == pytest.approx(0.8, abs=0.025)
    assert mcnemar_power(0.1, 0.25, round(0.95 * pairs)) < 0.8


def test_what_can_be_detected_needs_as_many_pairs() -> None:
    least = mcnemar_detectable(0.3, 200)
    assert least is not None
    assert mcnemar_power(least, 0.3, 200) == pytest.approx(0.8, abs=1e-3)


def test_very_many_pairs_are_as_students_test() -> None:
    exact = mcnemar_power(0.02, 0.2, 9_999)
    assert mcnemar_power(0.02, 0.2, 10_001) == pytest.approx(exact, abs=0.01)


def test_what_cannot_be_is_refused() -> None:
    for difference, differing, pairs in ((0.3, 0.2, 10), (0.1, 0, 10), (0.1, 0.2, 0)):
        with pytest.raises(InputError, match="difference of at most"):
            mcnemar_power(difference, differing, pairs)
    with pytest.raises(InputError, match="other than 0"):
        mcnemar_sample_size(0, 0.2)
