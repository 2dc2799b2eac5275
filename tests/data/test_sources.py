"""Standard input, pipes and process substitution are read wherever a file is."""

import gzip
import io
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.analysis.composite_weights.preferences import read_opinions
from ragstone.annotation import read_label_table
from ragstone.core.errors import DataError
from ragstone.data import fingerprint_files, read
from ragstone.data.sources import on_disk
from ragstone.judges.llm.rubrics import load_rubrics
from ragstone.judges.similarity.bertscore_tables import read_baseline
from ragstone.run.calls.budget import load_prices
from tests.forked import COMMAND, Forked

ROWS = [{"id": f"q{i}", "question": f"{i}?", "answer": "Ann", "reference": "Ann"} for i in range(3)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def table(write: str, **options: object) -> bytes:
    file = io.BytesIO()
    getattr(pl.DataFrame(ROWS), write)(file, **options)
    return file.getvalue()


CONTENTS: dict[str, Callable[[], bytes]] = {
    "jsonl": lambda: LINES,
    "jsonl.gz": lambda: gzip.compress(LINES),
    "json": lambda: json.dumps(ROWS).encode(),
    "csv": lambda: table("write_csv"),
    "csv.gz": lambda: gzip.compress(table("write_csv")),
    "tsv": lambda: table("write_csv", separator="\t"),
    "semicolons": lambda: table("write_csv", separator=";"),
    "parquet": lambda: table("write_parquet"),
    "arrow": lambda: table("write_ipc_stream", compat_level=pl.CompatLevel.oldest()),
}
"""Made within a test: a table that is written at import would start Polars' threads there, and a
process with threads cannot be forked."""


@contextmanager
def pipe(content: bytes) -> Iterator[str]:
    """A path as process substitution gives it, ``/dev/fd/63``, which can be read once."""
    source, sink = os.pipe()

    def fill() -> None:
        with os.fdopen(sink, "wb") as file:
            file.write(content)

    writer = threading.Thread(target=fill)
    writer.start()
    try:
        yield f"/dev/fd/{source}"
    finally:
        os.close(source)
        writer.join()


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_pipe_is_read_like_the_file(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(CONTENTS[kind]())
    with pipe(CONTENTS[kind]()) as path:
        examples = read(path)
        assert [one.id for one in examples] == ["q0", "q1", "q2"]
        assert [one.answer for one in examples] == ["Ann"] * 3
        assert examples.fingerprint() == fingerprint_files([file])
    assert [one.id for one in read(file)] == ["q0", "q1", "q2"]


def test_a_pipe_longer_than_its_buffer_is_read_whole() -> None:
    lines = b"".join(json.dumps({"answer": "a" * 1000}).encode() + b"\n" for _ in range(2000))
    with pipe(lines) as path:
        assert sum(1 for _ in read(path)) == 2000


def test_an_empty_pipe_is_an_empty_file() -> None:
    with pipe(b"") as path, pytest.raises(DataError, match="got an empty file"):
        list(read(path))


def test_a_device_that_never_ends_is_refused() -> None:
    with pytest.raises(DataError, match="expected a file, a folder or a pipe, got a device"):
        read("/dev/zero")


def test_runs_and_qrels_and_labels_may_come_through_pipes(tmp_path: Path) -> None:
    run = "".join(f"t{i} Q0 d{i} 1 2.5 bm25\n" for i in range(2)).encode()
    qrels = b"t0 0 d0 1\nt1 0 d1 0\n"
    with pipe(run) as runs, pipe(qrels) as judged:
        found = {one.id: dict(one.reference_contexts or {}) for one in read(runs, qrels=judged)}
    assert found == {"t0": {"d0": 1}, "t1": {"d1": 0}}
    for content in (
        b"id,annotator,helpful\nq0,ann,1\nq1,ann,0\n",
        b"id\tannotator\thelpful\nq0\tann\t1\nq1\tann\t0\n",
        b'{"id": "q0", "helpful": 1}\n{"id": "q1", "helpful": 0}\n',
        b'[{"id": "q0", "helpful": 1}, {"id": "q1", "helpful": 0}]',
    ):
        with pipe(content) as path:
            assert read_label_table(path).frame.height == 2
    (tmp_path / "data.jsonl").write_bytes(LINES)
    with pipe(b"id,helpful\nq0,1\nq1,0\n") as path:
        evaluated = evaluate(
            tmp_path / "data.jsonl", metrics=["helpfulness"], judge=f"human:{path}",
            out=tmp_path / "run",
        )  # fmt: skip
    assert evaluated.scores()["value"].to_list() == [1.0, 0.0, None]


def test_settings_and_opinions_may_come_through_pipes() -> None:
    rubric = (
        b'[politeness]\nabout = "How polite?"\nsees = ["answer"]\n'
        b'points = [{value = 0, means = "rude"}, {value = 1, means = "polite"}]\n'
    )
    with pipe(rubric) as path:
        assert "politeness" in load_rubrics(Path(path))
    with pipe(b'["a"]\ninput = 1\noutput = 2\n') as path:
        assert load_prices(Path(path)).file["a"].output == 2
    with pipe(b"LAYER,P,R,F\n0,.3,.3,.3\n") as path:
        assert read_baseline(path, 0)[2] == 0.3
    with pipe(b"id,rating\nq1,4\n") as path:
        assert read_opinions(path).sort == "rating"


def test_a_named_pipe_that_is_written_again_is_read_again(tmp_path: Path) -> None:
    fifo = tmp_path / "data.jsonl"
    os.mkfifo(fifo)
    for answer in ("first", "second"):
        line = json.dumps({"answer": answer}) + "\n"
        writer = threading.Thread(target=fifo.write_text, args=(line,))
        writer.start()
        while answer == "second" and on_disk(fifo).read_text() != line:
            pass
        assert [one.answer for one in read(fifo)] == [answer]
        writer.join()


def test_a_named_pipe_that_is_written_again_slowly_is_read_to_its_end(tmp_path: Path) -> None:
    fifo = tmp_path / "data.jsonl"
    os.mkfifo(fifo)
    for answer in ("first", "second"):
        sink = os.open(fifo, os.O_RDWR)
        os.write(sink, b'{"answer": ')

        def write_on(sink: int = sink, answer: str = answer) -> None:
            time.sleep(0.2)
            os.write(sink, f'"{answer}"}}\n'.encode())
            os.close(sink)

        writer = threading.Thread(target=write_on)
        writer.start()
        assert [one.answer for one in read(fifo)] == [answer]
        writer.join()


PIPED = """
import os, sys
source, sink = os.pipe()
with open("given", "rb") as file:
    os.write(sink, file.read())
os.close(sink)
os.dup2(source, 0)
"""


@pytest.mark.parametrize(("name", "kind"), [("-", "csv"), ("/dev/stdin", "parquet")])
def test_the_command_reads_standard_input(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "given").write_bytes(CONTENTS[kind]())
    command = ("evaluate", name, "-m", "token_f1", "--json", "--out", tmp_path / "run")
    for _ in range(2):
        done = Forked(PIPED + COMMAND, *command, cwd=tmp_path)
        out, errors = done.communicate()
        assert done.returncode == 0, errors
        assert json.loads(out)["data"]["examples"] == 3


def test_a_regular_file_is_not_copied(tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    file.write_bytes(LINES)
    assert on_disk(file) == file
    assert on_disk(tmp_path / "none") == tmp_path / "none"
