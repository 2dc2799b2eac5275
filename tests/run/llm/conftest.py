"""A model that answers every task, and data for it."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.models.chat import ChatFailure, ChatRequest
from ragstone.testing import ScriptedModel

Row = dict[str, Any]
Reply = dict[str, Any]
Say = Callable[[str, Reply], Reply | None]


def item(name: str) -> Reply:
    """A friendly item for every id that tasks ask for."""
    by_letter: dict[str, Reply] = {
        "r": {"statements": [{"text": "The pier is 90 m long.", "importance": "essential"}]},
        "c": {"reason": "It says so.", "grade": 3, "misleading": False, "sentences": [1]},
        "p": {
            "reason": "It says so.",
            "verdict": "supported",
            "evidence": ["c01"],
            "quote": "The pier is 90 m long",
        },
        "k": {"reason": "The same.", "verdict": "matches"},
        "s": {"reason": "The same.", "verdict": "full"},
    }
    if name == "claims":
        return {
            "response_reason": "It names a length.",
            "response_type": "answer",
            "claims": [
                {"text": "The pier is 90 m long.", "sentence": 1, "factual": True, "citations": []}
            ],
        }
    if name == "quality":
        yes = ("on_topic", "helpful", "proper_action")
        return {
            "reason": "Short and right.",
            "parts": [{"part": "the length", "answered": True}],
            **dict.fromkeys(("directness", "focus", "consistency"), 4),
            **{label: label in yes for label in (*yes, "incomplete", "unsafe_content")},
        }
    if name == "probes":
        return {"noncommittal": False, **{f"q{n}": "How long is the pier?" for n in (1, 2, 3)}}
    if name.startswith("rating_"):
        return {"reasoning": "Good.", "score": 2}
    if name.startswith("critique_"):
        return {"reason": "It is.", "verdict": "yes"}
    if name.startswith("preference_"):
        return {"reason": "The first says more.", "verdict": "A"}
    return by_letter[name[0]]


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
        said = {one: say(one, item(one)) for one in request.schema["properties"]}
        return {one: made for one, made in said.items() if made is not None}

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
