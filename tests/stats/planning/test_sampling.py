import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import InputError
from ragstone.stats.planning.sampling import (
    Allocation,
    Drawn,
    allocate,
    draw_random,
    draw_stratified,
    draw_systematic,
    inclusion_probabilities,
)

WEIGHTS = np.array([9.0, 1, 1, 2, 3, 1, 0.5, 4])


def frequencies(draw: object, rows: int, times: int = 4_000) -> np.ndarray:
    assert callable(draw)
    rng, counts = np.random.default_rng(0), np.zeros(rows)
    for _ in range(times):
        counts[draw(rng).picked] += 1
    return counts / times


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=40), st.data())
def test_chances_add_up_to_the_sample_and_none_is_zero(
    weights: list[float], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(weights)))
    chances = inclusion_probabilities(weights, size)
    assert chances.sum() == pytest.approx(size)
    assert (chances > 0).all()
    assert (chances <= 1).all()
    below = chances < 1 - 1e-9
    if below.any():
        ratio = chances[below] / np.array(weights)[below]
        assert ratio == pytest.approx(np.full(len(ratio), ratio[0]))
    drawn = draw_systematic(chances, np.random.default_rng(size))
    assert len(set(drawn.picked.tolist())) == size


def test_a_row_of_great_weight_is_certain_and_the_rest_share_what_is_left() -> None:
    chances = inclusion_probabilities([9, 1, 1, 2], 2)
    assert chances.tolist() == [1, 0.25, 0.25, 0.5]


def test_a_row_that_becomes_certain_can_make_another_one_so() -> None:
    assert inclusion_probabilities([100, 6, 1, 1, 1], 3).tolist() == pytest.approx(
        [1, 1, 1 / 3, 1 / 3, 1 / 3]
    )


def test_systematic_draws_come_as_often_as_their_chances_say() -> None:
    chances = inclusion_probabilities(WEIGHTS, 3)
    found = frequencies(lambda rng: draw_systematic(chances, rng), 8)
    assert found == pytest.approx(chances, abs=0.03)


def test_random_draws_come_equally_often() -> None:
    assert frequencies(lambda rng: draw_random(8, 3, rng), 8) == pytest.approx(
        np.full(8, 3 / 8), abs=0.03
    )


def test_stratified_draws_come_as_often_as_their_chances_say() -> None:
    strata = np.array([0, 0, 0, 0, 0, 1, 1, 2])
    found = frequencies(lambda rng: draw_stratified(strata, [2, 1, 1], rng), 8)
    assert found == pytest.approx(np.array([0.4] * 5 + [0.5] * 2 + [1.0]), abs=0.03)


@pytest.mark.parametrize("way", ["random", "stratified", "systematic"])
def test_the_horvitz_thompson_mean_is_unbiased(way: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.random(60) ** 3
    strata = (values > 0.3).astype(int)
    chances = inclusion_probabilities(0.1 + values, 12)
    sizes = allocate(np.bincount(strata), 12, "equal")

    def draw() -> Drawn:
        if way == "random":
            return draw_random(60, 12, rng)
        if way == "stratified":
            return draw_stratified(strata, sizes, rng)
        return draw_systematic(chances, rng)

    means = []
    for _ in range(2000):
        drawn = draw()
        means.append((values[drawn.picked] / drawn.probability[drawn.picked]).sum() / 60)
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - values.mean()) < 3.5 * error


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.sampled_from(["proportional", "equal", "neyman"]),
    st.data(),
)
def test_every_stratum_gets_a_row_and_none_more_than_it_has(
    sizes: list[int], how: Allocation, data: st.DataObject
) -> None:
    size = data.draw(st.integers(len(sizes), sum(sizes)))
    deviations = data.draw(
        st.lists(st.floats(0, 5), min_size=len(sizes), max_size=len(sizes)).filter(any)
    )
    found = allocate(sizes, size, how, deviations=deviations)
    assert found.sum() == size
    assert (found >= 1).all()
    assert (found <= np.array(sizes)).all()


@pytest.mark.parametrize(
    ("how", "expected"),
    [("proportional", [12, 6, 2]), ("equal", [7, 7, 6]), ("neyman", [6, 12, 2])],
)
def test_allocations_by_hand(how: Allocation, expected: list[int]) -> None:
    found = allocate([60, 30, 10], 20, how, deviations=[0.1, 0.4, 0.1])
    assert found.tolist() == expected


def test_a_stratum_gives_two_where_that_can_be() -> None:
    assert allocate([997, 3], 10).tolist() == [8, 2]
    assert allocate([997, 3], 3).tolist() == [2, 1]


@pytest.mark.parametrize("size", [0, 4])
def test_a_sample_that_cannot_be_is_refused(size: int) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="sample"):
        draw_random(3, size, rng)
    with pytest.raises(InputError, match="sample"):
        inclusion_probabilities([1, 1, 1], size)
    with pytest.raises(InputError, match="sample"):
        allocate([1, 2], size)
    with pytest.raises(InputError, match="strata need"):
        allocate([5, 5, 5], 2)


def test_the_same_seed_draws_the_same() -> None:
    chances = inclusion_probabilities(WEIGHTS, 3)
    first, again = (draw_systematic(chances, np.random.default_rng(5)) for _ in range(2))
    assert first.picked.tolist() == again.picked.tolist()
