"""Student's t and the beta distribution it rests on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from ragstone.core.errors import InputError
from ragstone.stats import t_quantile
from ragstone.stats.distributions import beta_cdf, beta_quantile

DF = [1, 1.3, 2, 2.9, 3, 4, 5.5, 7, 10, 30, 39, 99, 300, 999, 999.5, 1000, 1001, 3e4, 1e6]


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("q", [0.6, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995, 0.99999])
def test_t_quantile_is_that_of_scipy(q: float, df: float) -> None:
    assert t_quantile(q, df) == pytest.approx(stats.t.ppf(q, df), rel=1e-9)


@given(st.floats(0.01, 0.99), st.floats(1, 1e6))
def test_t_is_symmetric_and_inverts_its_distribution(q: float, df: float) -> None:
    assert t_quantile(q, df) == pytest.approx(-t_quantile(1 - q, df), abs=1e-9)
    assert stats.t.cdf(t_quantile(q, df), df) == pytest.approx(q, abs=1e-9)


def test_median_is_zero() -> None:
    assert t_quantile(0.5, 7) == 0


def test_one_degree_of_freedom_is_cauchy() -> None:
    assert t_quantile(0.75, 1) == pytest.approx(1)


@pytest.mark.parametrize(("q", "df"), [(0, 3), (1, 3), (0.5, 0.9), (float("nan"), 3), (0.9, -1)])
def test_shares_and_degrees_out_of_range_are_refused(q: float, df: float) -> None:
    with pytest.raises(InputError, match="Student"):
        t_quantile(q, df)


@given(st.floats(0, 1), st.floats(0.1, 1000), st.floats(0.1, 1000))
def test_beta_cdf_is_that_of_scipy(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-11)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1, 3), (20, 2), (3, 1e6), (1e6, 1e6)])
@pytest.mark.parametrize("q", [0.001, 0.025, 0.5, 0.975])
def test_beta_quantile_is_that_of_scipy(q: float, a: float, b: float) -> None:
    assert beta_quantile(q, a, b) == pytest.approx(special.betaincinv(a, b, q), rel=1e-8)
