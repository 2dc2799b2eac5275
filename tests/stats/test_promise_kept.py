"""How often promises are kept, in made worlds and on answers that people labelled.

A short part of benchmarks/promise.py, whose figures are in its README.
"""

import pytest

from tests.scripts import script

promise = script("promise")
DRAWS = 300
CHANCE = 0.035
"""Two standard errors of a share of .1 in so many draws."""


@pytest.mark.parametrize(
    "world",
    [
        promise.World("", 45),
        promise.World("", 77),
        promise.World("", 200, step=0.05),
        promise.World("", 40, 0.1),
        promise.World("", 50, icc=0.5, others=2),
        promise.World("", 200, icc=0.8, others=2),
        promise.World("", 20, 0.2, icc=0.5, others=5),
    ],
    ids=lambda world: f"{world.clusters}-{world.bound}-{world.icc}-{world.step}",
)
def test_true_risk_is_within_the_promise_in_nine_of_ten_draws(world: object) -> None:
    found = promise.kept(world, DRAWS)
    assert found.broken <= 0.1 + CHANCE
    assert found.of_answers <= 0.1 + CHANCE
    assert found.refused < 0.5


def test_calibrated_as_independent_answers_of_one_question_break_promises() -> None:
    found = promise.kept(promise.World("", 20, 0.2, icc=0.8, others=5), DRAWS)
    assert found.as_independent > 0.1 + CHANCE
    assert found.of_answers <= found.broken <= 0.1


@pytest.mark.usefixtures("shared")
def test_held_out_half_of_begin_shows_no_promise_broken_more_often_than_one_in_ten() -> None:
    answers = promise.begin()
    for bound in (0.05, 0.1):
        half = promise.splits(answers, bound, 100)
        assert half.shown_broken <= 0.1
        assert half.refused == 0
        assert half.passed > 0.4
