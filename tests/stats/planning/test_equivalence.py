import numpy as np
import pytest
from scipy import stats

from ragstone.core.errors import InputError
from ragstone.stats.planning.sample_size import equivalence_margin


@pytest.mark.parametrize(("n", "level", "power"), [(30, 0.95, 0.8), (60, 1 - 0.05 / 20, 0.9)])
def test_two_alike_are_shown_to_be_within_the_margin_as_often_as_planned(
    n: int, level: float, power: float
) -> None:
    """By simulation with SciPy's t: the formula takes both tails as they were apart."""
    margin = equivalence_margin(0.2, n, level=level, power=power)
    d = np.random.default_rng(1).normal(0, 0.2, (20_000, n))
    mean, error = d.mean(axis=1), d.std(axis=1, ddof=1) / n**0.5
    p = np.maximum(
        stats.t.sf((mean + margin) / error, n - 1), stats.t.cdf((mean - margin) / error, n - 1)
    )
    assert float((p <= 1 - level).mean()) == pytest.approx(power, abs=0.025)


def test_the_margin_by_hand() -> None:
    """df 9: t(.95) = 1.833113, t(.9) = 1.383029; .1 / sqrt(10) = .0316228."""
    assert equivalence_margin(0.1, 10) == pytest.approx(3.216142 * 0.0316228, rel=1e-5)


def test_a_range_that_was_not_seen_widens_it() -> None:
    """Deviation 0: only the one cluster more, 1 / 10, is left."""
    assert equivalence_margin(0.0, 10, unseen=1) == pytest.approx(3.216142 * 0.1, rel=1e-5)


def test_what_is_out_of_range_is_refused() -> None:
    for wrong in ({"pairs": 1}, {"power": 1.0}, {"level": 0.5}, {"deviation": -1.0}):
        with pytest.raises(InputError):
            equivalence_margin(**{"deviation": 0.1, "pairs": 9} | wrong)
