"""Answers of one session that are alike tell less of a mean."""

import numpy as np
import pytest

from ragstone.stats.monitoring.windows import session_effect


def test_sessions_of_answers_that_all_agree_count_once() -> None:
    scores = np.repeat((np.arange(400) % 4 > 0).astype(float), 5)
    sessions = np.repeat(np.arange(400), 5)
    assert session_effect(scores, np.ones(2000), sessions) == pytest.approx(5, rel=0.01)


def test_independent_answers_have_none() -> None:
    rng = np.random.default_rng(1)
    scores = (rng.random(3000) < 0.8).astype(float)
    assert session_effect(scores, np.ones(3000), np.arange(3000)) == 1
    effect = session_effect(scores, np.ones(3000), np.arange(3000) // 3)
    assert 1 <= effect < 1.1


def test_by_hand() -> None:
    # Mean 1/2; sums of gaps 1, -1, 0: V = 3/2 · 2 = 3, S = 6/5 · 6/4, n̄ = 2, s² = .3.
    found = session_effect([1, 1, 0, 0, 1, 0], np.ones(6), ["a", "a", "b", "b", "c", "c"])
    assert found == pytest.approx((3 + 0.5 * 4 * 0.3) / (1.8 + 0.5 * 2 * 0.3))


def test_heavy_answers_count_by_their_weight() -> None:
    # Mean 3/4; gaps 3/4, -3/4, 1/4, -1/4 with sessions' sums 0 and 0: unlike, so no effect.
    assert session_effect([1, 0, 1, 0.5], [3, 1, 1, 1], ["a", "a", "b", "b"]) == 1


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.5]])
def test_where_nothing_differs_there_is_none(scores: list[float]) -> None:
    assert session_effect(scores, np.ones(len(scores)), list(range(len(scores)))) == 1
