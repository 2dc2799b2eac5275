"""Thresholds chosen by a criterion, beside scikit-learn and every threshold tried."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, recall_score

from ragstone.stats.judge_quality.confusion import Criterion, best_threshold, criterion_of

CRITERIA: list[Criterion] = ["f1", "youden", "accuracy", "kappa"]


def worth(criterion: Criterion, true: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    match criterion:
        case "f1":
            return float(f1_score(true, said, zero_division=0))
        case "accuracy":
            return float(accuracy_score(true, said))
        case "kappa":
            return float(cohen_kappa_score(true, said))
        case _:
            found = recall_score(true, said), recall_score(true, said, pos_label=0)
            return float(sum(found) - 1)


def drawn(seed: int, n: int = 200) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    true = rng.random(n) < 0.4
    scores = np.round(rng.normal(size=n) + 1.5 * true, 1)
    return scores.astype(np.float64), true


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_threshold_does_better(criterion: Criterion) -> None:
    scores, true = drawn(1)
    result = best_threshold(scores, true, criterion=criterion)
    tried = [worth(criterion, true, scores >= at) for at in np.unique(scores)]
    assert result.value is not None
    assert result.in_sample == pytest.approx(max(tried))
    assert worth(criterion, true, scores >= result.value) == pytest.approx(max(tried))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_criterion_of_shares_is_that_of_scikit_learn(criterion: Criterion) -> None:
    scores, true = drawn(2)
    said = scores > 0.5
    shares = np.bincount(2 * true + said, minlength=4)[None, :] / len(true)
    assert criterion_of(shares, criterion)[0] == pytest.approx(worth(criterion, true, said))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_a_threshold_is_worth_on_other_rows_is_less(criterion: Criterion) -> None:
    results = [best_threshold(*drawn(seed, 60), criterion=criterion) for seed in range(20)]
    gains = [(one.in_sample or 0) - (one.cross_validated or 0) for one in results]
    assert np.mean(gains) > 0.01
    for one in results:
        assert one.interval is not None
        assert one.cross_validated is not None
        assert one.interval.low <= one.cross_validated <= one.interval.high


def test_threshold_by_hand_lies_half_way() -> None:
    result = best_threshold([1, 2, 3, 4] * 5, [0, 0, 1, 1] * 5)
    assert (result.value, result.in_sample, result.cross_validated) == (2.5, 1, 1)
    assert result.interval is None


def test_clusters_stay_whole() -> None:
    """Scores that name their cluster are no help for other clusters."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(40), 10)
    true = (rng.random(40) < 0.5)[clusters]
    scores = rng.normal(size=40)[clusters]
    shared = best_threshold(scores, true, criterion="youden", clusters=clusters)
    assert shared.cross_validated is not None
    assert shared.interval is not None
    assert shared.interval.method == "cluster_bootstrap"
    assert shared.interval.low < 0 < shared.interval.high


def test_the_same_seed_gives_the_same_result() -> None:
    assert best_threshold(*drawn(3), seed=4) == best_threshold(*drawn(3), seed=4)


def test_undefined_is_said() -> None:
    assert best_threshold([1, 2], [0, 0]).reason == "no_positives"
    assert best_threshold([1, 2], [1, 1]).reason == "no_negatives"
    assert best_threshold([1, 1], [1, 0]).reason == "no_variation"
    few = best_threshold([1, 2, 3], [0, 1, 1])
    assert (few.value, few.cross_validated, few.reason) == (1.5, None, "too_few")
