"""Telemetry: what came of an answer stands on the span of its request, and no text of it."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names

from ragstone.guard import Guard
from ragstone.guard.integrations.asgi import GuardMiddleware
from ragstone.guard.integrations.decorator import guarded
from ragstone.guard.integrations.request_guard import SPAN_EVENT, to_span
from tests.guard.integrations.conftest import RIGHT, WRONG, TwoWords, ask, replying, saying


class Spans:
    """A tracer of the real SDK and the spans that it finished."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("tests")

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        spans: tuple[ReadableSpan, ...] = self.exporter.get_finished_spans()
        return [(one.name, dict(one.attributes or {})) for span in spans for one in span.events]


@pytest.fixture
def spans() -> Iterator[Spans]:
    found = Spans()
    yield found
    found.exporter.shutdown()


def test_a_held_answer_is_an_event_by_the_names_of_the_conventions(spans: Spans) -> None:
    with spans.tracer.start_as_current_span("request"):
        guarded(TwoWords())(saying(WRONG))("Q?", ["C"])
    ((name, told),) = spans.events()
    assert name == SPAN_EVENT == "gen_ai.evaluation.result"
    assert told.pop("ragstone.guard.seconds") >= 0
    assert told == {
        names.GEN_AI_EVALUATION_NAME: "ragstone.guard",
        names.GEN_AI_EVALUATION_SCORE_VALUE: 0.1,
        names.GEN_AI_EVALUATION_SCORE_LABEL: "ask",
        names.GEN_AI_EVALUATION_EXPLANATION: "unsupported_sentence",
        "ragstone.guard.ok": False,
        "ragstone.guard.held": True,
        "ragstone.guard.issues": ("unsupported_sentence",),
        "ragstone.guard.judge": "two words",
        "ragstone.guard.late": False,
    }


def test_a_request_through_the_middleware_tells_the_span_it_is_in(spans: Spans) -> None:
    app = GuardMiddleware(
        replying({"answer": RIGHT}), TwoWords(), answer="$.answer", extract=lambda *_: ("Q?", ["C"])
    )

    async def traced(scope: Any, receive: Any, send: Any) -> None:
        with spans.tracer.start_as_current_span("request"):
            await app(scope, receive, send)

    ask(traced, {}, headers=[(b"x-request-id", b"r-7")])
    ((_, told),) = spans.events()
    assert told["ragstone.guard.ok"] is True
    assert told["ragstone.guard.held"] is False
    assert told["ragstone.guard.run_id"] == "r-7"
    assert told[names.GEN_AI_EVALUATION_SCORE_LABEL] == "pass"
    assert names.GEN_AI_EVALUATION_EXPLANATION not in told


def test_what_was_not_judged_is_an_event_with_the_reason(spans: Spans) -> None:
    with spans.tracer.start_as_current_span("request"):
        guarded(TwoWords(error=RuntimeError("sk-secret")))(saying(RIGHT))("Q?", ["C"])
    ((_, told),) = spans.events()
    assert told["ragstone.guard.not_judged"] == "guard_failed"
    assert "ragstone.guard.ok" not in told
    assert "sk-secret" not in str(told)


def test_a_guard_that_listens_itself_is_told_of_once(spans: Spans) -> None:
    with spans.tracer.start_as_current_span("request"):
        guard = Guard(listener=to_span)
        guard.assess("How long is the pier?", "It is 90 m long.", ["The pier is 90 m long."])
        guarded(guard)(saying(RIGHT))("Q?", ["C"])
    assert [name for name, _ in spans.events()] == [SPAN_EVENT] * 2


def test_without_a_span_nothing_is_told() -> None:
    assert not trace.get_current_span().is_recording()
    assert guarded(TwoWords())(saying(RIGHT))("Q?", ["C"]) == RIGHT


def test_without_the_package_answers_are_judged_all_the_same() -> None:
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from ragstone.guard.integrations.decorator import guarded\n"
        "found = []\n"
        "ask = guarded(on_ruling=found.append)(lambda question, contexts: 'It is 90 m long.')\n"
        "ask('How long?', ['It is 90 m long.'])\n"
        "print(found[0].assessment.confidence > 0.5)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"], done.stderr
