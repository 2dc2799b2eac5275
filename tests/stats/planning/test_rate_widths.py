"""How wide a corrected rate's interval comes out: as the estimators have it, draw by draw."""

import numpy as np
import pytest
from scipy.stats import binom

from ragstone.core.errors import InputError
from ragstone.stats.correction.corrected import joined_strata, strata_of
from ragstone.stats.correction.poststratified import poststratify, stratified_wilson_ends
from ragstone.stats.correction.ppi_and_rogan_gladen import favoured, prediction_powered
from ragstone.stats.distributions import quantile, wilson
from ragstone.stats.planning.corrected_rate_width import (
    Design,
    JudgedRate,
    correction_at,
    expected_half_width,
    half_widths,
    half_widths_alone,
    judged_rate,
)


def calibrated(
    scores: np.ndarray, rows: np.ndarray, labels: np.ndarray, clusters: np.ndarray | None = None
) -> float:
    """Half the width that ``calibrate`` gives."""
    if favoured(scores, rows, clusters=clusters) == "ppi_plus_plus":
        found = prediction_powered(
            scores, rows, labels, low=0, high=1, rate=True, clusters=clusters
        ).at(0.95)
    else:
        strata = joined_strata(scores, len(rows))
        found = poststratify(strata, rows, labels, clusters=clusters).at(0.95)
    assert found.interval is not None
    return (found.interval.high - found.interval.low) / 2


@pytest.mark.parametrize(
    ("values", "shares", "rates", "n", "method"),
    [
        ([0, 1], [0.7, 0.3], [0.1, 0.8], 60, "ppi_plus_plus"),
        ([0, 1], [0.95, 0.05], [0.02, 0.8], 60, "poststratified"),
        ([0, 0.5, 1], [0.5, 0.1, 0.4], [0.1, 0.5, 0.9], 80, "ppi_plus_plus"),
        ([0, 0.5, 1], [0.96, 0.02, 0.02], [0.1, 0.5, 0.9], 80, "poststratified"),
        (np.linspace(0, 1, 11), [1 / 11] * 11, np.linspace(0.05, 0.9, 11), 70, "poststratified"),
    ],
)
def test_widths_of_simulated_draws_are_those_that_calibrate_gives(
    values: list[float], shares: list[float], rates: list[float], n: int, method: str
) -> None:
    """Five hundred draws by the estimators themselves beside those that are simulated by counts."""
    rng = np.random.default_rng(5)
    scores = np.repeat(values, np.round(1100 * np.array(shares)).astype(int))
    own = np.interp(scores, values, rates)
    found = []
    for _ in range(500):
        rows = rng.choice(len(scores), n, replace=False)
        found.append(calibrated(scores, rows, (rng.random(n) < own[rows]).astype(float)))
    strata = strata_of(scores)
    counts = np.bincount(strata).astype(float)
    judged = JudgedRate(
        np.bincount(strata, weights=scores) / counts,
        counts,
        np.bincount(strata, weights=own) / counts,
        len(values),
    )
    assert correction_at(judged, n) == method
    drawn = half_widths(judged, n)
    for share in (0.1, 0.5, 0.9):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(found, share), rel=0.03)
    assert expected_half_width(judged, n) == pytest.approx(np.mean(found), rel=0.04)


def test_widths_of_whole_questions_are_about_those_that_calibrate_gives() -> None:
    """Forty questions of five answers, whose truth correlates by 1 / 3 and whose verdicts less."""
    rng = np.random.default_rng(6)
    questions, found, effects = np.repeat(np.arange(400), 5), [], []
    for _ in range(300):
        own = np.repeat(rng.beta(0.6, 1.4, 400), 5)
        true = rng.random(2000) < own
        said = (true == (rng.random(2000) < 0.95)).astype(float)
        rows = np.arange(200)
        found.append(calibrated(said, rows, true[rows].astype(float), questions))
        sums = said.reshape(400, 5).sum(axis=1)
        effects.append(5 * sums.var(ddof=1) / 25 / (said.mean() * (1 - said.mean())))
    judged = judged_rate(0.3, 0.95, 0.95, judged=2000)
    drawn = half_widths(judged, 200, design=Design(float(np.mean(effects)), 5))
    # Errors of the judge correlate less than its verdicts, so the plan is on the safe side.
    for share in (0.5, 0.9):
        assert 0.97 < np.quantile(drawn, share) / np.quantile(found, share) < 1.4


