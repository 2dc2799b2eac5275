"""Writing examples: JSON Lines, CSV and Parquet, each read back as it was."""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ragstone.core.errors import InputError
from ragstone.core.escape import cell
from ragstone.core.parquet import write_parquet
from ragstone.examples.example import Context, Example
from ragstone.examples.table import to_frame

WRITTEN = (".jsonl", ".jsonl.gz", ".csv", ".parquet")


def write(examples: Iterable[Example], path: str | Path) -> None:
    """Write examples in the format given by the file's extension.

    CSV cannot distinguish an empty text from a missing one; the other formats keep
    every example exactly, but for a session of another name, such as ``thread_id`` in
    ``slices``, that is read back as ``session``.

    Raises:
        InputError: The extension is not .jsonl, .jsonl.gz, .csv or .parquet.
    """
    path = Path(path)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        with _text_file(path) as file:
            for example in examples:
                file.write(json.dumps(as_record(example), ensure_ascii=False) + "\n")
    elif path.name.endswith(".csv"):
        with _text_file(path) as file:
            writer: csv.DictWriter[str] | None = None
            for example in examples:
                record = as_record(example)
                if writer is None:
                    writer = csv.DictWriter(file, list(record))
                    writer.writeheader()
                writer.writerow({name: _cell(value) for name, value in record.items()})
    elif path.name.endswith(".parquet"):
        write_parquet(to_frame(list(examples)), path)
    else:
        raise InputError(f"Examples are written to {', '.join(WRITTEN)}, not to {path.name!r}.")


def as_record(example: Example) -> dict[str, Any]:
    """The example as a JSON object in Ragstone's own field names."""
    return {
        "id": example.id,
        "question_id": example.question_id,
        "system": example.system,
        "question": example.question,
        "contexts": None
        if example.contexts is None
        else [_context_record(context) for context in example.contexts],
        "answer": example.answer,
        "reference": list(example.reference),
        "history": [{"role": turn.role, "text": turn.text} for turn in example.history],
        "policy": example.policy,
        "evidence": list(example.evidence),
        "reference_contexts": None
        if example.reference_contexts is None
        else dict(example.reference_contexts),
        "slices": dict(example.slices),
        "labels": dict(example.labels),
        "meta": dict(example.meta),
    }


def _context_record(context: Context) -> dict[str, Any]:
    return {
        "id": context.id,
        "text": context.text,
        "rank": context.rank,
        "score": context.score,
    }


def _cell(value: object) -> object:
    if value is None or isinstance(value, str):
        return value if value is None else cell(value)
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def _text_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing; the same text gives the same bytes, even compressed."""
    with path.open("wb") as disk:
        if path.suffix == ".gz":
            with (
                gzip.GzipFile("", "wb", fileobj=disk, mtime=0) as packed,
                io.TextIOWrapper(packed, "utf-8", newline="") as file,
            ):
                yield file
        else:
            with io.TextIOWrapper(disk, "utf-8", newline="") as file:
                yield file
