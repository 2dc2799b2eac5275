"""A worker that has the file of the data reads its lines there, and says if it is another file."""

import gzip
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.data import Examples, read
from ragstone.data.line_ranges import Lines, PieceSize
from ragstone.run.ray_engine.connection import is_here, lines_of, shared_file
from ragstone.run.ray_engine.shard_worker import Assignment, Brief, ShardTask, ShardWorker
from ragstone.run.request import Request
from ragstone.run.run_plan import KnownFile, known_file, prepare

ROWS = [{"id": f"r{n}", "question": "Où ?", "answer": "It is so."} for n in range(7)]
TEXT = "\n".join(map(json.dumps, ROWS[:3])) + "\n\n" + "\r\n".join(map(json.dumps, ROWS[3:]))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    return file


def pieces(data: Examples) -> list[Lines]:
    return list(data.pieces(PieceSize(records=2, bytes=10_000)))


def shared(data: Examples) -> KnownFile:
    file = shared_file([known_file(one) for one in data.files])
    assert file is not None
    return file


def said(brief: Brief) -> tuple[Brief, list[int]]:
    """What can be compared of it, for arrays are not equal but element by element."""
    assert brief.ids is not None
    return replace(brief, ids=None), brief.ids.first.tolist()


def test_lines_are_the_bytes_that_would_be_sent(path: Path) -> None:
    data = read(path)
    file = shared(data)
    assert is_here(file)
    found = pieces(data)
    assert len(found) == 4
    for piece in found:
        assert piece.plain
        assert piece.text
        sent = pickle.loads(pickle.dumps(piece.without_bytes()))
        assert not sent.text
        assert lines_of(file, sent) == piece


def test_packed_lines_are_sent(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert not any(ShardTask(0, piece).may_be_read for piece in pieces(read(path)))


def test_a_file_is_told_from_another_of_its_name(path: Path) -> None:
    data = read(path)
    file, found = shared(data), pieces(data)
    before, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b"It is so.", b"It is no."))
    assert not is_here(file)
    assert lines_of(file, found[1]) is None
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_here(file), "its sample is another"
    path.write_bytes(content + b"\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert lines_of(file, found[1]) is None, "its size is another"
    path.unlink()
    assert not is_here(file)
    assert lines_of(file, found[1]) is None


def test_several_files_are_not_shared(path: Path) -> None:
    known = known_file(path)
    assert shared_file([known, known]) is None
    assert shared_file([]) is None


def test_a_worker_reads_its_lines_or_says_that_it_cannot(path: Path) -> None:
    data = read(path)
    request = Request(str(path), metrics="abstention", out=None)
    settings = prepare(request).spec.settings
    told = pickle.dumps(request)
    worker = ShardWorker(Assignment((), told, settings, data.apart(), shared(data), {}), None)
    assert worker.node().has_file
    task = ShardTask(1, pieces(data)[1])
    brief, tables = worker.make(task)
    again, same = worker.make(task.without_bytes())
    assert said(again) == said(brief)
    assert {name: one.tobytes() for name, one in same.items()} == {
        name: one.tobytes() for name, one in tables.items()
    }
    path.unlink()
    assert not worker.node().has_file
    gone, nothing = worker.make(task.without_bytes())
    assert (gone.unread, gone.examples, nothing) == (True, 0, {})
    assert said(worker.make(task)[0]) == said(brief), "what is sent it needs no file for"
