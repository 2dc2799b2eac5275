"""AUROC with its interval."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from ragstone.core.errors import InputError
from ragstone.stats.judge_quality.rank_measures import auroc_interval, delong_variance


def test_variance_is_that_of_the_pairs_written_out() -> None:
    """DeLong's structural components, pair by pair."""
    rng = np.random.default_rng(1)
    scores, labels = np.round(rng.normal(size=40), 1), rng.random(40) < 0.4
    wins = np.sign(scores[labels][:, None] - scores[~labels][None, :]) / 2 + 0.5
    expected = (
        wins.mean(axis=1).var(ddof=1) / labels.sum()
        + wins.mean(axis=0).var(ddof=1) / (~labels).sum()
    )
    value = float(roc_auc_score(labels, scores))
    assert auroc_interval(scores, labels).value == pytest.approx(value)
    assert delong_variance(scores, labels, value, None, np.ones(40)) == pytest.approx(expected)


@pytest.mark.parametrize(("gap", "positives"), [(0.0, 30), (1.0, 30), (2.5, 15), (3.5, 40)])
def test_interval_holds_the_truth_about_as_often_as_it_says(gap: float, positives: int) -> None:
    truth = norm.cdf(gap / np.sqrt(2))
    labels = np.arange(100) < positives
    held = []
    for seed in range(300):
        scores = np.random.default_rng(seed).normal(size=100) + gap * labels
        interval = auroc_interval(scores, labels).interval
        assert interval is not None
        assert interval.low < interval.high
        held.append(interval.low <= truth <= interval.high)
    assert np.mean(held) >= 0.93


def test_rows_that_repeat_inside_a_cluster_tell_nothing_new() -> None:
    rng = np.random.default_rng(2)
    labels = rng.random(80) < 0.5
    scores = rng.normal(size=80) + labels
    once = auroc_interval(scores, labels).interval
    clusters = np.repeat(np.arange(80), 4)
    four = auroc_interval(np.repeat(scores, 4), np.repeat(labels, 4), clusters=clusters).interval
    assert once is not None
    assert four is not None
    assert four.high - four.low == pytest.approx(once.high - once.low, rel=0.05)


def test_scores_in_perfect_order_have_an_interval() -> None:
    result = auroc_interval(np.arange(20.0), np.arange(20) >= 12)
    assert result.value == 1
    assert result.interval is not None
    assert (0.5 < result.interval.low < 0.8, result.interval.high) == (True, 1)


def test_undefined_is_said() -> None:
    assert auroc_interval([0.1, 0.2], [0, 0]).reason == "no_positives"
    assert auroc_interval([0.1, 0.2], [1, 1]).reason == "no_negatives"
    alone = auroc_interval([0.1, 0.2, 0.3], [0, 0, 1])
    assert (alone.value, alone.interval) == (1, None)
    with pytest.raises(InputError, match="clusters"):
        auroc_interval([0.1, 0.2], [0, 1], clusters=[1])
