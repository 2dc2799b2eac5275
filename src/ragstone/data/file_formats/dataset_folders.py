"""Dataset folders: Hugging Face datasets on disk, as Arrow stream files, and BEIR folders.

A stream file is a schema followed by record batches. Polars gets each batch with the schema as a
stream by itself, so only a single batch is in memory. A BEIR corpus is streamed once, and only
the texts of documents that some run retrieved stay in memory.
"""

import io
import json
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

from ragstone.core.errors import DataError
from ragstone.data.example import Context, Example
from ragstone.data.json_text import BadRow, Problem, ascii_safe, object_or_empty, objects_in, shown
from ragstone.data.sources import Row, Source, plain_rows
from ragstone.data.text_files import BrokenFileError, Meter, opened

from .json_documents import json_line_rows
from .table_files import UNREADABLE, unreadable
from .trec import Faults, example, read_qrels, read_runs

CONTINUATION = b"\xff\xff\xff\xff"
END_OF_STREAM = CONTINUATION + b"\0\0\0\0"
PIECE = 1 << 20
SCHEMA, DICTIONARY, RECORD_BATCH = 1, 2, 3


def arrow_dataset(name: str, files: tuple[Path, ...]) -> Source:
    """Return one split of a dataset, as ``save_to_disk`` and the cache write it."""
    return Source(name, partial(_arrow_rows, files), files)


def _arrow_rows(files: tuple[Path, ...], meter: Meter) -> Iterator[Row]:
    number = 0
    for path in files:
        try:
            for batch in _batches(path, meter):
                for row in plain_rows(pl.read_ipc_stream(batch)):
                    number += 1
                    yield number, row
        except BrokenFileError as error:
            yield None, BadRow("", error.problem, str(path))
        except UNREADABLE as error:
            yield None, BadRow("", unreadable("an Arrow stream", error), str(path))


def is_dataset(folder: Path) -> bool:
    """Return True if the folder is a dataset or a dictionary of datasets."""
    marks = ("dataset_info.json", "state.json", "dataset_dict.json")
    return any((folder / mark).is_file() for mark in marks)


def open_dataset(folder: Path, name: str) -> Source:
    """Open the dataset in the folder; of several splits one must be named, as ``FOLDER/SPLIT``.

    Raises:
        DataError: Several splits, no Arrow files, or rows that are only chosen by index.
    """
    splits = sorted(part.name for part in folder.iterdir() if part.is_dir() and is_dataset(part))
    if (folder / "dataset_dict.json").is_file():
        if len(splits) == 1:
            return open_dataset(folder / splits[0], f"{name}/{splits[0]}")
        hint = f"For example {name}/{splits[0]}" if splits else ""
        listed_splits = f"the splits {', '.join(splits)}" if splits else "none"
        raise DataError.of_file(name, "one split of the dataset", listed_splits, hint=hint)
    state = _state(folder)
    if state.get("_indices_files"):
        got = "rows chosen by an index"
        hint = "Save it again after dataset.flatten_indices()."
        raise DataError.of_file(name, "a dataset with its rows", got, hint=hint)
    listed = state.get("_data_files")
    if isinstance(listed, list):
        names = [str(entry["filename"]) for entry in objects_in(listed) if "filename" in entry]
        outside = [name for name in names if Path(name).name != name or name == ".."]
        if outside:
            got = f"the name {ascii_safe(outside[0])} in state.json"
            raise DataError.of_file(name, "files inside the folder", got)
        files = tuple(folder / name for name in names)
    else:
        files = tuple(sorted(folder.glob("*.arrow")))
    missing = [ascii_safe(path.name) for path in files if not path.is_file()]
    if missing or not files:
        got = f"none called {', '.join(missing)}" if missing else "none"
        raise DataError.of_file(name, "the dataset's .arrow files", got)
    return arrow_dataset(name, files)


