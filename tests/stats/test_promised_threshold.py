"""Thresholds with a promise: cases by hand, MAPIE's risk control, and every threshold tried."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapie.risk_control import BinaryClassificationController
from numpy.typing import NDArray
from scipy.stats import binom

from ragstone.core.errors import InputError
from ragstone.stats.risk_control import PromisedThreshold, highest_of_clusters, promised_threshold

Floats = NDArray[np.float64]


def promised(
    scores: Floats, among: Floats, bound: float = 0.05, clusters: NDArray[np.generic] | None = None
) -> PromisedThreshold:
    return promised_threshold(scores, among=among, bound=bound, confidence=0.9, clusters=clusters)


def test_without_a_hit_to_spare_the_threshold_is_the_first_candidate_above_all() -> None:
    wrong = np.linspace(0.1, 0.54, 45)
    found = promised(wrong, np.array([0.2, 0.54, 0.55, 0.6, 0.9]))
    assert (found.value, found.hits, found.clusters, found.reason) == (0.55, 0, 45, None)
    assert found.upper == pytest.approx(1 - 0.1 ** (1 / 45))


def test_one_hit_to_spare_lets_the_threshold_fall_below_the_highest() -> None:
    wrong = np.linspace(0.01, 0.77, 77)
    found = promised(wrong, np.array([0.76, 0.77, 0.78]))
    assert (found.value, found.hits) == (0.77, 1)
    assert binom.cdf(1, 77, found.upper) == pytest.approx(0.1)
    assert promised(wrong, np.array([0.765, 0.78])).value == 0.765


def test_forty_four_rows_cannot_carry_five_percent() -> None:
    found = promised(np.linspace(0.1, 0.5, 44), np.array([0.9]))
    assert (found.value, found.reason) == (None, "too_few")
    assert found.upper == pytest.approx(1 - 0.1 ** (1 / 44))


def test_no_row_promises_nothing() -> None:
    found = promised(np.array([]), np.array([0.9]))
    assert (found.value, found.reason, found.upper) == (None, "nothing_to_test", 1)


def test_scores_that_do_not_part_right_from_wrong_promise_what_the_strictest_candidate_shows() -> (
    None
):
    wrong = np.concatenate([np.full(5, 0.99), np.full(95, 0.1)])
    found = promised(wrong, np.array([0.5, 0.98]))
    assert (found.value, found.hits, found.reason) == (None, 5, "not_apart")
    assert binom.cdf(5, 100, found.upper) == pytest.approx(0.1)
    assert promised(wrong, np.array([0.5, 0.98]), bound=found.upper + 1e-6).value == 0.5


def test_no_candidate_is_no_threshold() -> None:
    assert promised(np.linspace(0, 0.5, 50), np.array([])).reason == "not_apart"


def test_a_row_that_can_never_reach_a_threshold_counts_as_no_hit() -> None:
    wrong = np.concatenate([np.full(44, 0.2), [-np.inf]])
    assert promised(wrong, np.array([0.3])).value == 0.3


def test_of_each_cluster_the_highest_score_counts() -> None:
    wrong = np.tile([0.1, 0.6, 0.3], 45)
    of = np.repeat(np.arange(45), 3)
    found = promised(wrong, np.array([0.5, 0.7]), clusters=of)
    assert (found.value, found.clusters, found.rows) == (0.7, 45, 135)
    assert promised(wrong[:-3], np.array([0.7]), clusters=of[:-3]).reason == "too_few"


def test_highest_of_clusters_by_names_of_any_kind() -> None:
    found = highest_of_clusters([0.1, 0.4, -0.2, -np.inf], ["a", "b", "a", 3])
    assert sorted(found) == [-np.inf, 0.1, 0.4]
    assert len(highest_of_clusters([], [])) == 0


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=120),
    st.lists(st.integers(0, 20), min_size=1, max_size=20),
    st.sampled_from([0.05, 0.1, 0.3]),
)
def test_threshold_is_the_lowest_candidate_down_to_which_every_one_is_kept(
    wrong: list[int], among: list[int], bound: float
) -> None:
    best = None
    for candidate in sorted(set(among), reverse=True):
        hits = sum(score >= candidate for score in wrong)
        if binom.cdf(hits, len(wrong), bound) > 0.1:
            break
        best = candidate
    assert promised(np.array(wrong, float), np.array(among, float), bound).value == best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n", "bound"), [(60, 0.1), (300, 0.05), (1000, 0.02)])
def test_threshold_is_that_of_mapie(seed: int, n: int, bound: float) -> None:
    rng = np.random.default_rng(seed)
    faithful = rng.random(n) < 0.5
    scores = np.where(faithful, rng.beta(6, 2, n), rng.beta(2, 4, n))
    grid = np.arange(100, 0, -1) / 101
    peer = BinaryClassificationController(
        predict_function=lambda one: np.column_stack([1 - one, one]),
        risk="fpr",
        target_level=bound,
        confidence_level=0.9,
        list_predict_params=grid,
        fwer_method="fixed_sequence",
    )
    peer.calibrate(scores, faithful.astype(int))
    assert len(peer.valid_predict_params) > 0
    assert promised(scores[~faithful], grid, bound).value == min(peer.valid_predict_params)


def test_clusters_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="2 rows have 1 clusters"):
        highest_of_clusters([0.1, 0.2], ["a"])
