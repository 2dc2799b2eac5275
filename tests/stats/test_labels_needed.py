import numpy as np
import pytest

from ragstone.errors import InputError
from ragstone.stats.correcting.poststratified import poststratified_rate
from ragstone.stats.planning.labels_needed import (
    corrected_rate_half_width,
    labels_for_mean,
    labels_for_rate,
)
from ragstone.stats.planning.sample_size import rate_half_width, rate_sample_size
from ragstone.stats.student import t_quantile

SETTINGS = [(0.3, 0.9, 0.9), (0.3, 0.8, 0.95), (0.7, 0.85, 0.8), (0.1, 0.9, 0.9)]


@pytest.mark.parametrize(("rate", "sensitivity", "specificity"), SETTINGS)
def test_the_half_width_is_that_of_the_corrected_estimate(
    rate: float, sensitivity: float, specificity: float
) -> None:
    rng = np.random.default_rng(4)
    halves = []
    for _ in range(60):
        truth = rng.random(2000) < rate
        verdict = rng.random(2000) < np.where(truth, sensitivity, 1 - specificity)
        rows = rng.choice(2000, 150, replace=False)
        found = poststratified_rate(
            verdict.astype(int).tolist(), rows, truth[rows].astype(float)
        ).interval
        assert found is not None
        halves.append((found.high - found.low) / 2)
    expected = corrected_rate_half_width(rate, sensitivity, specificity, labels=150, judged=2000)
    assert np.mean(halves) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("rate", "sensitivity", "specificity"), SETTINGS)
def test_the_labels_found_are_the_fewest(
    rate: float, sensitivity: float, specificity: float
) -> None:
    found = labels_for_rate(rate, sensitivity, specificity, 0.05, judged=5000)
    assert found.labels is not None

    def half(labels: int) -> float:
        return corrected_rate_half_width(rate, sensitivity, specificity, labels=labels, judged=5000)

    assert half(found.labels) <= 0.05 < half(found.labels - 1)
    assert found.half_width == half(found.labels)
    assert found.labels < found.labels_only == rate_sample_size(rate, 0.05)


def test_a_judge_that_guesses_saves_nothing_worth_naming() -> None:
    found = labels_for_rate(0.3, 0.5, 0.5, 0.05, judged=100_000)
    assert found.labels == pytest.approx(found.labels_only, rel=0.02)


def test_a_perfect_judge_on_many_rows_needs_few_labels() -> None:
    found = labels_for_rate(0.3, 1, 1, 0.05, judged=100_000)
    assert found.labels is not None
    assert found.labels < found.labels_only / 3


def test_where_all_judged_rows_would_not_do_it_says_what_they_give() -> None:
    found = labels_for_rate(0.3, 0.9, 0.9, 0.01, judged=2000)
    assert found.labels is None
    assert found.half_width == pytest.approx(rate_half_width(0.3, 2000), rel=0.02)
    assert found.labels_only == rate_sample_size(0.3, 0.01)


def test_a_design_effect_asks_for_as_many_more() -> None:
    alone = labels_for_rate(0.3, 0.9, 0.9, 0.05, judged=10_000)
    shared = labels_for_rate(0.3, 0.9, 0.9, 0.05, judged=20_000, design_effect=2)
    assert alone.labels is not None
    assert shared.labels == pytest.approx(2 * alone.labels, abs=1)
    assert shared.labels_only == 2 * alone.labels_only


def test_a_judge_of_one_verdict_is_as_good_as_none() -> None:
    half = corrected_rate_half_width(0.3, 1, 0, labels=100, judged=1000)
    assert half == pytest.approx(rate_half_width(0.3, 100))


@pytest.mark.parametrize("correlation", [-0.6, 0, 0.6, 0.9])
def test_the_labels_of_a_mean_are_those_of_its_variance(correlation: float) -> None:
    found = labels_for_mean(0.3, correlation, 0.03, judged=3000)
    assert found.labels is not None

    def half(n: int) -> float:
        parts = (1 - correlation**2) / n + correlation**2 / 3000
        return t_quantile(0.975, n - 1) * 0.3 * float(np.sqrt(parts))

    assert half(found.labels) <= 0.03 < half(found.labels - 1)
    assert found.labels <= found.labels_only


def test_a_judge_that_agrees_completely_leaves_what_its_own_rows_leave_open() -> None:
    assert labels_for_mean(0.3, 1, 0.01, judged=1000).labels is None
    assert labels_for_mean(0.3, 1, 0.03, judged=3000).labels is not None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: labels_for_rate(1.3, 0.9, 0.9, 0.05, judged=10),
        lambda: labels_for_rate(0.3, 0.9, -1, 0.05, judged=10),
        lambda: labels_for_rate(0.3, 0.9, 0.9, 0.05, judged=0),
        lambda: labels_for_rate(0.3, 0.9, 0.9, 0.05, judged=10, design_effect=0.5),
        lambda: labels_for_mean(0, 0.5, 0.05, judged=10),
        lambda: labels_for_mean(0.3, 1.5, 0.05, judged=10),
        lambda: corrected_rate_half_width(0.3, 0.9, 0.9, labels=20, judged=10),
    ],
)
def test_arguments_out_of_range_are_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(InputError):
        wrong()
