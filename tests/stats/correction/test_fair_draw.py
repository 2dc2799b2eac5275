"""Fair draws: how unlike all rows the chosen ones are, beside what chance does."""

from itertools import combinations

import numpy as np
import pytest

from ragstone.stats.correction.anytime import fair_draw_p


def chosen(n: int, *rows: int) -> np.ndarray:
    return np.isin(np.arange(n), rows)


def test_p_is_the_share_of_draws_as_far_from_all_rows() -> None:
    # Three of twelve rows, of which four are of the first level; all three are: 4 of 220 draws,
    # and none other is as far. Draws stop at about twenty as far.
    levels = np.array([0] * 4 + [1] * 8)
    far = sum(set(one) <= {0, 1, 2, 3} for one in combinations(range(12), 3)) / 220
    found = [fair_draw_p(levels, chosen(12, 0, 1, 2), below=0.01, seed=seed) for seed in range(40)]
    assert np.mean(found) == pytest.approx(far, rel=0.15)


def test_whole_clusters_are_a_fair_draw_though_their_rows_are_alike() -> None:
    # Twenty clusters of five rows alike, half of each sort: two drawn are of one sort in 90 of 190.
    clusters = np.repeat(np.arange(20), 5)
    levels = (clusters < 10).astype(int)
    two = np.isin(clusters, [0, 1])
    assert fair_draw_p(levels, two) < 0.01
    p = fair_draw_p(levels, two, clusters=clusters, below=0.01)
    assert p == pytest.approx(90 / 190, abs=0.1)


def test_rows_of_one_system_alone_are_no_draw_of_whole_questions() -> None:
    clusters, systems = np.repeat(np.arange(100), 5), np.tile(np.arange(5), 100)
    one = (systems == 0) & (clusters < 15)
    assert fair_draw_p(systems, one, clusters=clusters) < 0.001


@pytest.mark.parametrize("rows", [(), tuple(range(6))])
def test_all_rows_and_none_are_no_draw_to_judge(rows: tuple[int, ...]) -> None:
    assert fair_draw_p([0, 0, 0, 1, 1, 1], chosen(6, *rows)) == 1


def test_one_level_tells_nothing() -> None:
    assert fair_draw_p([3, 3, 3], [True, False, False]) == 1


def test_fair_draws_are_seldom_refused_and_the_same_seed_gives_the_same_p() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(60), 4)
    levels = np.repeat(rng.integers(3, size=60), 4)
    below = 0
    for seed in range(400):
        rows = np.isin(np.arange(240), rng.choice(240, 40, replace=False))
        whole = np.isin(clusters, rng.choice(60, 10, replace=False))
        ps = [fair_draw_p(levels, one, clusters=clusters, below=0.05, seed=seed)
              for one in (rows, whole)]  # fmt: skip
        below += sum(p < 0.05 for p in ps)
        assert ps[0] == fair_draw_p(levels, rows, clusters=clusters, below=0.05, seed=seed)
    assert 0 < below <= 0.07 * 800


def test_draws_stop_once_more_than_twenty_are_as_far() -> None:
    # Two rows of five are of a level, and drawn together in a tenth of the draws: in the first 200
    # about twenty times. Then there is no more to draw from 20 on, and p is told in 201ths.
    levels = [0, 0, 1, 1, 1]
    found = [fair_draw_p(levels, chosen(5, 0, 1), seed=seed) for seed in range(150)]
    counts = {round(201 * p) for p in found if abs(201 * p - round(201 * p)) < 1e-9}
    assert {21, 22, 23} <= counts
    assert min(counts) == 21
