"""Files of traces: spans become examples, whoever exported them."""

import json
import time as clock
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import read
from ragstone.report.reason_words import explain

PASSAGES = [{"page_content": "At 9.", "metadata": {}}, {"page_content": "Daily.", "metadata": {}}]

OBSERVATIONS: list[dict[str, Any]] = [
    {"id": "g", "traceId": "t", "parentObservationId": "r", "type": "GENERATION", "name": "llm",
     "startTime": "2026-11-01T10:00:01Z", "endTime": "2026-11-01T10:00:02Z", "model": "gpt",
     "input": [{"role": "user", "content": "When?"}], "output": "At 9.",
     "usage": {"input": 7, "output": 3}},
    {"id": "r", "traceId": "t", "type": "SPAN", "name": "rag", "startTime": "2026-11-01T10:00:00Z",
     "endTime": "2026-11-01T10:00:02Z", "input": {"question": "When?"}, "output": "At 9."},
    {"id": "s", "traceId": "t", "parentObservationId": "r", "type": "SPAN", "name": "retrieval",
     "startTime": "2026-11-01T10:00:00Z", "endTime": "2026-11-01T10:00:01Z",
     "input": "When?", "output": PASSAGES},
]  # fmt: skip
LANGFUSE = {"id": "t", "input": {"question": "When?"}, "output": {"answer": "At 9."},
            "sessionId": "c", "timestamp": "2026-11-01T10:00:00Z",
            "observations": OBSERVATIONS}  # fmt: skip
RUN: dict[str, Any] = {
    "id": "r", "trace_id": "r", "run_type": "chain", "name": "rag",
    "start_time": "2026-11-01T10:00:00", "end_time": "2026-11-01T10:00:02",
    "inputs": {"question": "When?"}, "outputs": {"answer": "At 9."},
    "child_runs": [
        {"id": "s", "run_type": "retriever", "name": "search", "start_time": "2026-11-01T10:00:00",
         "inputs": {"query": "When?"}, "outputs": {"documents": PASSAGES}},
        {"id": "g", "run_type": "llm", "name": "gpt", "start_time": "2026-11-01T10:00:01",
         "inputs": {"messages": [{"role": "user", "content": "When?"}]},
         "outputs": {"choices": [{"message": {"role": "assistant", "content": "At 9."}}]},
         "prompt_tokens": 7, "completion_tokens": 3},
    ],
}  # fmt: skip
SNAKES = {"traceId": "trace_id", "startTime": "start_time", "endTime": "end_time",
          "parentObservationId": "parent_observation_id"}  # fmt: skip
TABLE = [
    {SNAKES.get(name, name): value if isinstance(value, str) else json.dumps(value)
     for name, value in observation.items()}
    for observation in OBSERVATIONS
]  # fmt: skip
CHILDREN = [{**child, "trace_id": "r", "parent_run_id": "r"} for child in RUN["child_runs"]]
APART = [{**RUN, "child_runs": []}, *CHILDREN]


@pytest.mark.parametrize(
    ("records", "format"),
    [(OBSERVATIONS, "langfuse"), ([LANGFUSE], "langfuse"), (TABLE, "langfuse"),
     ([RUN], "langsmith"), (APART[::-1], "langsmith")],
)  # fmt: skip
def test_the_spans_of_a_trace_are_one_example(records: list[Any], format: str) -> None:
    examples = read(records)
    (example,) = examples
    assert (example.question, example.answer) == ("When?", "At 9.")
    assert [context.text for context in example.contexts or ()] == ["At 9.", "Daily."]
    assert (example.meta["input_tokens"], example.meta["output_tokens"]) == (7, 3)
    assert example.meta["latency"] == 2
    assert examples.format == format


@pytest.mark.parametrize("time", [[], float("nan"), "soon", True, {}, None])
def test_what_is_no_time_and_no_call_breaks_nothing(time: Any) -> None:
    (example,) = read([{**RUN, "start_time": time, "end_time": time}])
    assert example.answer == "At 9."
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "ai", "content": "9", "tool_calls": time},
    ]
    (example,) = read([{"messages": messages}])
    assert example.answer == "9"


