"""What real instrumentation exports becomes the example that the app gave."""

import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.traces import FoldedTrace, Redaction, TracePart, fold
from ragstone.data.traces.otlp import read_logs, read_traces

from .emitting import ANSWER, EARLIER, MODEL, PASSAGES, QUESTION

NONE = "NO_CONTENT"
OPENAI = ("SPAN_ONLY", "EVENT_ONLY", "SPAN_AND_EVENT")
RAG = ("SPAN_ONLY", "SPAN_AND_EVENT")
PIPELINES = ("langchain", "llama_index")


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[TracePart]]:
    """The parts of what an app exports, by its name and how much content it captures."""
    folder = tmp_path_factory.mktemp("exported")
    apps = [("openai", one) for one in (NONE, *OPENAI)] + [("rag", one) for one in RAG]
    apps += [(one, NONE) for one in PIPELINES]
    emitting = Path(__file__).with_name("emitting.py")
    subprocess.run(
        [sys.executable, str(emitting), str(folder), *map(",".join, apps)],
        check=True,
        capture_output=True,
        timeout=120,
    )

    def exported(app: str, content: str = NONE) -> list[TracePart]:
        return [
            part
            for file in sorted((folder / f"{app},{content}").iterdir())
            for part in parts_of(file.read_bytes(), logs=file.name.endswith("logs"))
        ]

    return exported


def parts_of(body: bytes, *, logs: bool) -> tuple[TracePart, ...]:
    read = (read_logs if logs else read_traces)(body, redaction=Redaction())
    assert read.malformed == ()
    return read.parts


def the_answer(parts: list[TracePart]) -> FoldedTrace:
    """The one trace that answers somebody."""
    traces = {part.trace for part in parts}
    folded = [fold([part for part in parts if part.trace == trace]) for trace in traces]
    (found,) = [one for one in folded if one.examples]
    return found


@pytest.mark.parametrize("content", OPENAI)
def test_a_chat_by_openai(export: Any, content: str) -> None:
    parts = export("openai", content)
    (one,) = the_answer(parts).examples
    assert (one.example.question, one.example.answer) == (QUESTION, ANSWER)
    assert [(turn.role, turn.text) for turn in one.example.history] == EARLIER
    assert one.example.contexts is None
    assert (one.system, one.version, one.session) == ("bridges", "2.1", "s-1")
    assert (one.model, one.input_tokens, one.output_tokens) == (MODEL, 42, 7)
    assert one.example.meta["finish_reasons"] == ["stop"]
    assert one.latency is not None
    assert one.latency > 0
    assert {part.kind for part in parts} == (
        {"spans"} if content == "SPAN_ONLY" else {"spans", "logs"}
    )
    assert len({repr(fold(order)) for order in permutations(parts)}) == 1


def test_a_chat_by_openai_whose_content_is_not_captured(export: Any) -> None:
    folded = fold(export("openai"))
    assert (folded.examples, folded.content, folded.calls) == ((), "none", 1)


@pytest.mark.parametrize("content", RAG)
def test_a_retrieval_by_the_conventions_of_opentelemetry(export: Any, content: str) -> None:
    (one,) = the_answer(export("rag", content)).examples
    assert (one.example.question, one.example.answer) == (QUESTION, ANSWER)
    assert one.example.contexts is not None
    assert [(one.id, one.text, one.score) for one in one.example.contexts] == [
        ("bridge-1", PASSAGES["bridge-1"], 0.9), ("bridge-2", PASSAGES["bridge-2"], None),
    ]  # fmt: skip
    assert one.example.meta["top_k"] == 2


@pytest.mark.parametrize("app", PIPELINES)
def test_a_pipeline_by_openinference(export: Any, app: str) -> None:
    (one,) = the_answer(export(app)).examples
    assert (one.example.question, one.example.answer) == (QUESTION, ANSWER)
    assert one.example.contexts is not None
    assert {one.id: one.text for one in one.example.contexts} == PASSAGES
    assert (one.system, one.version) == ("bridges", "2.1")
    assert one.session == ("s-1" if app == "langchain" else None)
    assert one.example.history == ()
