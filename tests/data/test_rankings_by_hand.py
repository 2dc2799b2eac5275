"""TREC and BEIR files: forms that are read, and lines that are refused with their place."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, read, read_trec
from ragstone.data.file_formats.trec import looks_like_qrels, looks_like_run


def examples(folder: Path, run: str, qrels: str) -> dict[str, Example]:
    (folder / "run.txt").write_text(run)
    (folder / "qrels.txt").write_text(qrels)
    return {one.id: one for one in read_trec(folder / "run.txt", folder / "qrels.txt")}


@pytest.mark.parametrize(
    ("line", "run", "qrels"),
    [
        ("t Q0 d 1 2.5 tag", True, False),
        ("t q0 d 1 2.5", True, False),
        ("t Q0 d 1", False, True),
        ("t Q0 d 1 high tag", False, False),
        ("t Q1 d 1 2.5 tag", False, False),
        ("t 0 d 1", False, True),
        ("t 0 d -1", False, True),
        ("t 0 d yes", False, False),
        ("query-id\tcorpus-id\tscore", False, True),
        ("query_id corpus_id score", False, True),
        ("a b c", False, False),
        ("", False, False),
    ],
)
def test_a_file_is_known_by_its_first_line(
    tmp_path: Path, line: str, run: bool, qrels: bool
) -> None:
    path = tmp_path / "file"
    path.write_text(f"{line}\nanything else")
    assert (looks_like_run(path), looks_like_qrels(path)) == (run, qrels)


def test_a_run_without_tags_is_named_by_its_file(tmp_path: Path) -> None:
    found = examples(tmp_path, "t Q0 d 1 2.5\nt Q0 e 2 1.5\n", "t 0 d 1\n")
    assert found["t"].system == "run"
    assert found["t"].contexts == (Context("d", None, 1, 2.5), Context("e", None, 2, 1.5))


def test_blank_lines_count_and_say_nothing(tmp_path: Path) -> None:
    found = examples(tmp_path, "\nt Q0 d 1 2.5 s\n\n", "\n\nt 0 d 1\n")
    assert found["t"].reference_contexts == {"d": 1}
    with pytest.raises(DataError) as caught:
        examples(tmp_path, "\n\nt Q0 d\n", "t 0 d 1\n")
    assert [fault.line for fault in caught.value.faults] == [3]


def test_a_grade_may_be_said_twice_but_not_two_ways(tmp_path: Path) -> None:
    run = "t Q0 d 1 2.5 s\n"
    assert examples(tmp_path, run, "t 0 d 1\nt 1 d 1\n")["t"].reference_contexts == {"d": 1}
    with pytest.raises(DataError) as caught:
        examples(tmp_path, run, "t 0 d 1\nt 1 d 2\n")
    (fault,) = caught.value.faults
    assert (fault.line, fault.field, fault.got) == (2, "document", "d judged twice")


def test_a_topic_with_unjudged_documents_alone_was_judged_all_the_same(tmp_path: Path) -> None:
    found = examples(tmp_path, "t Q0 d 1 2.5 s\n", "t 0 d -1\nu 0 d -2\n")
    assert found["t"].reference_contexts == {}
    assert (found["u"].contexts, found["u"].reference_contexts) == ((), {})


def test_qrels_of_three_columns_need_their_header(tmp_path: Path) -> None:
    run = "t Q0 d 1 2.5 s\n"
    with_header = examples(tmp_path, run, "query-id\tcorpus-id\tscore\nt\td\t2\n")
    assert with_header["t"].reference_contexts == {"d": 2}
    with pytest.raises(DataError) as caught:
        examples(tmp_path, run, "t\td\t2\n")
    assert [(fault.line, fault.got) for fault in caught.value.faults] == [(1, "3 columns")]


def test_every_wrong_line_of_both_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        examples(tmp_path, "t Q0 d 1 x s\nt Q0 e 1 2 s\nt Q0 f\n", "t 0 d one\nt 0 e 1\nt\n")
    told = {(Path(str(fault.file)).name, fault.line) for fault in caught.value.faults}
    assert told == {("run.txt", 1), ("run.txt", 3), ("qrels.txt", 1), ("qrels.txt", 3)}


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
def test_the_order_of_the_lines_and_their_ranks_count_for_nothing(
    tmp_path: Path, order: list[str]
) -> None:
    scores = {"a": 1.0, "b": 2.0, "c": 2.0}
    lines = [f"t Q0 {id} {rank} {scores[id]} s\n" for rank, id in enumerate(order, start=7)]
    found = examples(tmp_path, "".join(lines), "t 0 a 1\n")["t"].contexts or ()
    assert [(one.id, one.rank) for one in found] == [("c", 1), ("b", 2), ("a", 3)]


def beir(folder: Path, corpus: list[Any], queries: list[Any]) -> Path:
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    (folder / "run.txt").write_text("q Q0 d 1 2.0 s\nq Q0 e 2 1.0 s\n")
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


QUERIES = [{"_id": "q", "text": "Where?"}]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"_id": "d", "text": "here"}, "here"),
        ({"_id": "d", "title": "Pier", "text": "here"}, "Pier\nhere"),
        ({"_id": "d", "title": "", "text": "here"}, "here"),
        ({"_id": "d", "title": None, "text": "here"}, "here"),
        ({"_id": "x", "text": "here"}, None),
    ],
)
def test_a_document_is_its_title_and_its_text(
    tmp_path: Path, row: dict[str, Any], text: str | None
) -> None:
    (example,) = read(beir(tmp_path, [row], QUERIES))
    assert example.question == "Where?"
    assert example.contexts == (Context("d", text, 1, 2.0), Context("e", None, 2, 1.0))


@pytest.mark.parametrize(
    ("row", "field", "got"),
    [
        ({"text": "here"}, "_id", "null"),
        ({"_id": 1.5, "text": "here"}, "_id", "1.5 (a number)"),
        ({"_id": "d"}, "text", "null"),
        ({"_id": "d", "text": 3}, "text", "3 (a number)"),
    ],
)
def test_a_document_without_id_or_text_is_a_fault_of_its_file(
    tmp_path: Path, row: dict[str, Any], field: str, got: str
) -> None:
    folder = beir(tmp_path, [{"_id": "e", "text": "there"}, row], QUERIES)
    with pytest.raises(DataError) as caught:
        list(read(folder))
    (fault,) = caught.value.faults
    assert Path(str(fault.file)).name == "corpus.jsonl"
    assert (fault.line, fault.field, fault.got) == (2, field, got)


def test_a_whole_number_is_an_id_of_a_document_too(tmp_path: Path) -> None:
    folder = beir(tmp_path, [{"_id": 7, "text": "seventh"}], QUERIES)
    (folder / "run.txt").write_text("q Q0 7 1 2.0 s\n")
    (example,) = read(folder)
    assert example.contexts == (Context("7", "seventh", 1, 2.0),)