@pytest.mark.parametrize(
    ("output", "answer"), [(True, "true"), (5, "5"), ({"a": 1}, '{"a": 1}'), ([1, 2], "[1, 2]")]
)
def test_an_answer_of_a_trace_that_is_json_is_noted(output: Any, answer: str) -> None:
    examples = read([{**OBSERVATIONS[0], "output": output}])
    assert [example.answer for example in examples] == [answer]
    assert [*map(explain, examples.notes)] == [
        "1 answer is JSON, such as an object or a number, and is judged as written."
    ]


def test_a_sentence_as_answer_of_a_trace_is_not_noted() -> None:
    examples = read([{**OBSERVATIONS[0], "output": "9 o'clock."}])
    assert [example.answer for example in examples] == ["9 o'clock."]
    assert examples.notes == []


def test_nan_is_no_answer() -> None:
    """Other tools write it where there is no answer."""
    span = {"id": "x", "traceId": "t", "type": "SPAN", "input": {"question": "When?"}}
    assert [example.answer for example in read([{**span, "output": 3.5}])] == ["3.5"]
    with pytest.raises(DataError, match="a question and its answer"):
        list(read([{**span, "output": float("nan")}]))


def test_a_session_of_a_trace_is_that_of_its_example() -> None:
    (example,) = read([LANGFUSE])
    assert example.session == "c"


def test_a_trace_without_a_question_and_spans_that_are_none_are_faults(tmp_path: Path) -> None:
    nothing = {"id": "x", "traceId": "u", "type": "EVENT", "name": "ping"}
    with pytest.raises(
        DataError, match="expected a question and its answer, got trace u, which has none"
    ):
        list(read([*OBSERVATIONS, nothing]))
    file = tmp_path / "spans.jsonl"
    file.write_text(json.dumps({"resourceSpans": {"no": "list"}}), encoding="utf-8")
    with pytest.raises(DataError, match="expected spans of OpenTelemetry"):
        list(read(file))


def test_what_an_mlflow_trace_was_expected_to_answer_is_the_reference() -> None:
    assessment = {"assessment_name": "expected_response", "expectation": {"value": "9"}}
    attributes = {"mlflow.spanInputs": '"When?"', "mlflow.spanOutputs": '"At 9."'}
    spans = [{"span_id": "1", "parent_id": None, "attributes": attributes}]
    info = {"trace_id": "t", "assessments": [assessment],
            "trace_metadata": {"mlflow.trace.session": "c"}}  # fmt: skip
    trace = {"info": info, "data": {"spans": spans}}
    row = {**info, "request": "When?", "response": "At 9.", "spans": spans}
    apart = {"trace_info": info, "trace_data": {"spans": spans}}
    for record in (trace, apart, {"trace_id": "t", "trace": json.dumps(trace)}, row):
        (example,) = read([record])
        assert (example.question, example.answer) == ("When?", "At 9.")
        assert (example.reference, example.session) == (("9",), "c")


FOUND = json.dumps([{"text": "At 9."}, {"text": "Daily."}])
MESSAGE = {"role": "assistant", "parts": [{"type": "text", "content": "At 9."}]}
QUESTION = {"role": "user", "parts": [{"type": "text", "content": "When?"}]}
RESULT = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": FOUND}]}


def span(number: int, name: str, **attributes: str) -> dict[str, Any]:
    return {
        "traceId": "1" * 32, "spanId": f"{number:016x}", "name": name,
        "parentSpanId": f"{1:016x}" if number > 1 else "",
        "startTimeUnixNano": f"179000000000000000{number}", "kind": 1,
        "endTimeUnixNano": "1790000000000000009",
        "attributes": [{"key": key, "value": {"stringValue": value}}
                       for key, value in attributes.items()],
    }  # fmt: skip


CALL = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps([MESSAGE])}
AGENT = {**CALL, "gen_ai.input.messages": json.dumps([QUESTION])}


@pytest.mark.parametrize(
    "spans",
    [
        [span(1, "agent", **AGENT),
         span(2, "execute_tool search", **{"gen_ai.operation.name": "execute_tool",
                                           "gen_ai.tool.call.result": FOUND})],
        [span(1, "agent", **AGENT),
         span(2, "retrieve.task", **{"traceloop.span.kind": "task",
                                     "traceloop.entity.output": FOUND})],
        [span(1, "chat", **{**CALL, "gen_ai.input.messages": json.dumps([QUESTION, RESULT])})],
    ],
)  # fmt: skip
def test_what_a_tool_or_a_task_found_is_context(spans: list[dict[str, Any]]) -> None:
    pytest.importorskip("opentelemetry.proto")
    (example,) = read([{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}])
    assert (example.question, example.answer) == ("When?", "At 9.")
    assert [context.text for context in example.contexts or ()] == ["At 9.", "Daily."]


