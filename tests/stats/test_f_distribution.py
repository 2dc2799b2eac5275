import pytest
from scipy.stats import chi2, f

from ragstone.stats.distributions import f_quantile


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize(("above", "below"), [(1, 1), (3.3, 7.7), (99, 49), (300, 1000)])
def test_quantiles_are_scipys(q: float, above: float, below: float) -> None:
    assert f_quantile(q, above, below) == pytest.approx(f.ppf(q, above, below), rel=1e-8)


@pytest.mark.parametrize("df", [1, 30, 2000])
def test_over_a_known_variance_it_is_chi_square(df: float) -> None:
    assert f_quantile(0.9, df) == pytest.approx(chi2.ppf(0.9, df) / df, rel=1e-4)
