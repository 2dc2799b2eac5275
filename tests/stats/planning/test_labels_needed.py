from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, chi2, f

from ragstone.core.errors import InputError
from ragstone.stats.correction.ppi_and_rogan_gladen import prediction_powered
from ragstone.stats.distributions import t_quantile, wilson
from ragstone.stats.planning.corrected_rate_width import (
    Design,
    JudgedRate,
    expected_half_width,
    judged_rate,
)
from ragstone.stats.planning.labels_needed import labels_for_mean, labels_for_rate, mean_half_width
from ragstone.stats.planning.sample_size import rate_half_width, rate_sample_size

SETTINGS = [(0.3, 0.9, 0.9), (0.3, 0.8, 0.95), (0.7, 0.85, 0.8), (0.1, 0.9, 0.9)]


def judge(rate: float, sensitivity: float, specificity: float, judged: int = 5000) -> JudgedRate:
    return judged_rate(rate, sensitivity, specificity, judged=judged)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_labels_found_are_the_fewest(setting: tuple[float, float, float]) -> None:
    known = judge(*setting)
    found = labels_for_rate(known, 0.05)
    assert found.labels is not None
    halves = [expected_half_width(known, labels) for labels in (found.labels, found.labels - 1)]
    assert halves[0] <= 0.05 < halves[1]
    assert found.half_width == halves[0]
    assert found.labels < found.labels_only == rate_sample_size(setting[0], 0.05)


def test_the_method_is_that_which_so_many_labels_favour() -> None:
    """Of verdicts that 5 % are, five are to be expected from a hundred labels on."""
    rare = judge(0.05, 0.5, 1 - 0.025 / 0.95)
    assert labels_for_rate(rare, 0.08).method == "poststratified"
    found = labels_for_rate(rare, 0.03)
    assert found.labels is not None
    assert found.labels >= 100
    assert found.method == "ppi_plus_plus"


def test_a_judge_that_guesses_saves_nothing() -> None:
    found = labels_for_rate(judge(0.3, 0.5, 0.5, 100_000), 0.05)
    assert found.method == "labels_only"
    assert found.labels == found.labels_only


def test_a_perfect_judge_on_many_rows_needs_few_labels() -> None:
    found = labels_for_rate(judge(0.3, 1, 1, 100_000), 0.05)
    assert found.labels is not None
    assert found.labels < found.labels_only / 3


def test_where_all_judged_rows_would_not_do_it_says_what_they_give() -> None:
    found = labels_for_rate(judge(0.3, 0.9, 0.9, 2000), 0.01)
    assert found.labels is None
    assert found.half_width == pytest.approx(rate_half_width(0.3, 2000), rel=0.02)
    assert found.labels_only == rate_sample_size(0.3, 0.01)


def test_a_design_effect_asks_for_as_many_more_and_for_students_t() -> None:
    """Of some 134 questions t is 1.978 for 1.960, and half a cluster weighs 2.6 %."""
    alone = labels_for_rate(judge(0.3, 0.9, 0.9, 10_000), 0.05)
    shared = labels_for_rate(judge(0.3, 0.9, 0.9, 20_000), 0.05, design=Design(2, 5))
    assert alone.labels is not None
    assert shared.labels is not None
    assert 2 * alone.labels < shared.labels < 2.4 * alone.labels
    # Of 669 labels: effect (2 · .21 / 669 + .5 / 134²) / (.21 / 669 + .5 / (669 · 134)) = 2.05.
    assert shared.labels_only == pytest.approx(2.052 * 320 * (1.978 / 1.96) ** 2, rel=0.005)


def test_assured_labels_are_more_the_surer_one_would_be() -> None:
    known = judge(0.3, 0.9, 0.9)
    found = [
        labels_for_rate(known, 0.05, assurance=share).labels for share in (0.5, 0.8, 0.9, 0.99)
    ]
    average = labels_for_rate(known, 0.05).labels
    assert None not in found
    assert found == sorted(found)  # type: ignore[type-var]
    assert found[0] == pytest.approx(average, rel=0.03)


@pytest.mark.parametrize(("rate", "right", "half"), [(0.3, 0.9, 0.05), (0.1, 0.85, 0.04)])
def test_at_the_assured_labels_nine_of_ten_draws_are_no_wider(
    rate: float, right: float, half: float
) -> None:
    """Five hundred draws, corrected by PPI++ as they would be."""
    found = labels_for_rate(judge(rate, right, right, 2000), half, assurance=0.9)
    assert found.method == "ppi_plus_plus"
    assert found.labels is not None
    rng = np.random.default_rng(2)
    narrow = []
    for _ in range(500):
        true = rng.random(2000) < rate
        said = (true == (rng.random(2000) < right)).astype(float)
        rows = np.arange(found.labels)
        ends = prediction_powered(
            said, rows, true[rows].astype(float), low=0, high=1, rate=True
        ).at(0.95).interval  # fmt: skip
        assert ends is not None
        narrow.append((ends.high - ends.low) / 2 <= half)
    assert 0.87 < np.mean(narrow) < 0.95


