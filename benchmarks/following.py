"""Following: how fast what a monitor received is folded, checked and drawn, on one core.

    python benchmarks/following.py [TRACES]

Texts are those of MTRAG's people-labelled answers where they lie beside the repository, else the
bundled demo's. Each trace has three spans, protobuf; everything is committed to SQLite with full
synchronisation, as the worker does it. Judging by models is not in it.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, time
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from ragstone import read
from ragstone.data import Example
from ragstone.monitor.duties.draw_answers import draw_answers
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.traces import Redaction, read_traces

MTRAG = Path(__file__).resolve().parents[2] / "shared" / "data" / "rag_quality_mtrag"
DEMO = Path(__file__).resolve().parents[1] / "src" / "ragstone" / "data"
TRACES = 2_000
BATCH = 100


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    name, examples = texts()
    with TemporaryDirectory() as folder:
        store = open_store(folder)
        receive(store, list(islice(cycle(examples), n)))
        contexts = sum(len(one.contexts or ()) for one in examples) / len(examples)
        print(f"{n:,} traces of {name}: {len(examples):,} answers, {contexts:.1f} contexts each\n")
        print(f"{'step':<28}{'a second':>12}{'a second of one core':>24}")
        measured("fold and settle", n, Folding(store).fold_all)
        checking = partial(check_answers, store, usual_guard(), time)
        drawing = partial(draw_answers, store, SamplingSettings(), JudgingSettings(), time)
        found = int(rows(store, "SELECT count(*) FROM examples"))
        measured("check by the guard", found, lambda: through(checking))
        measured("draw", found, lambda: through(drawing))
        size = store.database.size() / found
        print(f"\n{found:,} answers assessed; {size / 1000:.1f} kB a trace with all of that")
        store.close()


def texts() -> tuple[str, list[Example]]:
    """The texts, with a name for them."""
    for folder, name in ((MTRAG, "MTRAG"), (DEMO, "the demo")):
        for file in sorted(folder.glob("*.jsonl*")):
            found = [one for one in read(file) if one.answer and one.contexts and one.question]
            if found:
                return name, found
    raise SystemExit("No texts are there.")


def receive(store: MonitorStore, examples: list[Example]) -> None:
    """Put them into the store, as the intake does."""
    redaction = Redaction()
    for start in range(0, len(examples), BATCH):
        data = TracesData()
        group = data.resource_spans.add()
        group.resource.attributes.extend(attributes({"service.name": "bench"}))
        scope = group.scope_spans.add()
        for number, one in enumerate(examples[start : start + BATCH], start):
            scope.spans.extend(spans(number, one))
        body = read_traces(data.SerializeToString(), json=False, redaction=redaction)
        with store.database.transaction() as run:
            run.many(
                "INSERT INTO received (trace, kind, at, body) VALUES (?, ?, ?, ?)",
                [(part.trace, part.kind, time(), part.body) for part in body.parts],
            )


def spans(number: int, one: Example) -> Iterator[Span]:
    documents: dict[str, Any] = {}
    for place, context in enumerate(one.contexts or ()):
        documents[f"retrieval.documents.{place}.document.id"] = context.id
        documents[f"retrieval.documents.{place}.document.content"] = context.text or ""
    said = {"input.value": one.question or "", "output.value": one.answer or ""}
    root = said | {"openinference.span.kind": "CHAIN"}
    yield span(number, 1, 0, root)
    yield span(number, 2, 1, documents | {"openinference.span.kind": "RETRIEVER"})
    yield span(number, 3, 1, {"openinference.span.kind": "LLM", "llm.model_name": "m"})


def span(number: int, id: int, parent: int, said: dict[str, Any]) -> Span:
    start = 1_790_000_000_000_000_000
    return Span(
        trace_id=(number + 1).to_bytes(16, "big"),
        span_id=id.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name="step",
        start_time_unix_nano=start,
        end_time_unix_nano=start + 1_000_000_000,
        attributes=attributes(said),
    )


def attributes(said: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=name, value=AnyValue(string_value=one)) for name, one in said.items()]


def through(step: Callable[[], int]) -> None:
    while step():
        pass


def measured(name: str, n: int, do: Any) -> None:
    wall, cpu = perf_counter(), process_time()
    do()
    wall, cpu = perf_counter() - wall, process_time() - cpu
    print(f"{name:<28}{n / wall:>12,.0f}{n / cpu:>24,.0f}")


def rows(store: MonitorStore, statement: str) -> Any:
    with store.database.reading() as run:
        return run(statement)[0][0]


if __name__ == "__main__":
    main()
