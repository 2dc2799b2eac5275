"""A model that answers every task, and data for it."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.models.chat import ChatFailure, ChatRequest
from ragstone.testing import ScriptedModel, asked, reply_to

Row = dict[str, Any]
Reply = dict[str, Any]
Say = Callable[[str, Reply], Reply | None]


def item(name: str) -> Reply:
    """A friendly item for every id that tasks ask for."""
    by_letter: dict[str, Reply] = {
        "a": {
            "reason": "A length.",
            "verdict": "answer",
            "details": ["s1: The pier is 90 m long."],
        },
        "c": {"reason": "It says so.", "verdict": "3", "details": ["s1"]},
        "k": {"reason": "The same.", "verdict": "full"},
        "n": {"verdict": "no", "details": ["How long is the pier?"] * 3},
        "p": {
            "reason": "It says so.",
            "verdict": "supported",
            "details": ["c01: The pier is 90 m long"],
        },
        "q": {
            "reason": "Short and right.",
            "verdict": "yes",
            "details": [
                "answered: the length",
                *(f"{name}: 4" for name in ("directness", "focus", "consistency")),
                *("on_topic: yes", "proper_action: yes", "incomplete: no", "unsafe_content: no"),
            ],
        },
        "r": {"details": ["The pier is 90 m long."]},
        "v": {"reason": "It is.", "verdict": "yes"},
    }
    if name.startswith("rating_"):
        return {"reason": "Good.", "verdict": "2"}
    if name.startswith("preference_"):
        return {"reason": "The first says more.", "verdict": "A"}
    return by_letter["v" if name.startswith("critique_") else name[0]]


class Real(ScriptedModel):
    """Kept across runs, as what real models say."""

    kept = True


def model(
    say: Say = lambda _, reply: reply,
    name: str = "scripted",
    fails: Callable[[ChatRequest], ChatFailure | None] = lambda _: None,
    window: int = 128_000,
    real: bool = False,
) -> ScriptedModel:
    """Answers every id of the schema; ``say`` changes an item, or leaves it out with None."""

    def reply(request: ChatRequest) -> Reply | ChatFailure:
        failure = fails(request)
        if failure is not None:
            return failure
        said = {one: say(one, item(one)) for one in asked(request)}
        return reply_to(request, {one: made for one, made in said.items() if made is not None})

    return (Real if real else ScriptedModel)(reply, name=name, window=window)


@pytest.fixture
def scripted() -> Callable[..., ScriptedModel]:
    """Makes models that answer."""
    return model


@pytest.fixture
def pier() -> list[Row]:
    """One question, two systems that retrieved the same."""
    shared = {
        "question": "How long is the pier?",
        "contexts": ["The pier is 90 m long. It is old.", "The beach is wide."],
        "reference": "It is 90 m long.",
    }
    return [
        {"id": "1", "system": "a", "answer": "It is 90 m long.", **shared},
        {"id": "2", "system": "b", "answer": "Ninety metres.", **shared},
    ]


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
