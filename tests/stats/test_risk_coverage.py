"""Risk and coverage: a case by hand, scikit-learn's precision, and every order tried."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve

from ragstone.core.errors import InputError
from ragstone.stats.risk_control import risk_coverage


def test_curve_and_area_by_hand() -> None:
    found = risk_coverage([0.9, 0.8, 0.6, 0.4], [False, True, False, True])
    assert found.thresholds.tolist() == [0.9, 0.8, 0.6, 0.4]
    assert found.coverage.tolist() == [1 / 4, 1 / 2, 3 / 4, 1]
    assert found.risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert found.best == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert found.blind == 1 / 2


def test_risk_is_one_less_the_precision_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    scores, wrong = rng.random(400).round(2), rng.random(400) < 0.3
    precision, _, thresholds = precision_recall_curve(~wrong, scores)
    found = risk_coverage(scores, wrong)
    assert found.thresholds[::-1] == pytest.approx(thresholds)
    assert found.risk[::-1] == pytest.approx(1 - precision[:-1])
    assert found.coverage == pytest.approx([(scores >= at).mean() for at in found.thresholds])


def test_area_is_the_mean_over_all_orders_of_equal_scores() -> None:
    scores = np.array([2, 1, 1, 1, 0, 0])
    wrong = np.array([1, 0, 1, 0, 1, 0])
    areas = []
    for first in permutations([1, 2, 3]):
        for last in permutations([4, 5]):
            order = [0, *first, *last]
            areas.append(np.mean(wrong[order].cumsum() / np.arange(1, 7)))
    assert risk_coverage(scores, wrong).area == pytest.approx(np.mean(areas))


def test_score_that_tells_nothing_has_the_blind_area_and_a_perfect_one_the_best() -> None:
    wrong = [True, False, False, True, False]
    blind, perfect = risk_coverage([1.0] * 5, wrong), risk_coverage([0, 1, 1, 0, 1], wrong)
    assert blind.area == pytest.approx(blind.blind) == pytest.approx(0.4)
    assert perfect.area == pytest.approx(perfect.best)


def test_no_rows_have_no_area() -> None:
    found = risk_coverage([], [])
    assert (found.area, found.best, found.blind, len(found.risk)) == (None, None, None, 0)


@pytest.mark.parametrize(
    ("scores", "wrong"), [([0.1], [0, 1]), ([np.nan], [0]), ([0.1], [2]), ([[0.1]], [[1]])]
)
def test_wrong_shapes_and_numbers_are_refused(scores: list[float], wrong: list[int]) -> None:
    with pytest.raises(InputError):
        risk_coverage(scores, wrong)
