"""Doubt about a pilot's variance: against SciPy's quantiles, and by drawing pilots."""

import numpy as np
import pytest
from scipy.stats import beta, chi2, norm

from ragstone.core.errors import InputError
from ragstone.stats.planning.mcnemar_power import (
    NODES,
    doubt_of_deviation,
    doubt_of_share,
    inflation,
    mcnemar_inflation,
    mcnemar_power,
    mcnemar_sample_size,
)


@pytest.mark.parametrize("clusters", [10, 60, 500])
def test_a_variance_is_doubted_as_chi_square_says(clusters: int) -> None:
    expected = (clusters - 1) / chi2.ppf(1 - np.array(NODES), clusters - 1)
    assert doubt_of_deviation(clusters) == pytest.approx(expected, rel=0.02)


def test_a_share_is_doubted_as_its_posterior_says() -> None:
    expected = beta.ppf(NODES, 10.5, 190.5) / 0.05
    assert doubt_of_share(10, 200) == pytest.approx(expected)


@pytest.mark.parametrize("level", [0.95, 0.9992])
def test_the_inflated_size_has_the_power_on_average_over_pilots(level: float) -> None:
    # True variance 1, found by pilots of 15: rows by each pilot's own, times the factor.
    rng = np.random.default_rng(3)
    found = rng.chisquare(14, size=100_000) / 14
    z = norm.ppf((1 + level) / 2)
    shift = z + norm.ppf(0.8)
    factor = inflation(doubt_of_deviation(15), level=level)
    assert np.mean(norm.cdf(shift * np.sqrt(found * factor) - z)) == pytest.approx(0.8, abs=0.015)
    assert np.mean(norm.cdf(shift * np.sqrt(found) - z)) < 0.79


def test_a_share_is_looked_for_among_those_that_can_be() -> None:
    # Of Jeffreys' posterior, what lies above .03, beside .03 where the pilot found .025.
    posterior = beta(5.5, 195.5)
    rest = posterior.sf(0.03)
    expected = posterior.isf(rest * (1 - np.array(NODES))) / 0.03
    assert doubt_of_share(5, 200, least=0.03) == pytest.approx(expected)
    assert doubt_of_share(5, 200, least=0.9) == pytest.approx(np.ones(20))


def test_a_plan_by_mcnemar_has_its_power_on_average_over_pilots() -> None:
    # Truly .05 of the pairs differ, by .03; a pilot of 200 finds anything from .01 to .1.
    rng = np.random.default_rng(4)
    powers, plain = [], []
    found, times = np.unique(rng.binomial(200, 0.05, size=60), return_counts=True)
    for successes in found:
        share = max(0.03, successes / 200)
        sure = mcnemar_sample_size(0.03, share)
        doubt = doubt_of_share(max(1, int(successes)), 200, least=0.03)
        factor = mcnemar_inflation(0.03, share, doubt)
        powers.append(mcnemar_power(0.03, 0.05, int(np.ceil(sure * factor))))
        plain.append(mcnemar_power(0.03, 0.05, sure))
    assert times @ powers > times @ plain
    assert times @ powers / 60 > 0.79


def test_a_variance_that_is_known_needs_no_more() -> None:
    assert inflation(np.ones(20)) == pytest.approx(1, abs=1e-6)
    assert 1 < inflation(doubt_of_deviation(1000)) < 1.003


def test_power_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError):
        inflation(np.ones(2), power=1)


@pytest.mark.parametrize(("difference", "differing", "ratio"), [(0.05, 0.08, 1.5), (0.1, 0.3, 2)])
def test_another_share_of_differing_pairs_asks_for_as_many_as_connors_formula(
    difference: float, differing: float, ratio: float
) -> None:
    def rows(share: float) -> float:
        spread = np.sqrt(share - difference**2)
        return float((norm.ppf(0.975) * np.sqrt(share) + norm.ppf(0.8) * spread) / difference) ** 2

    found = mcnemar_inflation(difference, differing, np.array([ratio]))
    assert found == pytest.approx(rows(ratio * differing) / rows(differing))
