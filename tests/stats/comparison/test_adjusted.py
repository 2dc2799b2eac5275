"""Adjusted p-values."""

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from ragstone.stats.comparison.differences import benjamini_hochberg, holm


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))


def test_benjamini_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.04, 0.01, 0.03]) == pytest.approx((0.04, 0.03, 0.04))


def test_they_are_statsmodels() -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 60):
        ps = np.round(rng.random(size) ** 3, 3)
        assert holm(ps.tolist()) == pytest.approx(multipletests(ps, method="holm")[1])
        assert benjamini_hochberg(ps.tolist()) == pytest.approx(
            multipletests(ps, method="fdr_bh")[1]
        )


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_was_not_tested_is_not_part_of_the_family(adjust: object) -> None:
    assert callable(adjust)
    assert adjust([0.02, None, 0.5, None]) == (*adjust([0.02])[:0], 0.04, None, 0.5, None)
    assert adjust([]) == ()
    assert adjust([None]) == (None,)


def test_two_tests_of_a_subject_leave_as_many_null_hypotheses_as_there_are_subjects() -> None:
    ps, subjects = [0.001, 0.04, 0.9, 0.02], [0, 1, 0, 1]
    assert holm(ps, subjects) == pytest.approx((0.002, 0.08, 0.9, 0.04))
    assert holm([0.04, None], [0, 0]) == (0.04, None)


def test_differences_and_equivalence_spend_five_percent_together() -> None:
    """Of ten comparisons five have no difference, five exactly the margin of four errors.

    Half of the null hypotheses are true; each family alone would break the promise in 10 %.
    """
    rng, margin, broken = np.random.default_rng(7), 4.0, []
    for z in rng.normal([0.0] * 5 + [margin] * 5, 1, (3000, 10)):
        ps = np.append(2 * norm.sf(abs(z)), norm.sf(margin - abs(z)))
        found = np.array(holm(ps.tolist(), [*range(10)] * 2)) <= 0.05
        broken.append(found[:5].any() or found[15:].any())
    assert np.mean(broken) < 0.06
