"""Intervals of agreement that hold at every look together, beside pencil, jackknife and chance."""

from math import sqrt

import numpy as np
import pytest

from ragstone.stats.agreement.coefficients import (
    agreement_sequence,
    alpha,
    fleiss,
    item_effects,
    mean_kappa,
)
from ragstone.stats.agreement.ratings import (
    Coefficient,
    RatingMatrix,
    observed_agreement,
    read_ratings,
)
from ragstone.stats.distributions import look_quantile


def two(n: int, seed: int, yes: float = 0.4, right: float = 0.85) -> RatingMatrix:
    """Two people who see the truth with the same chance, independently."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < yes
    people = [np.where(rng.random(n) < right, truth, ~truth).tolist() for _ in range(2)]
    return read_ratings(people)


def value(coefficient: Coefficient, ratings: RatingMatrix) -> float:
    return float(coefficient(ratings, np.ones((1, ratings.items)))[0])


def test_the_effect_on_percent_agreement_is_agreement_minus_its_mean() -> None:
    ratings = read_ratings([[1, 1, 0, 0], [1, 0, 0, 0]])
    assert item_effects(ratings, observed_agreement) == pytest.approx([0.25, -0.75, 0.25, 0.25])


@pytest.mark.parametrize("coefficient", [mean_kappa, alpha("nominal")], ids=["kappa", "alpha"])
def test_effects_are_those_of_leaving_an_item_out(coefficient: Coefficient) -> None:
    ratings = two(2_000, seed=1)
    effects = item_effects(ratings, coefficient)
    # That of α is not exactly 0, for it counts pairs without those of a label with itself.
    assert effects.mean() == pytest.approx(0, abs=1e-3)
    whole = value(coefficient, ratings)
    for at in (0, 7, 500, 1_999):
        left = np.ones((1, 2_000))
        left[0, at] = 0
        jackknife = 1_999 * (whole - float(coefficient(ratings, left)[0]))
        assert effects[at] == pytest.approx(jackknife, rel=0.01)


def test_the_interval_is_as_wide_as_the_formula_says() -> None:
    agree, differ = 40, 10
    ratings = read_ratings([[1] * 20 + [0] * 20 + [1] * 10, [1] * 20 + [0] * 20 + [0] * 10])
    found = agreement_sequence(ratings, observed_agreement)
    assert found is not None
    squares = agree * 0.2**2 + differ * 0.8**2 + 0.8**2
    half = sqrt(squares) / 50 * look_quantile(50, 0.95)
    assert (found.low, found.high) == pytest.approx((0.8 - half, min(1, 0.8 + half)))
    assert (found.level, found.method) == (0.95, "asymptotic_sequence")


def test_too_little_is_known_for_a_sequence() -> None:
    assert agreement_sequence(two(49, seed=2), mean_kappa) is None
    assert agreement_sequence(two(50, seed=2), mean_kappa) is not None
    rare = [True] * 9 + [False] * 191
    assert agreement_sequence(read_ratings([rare, [True] * 10 + [False] * 190]), mean_kappa) is None
    rare = [True] * 10 + [False] * 190
    other = [True] * 9 + [False] * 190 + [True]
    assert agreement_sequence(read_ratings([rare, other]), mean_kappa) is not None
    same = [True, False] * 50
    assert agreement_sequence(read_ratings([same, same]), mean_kappa) is None


def test_items_of_a_cluster_count_together() -> None:
    # Every item four times: as wide as its four copies as one, but for the larger number of looks.
    alone = two(80, seed=5)
    copies = read_ratings([row.tolist() * 4 for row in alone.codes])
    found = agreement_sequence(copies, mean_kappa, clusters=list(range(80)) * 4)
    once = agreement_sequence(alone, mean_kappa)
    assert found is not None
    assert once is not None
    wider = look_quantile(320, 0.95) / look_quantile(80, 0.95)
    assert found.high - found.low == pytest.approx(wider * (once.high - once.low), rel=1e-6)
    few = [at % 49 for at in range(320)]
    assert agreement_sequence(copies, mean_kappa, clusters=few) is None


def test_items_with_one_label_tell_of_chance_alone() -> None:
    # 60 items by two people; 200 by one, who nearly always says yes, which makes chance larger.
    ann = [1] * 40 + [0] * 20
    ben = [1] * 25 + [0] * 35
    only = [1] * 190 + [0] * 10
    ratings = read_ratings([ann + only, ben + [None] * 200])
    found = agreement_sequence(ratings, fleiss)
    assert found is not None
    yes = (65 / 120 * 60 + 190) / 260
    chance = yes**2 + (1 - yes) ** 2
    assert (found.low + found.high) / 2 == pytest.approx((45 / 60 - chance) / (1 - chance))


@pytest.mark.parametrize("coefficient", [fleiss, alpha("nominal"), alpha("ordinal")])
def test_who_said_what_is_nothing_to_a_coefficient_of_labels(coefficient: Coefficient) -> None:
    rng = np.random.default_rng(8)
    said = np.where(rng.random((6, 300)) < 0.4, rng.integers(1, 4, (6, 300)), np.nan)
    ratings = read_ratings(said.tolist())
    anonymous = ratings.anonymous
    assert anonymous.annotators == int(ratings.raters.max())
    assert (anonymous.counts == ratings.counts).all()
    assert value(coefficient, anonymous) == pytest.approx(value(coefficient, ratings))
    one, other = (agreement_sequence(who, coefficient) for who in (anonymous, ratings))
    assert one is not None
    assert other is not None
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_it_narrows_as_labels_come_and_stays_within_bounds() -> None:
    widths = []
    for n in (50, 200, 800, 3_200):
        found = agreement_sequence(two(n, seed=3), mean_kappa)
        assert found is not None
        assert -1 <= found.low < found.high <= 1
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 4


def test_all_looks_together_hold_the_truth_in_most_paths() -> None:
    # Chance that both are right or both wrong: .85² + .15²; by chance: yes .43, no .57.
    observed, yes = 0.85**2 + 0.15**2, 0.4 * 0.85 + 0.6 * 0.15
    expected = yes**2 + (1 - yes) ** 2
    truth = (observed - expected) / (1 - expected)
    held = 0
    for path in range(60):
        rng = np.random.default_rng(path)
        right = rng.random(600) < 0.4
        people = [np.where(rng.random(600) < 0.85, right, ~right) for _ in range(2)]
        looks = [
            read_ratings([one[:n].tolist() for one in people]) for n in (50, 80, 150, 300, 600)
        ]
        found = [agreement_sequence(look, mean_kappa) for look in looks]
        held += all(one is not None and one.low <= truth <= one.high for one in found)
    # 60 paths at .95 give 52 or more in 99.5 of 100 cases.
    assert held >= 52