def test_without_the_judge_widths_are_the_binomials() -> None:
    drawn = half_widths_alone(judged_rate(0.2, 0.9, 0.9, judged=1000), 80, draws=20_000)
    counts = np.arange(81)
    each = [wilson(float(x), 80) for x in counts]
    halves = np.array([(one.high - one.low) / 2 for one in each if one is not None])
    at = np.quantile(drawn, 0.9)
    exact = binom.pmf(counts, 80, 0.2)
    assert float(exact[halves <= at + 1e-9].sum()) >= 0.89
    assert float(exact[halves < at - 1e-9].sum()) <= 0.91


def test_a_pilot_of_few_labels_leaves_the_width_more_open() -> None:
    known = judged_rate(0.3, 0.9, 0.9, judged=2000)
    spread = [
        np.ptp(np.quantile(half_widths(
            JudgedRate(known.scores, known.counts, known.rates, 2, labels), 200), [0.1, 0.9]))
        for labels in (None, np.array([600.0, 400.0]), np.array([60.0, 40.0]), np.array([6.0, 4.0]))
    ]  # fmt: skip
    assert spread[0] < 1.2 * spread[0] < spread[2] < spread[3]
    assert spread[1] == pytest.approx(spread[0], rel=0.25)


def test_the_same_seed_gives_the_same_draws() -> None:
    known = judged_rate(0.3, 0.9, 0.9, judged=2000)
    assert np.array_equal(half_widths(known, 100), half_widths(known, 100))
    assert not np.array_equal(half_widths(known, 100), half_widths(known, 100, seed=1))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: judged_rate(1.3, 0.9, 0.9, judged=10),
        lambda: judged_rate(0.3, 0.9, -1, judged=10),
        lambda: judged_rate(0.3, 0.9, 0.9, judged=0),
    ],
)
def test_arguments_out_of_range_are_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(InputError):
        wrong()


@pytest.mark.parametrize("labels", [20, 100, 200, 400])
def test_the_expected_width_is_that_of_a_draw_with_the_expected_counts(labels: int) -> None:
    # Half of 400 rows are called true, and half of the labels are of these: people agree with 9/10.
    half, right = labels // 2, labels * 9 // 20
    rows = np.append(np.arange(half), 200 + np.arange(half))
    truth = np.repeat([1.0, 0.0, 1.0, 0.0], [right, half - right, half - right, right])
    found = prediction_powered(
        np.repeat([1.0, 0.0], 200), rows, truth, low=0, high=1, rate=True
    ).at(0.95)
    assert found.interval is not None
    judged = judged_rate(0.5, 0.9, 0.9, judged=400)
    assert correction_at(judged, labels) == "ppi_plus_plus"
    expected = (found.interval.high - found.interval.low) / 2
    assert expected_half_width(judged, labels) == pytest.approx(expected)


def test_a_single_label_beside_a_judge_of_one_verdict_has_wilsons_width() -> None:
    one = wilson(0, 1)
    assert one is not None
    drawn = half_widths(judged_rate(0.3, 1, 0, judged=100), 1, draws=50)
    assert drawn == pytest.approx(np.full(50, (one.high - one.low) / 2))


def test_clusters_of_two_rows_are_clusters_whose_number_tells_the_variance() -> None:
    assert Design(1.2, 2).clustered
    assert not Design(1.2).clustered
    assert Design(1.2, 5).df(50) == 50 / 5 - 1
    assert Design().df(1) == 1


def test_every_width_that_is_drawn_is_one_that_labels_can_give() -> None:
    # Of forty rows half are called true, and are; twenty are labelled, and some others true too.
    judged = JudgedRate(np.array([0.0, 1]), np.array([20.0, 20]), np.array([0.2, 1]), 2)
    said, possible = np.repeat([0.0, 1.0], 20), []
    for called in range(4, 17):
        rows = np.append(np.arange(20 - called), 20 + np.arange(called))
        for missed in range(21 - called):
            truth = (rows < missed) | (rows >= 20)
            found = prediction_powered(said, rows, truth, low=0, high=1, rate=True).at(0.95)
            assert found.interval is not None
            possible.append((found.interval.high - found.interval.low) / 2)
    drawn = half_widths(judged, 20, draws=200)
    assert len(np.unique(drawn.round(9))) > 10
    assert np.abs(drawn[:, None] - np.array(possible)).min(axis=1) == pytest.approx(0, abs=1e-9)


def test_rows_that_are_no_whole_number_of_a_verdict_are_rounded_to_their_sum() -> None:
    # Half of three rows are called true and none is: two labels of one verdict, one of the other.
    ends = stratified_wilson_ends(
        np.full(2, 0.5), np.zeros(2), np.array([2.0, 1]), quantile(0.95, None)
    )
    drawn = half_widths(judged_rate(0, 1, 0.5, judged=3), 3, draws=20)
    assert drawn == pytest.approx(np.full(20, float(ends[1] - ends[0]) / 2))
