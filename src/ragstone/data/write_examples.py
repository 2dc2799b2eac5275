"""Example files: examples written as JSON Lines, CSV, Parquet and tables; fingerprints of data.

Every form is read back without loss. The same data has the same fingerprint on every machine.
"""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.escape import cell
from ragstone.core.parquet import write_parquet

from .example import NOTHING, Context, Example, Turn
from .sources import on_disk, plain

CONTEXT = pl.Struct({"id": pl.String, "text": pl.String, "rank": pl.Int64, "score": pl.Float64})
TURN = pl.Struct({"role": pl.String, "text": pl.String})
GRADE = pl.Struct({"id": pl.String, "grade": pl.Int64})
# ``contexts`` and ``reference_contexts`` are null where an example has none; the last three
# columns are JSON text.
SCHEMA = {
    "id": pl.String(),
    "question_id": pl.String(),
    "system": pl.String(),
    "question": pl.String(),
    "answer": pl.String(),
    "reference": pl.List(pl.String),
    "contexts": pl.List(CONTEXT),
    "history": pl.List(TURN),
    "policy": pl.String(),
    "evidence": pl.List(pl.String),
    "reference_contexts": pl.List(GRADE),
    "criteria": pl.List(pl.String),
    "slices": pl.String(),
    "labels": pl.String(),
    "meta": pl.String(),
}


# Columns that earlier versions did not write.
ADDED_LATER = ("criteria",)


def to_frame(examples: Sequence[Example]) -> pl.DataFrame:
    """Return one row an example, in order."""
    columns: dict[str, Any] = {name: list(map(attrgetter(name), examples)) for name in SCHEMA}
    for name in ("slices", "labels", "meta"):
        columns[name] = list(map(_json, columns[name]))
    of_context, of_turn = attrgetter("id", "text", "rank", "score"), attrgetter("role", "text")
    columns["contexts"] = _lists(columns["contexts"], CONTEXT, of_context)
    columns["history"] = _lists(columns["history"], TURN, of_turn)
    grades = columns["reference_contexts"]
    columns["reference_contexts"] = _lists(
        [None if known is None else list(known.items()) for known in grades], GRADE, tuple
    )
    return pl.DataFrame(columns, schema=SCHEMA)


def from_frame(frame: pl.DataFrame) -> list[Example]:
    """Return the examples of a table that ``to_frame`` made."""
    examples = []
    lacking = {name: pl.lit(None, SCHEMA[name]) for name in ADDED_LATER if name not in frame}
    for row in frame.with_columns(**lacking).select(*SCHEMA).iter_rows(named=True):
        contexts, grades = row["contexts"], row["reference_contexts"]
        for name in ("reference", "evidence", "criteria"):
            row[name] = tuple(row[name] or ())
        row["history"] = tuple(Turn(turn["role"], turn["text"]) for turn in row["history"])
        if contexts is not None:
            row["contexts"] = tuple(
                Context(c["id"], c["text"], c["rank"], c["score"]) for c in contexts
            )
        if grades is not None:
            row["reference_contexts"] = {grade["id"]: grade["grade"] for grade in grades}
        for name in ("slices", "labels", "meta"):
            row[name] = json.loads(row[name]) or NOTHING
        examples.append(Example(**row))
    return examples


def _lists(
    lists: Sequence[Sequence[Any] | None], item: pl.Struct, values: Callable[[Any], tuple[Any, ...]]
) -> pl.Series:
    """Build a column of lists of records flat: one Series for all lists, not one for each."""
    flat = [values(entry) for items in lists for entry in items or ()]
    if not flat:
        return pl.Series([None if items is None else [] for items in lists], dtype=pl.List(item))
    schema = item.to_schema()
    fields_of_items = dict(zip(schema, zip(*flat, strict=True), strict=True))
    records = pl.DataFrame(fields_of_items, schema=schema).to_struct()
    if len(lists) == 1:  # A single example is scored while somebody waits.
        return records.implode()
    rows = [row for row, items in enumerate(lists) for _ in items or ()]
    items = pl.DataFrame({"row": pl.Series(rows, dtype=pl.UInt32), "item": records})
    gathered = items.group_by("row", maintain_order=True).agg("item")
    present = pl.DataFrame(
        {
            "row": pl.Series(range(len(lists)), dtype=pl.UInt32),
            "given": pl.Series([items is not None for items in lists], dtype=pl.Boolean),
        }
    )
    empty = pl.lit(pl.Series([[]], dtype=pl.List(item))).first()
    return (
        present.join(gathered, on="row", how="left", maintain_order="left")
        .select(pl.when("given").then(pl.col("item").fill_null(empty)))
        .to_series()
        .rechunk()
    )


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=False) if values else "{}"


FIELDS = tuple(each.name for each in fields(Example))
CHUNK = 1 << 20
DIGEST_SIZE = 16


def fingerprint_files(paths: Sequence[Path]) -> str:
    """Hash the bytes on disk (BLAKE2b-128); of several files, names and bytes in order of name."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    paths = [on_disk(path) for path in paths]
    for path in sorted(paths, key=lambda path: path.name):
        if len(paths) > 1:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as handle:
            while chunk := handle.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def fingerprint_records(records: Iterable[Mapping[str, Any]]) -> str:
    """Hash the records' JSON text (BLAKE2b-128) with sorted names, one a line."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    for record in records:
        text = json.dumps(record, sort_keys=True, ensure_ascii=False, default=str)
        digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


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
    """Return the example as a JSON object in Ragstone's own field names."""
    record: dict[str, Any] = {name: getattr(example, name) for name in FIELDS}
    record |= {name: list(record[name]) for name in ("reference", "evidence", "criteria")}
    record |= {name: dict(record[name]) for name in ("slices", "labels", "meta")}
    record["history"] = [{"role": turn.role, "text": turn.text} for turn in example.history]
    if example.contexts is not None:
        record["contexts"] = [
            {"id": context.id, "text": context.text, "rank": context.rank, "score": context.score}
            for context in example.contexts
        ]
    if example.reference_contexts is not None:
        record["reference_contexts"] = dict(example.reference_contexts)
    return record


def record_text(item: object) -> str:
    """Return a record as JSON text, or as it is written if it is no JSON."""
    if isinstance(item, str):
        return item
    record = as_record(item) if isinstance(item, Example) else item
    try:
        return json.dumps(record, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(record)


def plain_record(record: object) -> Mapping[str, Any]:
    """Return a record in memory as plain data, for its fingerprint."""
    if isinstance(record, Example):
        return as_record(record)
    try:
        value = plain(record)
    except RecursionError:
        value = None
    return {str(k): v for k, v in value.items()} if isinstance(value, dict) else {"": str(value)}


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
