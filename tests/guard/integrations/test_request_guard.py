"""The guard of a request: a stated policy, nothing raised, and an event on its span."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as names

from ragstone.core.errors import InputError
from ragstone.guard import Guard
from ragstone.guard.answer_checks import Grounded
from ragstone.guard.assessment import Assessment
from ragstone.guard.claim_judges import Circuit
from ragstone.guard.guard_input import Answered
from ragstone.guard.integrations.asgi import GuardMiddleware
from ragstone.guard.integrations.decorator import guarded
from ragstone.guard.integrations.request_guard import (
    GRACE,
    SPAN_EVENT,
    Exchange,
    RequestGuard,
    is_held,
    listening,
    tell_guard,
    to_span,
)
from ragstone.report.reason_words import explain
from tests.guard.integrations.conftest import DOUBTED, RIGHT, WRONG, TwoWords, ask, replying, saying

BY = Exchange("Q?", ["C"], run_id="r")


def found(ok: bool | None, decision: Any) -> Assessment:
    return Assessment(ok, decision, (), (), (), None, None, "")


@pytest.mark.parametrize(
    ("ok", "decision", "opened", "closed"),
    [
        (True, "pass", False, False),
        (True, "ask", True, True),
        (True, "block", True, True),
        (False, "ask", True, True),
        (False, "block", True, True),
        (False, "pass", False, False),
        (None, "pass", False, False),
        (None, "ask", False, True),
        (None, "block", True, True),
    ],
)
def test_the_gate_decides_and_the_policy_only_over_what_is_open(
    ok: bool | None, decision: str, opened: bool, closed: bool
) -> None:
    assert is_held(found(ok, decision), "open", ("ask", "block")) is opened
    assert is_held(found(ok, decision), "closed", ("ask", "block")) is closed


@pytest.mark.parametrize("decision", ["ask", "block"])
def test_only_the_decisions_that_are_named_hold_back(decision: str) -> None:
    assert is_held(found(False, decision), "open", ["block"]) is (decision == "block")
    assert not is_held(found(False, decision), "open", ())


def test_rulings_are_counted_by_what_came_of_them() -> None:
    judge = RequestGuard(TwoWords(), if_not_judged="closed")
    for answer in (RIGHT, RIGHT, WRONG, DOUBTED):
        judge.ruling(answer, BY)
    assert judge.counts == {"passed": 2, "held": 2, "not_judged": 1}


def test_it_waits_a_second_longer_than_the_guard_may_take() -> None:
    assert RequestGuard(TwoWords(deadline=2.5)).patience == 2.5 + GRACE
    assert RequestGuard(TwoWords(), timeout=0.2).patience == 0.2


def test_time_outs_open_the_circuit() -> None:
    circuit = Circuit(failures=2)
    judge = RequestGuard(TwoWords(seconds=0.3), timeout=0.01, circuit=circuit)

    async def asked() -> list[str]:
        return [(await judge.aruling(RIGHT, BY)).unjudged for _ in range(3)]

    assert asyncio.run(asked()) == ["guard_timed_out", "guard_timed_out", "circuit_open"]
    assert judge.counts == {"timed_out": 2, "not_judged": 3, "held": 3}
    assert circuit.state == "open"


class Broken(Guard):
    """A guard in which something broke, as it tells itself."""

    def ground(self, _: Answered) -> Grounded:
        raise MemoryError("secret")


def test_a_guard_that_says_it_failed_opens_the_circuit_too() -> None:
    judge = RequestGuard(Broken(), circuit=Circuit(failures=2, name="guard"))
    rulings = [judge.ruling(RIGHT, BY) for _ in range(3)]
    assert [one.unjudged for one in rulings] == ["guard_failed", "guard_failed", "circuit_open"]
    last = rulings[-1].assessment
    assert (last.ok, last.decision, last.run_id) == (None, "ask", "r")
    assert explain(last["guard"].reason).startswith("guard failed 2 times in a row")


def test_a_judgement_closes_the_circuit_again() -> None:
    now = [0.0]
    guard = TwoWords(error=RuntimeError())
    judge = RequestGuard(guard, circuit=Circuit(failures=1, clock=lambda: now[0]))
    assert judge.ruling(RIGHT, BY).unjudged == "guard_failed"
    guard.error = None
    assert judge.ruling(RIGHT, BY).unjudged == "circuit_open"
    now[0] = 30.0
    assert judge.ruling(RIGHT, BY).unjudged == ""
    assert judge.ruling(RIGHT, BY).unjudged == ""


def test_each_guard_has_a_circuit_that_says_its_policy() -> None:
    judge = RequestGuard(TwoWords(error=RuntimeError()), if_not_judged="closed")
    for _ in range(6):
        ruling = judge.ruling(RIGHT, BY)
    assert ruling.held
    assert explain(ruling.assessment["guard"].reason).endswith("meanwhile answers are held back")


def test_contexts_that_nobody_told_are_not_the_same_as_none() -> None:
    judge = RequestGuard(TwoWords())
    assert judge.ruling(RIGHT, Exchange("Q?")).unjudged == "contexts_not_told"
    assert judge.ruling(RIGHT, Exchange("Q?", [])).unjudged == ""


@pytest.mark.parametrize("fit", [RequestGuard, guarded])
def test_a_policy_is_no_guard(fit: Callable[[Any], object]) -> None:
    with pytest.raises(InputError, match="give what judges"):
        fit(RequestGuard(TwoWords()))


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
        replying({"answer": RIGHT}), TwoWords(), paths=["/ask"], answer="$.answer",
        extract=lambda *_: ("Q?", ["C"]),
    )  # fmt: skip

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


def test_no_thread_reads_facts_of_two_tellings() -> None:
    """Reads what is told before each instruction of the one who tells, as another thread may."""
    seen: list[Exchange] = []

    def look(frame: Any, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen.append(told.exchange)
        return look

    def tell(name: str) -> None:
        tell_guard(question=name, contexts=[name], retrieval_scores=[name], run_id=name)

    before = sys.gettrace()
    # Without this, Python 3.12 passes no instruction to a function that traces others.
    sys._getframe().f_trace_opcodes = True
    with listening() as told:
        tell("first")
        sys.settrace(look)
        try:
            tell("second")
        finally:
            sys.settrace(before)
        seen.append(told.exchange)
    first, second = (Exchange(name, [name], [name], name) for name in ("first", "second"))
    assert len(seen) > 20
    assert [one for one, _ in groupby(seen)] == [first, second]
