"""Following: how fast what a monitor received is folded, checked and drawn, on one core.

    python benchmarks/following.py [--traces 2000]

Texts are those of MTRAG's people-labelled answers where they lie beside the repository, else the
bundled demo's. Each trace has three spans, protobuf; everything is committed to SQLite with full
synchronisation, as the worker does it. Judging by models is not in it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, time

from labelled import file_of
from measure import run
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from traffic import BATCH, Attributes, request, span

from ragstone import read
from ragstone.data import Example, cornwall
from ragstone.data.traces import Redaction
from ragstone.data.traces.otlp import read_traces
from ragstone.monitor.duties.draw_answers import draw_answers
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.store import MonitorStore, open_store


def main(traces: int = 2_000) -> None:
    mtrag = file_of("MTRAG")
    name, file = ("MTRAG", mtrag) if mtrag.is_file() else ("the demo", cornwall())
    examples = [row for row in read(file) if row.answer and row.contexts and row.question]
    with TemporaryDirectory() as folder:
        store = open_store(folder)
        receive(store, list(islice(cycle(examples), traces)))
        contexts = sum(len(example.contexts or ()) for example in examples) / len(examples)
        print(f"{traces:,} traces of {name}: {len(examples):,} answers, {contexts:.1f} contexts "
              f"each\n\n{'step':<28}{'a second':>12}{'a second of one core':>24}")  # fmt: skip
        measured("fold and settle", traces, Folding(store).fold_all)
        checking = partial(check_answers, store, usual_guard(), time)
        drawing = partial(draw_answers, store, SamplingSettings(), JudgingSettings(), time)
        with store.database.reading() as query:
            ((count,),) = query("SELECT count(*) FROM examples")
        measured("check by the guard", count, lambda: through(checking))
        measured("draw", count, lambda: through(drawing))
        size = store.database.size() / count
        print(f"\n{count:,} answers assessed; {size / 1000:.1f} kB a trace with all of that")
        store.close()


def receive(store: MonitorStore, examples: list[Example]) -> None:
    """Put them into the store, as the intake does."""
    redaction = Redaction()
    for start in range(0, len(examples), BATCH):
        batch = enumerate(examples[start : start + BATCH], start + 1)
        data = request(
            {"service.name": "bench"},
            (made for number, example in batch for made in spans(number, example)),
        )
        body = read_traces(data.SerializeToString(), json=False, redaction=redaction)
        with store.database.transaction() as query:
            query.many(
                "INSERT INTO received (trace, kind, at, body) VALUES (?, ?, ?, ?)",
                [(part.trace, part.kind, time(), part.body) for part in body.parts],
            )


def spans(number: int, example: Example) -> Iterator[Span]:
    documents: Attributes = {
        f"retrieval.documents.{rank}.document.{name}": value
        for rank, context in enumerate(example.contexts or ())
        for name, value in (("id", context.id), ("content", context.text or ""))
        if value is not None
    }
    texts: Attributes = {"input.value": example.question or "",
                         "output.value": example.answer or ""}  # fmt: skip
    steps: list[Attributes] = [
        {**texts, "openinference.span.kind": "CHAIN"},
        {**documents, "openinference.span.kind": "RETRIEVER"},
        {"openinference.span.kind": "LLM", "llm.model_name": "m"},
    ]
    trace = number.to_bytes(16, "big")
    for step, attributes in enumerate(steps, 1):
        parent = (1).to_bytes(8, "big") if step > 1 else b""
        yield span(trace, step.to_bytes(8, "big"), parent, "step", attributes)


def through(step: Callable[[], int]) -> None:
    while step():
        pass


def measured(name: str, n: int, work: Callable[[], object]) -> None:
    wall, cpu = perf_counter(), process_time()
    work()
    wall, cpu = perf_counter() - wall, process_time() - cpu
    print(f"{name:<28}{n / wall:>12,.0f}{n / cpu:>24,.0f}")


if __name__ == "__main__":
    run(main)
