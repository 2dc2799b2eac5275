"""What each item adds to kappa."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from ragstone.stats.agreement.coefficients import kappa_effects

RNG = np.random.default_rng(1)
A = RNG.integers(0, 4, 200)
B = np.clip(A + RNG.integers(-1, 2, 200), 0, 3)
WEIGHTS = RNG.uniform(0.5, 3, 200)
APART = 1 - np.eye(4)
SQUARES = np.square(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


@pytest.mark.parametrize(("distance", "word"), [(APART, None), (SQUARES, "quadratic")])
def test_effects_are_the_derivatives_of_scikit_learns_kappa(
    distance: np.ndarray, word: str | None
) -> None:
    effects = kappa_effects(A, B, distance, WEIGHTS)
    assert effects.sum() == pytest.approx(0, abs=1e-12)

    def kappa(weights: np.ndarray) -> float:
        return float(cohen_kappa_score(A, B, weights=word, sample_weight=weights))

    for row in range(0, 200, 23):
        step = 1e-4 * WEIGHTS[row] * (np.arange(200) == row)
        slope = (kappa(WEIGHTS + step) - kappa(WEIGHTS - step)) / 2e-4
        assert effects[row] == pytest.approx(slope, abs=1e-8)


def test_squares_add_up_to_the_large_sample_variance_of_a_table() -> None:
    """Fleiss, Cohen & Everitt (1969), equation 13, of two labels."""
    a, b = (A > 1).astype(np.int64), (B > 1).astype(np.int64)
    table = confusion_matrix(a, b) / 200
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected, kappa = float(rows @ columns), cohen_kappa_score(a, b)
    same = sum(table[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    other = sum(table[i, 1 - i] * ((columns[i] + rows[1 - i]) * (1 - kappa)) ** 2 for i in (0, 1))
    c = (kappa - expected * (1 - kappa)) ** 2
    effects = kappa_effects(a, b, 1 - np.eye(2), np.ones(200))
    assert effects @ effects == pytest.approx((same + other - c) / 200 / (1 - expected) ** 2)


def test_labels_that_are_all_the_same_move_nothing() -> None:
    same = np.zeros(5, dtype=np.int64)
    assert not kappa_effects(same, same, np.zeros((1, 1)), np.ones(5)).any()
