"""Quantiles for all looks together: against the formula of the paper, its optimum, and paths."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.special import lambertw

from ragstone.core.errors import InputError
from ragstone.stats.distributions import FIRST_LOOK, look_quantile


@pytest.mark.parametrize("level", [0.2, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("n", [1, 50, 700])
def test_it_is_that_of_the_paper(n: int, level: float) -> None:
    # Waudby-Smith et al. (2024): boundary of theorem 2.2, and the best ρ² by Lambert's W.
    alpha = 1 - level
    r2 = float(-lambertw(-(alpha**2) / np.e, -1).real - 1) / FIRST_LOOK
    boundary = sqrt(2 * (n * r2 + 1) / (n**2 * r2) * log(sqrt(n * r2 + 1) / alpha))
    assert look_quantile(n, level) == pytest.approx(sqrt(n) * boundary)


def test_it_is_wider_than_for_one_look_and_grows_slowly() -> None:
    found = [look_quantile(n, 0.95) for n in (50, 500, 5_000, 50_000)]
    assert found == sorted(found)
    assert 2.9 < found[0] < 3.1
    assert found[-1] < 4.2


def test_a_walk_stays_within_it_at_all_steps_together() -> None:
    steps = np.random.default_rng(4).standard_normal((400, 2_000)).cumsum(axis=1)
    n = np.arange(FIRST_LOOK, 2_001)
    bound = np.sqrt(n) * [look_quantile(float(one), 0.95) for one in n]
    held = (np.abs(steps[:, FIRST_LOOK - 1 :]) <= bound).all(axis=1).mean()
    assert held >= 0.95


def test_a_level_beyond_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="level"):
        look_quantile(50, 1)
