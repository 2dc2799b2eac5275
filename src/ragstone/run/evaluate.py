"""Evaluate: examples in, judged and scored, a run out."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ragstone.errors import InputError
from ragstone.examples import (
    Example,
    Examples,
    LabelRows,
    fingerprint_files,
    read,
    read_labels,
    with_labels,
)
from ragstone.judges import MARKERS, parse_judges
from ragstone.metrics import Metric

from .asked import asked_for, own_definitions
from .evaluation import Evaluation
from .folder import Folder
from .manifest import VERSION
from .progress import Report
from .run import Run
from .violations import ViolationList


def evaluate(
    data: Any,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    suites: str | Sequence[str] = (),
    judge: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    cluster: str = "question_id",
    out: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    qrels: str | Path | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    citations: str = MARKERS,
    progress: Report | None = None,
) -> Run:
    """Judge examples, score them, and keep everything in a run folder.

    Args:
        data: A path, an iterable of mappings or examples, or a pandas, Polars or
            Arrow table; see ``ragstone.read``.
        metrics: Metrics or their text forms, such as ``precision(k=5)``; one, or
            several.
        suites: Names of suites. With neither, ``quick``: what the data and the
            judges allow.
        judge: Who judges, in order: ``local``, ``human``, ``human:FILE``. None:
            the labels in the data, and ``local`` for the rest.
        by: Fields to group by; ``system`` always is one.
        cluster: The field whose equal values share their fate in every interval.
        out: The run folder. It goes on if it holds a run of the same data and
            settings. None: a temporary folder.
        columns: Ragstone's field names to the data's.
        qrels: Judged ids for a TREC run.
        skip_bad: Leave bad records out and keep them beside the run.
        limit: Read so many examples at the most.
        citations: The pattern of the markers by which an answer cites; what its
            first group holds names a context, by id or rank.
        progress: Called after each block.

    Raises:
        DataError: Records that cannot be read, all of them.
        InputError: Unknown metrics, judges, suites or fields; a run folder that
            holds something else.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit must be 1 or more, not {limit}.")
    fields = _names(by)
    panel = parse_judges(_names(judge), citations)
    chosen = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    asked = asked_for(chosen, _names(suites), else_quick=True)
    examples = read(
        data,
        columns=columns or {},
        skip_bad=skip_bad,
        limit=limit,
        qrels=None if qrels is None else Path(qrels),
    )
    label_files = [read_labels(path) for path in panel.label_files]
    settings = {
        "ragstone": VERSION,
        "data": examples.fingerprint(),
        "labels": [fingerprint_files([path]) for path in panel.label_files],
        "metrics": [str(metric) for metric in asked.metrics],
        "definitions": own_definitions(asked.metrics),
        "suites": list(asked.suites),
        "judges": [judge.name for judge in panel.judges],
        "citations": citations,
        "by": list(fields),
        "cluster": cluster,
        "columns": dict(columns or {}),
        "limit": limit,
        "skip_bad": skip_bad,
    }
    temporary = out is None
    folder = Folder(Path(mkdtemp(prefix="ragstone-") if out is None else out))
    existed = not temporary and folder.path.exists()
    held = folder.prepare(settings)
    if held.get("finished"):
        return Run(folder.path, temporary=temporary)
    started = time.perf_counter()
    evaluation = Evaluation(folder, settings, asked, panel.judges, fields)
    try:
        evaluation.begin()
        broken = ViolationList(folder.path / "label_violations.jsonl")
        stream = broken.watch(_labelled(iter(examples), label_files))
        evaluation.judge(stream, lambda: _fraction(examples), progress)
        _write_rejected(folder.path / "rejected.jsonl", examples)
        facts = {
            "source": examples.source,
            "format": examples.format,
            "fingerprint": settings["data"],
            "rejected": len(examples.rejected),
            "label_violations": dict(broken.counts),
        }
        evaluation.finish(facts, started, progress)
    except InputError:
        if not held:
            folder.drop(keep_folder=existed)
        raise
    return Run(folder.path, temporary=temporary)


def _names(given: str | Sequence[str]) -> Sequence[str]:
    """One name stands for a list of one."""
    return [given] if isinstance(given, str) else given


def _labelled(examples: Iterator[Example], files: Sequence[LabelRows]) -> Iterator[Example]:
    for example in examples:
        yield reduce(with_labels, files, example)


def _fraction(examples: Examples) -> float | None:
    if not examples.size_bytes:
        return None
    return min(1.0, (examples.read_bytes or 0) / examples.size_bytes)


def _write_rejected(path: Path, examples: Examples) -> None:
    if not examples.rejected:
        return
    with path.open("w", encoding="utf-8") as handle:
        for one in examples.rejected:
            faults = [str(fault) for fault in one.faults]
            record = {"line": one.line, "record": one.record, "faults": faults}
            handle.write(json.dumps(record, ensure_ascii=False) + "\n")
