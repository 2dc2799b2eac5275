"""TREC runs, qrels and BEIR folders."""

import gzip
import json
from pathlib import Path

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, read, read_trec

RUN = """\
t1 Q0 a 1 1.0 mine
t2\tQ0\tz  9   3.5\tmine extra words
t1 Q0 c 7 2.0 mine
t1 Q0 b 3 2.0 mine
"""
QRELS = "t1 0 a 0\nt1 0 b 2\nt1 0 x -1\nt3 0 q 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


def ids(example: Example) -> list[str]:
    assert example.contexts is not None
    return [context.id for context in example.contexts]


def test_by_score_then_by_document_id_backwards(folder: Path) -> None:
    examples = {e.id: e for e in read(folder)}
    assert ids(examples["t1"]) == ["c", "b", "a"]
    assert examples["t1"].contexts is not None
    assert examples["t1"].contexts[0] == Context("c", None, 1, 2.0)
    assert examples["t2"].question_id == "t2"
    assert examples["t2"].system == "mine"


def test_scores_are_compared_as_32_bit_floats(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("t Q0 a 1 1.00000001 s\nt Q0 b 2 1.0 s\nt Q0 c 3 1.001 s\n")
    (tmp_path / "qrels.txt").write_text("t 0 a 1\n")
    (example,) = read(tmp_path)
    assert ids(example) == ["c", "b", "a"]


def test_judged_topics_without_a_ranking_retrieved_nothing_and_others_are_unjudged(
    folder: Path,
) -> None:
    examples = {e.id: e for e in read(folder)}
    assert examples["t1"].reference_contexts == {"a": 0, "b": 2}
    assert examples["t2"].reference_contexts is None
    assert examples["t3"].contexts == ()
    assert examples["t3"].reference_contexts == {"q": 1}


@pytest.mark.parametrize(
    ("name", "tag", "systems"),
    [("run_b.txt.gz", "other", {"mine", "other"}), ("run_b.txt.gz", "mine", {"run", "run_b"})],
)
def test_several_runs_are_several_systems(
    folder: Path, name: str, tag: str, systems: set[str]
) -> None:
    (folder / name).write_bytes(gzip.compress(RUN.replace("mine", tag).encode()))
    examples = list(read(folder))
    assert {e.system for e in examples} == systems
    assert {e.id for e in examples} == {f"t{i}/{s}" for i in (1, 2, 3) for s in systems}


def test_a_run_with_its_qrels_named(folder: Path) -> None:
    explicit = list(read_trec(folder / "run.txt", folder / "qrels.txt"))
    assert explicit == list(read(folder))
    assert explicit == list(read(folder / "run.txt", qrels=folder / "qrels.txt"))
    assert all(e.reference_contexts is None for e in read(folder / "run.txt"))
    assert read(folder).format == "trec"


@pytest.mark.parametrize(
    ("line", "field", "got"),
    [
        ("t1 Q0 d", "", "3 columns"),
        ("t1 Q0 d 1 high tag", "score", "the text 'high'"),
        ("t1 Q0 d 1 nan tag", "score", "the text 'nan'"),
        ("t1 Q0 d 1 inf tag", "score", "the text 'inf'"),
        ("t1 Q0 a 1 0.5 tag", "document", "a again"),
    ],
)
def test_a_wrong_line_of_a_run(folder: Path, line: str, field: str, got: str) -> None:
    (folder / "run.txt").write_text(RUN + line + "\n")
    with pytest.raises(DataError) as caught:
        list(read(folder))
    (fault,) = caught.value.faults
    assert (fault.file, fault.line) == (str(folder / "run.txt"), 5)
    assert (fault.field, fault.got) == (field, got)


@pytest.mark.parametrize(
    ("line", "field", "got"),
    [
        ("t1 0 d high", "grade", "the text 'high'"),
        ("t1 0 d 1_0", "grade", "the text '1_0'"),
        ("t1 0 d", "", "3 columns"),
        ("t1 0 b 1", "document", "b judged twice"),
    ],
)
def test_a_wrong_line_of_qrels(folder: Path, line: str, field: str, got: str) -> None:
    (folder / "qrels.txt").write_text(QRELS + line + "\n")
    with pytest.raises(DataError) as caught:
        list(read(folder))
    assert [(f.line, f.field, f.got) for f in caught.value.faults] == [(5, field, got)]


def test_qrels_must_be_one_file_and_are_no_examples(folder: Path) -> None:
    with pytest.raises(DataError, match="qrels=FILE"):
        read(folder / "qrels.txt")
    (folder / "qrels2.txt").write_text(QRELS)
    with pytest.raises(DataError, match=r"qrels\.txt, qrels2\.txt"):
        read(folder)
    assert len(list(read(folder, qrels=folder / "qrels.txt"))) == 3
    for name in ("qrels.txt", "qrels2.txt"):
        (folder / name).unlink()
    with pytest.raises(DataError, match="qrels beside the runs"):
        read(folder)


def test_qrels_in_a_folder_are_called_so_and_look_so(folder: Path) -> None:
    expected = list(read(folder))
    (folder / "judgements.txt").write_text(QRELS)
    (folder / "about-qrels.md").write_text("The qrels are NIST's.\n")
    assert list(read(folder)) == expected


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    docs = [{"_id": f"d{i}", "title": "T" if i == 1 else "", "text": f"text {i}"} for i in range(9)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in docs))
    queries = [{"_id": f"q{i}", "text": f"question {i}"} for i in (1, 2, 3)]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td4\t0\nq2\td2\t1\n"
    )
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td1\t1\n")
    return tmp_path


def test_a_beir_folder_gives_texts_of_questions_and_retrieved_documents(beir: Path) -> None:
    (beir / "bm25.run").write_text("q1 Q0 d1 1 2.0 bm25\nq1 Q0 d7 2 1.0 bm25\n")
    first, second = read(beir)
    assert (first.id, first.question, first.system) == ("q1", "question 1", "bm25")
    assert first.contexts == (Context("d1", "T\ntext 1", 1, 2.0), Context("d7", "text 7", 2, 1.0))
    assert first.reference_contexts == {"d1": 2, "d4": 0}
    assert (second.id, second.contexts, second.question) == ("q2", (), "question 2")
    assert read(beir).format == "beir"


def test_a_beir_folder_without_a_run_has_questions_and_judgements(beir: Path) -> None:
    examples = list(read(beir))
    assert [(e.id, e.contexts) for e in examples] == [("q1", None), ("q2", None)]
    assert [e.id for e in read(beir, qrels=beir / "qrels" / "dev.tsv")] == ["q3"]


def test_faults_in_a_beir_corpus_name_its_file(beir: Path) -> None:
    (beir / "bm25.run").write_text("q1 Q0 d1 1 2.0 bm25\n")
    with (beir / "corpus.jsonl").open("a") as corpus:
        corpus.write('{"_id": "x"}\n')
    with pytest.raises(DataError) as caught:
        list(read(beir))
    (fault,) = caught.value.faults
    assert (fault.file, fault.line, fault.field) == (str(beir / "corpus.jsonl"), 10, "text")
