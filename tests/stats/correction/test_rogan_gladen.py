"""Rogan and Gladen's corrected rate."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm

from ragstone.stats.correction.corrected import Corrected
from ragstone.stats.correction.ppi_and_rogan_gladen import adjusted_ends, error_corrected


def case(hits: int, misses: int, passes: int, false: int, said: int, judged: int) -> Corrected:
    """Labelled rows first, then rows so that ``said`` of all are positive."""
    verdicts = [1] * hits + [0] * misses + [0] * passes + [1] * false
    labels = [1] * (hits + misses) + [0] * (passes + false)
    more = said - hits - false
    rest = [1] * more + [0] * (judged - len(verdicts) - more)
    return error_corrected(verdicts + rest, np.arange(len(labels)), labels).at(0.95)


def test_corrected_rate_by_hand() -> None:
    # Sensitivity .8, specificity .9, 38 % called positive: (.38 + .9 - 1) / .7 = .4.
    result = case(hits=16, misses=4, passes=27, false=3, said=380, judged=1000)
    assert result.value == pytest.approx(0.4)
    assert result.n_labels == 50
    assert result.reason is None


def test_rate_is_kept_in_the_range() -> None:
    assert case(16, 4, 27, 3, 50, 1000).value == 0
    assert case(16, 4, 27, 3, 900, 1000).value == 1


def test_ends_are_the_formula_of_lang_and_reiczigel() -> None:
    """Written out once more, from the paper's equations."""
    z, (p, n), (se, n1), (sp, n0) = 1.96, (0.38, 1000), (0.8, 20), (0.9, 30)
    p1, m = (n * p + z * z / 2) / (n + z * z), n + z * z
    a, b = (n1 * se + 1) / (n1 + 2), (n0 * sp + 1) / (n0 + 2)
    rate = (p1 + b - 1) / (a + b - 1)
    shift = 2 * z * z * (rate * a * (1 - a) / (n1 + 2) - (1 - rate) * b * (1 - b) / (n0 + 2))
    variance = (
        p1 * (1 - p1) / m
        + (1 - rate) ** 2 * b * (1 - b) / (n0 + 2)
        + rate**2 * a * (1 - a) / (n1 + 2)
    ) / (a + b - 1) ** 2
    expected = rate + shift - z * sqrt(variance), rate + shift + z * sqrt(variance)
    assert adjusted_ends((p, n), (se, n1), (sp, n0), z) == pytest.approx(expected)


def test_judge_who_never_errs_leaves_about_the_interval_of_its_own_rate() -> None:
    perfect = (1.0, 1e7)
    low, high = adjusted_ends((0.3, 1000), perfect, perfect, 1.96)
    half = norm.ppf(0.975) * sqrt(0.3 * 0.7 / 1000)
    assert (low, high) == pytest.approx((0.3 - half, 0.3 + half), abs=2e-3)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ((10, 10, 5, 15), "judge_no_better_than_chance"),
        ((0, 0, 20, 5), "no_labelled_positives"),
        ((10, 2, 0, 0), "no_labelled_negatives"),
        ((0, 0, 0, 0), "no_labels"),
    ],
)
def test_undefined_is_said(counts: tuple[int, int, int, int], reason: str) -> None:
    result = case(*counts, said=100, judged=300)
    assert result.value is None
    assert result.interval is None
    assert result.reason == reason


def test_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    held = []
    for _ in range(300):
        truth = rng.random(1500) < 0.3
        verdicts = np.where(rng.random(1500) < 0.85, truth, ~truth).astype(int)
        interval = (
            error_corrected(verdicts, np.arange(150), truth[:150].astype(int)).at(0.95).interval
        )
        held.append(interval is not None and interval.low <= 0.3 <= interval.high)
    assert np.mean(held) >= 0.93


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(9)
    truth = np.repeat(rng.random(300) < 0.4, 5)
    verdicts = np.where(rng.random(1500) < 0.9, truth, ~truth).astype(int)
    rows, labels = np.arange(200), truth[:200].astype(int)
    alone = error_corrected(verdicts, rows, labels).at(0.95).interval
    shared = (
        error_corrected(verdicts, rows, labels, clusters=np.arange(1500) // 5).at(0.95).interval
    )
    assert alone is not None
    assert shared is not None
    assert shared.high - shared.low > alone.high - alone.low
