"""From which score on the share of wrong answers keeps a promise: by hand and simulated."""

import numpy as np
import pytest
from scipy.stats import binom

from ragstone.core.errors import InputError
from ragstone.stats.risk_control import answered_from


def test_threshold_falls_until_the_wrong_ones_are_too_many() -> None:
    scores = np.concatenate([np.full(45, 0.9), np.full(40, 0.5), np.full(15, 0.2)])
    wrong = np.concatenate([np.zeros(45), np.eye(1, 40)[0], np.ones(15)])
    found = answered_from(scores, wrong, bound=0.05, confidence=0.9)
    assert (found.value, found.hits, found.clusters) == (0.201, 1, 85)
    assert binom.cdf(1, 85, found.upper) == pytest.approx(0.1)


def test_testing_begins_where_enough_are_answered() -> None:
    found = answered_from([0.7] * 44, [0] * 44, bound=0.05, confidence=0.9)
    assert (found.value, found.reason, found.clusters) == (None, "too_few", 44)
    assert answered_from([0.7] * 45, [0] * 45, bound=0.05, confidence=0.9).value == 0


def test_wrong_ones_at_the_top_are_refused() -> None:
    found = answered_from([0.7] * 45 + [0.9], [0] * 45 + [1], bound=0.05, confidence=0.9)
    assert (found.value, found.reason, found.hits) == (None, "not_apart", 1)


def test_no_rows_are_nothing_to_test() -> None:
    assert answered_from([], [], bound=0.05, confidence=0.9).reason == "nothing_to_test"


def test_cluster_with_one_wrong_answer_is_wrong_and_counts_once() -> None:
    scores, wrong = [0.8, 0.9] * 45, [0, 0] * 44 + [1, 0]
    of = np.repeat(np.arange(45), 2)
    found = answered_from(scores, wrong, bound=0.05, confidence=0.9, clusters=of)
    assert (found.value, found.hits, found.clusters) == (0.801, 0, 45)


def test_promise_is_kept_in_nine_of_ten_draws() -> None:
    rng = np.random.default_rng(5)
    draws, bound, broken = 400, 0.1, 0
    for _ in range(draws):
        scores = rng.random(150)
        found = answered_from(scores, rng.random(150) > scores, bound=bound, confidence=0.9)
        # P(wrong | score >= t) for a score that is the chance to be right: the mean of 1 - score.
        broken += found.value is not None and (1 - found.value) / 2 > bound
    assert broken / draws <= 0.1


def test_enough_answers_only_at_the_lowest_threshold_are_tested_there() -> None:
    found = answered_from([0.0] * 45, [0] * 44 + [1], bound=0.05, confidence=0.9)
    assert (found.value, found.reason, found.hits) == (None, "not_apart", 1)
    assert answered_from([0.0] * 45, [0] * 45, bound=0.05, confidence=0.9).value == 0


@pytest.mark.parametrize(
    ("scores", "wrong"), [([1.2], [0]), ([0.5], [2]), ([0.5], [0, 1]), ([[0.5]], [[0]])]
)
def test_wrong_shapes_and_numbers_are_refused(scores: list[float], wrong: list[int]) -> None:
    with pytest.raises(InputError):
        answered_from(scores, wrong, bound=0.1, confidence=0.9)
