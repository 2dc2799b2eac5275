"""PPI++ beside ppi-python, and what it does with clusters, weights and ends of a scale."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats.correction.corrected import Corrected, read_labelled
from ragstone.stats.correction.labels_only import mean_of_labels
from ragstone.stats.correction.ppi_and_rogan_gladen import powered_estimate, prediction_powered

Floats = NDArray[np.float64]


def drawn(seed: int, judged: int = 400, noise: float = 0.5) -> tuple[Floats, Floats]:
    """Scores of the judge and of people."""
    rng = np.random.default_rng(seed)
    people = rng.gamma(2, size=judged)
    return people + noise * rng.normal(size=judged) + 0.3, people


def estimated(judge: Floats, n: int, labels: Floats) -> tuple[float, float, float, float]:
    sample = read_labelled(len(judge), np.arange(n), labels, rate=False)
    return powered_estimate(judge, sample)


@pytest.mark.parametrize("noise", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("n", [5, 40, 399])
def test_value_power_and_standard_error_are_those_of_ppi_python(noise: float, n: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

        if n == 399:
            judge, people = drawn(n, judged=800, noise=noise)
        else:
            judge, people = drawn(n, noise=noise)
        y, f, rest = people[:n], judge[:n], judge[n:]
        value = float(np.squeeze(ppi_mean_pointestimate(y, f, rest)))
        low, high = (float(np.squeeze(end)) for end in ppi_mean_ci(y, f, rest, alpha=0.05))
    ours, power, inside, outside = estimated(judge, n, y)
    # With variances over n, where ours are over n - 1.
    error = np.sqrt(inside * (n - 1) / n + outside * (len(rest) - 1) / len(rest))
    assert ours == pytest.approx(value, abs=1e-9)
    assert (high - low) / 2 == pytest.approx(1.959963984540054 * error, abs=1e-9)
    by_hand = float(y.mean() + power * (rest.mean() - f.mean()))
    assert ours == pytest.approx(by_hand, abs=1e-9)


def test_useless_judge_leaves_the_labels_alone() -> None:
    _, people = drawn(1)
    ready = prediction_powered(np.ones(400), np.arange(50), people[:50]).at(0.95)
    alone = mean_of_labels(people[:50]).at(0.95)
    assert estimated(np.ones(400), 50, people[:50])[1] == 0
    assert ready.value == pytest.approx(people[:50].mean())
    interval = ready.interval
    assert interval is not None
    assert alone.interval is not None
    assert interval.low == pytest.approx(alone.interval.low)


def test_judge_whose_error_is_always_the_same_is_moved_by_it() -> None:
    _, people = drawn(2, noise=0)
    result = prediction_powered(people + 7, np.arange(100), people[:100]).at(0.95)
    assert result.value == pytest.approx(people.mean(), abs=0.05)
    assert result.effective_labels is not None
    assert result.effective_labels > 250


def test_everything_labelled_gives_the_mean_of_the_labels() -> None:
    judge, people = drawn(3)
    result = prediction_powered(judge, np.arange(400), people).at(0.95)
    assert result.value == pytest.approx(people.mean())
    assert result.effective_labels == pytest.approx(400)


def test_clusters_of_one_row_are_nearly_independent_rows() -> None:
    judge, people = drawn(4)
    alone = prediction_powered(judge, np.arange(100), people[:100]).at(0.95)
    single = prediction_powered(judge, np.arange(100), people[:100], clusters=np.arange(400)).at(
        0.95
    )
    assert single.value == pytest.approx(alone.value, rel=0.01)
    assert single.effective_labels == pytest.approx(alone.effective_labels, rel=0.05)


@pytest.mark.parametrize("together", [1, 3])
def test_a_few_rows_left_open_do_not_carry_the_mean(together: int) -> None:
    """Five of 90 rows have no label, and by chance all the same score; the judge is right."""
    drawn = np.random.default_rng(3)
    judged = drawn.integers(0, 2, 90).astype(float)
    open_rows = np.flatnonzero(judged == 0)[:5]
    labelled = np.setdiff1d(np.arange(90), open_rows)
    found = prediction_powered(
        judged, labelled, judged[labelled], low=0, high=1, clusters=np.arange(90) // together
    ).at(0.95)
    assert found.value == pytest.approx(judged[labelled].mean(), abs=0.05)
    assert found.interval is not None
    assert found.interval.low < judged.mean() < found.interval.high
    assert found.interval.high - found.interval.low > 0.1


def test_rows_that_repeat_inside_their_cluster_tell_nothing_new() -> None:
    judge, people = drawn(5, judged=200)
    once = prediction_powered(judge, np.arange(50), people[:50], clusters=np.arange(200)).at(0.95)
    five = prediction_powered(
        np.repeat(judge, 5),
        np.arange(250),
        np.repeat(people, 5)[:250],
        clusters=np.repeat(np.arange(200), 5),
    ).at(0.95)
    assert five.value == pytest.approx(once.value)
    assert five.interval is not None
    assert once.interval is not None
    assert five.interval.low == pytest.approx(once.interval.low)
    assert five.interval.high == pytest.approx(once.interval.high)


def test_weights_put_a_sample_of_the_high_scores_right() -> None:
    judge, people = drawn(6, judged=20_000)
    rng = np.random.default_rng(6)
    chance = np.clip(judge / judge.max(), 0.002, 1)
    rows = np.flatnonzero(rng.random(20_000) < chance)
    plain = prediction_powered(judge, rows, people[rows]).at(0.95)
    right = prediction_powered(judge, rows, people[rows], weights=1 / chance[rows]).at(0.95)
    assert right.value == pytest.approx(people.mean(), abs=0.05)
    assert plain.interval is not None
    assert right.interval is not None
    assert right.interval.low < people.mean() < right.interval.high


def test_interval_on_a_scale_stays_on_it_and_is_never_a_point() -> None:
    ones = prediction_powered(np.full(300, 0.9), np.arange(60), np.ones(60), low=0, high=1).at(0.95)
    assert ones.value == 1
    assert ones.interval is not None
    assert (ones.interval.low < 0.96, ones.interval.high) == (True, 1)
    assert ones.effective_labels == pytest.approx(60)


def test_without_variation_or_scale_there_is_no_interval() -> None:
    same = prediction_powered(np.ones(9), [0, 1], [2.0, 2.0]).at(0.95)
    assert (same.value, same.interval, same.reason) == (2, None, "no_variation")


def test_no_labels_say_nothing() -> None:
    expected = Corrected(None, None, "ppi_plus_plus", 0, None, reason="no_labels")
    assert prediction_powered([1.0, 2.0], [], []).at(0.95) == expected


def test_one_labelled_cluster_cannot_tell() -> None:
    result = prediction_powered([1.0, 2, 3, 4], [0, 1], [1.0, 3.0], clusters=[0, 0, 1, 1]).at(0.95)
    assert (result.interval, result.reason) == (None, "one_cluster")


def test_labels_off_the_scale_are_refused() -> None:
    with pytest.raises(InputError, match="are outside the scale from 0 to 1"):
        prediction_powered([1.0, 0.5], [0], [2.0], low=0, high=1).at(0.95)


def test_a_judge_who_always_says_the_same_leaves_students_interval_of_two_labels() -> None:
    value, _, variance_labelled, _ = estimated(np.ones(50), 2, np.array([1.0, 5.0]))
    assert value == 3
    assert variance_labelled == pytest.approx(8 / 2)
