"""The local judge takes linear time over long texts, also over those made to slow it down."""

import time
from collections.abc import Callable

import pytest

from ragstone.judges.local.answer_agreement import claim_agreement, statement_agreement
from ragstone.judges.local.claim_support import support
from ragstone.judges.local.claims_and_evidence import Passages, claims, statements
from ragstone.judges.local.context_relevance import relevance
from ragstone.judges.local.response_type import response_type

MOST = 9.0
"""Times as long for four times the text: 4 if it is linear, 16 if quadratic."""

QUICK = 0.02
"""Processor seconds below which nothing is slow."""

TEXTS: dict[str, Callable[[int], str]] = {
    "one word": lambda n: "A" * 20 * n,
    "one name": lambda n: "Ab " * 7 * n,
    "one number": lambda n: "1" * 20 * n,
    "the same sentence": lambda n: "The red bridge of Truro opened in 1859. " * n,
    "sentences of the same words": lambda n: " ".join(
        f"The red bridge {i} of Truro opened in {1000 + i}." for i in range(n)
    ),
    "words of one opening": lambda n: " ".join(f"constant{i:b}x lies here." for i in range(n)),
    "names of one word": lambda n: " ".join(
        f"It is Truro N{chr(97 + i % 26)}{i}." for i in range(n)
    ),
    "stops": lambda n: "." * 20 * n,
    "spaces": lambda n: "so" + " " * 20 * n + "x",
    "lines": lambda n: "tin and so on\r" * n,
    "brackets": lambda n: "[Data: " * 3 * n,
    "signs": lambda n: "?!'\"“ " * 3 * n,
}


def judge(text: str) -> None:
    """The text as answer, as reference and as context."""
    response_type(text)
    passages = Passages([text, text])
    relevance(text[:200], [text, text])
    for claim in claims(text):
        support(claim.text, passages, text)
        claim_agreement(claim.text, text + " Truro 2.5 Bath", "Who?")
    for statement in statements(text):
        statement_agreement(f"{statement} Truro Baths 1858", text, "Who?")


def seconds(text: str) -> float:
    start = time.thread_time()
    judge(text)
    return time.thread_time() - start


@pytest.mark.parametrize("name", TEXTS)
def test_long_texts_take_linear_time(name: str) -> None:
    make = TEXTS[name]
    size = 25
    long = seconds(make(4 * size))
    while size < 400 and long < 0.5:
        size *= 4
        long = seconds(make(4 * size))
    # The quickest of several, for a busy machine makes some of them slower, and none quicker.
    for _ in range(4):
        short = min(seconds(make(size)) for _ in range(2))
        if long <= max(QUICK, MOST * short):
            return
        long = min(long, seconds(make(4 * size)))
    pytest.fail(f"{short:.3f} s for {size}, {long:.3f} s for {4 * size}")
