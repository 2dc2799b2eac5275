"""Bias of a judge by group and along a number."""

import numpy as np
import pytest

from ragstone.stats.judge_quality.bias_and_calibration import bias_along, bias_by_group
from tests.stats.intervals import cluster_t_mean


def test_mean_difference_of_each_group_by_hand() -> None:
    found = bias_by_group([1.0, 0, -1, 0, 2], ["b", "a", "a", "a", "b"])
    assert [(one.group, one.n, one.value) for one in found] == [
        ("a", 3, pytest.approx(-1 / 3)),
        ("b", 2, 1.5),
    ]


def test_intervals_of_many_clusters_are_about_those_of_means_by_cluster() -> None:
    rng = np.random.default_rng(1)
    clusters = np.arange(3000) // 3
    differences = rng.integers(-1, 2, 3000) * rng.integers(0, 2, 1000)[clusters].astype(float)
    (alone,) = bias_by_group(differences, ["all"] * 3000, low=-1, high=1, clusters=clusters)
    sums, counts = (np.bincount(clusters, weights=differences**k) for k in (1, 0))
    expected = cluster_t_mean(sums, counts)
    assert alone.interval is not None
    assert expected is not None
    assert alone.interval.low == pytest.approx(expected.low, abs=2e-4)
    assert alone.interval.high == pytest.approx(expected.high, abs=2e-4)


def test_group_of_one_cluster_has_no_interval() -> None:
    (one,) = bias_by_group([1.0, 0], ["a", "a"], low=-1, high=1, clusters=[4, 4])
    assert (one.value, one.interval) == (0.5, None)


def test_judge_who_never_differs_has_an_interval_on_a_scale_and_none_without() -> None:
    (on_scale,) = bias_by_group([0.0] * 20, [1] * 20, low=-1, high=1)
    (without,) = bias_by_group([0.0] * 20, [1] * 20)
    # Wilson's end for none of 20, with Student's t of 19 degrees of freedom.
    unseen = 2.0930**2 / (20 + 2.0930**2)
    assert on_scale.interval is not None
    ends = on_scale.interval.low, on_scale.interval.high
    assert ends == pytest.approx((-unseen, unseen), abs=1e-4)
    assert (without.value, without.interval) == (0, None)


def test_judge_who_favours_long_answers_is_found_out() -> None:
    rng = np.random.default_rng(2)
    length = rng.integers(10, 500, 300)
    differences = (rng.random(300) < length / 600).astype(float)
    found = bias_along(differences, length, low=-1, high=1)
    assert [one.n for one in found] == pytest.approx([100] * 3, abs=3)
    values = [one.value for one in found]
    assert values == sorted(values)
    low, high = found[0].interval, found[2].interval
    assert low is not None
    assert high is not None
    assert low.high < high.low


def test_number_that_never_changes_is_one_part() -> None:
    assert len(bias_along([0.0, 1, 0, 1], [5, 5, 5, 5])) == 1


def test_no_rows_give_no_groups() -> None:
    assert bias_by_group([], []) == ()
    assert bias_along([], []) == ()
