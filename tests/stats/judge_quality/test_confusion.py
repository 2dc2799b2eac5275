"""Judge against people: who said what, beside scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from ragstone.stats import cluster_wilson, wilson
from ragstone.stats.judge_quality.confusion import confusion

RNG = np.random.default_rng(1)
PEOPLE = RNG.integers(0, 4, 300)
JUDGE = np.clip(PEOPLE + RNG.integers(-1, 2, 300), 0, 3)


def test_counts_and_rates_by_hand() -> None:
    judge, people = [1, 1, 0, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0, 0]
    result = confusion(judge, people)
    assert result.labels == (0, 1)
    assert result.counts == ((3, 1), (1, 2))
    assert result.accuracy.value == pytest.approx(5 / 7)
    assert result.sensitivity is not None
    assert result.specificity is not None
    assert result.precision is not None
    assert (result.sensitivity.value, result.sensitivity.interval) == (2 / 3, wilson(2, 3))
    assert (result.specificity.value, result.specificity.n) == (3 / 4, 4)
    assert result.precision.value == pytest.approx(2 / 3)


def test_counts_and_rates_are_those_of_scikit_learn() -> None:
    judge, people = JUDGE > 1, PEOPLE > 1
    result = confusion(judge, people, positive=True)
    assert np.array(result.counts) == pytest.approx(confusion_matrix(people, judge))
    assert result.sensitivity is not None
    assert result.precision is not None
    assert result.sensitivity.value == pytest.approx(recall_score(people, judge))
    assert result.precision.value == pytest.approx(precision_score(people, judge))


def test_rates_of_clusters_have_their_intervals() -> None:
    people, judge, clusters = [1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 0, 1], list("aabbcc")
    result = confusion(judge, people, clusters=clusters)
    assert result.sensitivity is not None
    assert result.sensitivity.interval == cluster_wilson([2, 1], [2, 2])
    assert result.specificity is not None
    assert (result.specificity.value, result.specificity.interval) == (0.5, None)


def test_more_than_two_labels_have_counts_and_accuracy_only() -> None:
    result = confusion(JUDGE, PEOPLE)
    assert np.array(result.counts) == pytest.approx(confusion_matrix(PEOPLE, JUDGE))
    assert (result.sensitivity, result.specificity, result.reason) == (None, None, "not_binary")
    words = confusion(["good", "bad"], ["good", "good"], positive="good")
    assert words.sensitivity is not None
    assert words.sensitivity.value == 0.5


def test_rates_of_no_rows_are_undefined() -> None:
    result = confusion([1, 1], [1, 1])
    assert result.specificity is not None
    assert (result.specificity.value, result.specificity.reason) == (None, "no_such_rows")
    assert confusion([], []).reason == "no_rows"