def _state(folder: Path) -> dict[str, object]:
    try:
        return object_or_empty(json.loads((folder / "state.json").read_text("utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}


def _batches(path: Path, meter: Meter) -> Iterator[io.BytesIO]:
    before = b""
    with opened(path, meter) as handle:
        while (message := _message(handle)) is not None:
            kind, raw = message
            if kind == RECORD_BATCH:
                yield io.BytesIO(before + raw + END_OF_STREAM)
            else:
                before += raw


def _message(handle: io.BufferedReader) -> tuple[int, bytes] | None:
    prefix = handle.read(8)
    if not prefix or prefix == END_OF_STREAM:
        return None
    if len(prefix) < 8 or prefix[:4] != CONTINUATION:
        raise BrokenFileError(Problem("", "an Arrow stream", "other bytes"))
    (size,) = struct.unpack("<i", prefix[4:])
    header = _bytes(handle, size)
    try:
        kind, body_size = _kind_and_body(header)
    except (struct.error, IndexError):
        raise BrokenFileError(Problem("", "an Arrow stream", "a broken message")) from None
    body = _bytes(handle, body_size)
    if len(header) < size or len(body) != body_size:
        raise BrokenFileError(Problem("", "a whole Arrow stream", "one that is cut off"))
    return kind, prefix + header + body


def _bytes(handle: io.BufferedReader, size: int) -> bytes:
    """Read up to this many bytes, allocating memory only for bytes that exist."""
    parts = []
    while size > 0 and (part := handle.read(min(size, PIECE))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _kind_and_body(header: bytes) -> tuple[int, int]:
    """Read header type and body length from the flatbuffer ``Message`` table.

    Its fields are version, header type, header, body length, in this order.
    """
    (table,) = struct.unpack_from("<I", header, 0)
    (back,) = struct.unpack_from("<i", header, table)
    fields = table - back
    (size,) = struct.unpack_from("<H", header, fields)

    def place(field: int) -> int:
        at = 4 + 2 * field
        return int(struct.unpack_from("<H", header, fields + at)[0]) if at < size else 0

    kind = header[table + place(1)] if place(1) else 0
    body = int(struct.unpack_from("<q", header, table + place(3))[0]) if place(3) else 0
    return kind, body


RETRIEVES_NOT = "default"


def beir(name: str, corpus: Path, queries: Path, qrels: Path, runs: tuple[Path, ...]) -> Source:
    """Return a folder in the layout of BEIR. Without a run, questions have grades alone."""
    rows = partial(_beir_rows, corpus, queries, qrels, runs)
    return Source(name, rows, (corpus, queries, qrels, *runs), "beir", "line")


def _beir_rows(
    corpus: Path, queries: Path, qrels_file: Path, runs: tuple[Path, ...], meter: Meter
) -> Iterator[Row]:
    faults: Faults = []
    qrels = read_qrels(qrels_file, meter, faults)
    rankings = read_runs(runs, meter, faults)
    topics = set(qrels)
    retrieved: set[str] = set()
    for ranking in rankings:
        topics.update(ranking.frame["topic"].unique().to_list())
        retrieved.update(ranking.frame["document"].unique().to_list())
    questions = _texts(queries, topics, meter, faults)
    texts = _texts(corpus, retrieved, meter, faults) if retrieved else {}
    for ranking in rankings:
        for topic, ranked in ranking.lists(qrels):
            contexts = tuple(
                Context(context.id, texts.get(context.id), context.rank, context.score)
                for context in ranked
            )
            yield None, example(ranking, topic, contexts, qrels, questions.get(topic))
    if not rankings:
        for topic, grades in qrels.items():
            text = questions.get(topic)
            yield None, Example(topic, topic, RETRIEVES_NOT, text, reference_contexts=grades)
    yield from faults


def find_beir(folder: Path) -> tuple[Path, Path, list[Path]] | None:
    """Return corpus, queries and qrels files of a folder that is laid out as BEIR's."""
    corpus = _either(folder, "corpus.jsonl")
    queries = _either(folder, "queries.jsonl")
    if corpus is None or queries is None or not (folder / "qrels").is_dir():
        return None
    qrels = sorted(
        path for path in (folder / "qrels").iterdir() if path.name.endswith((".tsv", ".tsv.gz"))
    )
    return corpus, queries, qrels


def _either(folder: Path, name: str) -> Path | None:
    return next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)


def _texts(path: Path, ids: set[str], meter: Meter, faults: Faults) -> dict[str, str]:
    texts = {}
    for line, record in json_line_rows(path, meter):
        if isinstance(record, BadRow):
            faults.append((line, record._replace(file=str(path))))
            continue
        assert isinstance(record, dict)
        id = record.get("_id")
        id = str(id) if type(id) is int else id
        text = record.get("text")
        if not isinstance(id, str) or not isinstance(text, str):
            field, value = ("text", text) if isinstance(id, str) else ("_id", id)
            problem = Problem(field, "text", shown(value))
            faults.append((line, BadRow("", problem, str(path))))
        elif id in ids:
            title = record.get("title")
            texts[id] = f"{title}\n{text}" if isinstance(title, str) and title else text
    return texts
