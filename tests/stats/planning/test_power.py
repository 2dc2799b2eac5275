from math import ceil

import numpy as np
import pytest
from scipy.stats import nct, t
from statsmodels.stats.power import TTestPower

from ragstone.core.errors import InputError
from ragstone.stats.planning.sample_size import (
    detectable_difference,
    paired_power,
    paired_sample_size,
)


@pytest.mark.parametrize("effect", [0.1, 0.2, 0.35, 0.5, 0.8, 1.5])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_pairs_are_those_of_statsmodels_rounded_up(
    effect: float, power: float, level: float
) -> None:
    expected = TTestPower().solve_power(effect_size=effect, alpha=1 - level, power=power)
    assert paired_sample_size(0.3 * effect, 0.3, power=power, level=level) == ceil(expected)


@pytest.mark.parametrize("pairs", [2, 3, 5, 12, 60, 1000, 30_000])
@pytest.mark.parametrize("effect", [0, 0.05, 0.4, 2])
def test_power_is_the_two_tails_of_the_noncentral_t(pairs: int, effect: float) -> None:
    critical, shift = t.ppf(0.975, pairs - 1), effect * np.sqrt(pairs)
    if shift > 30:
        expected = 1.0
    else:
        upper, lower = (nct.sf(critical, pairs - 1, sign * shift) for sign in (1, -1))
        expected = upper + (0 if np.isnan(lower) else lower)
    assert paired_power(effect, 1, pairs) == pytest.approx(expected, abs=2e-6)


def test_the_sign_of_a_difference_does_not_matter() -> None:
    assert paired_sample_size(-0.1, 0.4) == paired_sample_size(0.1, 0.4)


@pytest.mark.parametrize("pairs", [2, 3, 10, 200, 200_000])
def test_the_detectable_difference_is_found_as_often_as_was_asked(pairs: int) -> None:
    found = detectable_difference(0.3, pairs, power=0.9)
    assert paired_power(found, 0.3, pairs) == pytest.approx(0.9)
    if pairs > 2:
        assert paired_sample_size(found * (1 + 1e-9), 0.3, power=0.9) == pairs


def test_tests_on_drawn_differences_find_it_as_often_as_said() -> None:
    rng = np.random.default_rng(2)
    pairs = paired_sample_size(0.1, 0.3, power=0.8)
    drawn = 0.1 + 0.3 * rng.normal(size=(20_000, pairs))
    ratio = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(pairs))
    found = (np.abs(ratio) > t.ppf(0.975, pairs - 1)).mean()
    assert found == pytest.approx(0.8, abs=0.012)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="difference of 0"):
        paired_sample_size(0, 1)
    with pytest.raises(InputError, match="deviation above 0"):
        paired_sample_size(0.1, 0)
    with pytest.raises(InputError, match="two pairs"):
        detectable_difference(1, 1)
    with pytest.raises(InputError, match="inside"):
        paired_sample_size(0.1, 1, power=0.01)
    for power in (1, 1.2):
        with pytest.raises(InputError, match="inside"):
            detectable_difference(1, 10, power=power)
