"""No script: mutated files through every reader, which tests take: none may end as a bug.

Small whole files of every format that Ragstone reads are mutated and read. Each ends as read, as
refused, or as a failure. A tenth of what could be read is also evaluated.

- bug: any exception but those that the command line answers with exit status 2
- memory: reading it took more than 256 MB and four times the unpacked file, on top of what the
  process held before
"""

import gzip
import io
import json
import os
import random
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import polars as pl
from measure import ROOT, forget_peak, memory
from mutations import changed_bytes, changed_json

from ragstone import evaluate
from ragstone.analysis.composite_weights.preferences import read_opinions
from ragstone.annotation.label_export import write_labels
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import RagstoneError
from ragstone.data import as_record, cornwall, read, to_frame, write
from ragstone.data.json_text import is_storable
from ragstone.judges.llm.rubrics import load_rubrics
from ragstone.judges.similarity.bertscore_tables import read_baseline
from ragstone.run.calls.budget import load_prices

EXPORTS = ROOT / "tests" / "data" / "exports"
"""Files as other tools write them."""

MB = 1 << 20
ALLOWED_MEMORY = 256 * MB
TIMES_UNPACKED = 4
EVALUATED = 10
MOST_UNPACKED = 1 << 30

Reader = Callable[[Path], object]


class Format(NamedTuple):
    """Files of one format: whole ones by name, and how they are read.

    ``opened`` is what the reader is given: one of the files, or the folder (an empty name).
    """

    files: dict[str, bytes]
    opened: str
    reader: Reader


def data_set(path: Path) -> None:
    """Read a data set as a run does: examples, their table and their JSON text."""
    examples = read(path, skip_bad=True)
    some = []
    for number, example in enumerate(examples):
        json.dumps(as_record(example))
        if number < 200:
            some.append(example)
    to_frame(some).write_parquet(io.BytesIO())
    _ = examples.fingerprint(), examples.format
    "\n".join([*map(str, examples.faults), *examples.notes]).encode()


def labels(path: Path) -> None:
    """Read a label file, settle it, and write it again."""
    table = read_label_table(path)
    table.adjudicated(), table.ties(), table.broken_rules()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        write_labels(table, Path(folder) / "again.csv")


def ranking(path: Path) -> None:
    """A TREC run with its qrels."""
    list(read(path / "run.txt", qrels=path / "qrels.txt"))


@cache
def formats() -> dict[str, Format]:
    """All formats by name."""
    examples = list(read(cornwall()))[:8]
    records = [as_record(example) for example in examples]
    fixed = {"contexts": ["one", "two, 2"], "reference": "gold", "n": 3, "x": 0.5}
    flat = [{"question": row.question, "answer": row.answer, **fixed} for row in examples]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    frame = pl.DataFrame(flat)
    columns = json.dumps(frame.to_dict(as_series=False)).encode()
    wrapped = json.dumps({"name": "é", "results": flat, "n": 8}, ensure_ascii=False).encode()
    with tempfile.TemporaryDirectory() as folder:
        write(examples, Path(folder) / "a.csv")
        write(examples, Path(folder) / "a.parquet")
        csv, parquet = (Path(folder, f"a.{end}").read_bytes() for end in ("csv", "parquet"))
    encodings = {"question": "DELTA_BYTE_ARRAY", "answer": "DELTA_LENGTH_BYTE_ARRAY",
                 "n": "DELTA_BINARY_PACKED", "x": "BYTE_STREAM_SPLIT"}  # fmt: skip
    delta = {"data_page_version": "2.0", "use_dictionary": False, "column_encoding": encodings}
    arrow = content_of(frame.write_ipc_stream, compat_level=pl.CompatLevel.oldest())
    tsv = b"question\tanswer\tcontexts\n" + b'how long?\t90 m\t["a", "b"]\n' * 6
    run = "".join(f"q{i % 3} Q0 d{i} {i} {10 - i}.5 bm25\n" for i in range(9)).encode()
    qrels = "".join(f"q{i % 3} 0 d{i} {i % 3}\n" for i in range(9)).encode()
    beir = {
        "corpus.jsonl": b'{"_id": "d1", "title": "t", "text": "x"}\n'
        b'{"_id": "d2", "title": "", "text": "y"}\n',
        "queries.jsonl": b'{"_id": "q0", "text": "how?"}\n{"_id": "q1", "text": "why?"}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq0\td1\t1\nq1\td2\t0\n",
        "bm25.txt": b"q0 Q0 d1 1 2.5 bm25\nq1 Q0 d2 1 1.5 bm25\n",
    }
    wide = (
        b"id,annotator,context,topically_relevant,evidence_sufficient,misleading,fluency,note\n"
        + b"q1,ann,1,1,0,0,4,fine\nq1,ben,1,1,1,0,3,\nq2,ann,,,,,5,\n" * 3
    )
    long = "".join(
        json.dumps({"id": f"q{i}", "annotator": "ann", "kind": "own", "column": "fluency",
                    "value": i, "inclusion_probability": 0.5}) + "\n"
        for i in range(8)
    ).encode()  # fmt: skip
    label_rows = pl.DataFrame({"id": ["q1", "q2"], "annotator": ["a", "b"], "helpful": [1, 0]})
    rubric = (
        b'[politeness]\nabout = "How polite?"\nsees = ["answer"]\nsteps = ["Read."]\n'
        b'points = [{value = 0, means = "rude"}, {value = 1.0, means = "polite"}]\n'
    )
    prices = b'["openai:gpt-5-mini"]\ninput = 0.25\ncached = 0.025\noutput = 2.0\n'
    baseline = b"LAYER,P,R,F\n0,0.32,0.33,0.31\n1,0.4,0.41,0.39\n"
    opinions = b"question_id,system_a,system_b,preference,annotator\nq1,a,b,2,ann\nq2,a,b,tie,ben\n"
    state = json.dumps({"_data_files": [{"filename": "data.arrow"}], "_split": "test"}).encode()

    def one(name: str, content: bytes, reader: Reader = data_set) -> Format:
        return Format({name: content}, name, reader)

    western = "".join(f"{row.question};Zoé, 90 m\n" for row in examples).encode("cp1252")
    return {
        **{file.name: one(file.name, file.read_bytes()) for file in sorted(EXPORTS.iterdir())},
        "windows": one("data.csv", b"question;answer\n" + western),
        "jsonl": one("data.jsonl", lines),
        "jsonl.gz": one("data.jsonl.gz", gzip.compress(lines, mtime=0)),
        "json": one("data.json", json.dumps(records, indent=1).encode()),
        "json columns": one("data.json", columns),
        "json wrapped": one("data.json", wrapped),
        "json.gz": one("data.json.gz", gzip.compress(columns, mtime=0)),
        "csv": one("data.csv", csv),
        "csv.gz": one("data.csv.gz", gzip.compress(csv, mtime=0)),
        "tsv": one("data.tsv", tsv),
        "no ending": one("data", lines),
        "parquet": one("data.parquet", parquet),
        "parquet snappy": one("data.parquet", content_of(
            frame.write_parquet, compression="snappy", row_group_size=3)),
        "parquet raw": one("data.parquet", content_of(
            frame.write_parquet, compression="uncompressed", use_pyarrow=True)),
        "parquet delta": one("data.parquet", content_of(
            frame.write_parquet, compression="uncompressed", use_pyarrow=True,
            pyarrow_options=delta)),
        "arrow": one("data.arrow", arrow),
        "dataset": Format({"state.json": state, "data.arrow": arrow}, "", data_set),
        "trec": Format({"run.txt": run, "qrels.txt": qrels}, "", ranking),
        "trec folder": Format({"a.run": run, "qrels.txt": qrels}, "", data_set),
        "beir": Format(beir, "", data_set),
        "labels csv": one("labels.csv", wide, labels),
        "labels jsonl": one("labels.jsonl", long, labels),
        "labels json": one("labels.json", json.dumps(records).encode(), labels),
        "labels parquet": one("labels.parquet", content_of(label_rows.write_parquet), labels),
        "labels gz": one("labels.csv.gz", gzip.compress(wide, mtime=0), labels),
        "rubrics": one("rubrics.toml", rubric, load_rubrics),
        "prices": one("prices.toml", prices, load_prices),
        "baseline": one("baseline.csv", baseline, partial(read_baseline, layer=1)),
        "opinions": one("opinions.csv", opinions, read_opinions),
    }  # fmt: skip


