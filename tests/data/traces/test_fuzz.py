"""Random and mutated bodies."""

import random
from typing import Any

import pytest

from tests.scripts import script

FUZZ = script("fuzz_intake")


@pytest.mark.parametrize("sort", range(len(FUZZ.SORTS)))
def test_a_mutated_body_is_read_or_refused(sort: int) -> None:
    for number in range(sort, 1_500, len(FUZZ.SORTS)):
        assert FUZZ.outcome(*FUZZ.body_of(7, number)) in ("read", "partly read", "refused"), number


@pytest.mark.parametrize("sort", FUZZ.SORTS, ids=lambda sort: sort.name)
def test_a_body_that_is_not_mutated_is_read(sort: Any) -> None:
    drawn = random.Random(7)
    for _ in range(50):
        assert FUZZ.outcome(sort, sort.whole(drawn)) in ("read", "partly read")
