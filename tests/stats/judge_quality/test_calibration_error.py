"""Calibration error and strata of scores: bins of equal mass."""

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats import wilson
from ragstone.stats.correction.corrected import strata_of
from ragstone.stats.judge_quality.bias_and_calibration import calibration_error
from ragstone.stats.weights_and_groups import equal_mass_bins


def test_calibration_error_by_hand() -> None:
    # Two bins of three: said .2 and .8 on the mean, true 1/3 and 1/3.
    said, true = [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 1, 0, 0, 1, 0]
    result = calibration_error(said, true, bins=2)
    assert result.value == pytest.approx((abs(0.2 - 1 / 3) + abs(0.8 - 1 / 3)) / 2)
    assert [(one.low, one.high, one.positives.n) for one in result.bins] == [
        (0.1, 0.3, 3),
        (0.7, 0.9, 3),
    ]
    assert result.bins[0].mean_probability == pytest.approx(0.2)
    assert result.bins[0].positives.interval == wilson(1, 3)


def test_judge_who_is_sure_and_right_has_no_error() -> None:
    assert calibration_error([0, 1, 1, 0], [False, True, True, False]).value == 0


def test_equal_probabilities_share_a_bin() -> None:
    result = calibration_error([0.5] * 99 + [0.9], [1] * 50 + [0] * 50)
    assert [one.positives.n for one in result.bins] == [99, 1]


@pytest.mark.parametrize("n", [1, 7, 100, 1003])
def test_bins_of_different_values_are_equally_full(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    counts = np.bincount(equal_mass_bins(values, 10))
    assert len(counts) == min(n, 10)
    assert counts.max() - counts.min() <= 1


def test_calibrated_judge_has_the_error_that_chance_gives() -> None:
    rng = np.random.default_rng(3)
    said = rng.random((200, 500))
    values = [calibration_error(p, rng.random(500) < p, resamples=2).value or 0 for p in said]
    chance = np.sqrt(2 / np.pi) * np.mean(np.sqrt(said * (1 - said) * 10 / 500))
    assert np.mean(values) == pytest.approx(chance, rel=0.1)


def test_undefined_and_wrong_input_are_said() -> None:
    nothing = calibration_error([], [])
    assert (nothing.value, nothing.n, nothing.reason) == (None, 0, "no_rows")
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        calibration_error([1.2], [1])
    with pytest.raises(InputError, match="one shape"):
        calibration_error([0.2, 0.3], [1])


def test_few_grades_are_a_stratum_each_and_many_scores_are_cut() -> None:
    assert strata_of([3, 1, 1, 4]).tolist() == [1, 0, 0, 2]
    scores = np.random.default_rng(4).random(1000)
    strata = strata_of(scores)
    assert np.bincount(strata).tolist() == [200] * 5
    assert all(scores[strata == k].max() < scores[strata == k + 1].min() for k in range(4))
    assert strata_of(scores, most=1).tolist() == [0] * 1000


def test_one_bin_has_the_gap_of_the_means() -> None:
    found = calibration_error([0.2, 0.4, 0.9, 0.5], [0, 1, 1, 1], bins=1)
    assert found.value == pytest.approx(0.75 - 0.5)
    assert [one.positives.n for one in found.bins] == [4]


def test_five_grades_are_a_stratum_each_however_rare() -> None:
    assert strata_of([0] * 97 + [1, 2, 3, 4]).tolist() == [0] * 97 + [1, 2, 3, 4]
