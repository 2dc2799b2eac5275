"""Trace files: exports of OpenTelemetry, Langfuse, MLflow and LangSmith; an example per answer.

Rows become spans, folded like those a monitor receives, by the same attributes: see
``traces/attribute_names.py``.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ragstone.core.errors import needing
from ragstone.data.documents import documents_in
from ragstone.data.json_text import BadRow, Problem, object_or_empty, objects_in, opened
from ragstone.data.sources import Row
from ragstone.data.tool_results import SEARCHES

Record = Mapping[str, Any]

OBSERVATIONS = frozenset((
    "SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EMBEDDING",
    "EVALUATOR", "GUARDRAIL",
))  # fmt: skip
# Column names in tables of observations, and what the API calls them.
API_NAMES = {
    "trace_id": "traceId", "start_time": "startTime", "end_time": "endTime",
    "parent_observation_id": "parentObservationId", "usage_details": "usageDetails",
    "status_message": "statusMessage", "provided_model_name": "model",
}  # fmt: skip
_SECOND = 10**9
# Nanoseconds in what times of our century are counted in.
_FACTORS = (1, 10**3, 10**6, _SECOND)
# Endings of the names of times in spans of MLflow.
_UNITS = ("_time_unix_nano", "_time_ns", "_time")


def trace_format(record: Record) -> str | None:
    """Return the format of a span or trace; None for any other record."""
    if "resourceSpans" in record or "resource_spans" in record:
        return "otlp"
    if record.keys() & {"traceId", "trace_id"} and str(record.get("type")) in OBSERVATIONS:
        return "langfuse"
    if objects_in(record.get("observations")):
        return "langfuse"
    if _of_mlflow(record) is not None:
        return "mlflow"
    runs = {"child_runs", "trace_id", "parent_run_id", "dotted_order"}
    return "langsmith" if "run_type" in record and record.keys() & runs else None


def trace_examples(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the examples of all traces; their spans may stand anywhere, so all are read first."""
    from ragstone.data.traces import TracePart, UnreadableBody, fold
    from ragstone.data.traces.span_tree import tree_of
    from ragstone.data.traces.traces_to_examples import answers_in

    lines: dict[str, int | None] = {}
    parts: dict[str, list[TracePart]] = {}
    spans: dict[str, dict[str | int, Any]] = {}
    for line, record in rows:
        kind = trace_format(record) if isinstance(record, Mapping) else None
        if kind is None or not isinstance(record, Mapping):
            yield line, record
        elif kind == "otlp":
            try:
                received = _received(record)
            except UnreadableBody as error:
                yield line, BadRow("", Problem("", "spans of OpenTelemetry", str(error)))
                continue
            for why, _ in received.malformed:
                yield (
                    line,
                    BadRow("", Problem("", "a span that can be read", why.replace("_", " "))),
                )
            for part in received.parts:
                lines.setdefault(part.trace, line)
                parts.setdefault(part.trace, []).append(part)
        else:
            for trace, span in READERS[kind](record, f"in line {line}"):
                lines.setdefault(trace, line)
                of_trace = spans.setdefault(trace, {})
                of_trace[span.id or len(of_trace)] = span
    for trace, line in lines.items():
        if trace in parts:
            traced = list(fold(parts[trace]).examples)
        else:
            in_order = sorted(spans[trace].values(), key=lambda span: (span.start, span.id))
            tree = tree_of(in_order)
            traced = [] if tree is None else answers_in(tree, trace)
        if not traced:
            lacks = f"trace {trace}, which has none"
            yield line, BadRow("", Problem("", "a question and its answer", lacks))
        for answer in traced:
            yield line, answer.with_facts(*_FACTS)


def _received(record: Record) -> Any:
    from ragstone.data.traces.spans import OTLP

    with needing(OTLP, "otlp"):
        from ragstone.data.traces.otlp import read_traces
    return read_traces(json.dumps(record).encode(), json=True)


_FACTS = ("at", "latency", "input_tokens", "output_tokens", "user", "error")


def _span(
    id: Any, parent: Any, name: Any, times: tuple[Any, Any], attributes: Record, error: Any = None
) -> Any:
    from ragstone.data.traces.spans import TraceSpan

    start, end = map(_nanoseconds, times)
    known = {key: value for key, value in attributes.items() if value is not None}
    return TraceSpan(
        str(id or ""), str(parent or ""), str(name or ""), start, max(start, end), known, {},
        str(error) if error else None,
    )  # fmt: skip


def _nanoseconds(time: Any) -> int:
    """Return a time of any spelling in nanoseconds since 1970; 0 for what is no time.

    A time without a zone is in UTC. A number tells its unit by its size.
    """
    try:
        if isinstance(time, str) and not time.isdecimal():
            time = datetime.fromisoformat(time)
        if isinstance(time, datetime):
            return int(time.replace(tzinfo=time.tzinfo or UTC).timestamp() * _SECOND)
        factors = (factor for factor in _FACTORS if 10**18 <= float(time) * factor < 10**19)
        return int(float(time) * factor) if (factor := next(factors, 1)) > 1 else int(time)
    except (TypeError, ValueError, OverflowError):
        return 0


