"""Foreseen: which asks are certain to reach a judge before anything is judged."""

from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.run.judging.chat_judge import prefetchable

CLAIMS = ("response", "claims")
SUPPORT = (*CLAIMS, "support/claim")


def judge(name: str, *asks: str) -> Any:
    return SimpleNamespace(name=name, asks=frozenset(asks))


@pytest.mark.parametrize(
    ("before", "asks", "expected"),
    [
        ([], SUPPORT, [*SUPPORT]),
        ([], ("support/claim",), ["support/claim"]),
        ([judge("human", "claims")], SUPPORT, [*SUPPORT]),
        ([judge("ids", "relevance")], ("relevance",), ["relevance"]),
        ([judge("local", "claims")], SUPPORT, ["response"]),
        ([judge("local", "relevance")], SUPPORT, [*SUPPORT]),
        ([judge("human", "claims"), judge("local", "claims")], SUPPORT, ["response"]),
        ([judge("local", "response")], CLAIMS, []),
    ],
)
def test_an_ask_reaches_a_judge_whom_only_data_at_hand_comes_before(
    before: list[Any], asks: tuple[str, ...], expected: list[str]
) -> None:
    model = judge("m", *SUPPORT, "relevance")
    assert prefetchable(model, [*before, model, judge("last", *SUPPORT)], asks) == expected


def test_what_comes_after_an_ask_of_another_judge_waits() -> None:
    model = judge("m", "support/claim")
    assert prefetchable(model, [model], SUPPORT) == []
    assert prefetchable(model, [model], ("support/claim",)) == ["support/claim"]
