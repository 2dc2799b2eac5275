"""Judge against people: confusion and kappa, beside scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix, precision_score, recall_score

from ragstone.errors import InputError
from ragstone.stats import cluster_wilson, wilson
from ragstone.stats.judging.confusion import confusion
from ragstone.stats.judging.judge_kappa import Disagreement, judge_kappa

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


def test_missing_labels_and_rows_without_a_partner_are_refused() -> None:
    with pytest.raises(InputError, match="1 of 2 labels of the judge are missing"):
        confusion([1, None], [1, 0])
    with pytest.raises(InputError, match="2 labels and people 1"):
        confusion([1, 1], [1])


@pytest.mark.parametrize("disagreement", ["nominal", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(disagreement: Disagreement) -> None:
    weights = None if disagreement == "nominal" else disagreement
    expected = cohen_kappa_score(PEOPLE, JUDGE, weights=weights)
    result = judge_kappa(JUDGE, PEOPLE, disagreement=disagreement)
    assert result.value == pytest.approx(expected)
    assert result.interval is not None
    assert result.interval.low < expected < result.interval.high


def test_interval_of_kappa_is_about_that_of_its_large_sample_error() -> None:
    """Fleiss, Cohen & Everitt (1969), for κ from one table of 300 rows."""
    judge, people = JUDGE > 1, PEOPLE > 1
    table = confusion_matrix(people, judge) / 300
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected, kappa = float(rows @ columns), cohen_kappa_score(people, judge)
    a = sum(table[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    b = sum(table[i, 1 - i] * ((columns[i] + rows[1 - i]) * (1 - kappa)) ** 2 for i in (0, 1))
    c = (kappa - expected * (1 - kappa)) ** 2
    error = np.sqrt((a + b - c) / 300) / (1 - expected)
    interval = judge_kappa(judge, people, resamples=8000).interval
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(3.92 * error, rel=0.06)


def test_kappa_of_clusters_has_a_wider_interval_and_the_same_value() -> None:
    many = np.repeat(JUDGE[:40], 5), np.repeat(PEOPLE[:40], 5)
    alone = judge_kappa(*many)
    shared = judge_kappa(*many, clusters=np.repeat(np.arange(40), 5))
    assert alone.value == shared.value
    assert alone.interval is not None
    assert shared.interval is not None
    assert shared.interval.method == "cluster_bootstrap"
    width = shared.interval.high - shared.interval.low
    assert width > 1.7 * (alone.interval.high - alone.interval.low)


def test_kappa_without_variation_or_rows_is_undefined() -> None:
    assert judge_kappa([1, 1], [1, 1]).reason == "no_variation"
    assert judge_kappa([], []).reason == "no_rows"
    perfect = judge_kappa([1, 0], [1, 0])
    assert perfect.value == 1
    with pytest.raises(InputError, match="numbers"):
        judge_kappa(["a", "b"], ["a", "b"], disagreement="quadratic")
