"""Texts of a block: in which order they are asked for, and what is no vector."""

import pytest

from ragstone.judges.similarity.similarity_judge import Texts, Unit
from ragstone.testing import ScriptedEncoder


def test_texts_of_one_length_are_asked_for_in_the_order_of_their_letters() -> None:
    encoder = ScriptedEncoder()
    Texts(encoder).embed(["tin", "ore", "a", "lode", "gem", "ash"])
    assert encoder.asked == ["a", "ash", "gem", "ore", "tin", "lode"]


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
def test_numbers_that_are_not_finite_are_a_failure_and_no_score(number: float) -> None:
    texts = Texts(ScriptedEncoder({"tin": [number] * 8}))
    texts.embed(["ore", "gem"])
    texts.embed(["tin", "ore"])
    assert texts.failure(Unit(0, (("ore", "gem"),))) is None
    failure = texts.failure(Unit(0, (("ore", "tin"),)))
    assert failure == "no_answer?said=scripted+gave+numbers+that+are+not+finite"
