"""Noise sensitivity by hand."""

from collections.abc import Sequence
from typing import Literal

import pytest

from ragstone.core.errors import InputError
from ragstone.judgements import ClaimsAgainstReferences
from ragstone.metrics import Missing, Score, Undefined, parse_metric
from ragstone.testing import rows, score_one

Source = Literal["relevant", "irrelevant", "none", "unknown"]
SOURCES: dict[Source, tuple[bool | None, bool | None]] = {
    "relevant": (True, False),
    "irrelevant": (False, True),
    "none": (False, False),
    "unknown": (None, None),
}


def noise(
    claims: Sequence[tuple[str | None, Source]],
    contexts: str = "relevant",
    reference: Sequence[int] = (),
) -> Score:
    return score_one(
        parse_metric(f'noise_sensitivity(contexts="{contexts}")'),
        rows(
            ClaimsAgainstReferences,
            reference=list(reference) or [0] * len(claims),
            agreement=[agreement for agreement, _ in claims],
            on_relevant=[SOURCES[source][0] for _, source in claims],
            on_irrelevant=[SOURCES[source][1] for _, source in claims],
        ),
    )


def test_wrong_claims_from_a_relevant_context_are_counted_over_all_claims() -> None:
    claims: list[tuple[str | None, Source]] = [
        ("matches", "relevant"),
        ("extra", "relevant"),
        ("contradicts", "relevant"),
        ("extra", "irrelevant"),
        ("contradicts", "none"),
    ]
    assert noise(claims) == pytest.approx(2 / 5)
    assert noise(claims, "irrelevant") == pytest.approx(1 / 5)


def test_the_reference_that_backs_most_counts() -> None:
    claims: list[tuple[str | None, Source]] = [("extra", "relevant"), ("matches", "relevant")]
    assert noise([*claims, *reversed(claims)], reference=[0, 0, 1, 1]) == pytest.approx(1 / 2)
    assert noise([*claims, claims[1], claims[1]], reference=[0, 0, 1, 1]) == 0


def test_what_could_not_make_a_claim_noise_may_be_unknown() -> None:
    assert noise([("matches", "unknown"), (None, "none")]) == 0
    assert isinstance(noise([("extra", "unknown")]), Missing)
    assert isinstance(noise([(None, "relevant")]), Missing)


def test_an_answer_without_claims_has_none() -> None:
    assert noise([]) == Undefined("no_claims")


def test_there_are_two_kinds_of_noise() -> None:
    with pytest.raises(InputError, match="relevant or irrelevant"):
        parse_metric('noise_sensitivity(contexts="all")')
