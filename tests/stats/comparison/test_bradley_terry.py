"""Bradley-Terry strengths."""

from collections.abc import Sequence
from math import log

import numpy as np
import pytest
from scipy import stats
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from ragstone.stats.comparison.preference_models import BradleyTerry, bradley_terry


def values(found: BradleyTerry) -> list[float]:
    assert found.strengths is not None
    return [one.value for one in found.strengths]


def of(rows: Sequence[tuple[int, int, float]], systems: int) -> BradleyTerry:
    first, second, outcome = zip(*rows, strict=True)
    return bradley_terry(first, second, outcome, range(len(rows)), systems=systems)


def test_two_systems_differ_by_the_log_odds_of_their_wins() -> None:
    found = of([(0, 1, 1)] * 3 + [(1, 0, 1)], 2)
    assert values(found) == pytest.approx([log(3) / 2, -log(3) / 2])
    assert found.strengths is not None
    odds = 3**0.5
    assert found.strengths[0].win_probability == pytest.approx(odds / (1 + odds))
    assert (found.n, found.clusters) == (4, 4)


def test_a_tie_is_half_a_win_for_both() -> None:
    tied = of([(0, 1, 1), (0, 1, 0.5), (1, 0, 0.5), (0, 1, 0), (0, 1, 1)], 2)
    split = of([(0, 1, 1)] * 3 + [(0, 1, 0)] * 2, 2)
    assert values(tied) == pytest.approx(values(split))


def simulated(seed: int, clusters: int = 120) -> tuple[np.ndarray, ...]:
    """Every pair of four systems on every question; questions like some systems more."""
    rng = np.random.default_rng(seed)
    theta = np.array([0.8, 0.2, -0.3, -0.7])
    i, j = np.triu_indices(4, 1)
    of_question = np.repeat(np.arange(clusters), len(i))
    first, second = np.tile(i, clusters), np.tile(j, clusters)
    liking = rng.normal(0, 0.5, (clusters, 4))
    strength = theta[None, :] + liking
    gap = strength[of_question, first] - strength[of_question, second]
    outcome = (rng.random(len(gap)) < 1 / (1 + np.exp(-gap))).astype(float)
    outcome[rng.random(len(gap)) < 0.1] = 0.5
    return first, second, outcome, of_question


def test_strengths_and_intervals_are_those_of_a_logistic_regression_with_clusters() -> None:
    first, second, outcome, question = simulated(1)
    design = np.zeros((len(first), 4))
    design[np.arange(len(first)), first] = 1
    design[np.arange(len(first)), second] -= 1
    basis = np.vstack([np.eye(3), -np.ones(3)])
    fit = GLM(outcome, design @ basis, family=Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": question, "use_correction": False}, tol=1e-12
    )
    found = bradley_terry(first, second, outcome, question, systems=4)
    assert values(found) == pytest.approx(list(basis @ fit.params), abs=1e-8)
    assert found.strengths is not None
    errors = np.sqrt(np.diag(basis @ fit.cov_params() @ basis.T) * 120 / 119)
    halves = stats.t.ppf(0.975, 119) * errors
    for one, half in zip(found.strengths, halves, strict=True):
        assert one.interval is not None
        assert one.interval.high - one.value == pytest.approx(half, rel=1e-6)
        assert one.interval.method == "bradley_terry"


def test_it_does_not_matter_who_is_named_first() -> None:
    first, second, outcome, question = simulated(2)
    turned = bradley_terry(second, first, 1 - outcome, question, systems=4)
    assert values(turned) == pytest.approx(
        values(bradley_terry(first, second, outcome, question, systems=4))
    )


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 1, 1), (0, 2, 1), (1, 2, 1), (2, 1, 1)],
        [(0, 1, 1), (1, 0, 1)],
        [(0, 1, 1), (1, 0, 1), (0, 2, 0)],
    ],
    ids=["never loses", "never met", "always wins"],
)
def test_without_a_way_round_there_are_no_finite_strengths(
    rows: list[tuple[int, int, float]],
) -> None:
    found = of(rows, 3)
    assert (found.strengths, found.reason) == (None, "not_connected")


def test_no_comparison_says_so() -> None:
    found = bradley_terry([], [], [], [], systems=3)
    assert (found.strengths, found.reason) == (None, "no_comparisons")


def test_systems_that_always_tie_are_equal_and_have_an_interval() -> None:
    found = of([(0, 1, 0.5)] * 20, 2)
    assert values(found) == pytest.approx([0, 0])
    assert found.strengths is not None
    for one in found.strengths:
        assert one.interval is not None
        assert one.interval.low < -0.1 < 0.1 < one.interval.high


def test_one_cluster_has_strengths_but_no_interval() -> None:
    found = bradley_terry([0, 0, 0], [1, 1, 1], [1, 1, 0], [0, 0, 0], systems=2)
    assert found.strengths is not None
    assert found.strengths[0].interval is None
    assert found.strengths[0].win_low is None


def test_very_uneven_strengths_are_found() -> None:
    rows = [(0, 1, 1.0)] * 5000 + [(0, 1, 0.0)] + [(1, 2, 1.0)] * 3000 + [(1, 2, 0.0)] * 2
    found = values(of(rows, 3))
    assert found[0] - found[1] == pytest.approx(log(5000))
    assert found[1] - found[2] == pytest.approx(log(1500))


def test_two_clusters_by_hand() -> None:
    # Three wins of four on one question and two of four on the other: five of eight. The scores
    # of the questions are 1/2 and -1/2, the information about the gap is 8 · 5/8 · 3/8 = 15/8.
    outcome = [1, 1, 1, 0, 1, 1, 0, 0]
    found = bradley_terry([0] * 8, [1] * 8, outcome, [0] * 4 + [1] * 4, systems=2)
    assert found.strengths is not None
    half = stats.t.ppf(0.975, 1) * (2 * (1 / 4 + 1 / 4)) ** 0.5 / (15 / 8) / 2
    ends = found.strengths[0].interval
    assert ends is not None
    assert (ends.low, ends.high) == pytest.approx(
        (log(5 / 3) / 2 - half, log(5 / 3) / 2 + half), rel=1e-6
    )
    sure = bradley_terry(
        [0] * 8, [1] * 8, outcome, [0] * 4 + [1] * 4, systems=2, level=0.99999
    ).strengths
    assert sure is not None
    assert (sure[0].win_low, sure[0].win_high) == pytest.approx((0, 1))


@pytest.mark.parametrize("times", [1, 3])
def test_ties_of_a_question_count_once_for_each_pair_of_systems(times: int) -> None:
    # Three systems tie on five questions: for a game each, information 5/4 for every pair, and the
    # variance of a strength is 2/3 / (3 · 5/4). To compare the same again tells nothing new.
    i, j = np.triu_indices(3, 1)
    questions = np.repeat(np.arange(5), 3 * times)
    found = bradley_terry(
        np.tile(i, 5 * times), np.tile(j, 5 * times), np.full(15 * times, 0.5), questions, systems=3
    )
    assert found.strengths is not None
    for one in found.strengths:
        assert one.interval is not None
        half = stats.t.ppf(0.975, 4) * (2 / 3 / (15 / 4)) ** 0.5
        assert one.interval.high == pytest.approx(half)


def test_many_systems_that_win_as_often_as_they_should_have_their_strengths() -> None:
    theta = np.linspace(-3, 3, 20)
    i, j = np.triu_indices(20, 1)
    outcome = 1 / (1 + np.exp(theta[j] - theta[i]))
    assert values(bradley_terry(i, j, outcome, i, systems=20)) == pytest.approx(theta)
