"""A dry run sends nothing, needs no key and leaves what is kept as it is."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.run import Limits
from ragstone.run.forecast import forecast
from ragstone.testing import ScriptedModel

Model = Callable[..., ScriptedModel]
Rows = list[dict[str, Any]]


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m", "gemini:m"])
def test_no_key_is_needed(name: str, pier: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE"):
        monkeypatch.delenv(f"{variable}_API_KEY", raising=False)
    found = forecast(pier, metrics="faithfulness", judge=name, limits=Limits(cached=False))
    assert found.total.calls == 4


def test_the_cache_is_read_and_let_go(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    limits = Limits(cache=tmp_path / "kept")
    ragstone.evaluate(pier, metrics="faithfulness", judge=scripted(real=True), limits=limits)
    file = tmp_path / "kept" / "replies.sqlite"
    before = file.read_bytes()
    threads = threading.active_count()
    found = forecast(pier, metrics="faithfulness", judge=scripted(real=True), limits=limits)
    assert found.total.known >= 2
    assert threading.active_count() == threads
    assert file.read_bytes() == before


def test_what_real_models_said_answers_no_test(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    limits = Limits(cache=tmp_path / "kept")
    ragstone.evaluate(pier, metrics="faithfulness", judge=scripted(real=True), limits=limits)
    found = forecast(pier, metrics="faithfulness", judge=scripted(), limits=limits)
    assert (found.total.calls, found.total.known) == (4, 0)


def test_a_cache_that_is_none_of_ours_holds_nothing(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    (tmp_path / "replies.sqlite").write_text("These are notes of somebody's own.\n" * 50)
    found = forecast(pier, metrics="faithfulness", judge=scripted(), limits=Limits(cache=tmp_path))
    assert (found.total.calls, found.total.known) == (4, 0)