def test_a_choice_in_an_event_may_be_json_text() -> None:
    pytest.importorskip("opentelemetry.proto")
    events = [
        {"name": name, "attributes": [{"key": key, "value": {"stringValue": text}}]}
        for name, key, text in (
            ("gen_ai.user.message", "content", "When?"),
            ("gen_ai.choice", "message", json.dumps({"role": "assistant", "content": "At 9."})),
        )
    ]
    called = {**span(1, "chat", **{"gen_ai.operation.name": "chat"}), "events": events}
    (example,) = read([{"resourceSpans": [{"scopeSpans": [{"spans": [called]}]}]}])
    assert (example.question, example.answer) == ("When?", "At 9.")


def test_attributes_that_phoenix_nests_are_read() -> None:
    where = {"trace_id": "t", "span_id": "a"}
    documents = [{"document": {"content": "At 9."}}]
    attributes = {"input": {"value": "When?"}, "output": {"value": "At 9."},
                  "retrieval": {"documents": documents}}  # fmt: skip
    row = {"name": "rag", "parent_id": None, "context": where, "attributes": attributes}
    for record in (
        row,
        {**row, "context": json.dumps(where), "attributes": json.dumps(attributes)},
    ):
        (example,) = read([record])
        assert (example.question, example.answer) == ("When?", "At 9.")
        assert [context.text for context in example.contexts or ()] == ["At 9."]


def test_a_span_that_cannot_be_read_is_a_fault_of_the_file() -> None:
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "ask",
            "startTimeUnixNano": str(10**18), "endTimeUnixNano": str(10**18 + 1),
            "attributes": [{"key": "input.value", "value": {"stringValue": "When?"}},
                           {"key": "output.value", "value": {"stringValue": "At 9."}}]}  # fmt: skip
    rows = [{"resourceSpans": [{"scopeSpans": [{"spans": [each]}]}]}
            for each in (span, {**span, "spanId": "short"})]  # fmt: skip
    with pytest.raises(DataError, match="a span that can be read"):
        list(read(rows))
    examples = read(rows, skip_bad=True)
    assert [example.answer for example in examples] == ["At 9."]
    assert len(examples.rejected) == 1


@pytest.mark.parametrize("id", [None, ""])
def test_traces_and_spans_without_an_id_stay_apart(id: str | None) -> None:
    questions = ("When?", "Who?")
    spans = [{"span_id": id, "name": "ask", "attributes": {"mlflow.spanInputs": {"question": text},
              "mlflow.spanOutputs": {"answer": "So."}}} for text in questions]  # fmt: skip
    traces = [
        {"info": {"trace_id": id, "state": "OK"}, "data": {"spans": [span]}} for span in spans
    ]
    assert [example.question for example in read(traces)] == list(questions)
    found = {"id": id, "type": "RETRIEVER", "input": "When?", "output": [{"content": "At 9."}]}
    said = {"id": id, "type": "GENERATION", "input": "When?", "output": "At 9."}
    (example,) = read([{"id": "t", "input": "When?", "output": "At 9.",
                        "observations": [found, said]}])  # fmt: skip
    assert [context.text for context in example.contexts or ()] == ["At 9."]


@pytest.mark.parametrize(
    "time",
    ["2026-11-28T08:00:00", "2026-11-28T08:00:00+00:00", "2026-11-28T10:00:00+02:00",
     1_795_852_800, 1_795_852_800.0, 1_795_852_800_000, 1_795_852_800 * 10**6,
     1_795_852_800 * 10**9, str(1_795_852_800 * 10**9)],
)  # fmt: skip
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_a_time_is_the_same_however_it_is_written_and_wherever_it_is_read(
    time: Any, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    clock.tzset()
    try:
        (example,) = read([{**RUN, "start_time": time, "end_time": time}])
    finally:
        monkeypatch.undo()
        clock.tzset()
    assert example.meta["at"] == 1_795_852_800
