"""Contradiction: told apart from absence."""

import pytest

from ragstone.judges.local.claims_and_evidence import Passages, gather
from ragstone.judges.local.contradiction import OPPOSITES, contradiction

PASSAGES = Passages(
    [
        "The Royal Albert Bridge over the Tamar was designed by Isambard Brunel.",
        "Tin exports from Cornwall increased after the bridge opened in 1859.",
    ]
)


def says(claim: str) -> str | None:
    seen = gather(claim, PASSAGES)
    assert seen is not None
    found = contradiction(claim, seen, PASSAGES)
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Tin exports from Cornwall increased after the bridge opened in 1895.", "1859"),
        ("Tin exports from Cornwall did not increase after the bridge opened.", "denies"),
        ("Tin exports from Cornwall decreased after the bridge opened.", "increased"),
        ("The Royal Albert Bridge over the Tamar was designed by Isambard Telford.", "Brunel"),
    ],
)
def test_the_contexts_say_otherwise_in_the_same_place(claim: str, expected: str) -> None:
    said = says(claim)
    assert said is not None
    assert expected in said


@pytest.mark.parametrize(
    "claim",
    [
        "The bridge was painted grey in 1990.",
        "Telford built canals in Scotland.",
        "Copper imports to Wales decreased in the winter.",
        "The Royal Albert Bridge over the Tamar was designed by Isambard Brunel.",
    ],
)
def test_what_the_contexts_do_not_settle_is_not_contradicted(claim: str) -> None:
    assert says(claim) is None


def test_opposites_go_both_ways() -> None:
    assert all(word in OPPOSITES[other] for word, others in OPPOSITES.items() for other in others)
    assert not any(word in others for word, others in OPPOSITES.items())