def content_of(write: Callable[..., object], **options: object) -> bytes:
    """What is written into a file."""
    buffer = io.BytesIO()
    write(buffer, **options)
    return buffer.getvalue()


# What is done to a file.


def mutated(content: bytes, name: str, draw: random.Random) -> bytes:
    """The file with some changes; of a compressed file, often of what is inside."""
    if name.endswith(".gz") and draw.random() < 0.6:
        inside = mutated(gzip.decompress(content), name.removesuffix(".gz"), draw)
        return gzip.compress(inside, 1, mtime=0)
    if b"{" in content[:1] + content[-3:] and draw.random() < 0.4:
        with suppress(ValueError):
            return changed_json(content.decode(), draw).encode()
    changed = changed_bytes(content, draw)
    if name.endswith(".gz") and draw.random() < 0.1:
        changed += gzip.compress(bytes(draw.choice((10, 1000, 64)) * MB // 8), 1, mtime=0)
    return changed


# What becomes of it.


def laid_out(name: str, number: int, seed: int, folder: Path) -> tuple[Path, int]:
    """Write the mutated files of a format; what is opened, and the unpacked bytes."""
    format = formats()[name]
    draw = random.Random(f"{seed}:{name}:{number}")
    victim = draw.choice(list(format.files))
    unpacked = 0
    for file, whole in format.files.items():
        content = mutated(whole, file, draw) if file == victim else whole
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        unpacked += _unpacked_size(content)
    return folder / format.opened if format.opened else folder, unpacked


def _unpacked_size(content: bytes) -> int:
    if content[:2] != b"\x1f\x8b":
        return len(content)
    size = 0
    with suppress(OSError, EOFError, zlib.error), gzip.open(io.BytesIO(content)) as file:
        while (piece := file.read(MB)) and size < MOST_UNPACKED:
            size += len(piece)
    return size


def tried(name: str, number: int, seed: int) -> tuple[str, str]:
    """Read one mutated file here: ``read``, ``refused``, ``bug`` or ``memory``, with the reason."""
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        path, unpacked = laid_out(name, number, seed, Path(folder))
        before = memory()
        forget_peak()
        sort, words = "read", ""
        try:
            reader = formats()[name].reader
            reader(path)
            if reader is data_set and number % EVALUATED == 0:
                metrics = ["token_f1", "precision(k=2)"]
                with tempfile.TemporaryDirectory() as out:
                    evaluate(path, metrics=metrics, out=Path(out) / "run", skip_bad=True)
        except (RagstoneError, OSError) as error:
            sort, words = ("refused", "") if is_storable(str(error)) else ("bug", "unprintable")
        except BaseException as error:
            sort, words = "bug", f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
        peak = memory("VmHWM") - before
        if sort != "bug" and peak > ALLOWED_MEMORY + TIMES_UNPACKED * unpacked:
            sort, words = "memory", f"{peak / MB:.0f} MB for {unpacked / MB:.1f} MB"
        return sort, words
