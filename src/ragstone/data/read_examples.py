"""Reading: opens any data set, by path or from memory, and detects its format."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path

from ragstone.core.errors import DataError, InputError, UnknownName
from ragstone.core.messages import argument
from ragstone.core.remote_files import is_url, shown_url

from .examples import Examples
from .fields import check_mapping, plan
from .file_formats.catalogue import formats
from .file_formats.dataset_folders import arrow_dataset, beir, find_beir, is_dataset, open_dataset
from .file_formats.json_documents import json_document, json_lines
from .file_formats.table_files import csv_table, parquet
from .file_formats.trec import looks_like_qrels, looks_like_run, trec_runs
from .json_text import shown
from .sources import Source, in_memory, on_disk, table_of
from .text_files import binary_format, first_text

FILE_FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "huggingface", "trec", "beir")
BY_ENDING = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "huggingface",
}


def read(
    source: object,
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    format: str | None = None,
    qrels: str | PathLike[str] | None = None,
    keep_thoughts: bool = False,
) -> Examples:
    """Open a dataset. Nothing is read until you iterate over the examples.

    Args:
        source: A path (.json, .jsonl, .ndjson, .csv, .tsv, .parquet or a TREC run,
            each optionally .gz; ``-`` for standard input), another stream, a folder
            (a Hugging Face dataset, BEIR, or TREC runs with qrels), any of these at a
            URL such as ``s3://bucket/answers.jsonl``, an iterable of
            mappings or examples, or a pandas, Polars or Arrow table.
        columns: Maps a field to the column it is read from, for columns whose names
            are not recognised.
        skip_bad: Skip invalid records and collect them in ``Examples.rejected``.
        limit: Maximum number of examples to read.
        format: A name listed by ``formats``, if the format cannot be recognised.
        qrels: Relevance judgements, if the source is a TREC run.
        keep_thoughts: Leave answers what a reasoning model wrote in think tags, such as
            ``<think>…</think>``; else it stands in ``meta["thoughts"]``.

    Raises:
        DataError: There is no such file, or the folder is not a dataset.
        UnknownName: There is no such format, or no such field as in ``columns``.
        InputError: The source is neither a path nor records, or what is at a URL
            cannot be had.
        MissingDependency: The package for a URL of this kind is not installed.
    """
    columns = columns or {}
    check_mapping(columns)
    if format is not None and format not in (known := [entry.name for entry in formats()]):
        raise UnknownName("format", format, known)
    if limit is not None and limit < 0:
        raise InputError(f"limit must be a number of examples, not {limit}.")
    if isinstance(source, Examples):
        return source
    return Examples(
        _source(source, format, qrels, columns),
        columns=columns,
        skip_bad=skip_bad,
        limit=limit,
        layout=None if format in FILE_FORMATS else format,
        keep_thoughts=keep_thoughts,
    )


def read_trec(
    runs: str | PathLike[str] | Sequence[str | PathLike[str]], qrels: str | PathLike[str]
) -> Examples:
    """Read TREC runs with their qrels; several runs are several systems.

    Raises:
        DataError: A file that does not exist.
    """
    paths = [runs] if isinstance(runs, (str, PathLike)) else list(runs)
    if not paths:
        raise InputError("At least one run is needed.")
    names = [fspath(path) for path in paths]
    name = ", ".join(shown_url(path) if is_url(path) else path for path in names)
    files = [_existing(fspath(path)) for path in paths]
    judged = _existing(fspath(qrels))
    return Examples(trec_runs(name, tuple(files), judged), columns={})


def _source(
    source: object,
    format: str | None,
    qrels: str | PathLike[str] | None,
    columns: Mapping[str, str],
) -> Source:
    if isinstance(source, (str, PathLike)):
        name = fspath(source)
        if isinstance(name, bytes):
            raise InputError("A path is text.")
        path = _existing(name)
        judged = None if qrels is None else _existing(fspath(qrels))
        name = shown_url(name) if is_url(name) else name
        if path.is_dir():
            return _folder(path, name, judged)
        return _file(path, name, format, judged, columns)
    table = table_of(source)
    if table is not None:
        return table
    if isinstance(source, Iterable) and not isinstance(source, (Mapping, bytes)):
        return in_memory(source)
    raise InputError(
        "Examples are read from a path, a table or an iterable of mappings, "
        f"not from {shown(source)}."
    )


def _existing(name: str) -> Path:
    path = on_disk(name)
    try:
        if path.exists():
            return path
        beside = sorted(file.name for file in path.parent.iterdir())
    except (OSError, ValueError):
        beside = []
    close = get_close_matches(path.name, beside, n=3)
    hint = f"Beside it: {', '.join(close)}" if close else ""
    raise DataError.of_file(name, "a file or folder", "none of this name", hint=hint)


def _file(
    path: Path, name: str, format: str | None, qrels: Path | None, columns: Mapping[str, str]
) -> Source:
    if format not in FILE_FORMATS:
        format = "trec" if qrels is not None else _format_of(path, name, columns)
    kinds: dict[str, Callable[[Path, str], Source]] = {
        "jsonl": json_lines, "json": json_document, "csv": csv_table, "parquet": parquet,
    }  # fmt: skip
    if format in kinds:
        return kinds[format](path, name)
    if format == "tsv":
        return csv_table(path, name, "\t")
    if format == "huggingface":
        return arrow_dataset(name, (path,))
    if format == "trec":
        return trec_runs(name, (path,), qrels)
    raise DataError.of_file(name, "a folder, as BEIR's are", "a file")


def _format_of(path: Path, name: str, columns: Mapping[str, str]) -> str:
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    format = BY_ENDING.get(ending)
    head = "" if format in ("parquet", "huggingface") else first_text(path).lstrip()
    if format == "jsonl":
        return "json" if head.startswith("[") else "jsonl"
    if format not in (None, "tsv"):
        return format
    if looks_like_run(path):
        return "trec"
    if format is not None:
        return format
    if (binary := binary_format(path)) is not None:
        return binary
    if head.startswith("{"):
        line = head.partition("\n")[0].rstrip()
        return "jsonl" if line.endswith("}") else "json"
    if head.startswith("["):
        return "json"
    if (table := _table_format(head, columns)) is not None:
        return table
    if looks_like_qrels(path):
        raise DataError.of_file(
            name,
            "examples or a TREC run",
            "what looks like qrels",
            hint=f"Name the run first and this file with {argument('qrels', 'FILE')}.",
        )
    if path.stat().st_size == 0:
        raise DataError.of_file(name, "at least one record", "an empty file")
    raise DataError.of_file(
        name,
        f"a file that ends in {', '.join(BY_ENDING)}",
        path.name,
        hint="`ragstone formats` lists what can be read.",
    )


def _table_format(head: str, columns: Mapping[str, str]) -> str | None:
    lines = head.splitlines()[:1]
    for format, mark in (("tsv", "\t"), ("csv", ","), ("csv", ";")):
        for header in csv.reader(lines, delimiter=mark):
            if len(header) > 1 and plan(tuple(header), tuple(columns.items())).problem is None:
                return format
    return None


def _folder(folder: Path, name: str, qrels: Path | None) -> Source:
    if (parts := find_beir(folder)) is not None:
        corpus, queries, judged = parts
        runs = tuple(path for path in _plain_files(folder) if looks_like_run(path))
        return beir(name, corpus, queries, qrels or _choose(judged, name), runs)
    if is_dataset(folder):
        return open_dataset(folder, name)
    files = _plain_files(folder)
    judged = [path for path in files if "qrel" in path.name.lower() and looks_like_qrels(path)]
    runs = tuple(path for path in files if path not in judged and looks_like_run(path))
    if runs and (judged or qrels is not None):
        return trec_runs(name, runs, qrels or _choose(judged, name))
    if runs:
        hint = f"Name them with {argument('qrels', 'FILE')}."
        raise DataError.of_file(name, "qrels beside the runs", "none", hint=hint)
    readable = [p.name for p in files if Path(p.name.removesuffix(".gz")).suffix in BY_ENDING]
    hint = f"It holds {', '.join(readable[:5])}: name the file." if readable else ""
    expected = "a data set (Hugging Face, BEIR, TREC runs with qrels)"
    got = "a folder of other files" if files else "a folder without files"
    raise DataError.of_file(name, expected, got, hint=hint)


def _plain_files(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError.of_file(str(folder), "a readable folder", f"the error {reason!r}") from None


def _choose(qrels: Sequence[Path], name: str) -> Path:
    if len(qrels) == 1:
        return qrels[0]
    for path in qrels:
        if path.name in ("test.tsv", "test.tsv.gz"):
            return path
    got = ", ".join(path.name for path in qrels) or "none"
    hint = f"Name one with {argument('qrels', 'FILE')}." if qrels else ""
    raise DataError.of_file(name, "one file of qrels", got, hint=hint)