def test_without_the_judge_assured_labels_of_a_rate_are_the_binomials() -> None:
    """Wilson's interval at .3 is as narrow as asked up to a count of yes, which .9 do not pass."""
    only = labels_for_rate(judge(0.3, 0.9, 0.9), 0.05, assurance=0.9).labels_only
    for n, enough in ((only + 3, True), (only - 3, False)):
        each = [wilson(float(x), n) for x in range(n + 1)]
        narrow = [one is not None and (one.high - one.low) / 2 <= 0.05 for one in each]
        share = float(binom.pmf(np.flatnonzero(narrow), n, 0.3).sum())
        assert (share >= 0.9 - 0.015) if enough else (share <= 0.9 + 0.015)


@pytest.mark.parametrize("correlation", [-0.6, 0, 0.6, 0.9])
def test_the_labels_of_a_mean_are_those_of_its_variance(correlation: float) -> None:
    found = labels_for_mean(0.3, correlation, 0.03, judged=3000)
    assert found.labels is not None

    def half(n: int) -> float:
        parts = (1 - correlation**2) / n + correlation**2 / 3000
        return t_quantile(0.975, n - 1) * 0.3 * sqrt(parts)

    assert half(found.labels) <= 0.03 < half(found.labels - 1)
    assert found.labels <= found.labels_only


def test_assured_labels_of_a_normal_mean_are_beals() -> None:
    """P(t² s² / n <= half²) >= .9 with s² as chi² over n - 1: the first n, by SciPy."""
    found = labels_for_mean(1.0, 0.0, 0.2, judged=100_000, assurance=0.9).labels_only

    def often(n: int) -> float:
        return float(chi2.cdf(0.2**2 * n / t_quantile(0.975, n - 1) ** 2 * (n - 1), n - 1))

    assert often(found) >= 0.9 - 1e-4 > often(found - 1)


def test_a_pilot_doubts_the_deviation_as_f_does() -> None:
    found = mean_half_width(1.0, 0.6, labels=200, judged=2000, assurance=0.9, pilot=50)
    parts = f.ppf(0.9, 199, 48) * 49 / 48 * 0.64 / 200 + 0.36 / 2000
    assert found == pytest.approx(t_quantile(0.975, 199) * sqrt(parts))


def test_heavier_tails_ask_for_more() -> None:
    normal, heavy = (
        labels_for_mean(1.0, 0.6, 0.1, judged=5000, assurance=0.9, kurtosis=k).labels
        for k in (3, 9)
    )
    assert normal is not None
    assert heavy is not None
    assert heavy > 1.05 * normal


def test_a_judge_that_agrees_completely_leaves_what_its_own_rows_leave_open() -> None:
    assert labels_for_mean(0.3, 1, 0.01, judged=1000).labels is None
    assert labels_for_mean(0.3, 1, 0.03, judged=3000).labels is not None


@pytest.mark.parametrize("judged", [1, 2, 3])
@pytest.mark.parametrize("assurance", [None, 0.9])
def test_very_few_judged_rows_can_be_planned(judged: int, assurance: float | None) -> None:
    for design in (Design(), Design(5, 8)):
        found = labels_for_rate(
            judge(0.3, 0.9, 0.9, judged), 0.45, design=design, assurance=assurance
        )
        assert found.labels is None or 1 <= found.labels <= judged
        assert 0 < found.half_width <= 0.5


def test_very_many_judged_rows_can_be_planned() -> None:
    found = labels_for_rate(judge(0.3, 0.9, 0.9, 10**10), 0.05, assurance=0.9)
    near = labels_for_rate(judge(0.3, 0.9, 0.9, 10**8), 0.05, assurance=0.9)
    assert found.labels == pytest.approx(near.labels, rel=0.03)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: labels_for_rate(judge(0.3, 0.9, 0.9), 0.5),
        lambda: labels_for_rate(judge(0.3, 0.9, 0.9), 0.05, assurance=1),
        lambda: labels_for_mean(0, 0.5, 0.05, judged=10),
        lambda: labels_for_mean(0.3, 1.5, 0.05, judged=10),
        lambda: labels_for_mean(0.3, 0.5, 0.05, judged=10, assurance=0),
    ],
)
def test_arguments_out_of_range_are_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(InputError):
        wrong()


def test_two_labels_are_enough_where_little_is_asked() -> None:
    # Student's t of one degree of freedom, 12.7, times 1 / sqrt(2) is 8.98.
    assert labels_for_mean(1, 0.5, 9, judged=100).labels_only == 2
    assert labels_for_mean(1, 0.5, 8.9, judged=100).labels_only == 3


def test_half_width_of_a_mean_by_whole_questions_by_hand() -> None:
    # Sixty labels of twenty questions of three: kurtosis 5 of a row is 3 + 2 / 3 of a question.
    # The pilot has forty independent rows, and one less for the fitted weight.
    own = 3 + 2 / 3
    found, pilot = 40 / (own - 17 / 19), 80 / (5 - 37 / 39) - 1
    times = 39 / 38 * f.ppf(0.9, found, pilot)
    parts = 1.5 * ((1 - 0.36) * times / 60 + 0.36 / 600)
    expected = t_quantile(0.975, 19) * 0.4 * np.sqrt(parts)
    assert mean_half_width(
        0.4, 0.6, labels=60, judged=600, design=Design(1.5, 3), assurance=0.9, pilot=40, kurtosis=5
    ) == pytest.approx(expected)
