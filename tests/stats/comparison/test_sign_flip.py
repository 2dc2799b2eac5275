"""The sign-flip test against its oracle, by hand, and under hypotheses that are true."""

import numpy as np
import pytest
from scipy import stats

from ragstone.core.errors import InputError
from ragstone.stats.comparison.differences import holm, mcnemar_exact
from ragstone.stats.comparison.paired import sign_flip_test


def oracle(d: np.ndarray, resamples: float = np.inf) -> float:
    return float(
        stats.permutation_test(
            (d,), np.sum, permutation_type="samples", n_resamples=resamples, rng=1
        ).pvalue
    )


@pytest.mark.parametrize(
    ("sums", "p"),
    [
        ([1], 1),
        ([1, 1], 1 / 2),
        ([1, 2, 3], 2 / 8),
        ([3, -1], 1),
        ([4, 2, -1], 4 / 8),
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([0, 0, 1, 1, 0], 1 / 2),
    ],
)
def test_few_clusters_are_counted_out(sums: list[float], p: float) -> None:
    found = sign_flip_test(sums, seed=0)
    assert found[1]
    assert found[0] == pytest.approx(p)


def test_no_difference_at_all_has_a_p_of_1() -> None:
    assert sign_flip_test([], seed=0) == (1, True)
    assert sign_flip_test([0, 0, 0], seed=0) == (1, True)


def test_exact_p_is_scipys() -> None:
    rng = np.random.default_rng(1)
    for size in (2, 5, 9, 12):
        d = rng.normal(0.4, 1, size)
        assert sign_flip_test(d, seed=0)[0] == pytest.approx(oracle(d))
    ties = np.array([0.1, 0.2, 0.3, -0.1, 0.1, 0.2, 0.7 - 0.6])
    assert sign_flip_test(ties, seed=0)[0] == pytest.approx(oracle(ties))


def test_p_by_chance_is_near_the_exact_one() -> None:
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.3, 0.6):
        d = rng.normal(shift, 1, 16)
        found = sign_flip_test(d, seed=5)
        exact = sign_flip_test(d, seed=5, resamples=100_000)
        assert (found[1], exact[1]) == (False, True)
        error = np.sqrt(exact[0] * (1 - exact[0]) / 10_000)
        assert found[0] == pytest.approx(exact[0], abs=4 * error + 1e-4)


def test_many_clusters_joined_at_random_give_nearly_the_p_of_the_t_test() -> None:
    rng = np.random.default_rng(3)
    d = rng.normal(0.0055, 1, 120_000)
    found = sign_flip_test(d, seed=5)
    assert found[0] == pytest.approx(float(stats.ttest_1samp(d, 0).pvalue), abs=0.02)


def test_for_zeros_and_ones_it_is_mcnemars_exact_test() -> None:
    d = np.repeat([1, -1, 0], [9, 2, 30])
    assert sign_flip_test(d, seed=0)[0] == pytest.approx(mcnemar_exact(9, 2))


def test_p_is_never_0() -> None:
    assert sign_flip_test(np.ones(5000), seed=0) == (1 / 10_001, False)
    assert sign_flip_test(np.full(13, 1e300), seed=0)[0] == 2 / 2**13


def test_p_depends_neither_on_unit_nor_on_direction() -> None:
    d = np.random.default_rng(4).normal(0.2, 1, 40)
    p = sign_flip_test(d, seed=7)[0]
    assert sign_flip_test(-d, seed=7)[0] == p
    assert sign_flip_test(d * 1e-200, seed=7)[0] == p
    assert sign_flip_test(d * 1e200, seed=7)[0] == p


def test_the_same_seed_gives_the_same_p() -> None:
    d = np.random.default_rng(4).normal(0.2, 1, 40)
    assert sign_flip_test(d, seed=7) == sign_flip_test(d, seed=7)
    assert sign_flip_test(d, seed=7) != sign_flip_test(d, seed=8)


def test_no_resample_is_refused() -> None:
    with pytest.raises(InputError, match="resample"):
        sign_flip_test([1.0], seed=0, resamples=0)


RUNS = 10_000
NULLS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "heavy tails": lambda rng, size: rng.standard_t(2, size=size),
    "ones and zeros": lambda rng, size: rng.choice([-1, 0, 1], p=[0.2, 0.6, 0.2], size=size),
    "clusters of any size": lambda rng, size: rng.normal(size=size) * rng.integers(1, 30, size),
}


@pytest.mark.parametrize("null", NULLS)
def test_true_null_hypotheses_are_rejected_as_seldom_as_promised(null: str) -> None:
    """10,000 runs of 9 clusters, all 512 flips; .055 is .05 and its simulation error."""
    drawn = NULLS[null](np.random.default_rng(20), (RUNS, 9))
    rejected = sum(sign_flip_test(d, seed=0)[0] <= 0.05 for d in drawn)
    assert rejected / RUNS <= 0.055


def test_so_are_they_with_random_flips() -> None:
    drawn = np.random.default_rng(31).exponential(size=(RUNS, 25))
    drawn *= np.random.default_rng(32).choice([-1, 1], size=drawn.shape)
    rejected = sum(
        sign_flip_test(d, seed=seed, resamples=199)[0] <= 0.05 for seed, d in enumerate(drawn)
    )
    assert 0.045 <= rejected / RUNS <= 0.055


def test_a_family_of_true_null_hypotheses_has_a_false_finding_as_seldom_as_promised() -> None:
    """10,000 runs of 5 metrics that depend on each other; .055 as above."""
    rng = np.random.default_rng(23)
    runs, metrics = RUNS, 5
    common = rng.normal(size=(runs, 9, 1))
    drawn = 0.7 * common + rng.normal(size=(runs, 9, metrics))
    false = 0
    for run in drawn:
        ps = [sign_flip_test(run[:, metric], seed=0)[0] for metric in range(metrics)]
        false += min(p for p in holm(ps) if p is not None) <= 0.05
    assert false / runs <= 0.055