def _of_mlflow(record: Record) -> tuple[Record, Record] | None:
    """Return info and data of a trace, or of a row that ``search_traces`` gives."""
    for names in ("info", "data"), ("trace_info", "trace_data"):
        info, data = map(object_or_empty, map(record.get, names))
        if info and "spans" in data:
            return info, data
    if "trace" in record and (trace := object_or_empty(opened(record["trace"]))):
        return _of_mlflow(trace)
    is_row = record.keys() >= {"trace_id", "request", "response"} and objects_in(
        record.get("spans")
    )
    return (record, record) if is_row else None


def _langfuse(record: Record, unnamed: str) -> Iterator[tuple[str, Any]]:
    record = {API_NAMES.get(name, name): value for name, value in record.items()}
    observations = objects_in(record.get("observations"))
    trace = str(record.get("traceId") or record.get("id") or unnamed)
    if "traceId" not in record:
        about = {
            "langfuse.trace.input": record.get("input"),
            "langfuse.trace.output": record.get("output"),
            "langfuse.trace.metadata": record.get("metadata"),
            "langfuse.session.id": record.get("sessionId"),
            "langfuse.user.id": record.get("userId"),
            "langfuse.version": record.get("version"),
            "langfuse.environment": record.get("environment"),
        }
        ends = [str(item["endTime"]) for item in observations if item.get("endTime")]
        times = record.get("timestamp"), max(ends, default=record.get("timestamp"))
        yield trace, _span(f"trace {trace}", "", record.get("name"), times, about)
    for item in map(_opened_texts, observations or [record]):
        kind = str(item.get("type")).lower()
        searches = SEARCHES.search(str(item.get("name")))
        if kind == "span" and searches and documents_in(item.get("output")):
            kind = "retriever"
        parent = item.get("parentObservationId")
        root = f"trace {trace}" if observations else ""
        attributes = {
            "langfuse.observation.type": kind,
            "langfuse.observation.input": item.get("input"),
            "langfuse.observation.output": item.get("output"),
            "langfuse.observation.model.name": item.get("model"),
            "langfuse.observation.usage_details": item.get("usageDetails", item.get("usage")),
            "metadata": item.get("metadata"),
        }
        times = item.get("startTime"), item.get("endTime") or item.get("startTime")
        error = item.get("statusMessage") if item.get("level") == "ERROR" else None
        id, name = item.get("id"), item.get("name")
        yield trace, _span(id, parent or root, name, times, attributes, error)


def _mlflow(record: Record, unnamed: str) -> Iterator[tuple[str, Any]]:
    info, data = _of_mlflow(record) or ({}, {})
    trace = str(info.get("trace_id") or info.get("request_id") or unnamed)
    for span in objects_in(data["spans"]):
        parent = span.get("parent_span_id", span.get("parent_id"))
        attributes = dict(object_or_empty(span.get("attributes")))
        if not parent:
            attributes |= object_or_empty(info.get("trace_metadata"))
            attributes.setdefault("mlflow.spanInputs", data.get("request"))
            attributes.setdefault("mlflow.spanOutputs", data.get("response"))
            attributes |= {"ai.observability.record_root.ground_truth_output": _expected(info)}
        start, end = (
            next(filter(None, (span.get(f"{end}{unit}") for unit in _UNITS)), None)
            for end in ("start", "end")
        )
        id = span.get("span_id") or object_or_empty(span.get("context")).get("span_id")
        yield trace, _span(id, parent, span.get("name"), (start, end), attributes)


def _expected(info: Record) -> Any:
    for assessment in objects_in(info.get("assessments")):
        if assessment.get("assessment_name") in ("expected_response", "expected_output"):
            return object_or_empty(assessment.get("expectation")).get("value")
    return None


def _langsmith(record: Record, unnamed: str) -> Iterator[tuple[str, Any]]:
    trace = str(record.get("trace_id") or record.get("id") or unnamed)
    stack = [(record, record.get("parent_run_id"))]
    while stack:
        run, parent = stack.pop()
        extra = object_or_empty(run.get("extra"))
        attributes = {
            "openinference.span.kind": run.get("run_type"),
            "input.value": run.get("inputs"),
            "output.value": run.get("outputs"),
            "metadata": extra.get("metadata"),
            "gen_ai.usage.input_tokens": run.get("prompt_tokens"),
            "gen_ai.usage.output_tokens": run.get("completion_tokens"),
            "openinference.project.name": run.get("session_name"),
        }
        times = run.get("start_time"), run.get("end_time") or run.get("start_time")
        id, name = run.get("id"), run.get("name")
        yield trace, _span(id, parent, name, times, attributes, run.get("error"))
        stack += [(child, run.get("id")) for child in objects_in(run.get("child_runs"))]


def _opened_texts(observation: Record) -> Record:
    """Return an observation with its usage and metadata opened, which tables hold as JSON text."""
    details = observation.keys() & {"usage", "usageDetails", "metadata"}
    return {**observation, **{name: opened(observation[name]) for name in details}}


READERS = {"langfuse": _langfuse, "mlflow": _mlflow, "langsmith": _langsmith}
