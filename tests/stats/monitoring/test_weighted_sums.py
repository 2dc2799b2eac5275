"""Weighted sums give a weighted mean and its variance, for many windows at once."""

import numpy as np
import pytest

from ragstone.stats.monitoring.windows import WeightedSums

X = np.array([0.0, 1.0, 0.5, 1.0])
W = np.array([1.0, 2.0, 4.0, 1.0])


def same(one: WeightedSums, other: WeightedSums) -> bool:
    return all(
        np.allclose(getattr(one, name), getattr(other, name)) for name in WeightedSums.__slots__
    )


def joined(*parts: WeightedSums) -> WeightedSums:
    return WeightedSums(
        *(np.concatenate([getattr(one, name) for one in parts]) for name in WeightedSums.__slots__)
    )


def test_mean_and_variance_by_hand() -> None:
    sums = WeightedSums.of(X, W)
    # (2 + 2 + 1) / 8, and (.625² + 4 · .375² + 16 · .125² + .375²) / 64.
    assert sums.mean == pytest.approx([0.625])
    assert sums.variance == pytest.approx([(0.390625 + 5 * 0.140625 + 0.25) / 64])
    assert sums.most == [4]
    assert sums.n == [4]


def test_a_window_without_scores_has_no_mean() -> None:
    sums = WeightedSums.of([])
    assert np.isnan(sums.mean).all()
    assert np.isnan(sums.variance).all()


def test_rescaled_sums_are_those_of_rescaled_scores() -> None:
    assert same(WeightedSums.of(2 + 3 * X, W).stretched(2, 5), WeightedSums.of(X, W))


def test_mirrored_sums_are_those_of_mirrored_scores() -> None:
    assert same(WeightedSums.of(X, W).mirrored(), WeightedSums.of(1 - X, W))


def test_windows_of_several_steps_are_as_if_all_their_scores_were_in_one() -> None:
    steps = [WeightedSums.of(X[k : k + 1], W[k : k + 1]) for k in range(4)]
    windows = joined(*steps).over(3)
    assert same(windows, joined(WeightedSums.of(X[:3], W[:3]), WeightedSums.of(X[1:], W[1:])))
