"""Providers, data, and runs in batches."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ragstone import Run, evaluate
from ragstone.run.batches import batch_follower as following
from ragstone.run.batches import batch_loop as passes
from tests.batch_provider import BatchProvider, provider

FORMATS = ("openai", "anthropic", "gemini")
METRICS = ("faithfulness", "context_precision", "context_recall", "answer_coverage")


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(passes, "FIRST_POLL", 0.01)
    monkeypatch.setattr(following, "wait", lambda _: 0.01)
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)


@pytest.fixture
def answers() -> list[dict[str, Any]]:
    """Six answers about different piers."""
    return [
        {
            "id": f"{place}-{system}",
            "question_id": place,
            "system": system,
            "question": f"How long is the pier of {place}?",
            "contexts": [f"The pier of {place} is 90 m long. It is old.", f"{place} is wide."],
            "reference": f"In {place} it is 90 m long.",
            "answer": f"It is {metres} m long in {place}.",
        }
        for place in ("Bude", "Looe", "Fowey")
        for system, metres in (("a", 90), ("b", 80))
    ]


Provided = Callable[[str], BatchProvider]


@pytest.fixture(scope="module")
def provider_of() -> Iterator[Provided]:
    """The provider that speaks a format, which all tests share."""
    with ExitStack() as ends:
        yield cache(lambda speaks: ends.enter_context(provider(speaks)))


def there(speaks: str, provider_of: Provided, monkeypatch: pytest.MonkeyPatch) -> BatchProvider:
    shared = provider_of(speaks)
    shared.reset()
    for name, value in shared.environment.items():
        monkeypatch.setenv(name, value)
    return shared


@pytest.fixture(params=FORMATS)
def any_provider(
    request: pytest.FixtureRequest, provider_of: Provided, monkeypatch: pytest.MonkeyPatch
) -> BatchProvider:
    """Each of the three."""
    return there(request.param, provider_of, monkeypatch)


@pytest.fixture
def openai(provider_of: Provided, monkeypatch: pytest.MonkeyPatch) -> BatchProvider:
    """The one whose batches have an output file and an error file."""
    return there("openai", provider_of, monkeypatch)


@pytest.fixture
def batched(answers: list[dict[str, Any]], tmp_path: Path) -> Callable[..., Run]:
    """A run in batches, in the same folder each time."""

    def run(provider: BatchProvider, **options: Any) -> Run:
        given: dict[str, Any] = {
            "judge": provider.judge,
            "out": tmp_path / "run",
            "batch": True,
        } | options
        return evaluate(answers, metrics=METRICS, **given)

    return run


def files(run: Path) -> dict[str, bytes]:
    """What a run says, file by file."""
    names = ("scores", "judgements", "examples")
    found = {
        str(one.relative_to(run)): one.read_bytes()
        for name in names
        for one in sorted((run / name).rglob("*.parquet"))
    }
    return found | {"estimates.json": (run / "estimates.json").read_bytes()}
