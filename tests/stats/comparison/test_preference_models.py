import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from ragstone.stats.comparison.preference_models import (
    log_loss,
    nonnegative_least_squares,
    nonnegative_logistic,
)


@pytest.mark.parametrize("seed", range(30))
def test_least_squares_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 120)), int(rng.integers(1, 9))
    x = rng.normal(size=(n, m))
    if m > 2 and seed % 3 == 0:
        x[:, 1] = x[:, 0] + 0.01 * rng.normal(size=n)
    y = x @ rng.normal(size=m) + rng.normal(size=n) + 3
    found = nonnegative_least_squares(x, y)
    expected, _ = nnls(x - x.mean(axis=0), y - y.mean())
    assert found.values == pytest.approx(expected, abs=1e-8)
    assert found.intercept == pytest.approx(y.mean() - x.mean(axis=0) @ expected)


@pytest.mark.parametrize("seed", range(30))
def test_logistic_coefficients_are_those_of_a_bounded_minimiser(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 150)), int(rng.integers(1, 7))
    x = rng.normal(size=(n, m)) * np.exp(rng.normal(size=m))
    y = np.round(4 / (1 + np.exp(-np.clip(x @ rng.normal(size=m), -30, 30)))) / 4
    if seed % 5 == 0:
        y = (x[:, 0] > 0).astype(float)
    size = np.sqrt((x**2).mean(axis=0))
    scaled = x / size

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        p = 1 / (1 + np.exp(-np.clip(scaled @ beta, -500, 500)))
        value = log_loss(scaled @ beta, y).sum() + beta @ beta / 2
        return float(value), scaled.T @ (p - y) + beta

    expected = minimize(
        loss, np.zeros(m), jac=True, bounds=[(0, None)] * m, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )  # fmt: skip
    found = nonnegative_logistic(x, y).values
    assert loss(found * size)[0] <= expected.fun + 1e-9
    assert found * size == pytest.approx(expected.x, abs=1e-5)


def test_one_score_that_wins_three_of_four_weighs_its_log_odds() -> None:
    found = nonnegative_logistic([[1.0]] * 400, [1.0] * 300 + [0.0] * 100, ridge=0)
    assert found.values == pytest.approx([np.log(3)])
    assert found.weights == pytest.approx([1])


def test_which_answer_stands_first_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 3)), rng.random(50)
    assert nonnegative_logistic(-x, 1 - y).values == pytest.approx(
        nonnegative_logistic(x, y).values
    )


def test_the_unit_of_a_score_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(50, 2)), rng.random(50)
    found = nonnegative_logistic(x * [1, 1000], y).values * [1, 1000]
    assert found == pytest.approx(nonnegative_logistic(x, y).values)


def test_what_people_go_against_has_no_weight() -> None:
    x = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -1.0]])
    found = nonnegative_logistic(x, [1, 0, 1])
    assert found.values[0] > 0
    assert found.values[1] == 0
    assert found.weights == pytest.approx([1, 0])


def test_where_nothing_goes_with_people_there_are_no_weights() -> None:
    assert nonnegative_logistic([[1.0], [1.0]], [0, 0]).weights is None
    assert nonnegative_logistic([[0.0], [0.0]], [0, 1]).weights is None
    assert nonnegative_logistic(np.zeros((0, 2)), []).weights is None
    assert nonnegative_least_squares([[1.0], [2.0]], [2, 1]).weights is None
    assert nonnegative_least_squares([[1.0]], [2]).intercept == 2


def test_pairs_that_are_all_won_keep_coefficients_finite() -> None:
    assert np.isfinite(nonnegative_logistic([[1.0], [2.0]], [1, 1]).values).all()


def test_log_loss_by_hand() -> None:
    assert log_loss([0, 0, 1000, -1000], [0, 0.5, 1, 0]) == pytest.approx(
        [np.log(2), np.log(2), 0, 0]
    )


def test_a_score_on_which_people_are_divided_does_not_keep_another_from_its_weight() -> None:
    # The first stands for a once and against a once where a wins twice: it has no slope at all.
    found = nonnegative_logistic([[1.0, 1.0], [-1.0, 1.0]], [1, 1]).values
    alone = nonnegative_logistic([[1.0], [1.0]], [1, 1]).values
    assert alone[0] > 0.5
    assert found == pytest.approx([0, alone[0]])
