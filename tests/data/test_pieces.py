"""Lines of a file in pieces are the examples of the file, with the same faults and notes."""

import gzip
import json
import pickle
from pathlib import Path

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Example, Examples, read
from ragstone.data.examples import IdsOfSystems
from ragstone.data.line_ranges import START, LinePlace, Lines, PieceSize, pieces
from ragstone.data.read_facts import ReadFacts, SeenIds
from ragstone.data.text_files import Meter

GOOD = [
    {"id": f"r{number}", "question": f"q {number}?", "answer": "Käse" * (number % 5 + 1)}
    for number in range(23)
]
BAD = ['{"id": "r3", "answer": "again"}', "no JSON", '{"answer": {}, "id": "b"}', "[1]", ""]


def lines_of(*, bad: bool = False) -> list[str]:
    lines = [json.dumps(one, ensure_ascii=False) for one in GOOD]
    return [*lines[:7], "", "  ", *(BAD if bad else ()), *lines[7:]]


def write(path: Path, lines: list[str]) -> Path:
    content = "\n".join(lines).encode() + b"\n"
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def in_pieces(examples: Examples, size: PieceSize, start: LinePlace = START) -> list[Example]:
    seen, found = SeenIds(), list[Example]()
    for piece in examples.pieces(size, start):
        facts = ReadFacts()
        found += [example for _, example in examples.read_part(piece, seen, facts)]
        examples.heard(facts, 0)
    examples.all_read()
    return found


@pytest.mark.parametrize("size", [PieceSize(1, 10**9), PieceSize(4, 10**9), PieceSize(100, 150)])
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_pieces_of_any_size_are_the_whole(tmp_path: Path, name: str, size: PieceSize) -> None:
    path = write(tmp_path / name, lines_of())
    assert in_pieces(read(path), size) == list(read(path))


@pytest.mark.parametrize("size", [PieceSize(1, 10**9), PieceSize(5, 10**9), PieceSize(100, 120)])
def test_faults_are_told_alike(tmp_path: Path, size: PieceSize) -> None:
    path = write(tmp_path / "rows.jsonl", lines_of(bad=True))
    with pytest.raises(DataError) as whole:
        list(read(path))
    with pytest.raises(DataError) as cut:
        in_pieces(read(path), size)
    assert str(cut.value) == str(whole.value)
    assert cut.value.faults == whole.value.faults
    skipping, as_whole = read(path, skip_bad=True), read(path, skip_bad=True)
    assert in_pieces(skipping, size) == list(as_whole)
    assert skipping.rejected == as_whole.rejected
    assert skipping.notes == as_whole.notes


def test_a_record_without_an_id_is_known_by_its_row_in_any_piece(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", ['{"answer": "a"}', "", *['{"answer": "b"}'] * 6])
    assert [one.id for one in in_pieces(read(path), PieceSize(2, 10**9))] == list("1234567")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_a_file_is_gone_on_with_at_the_end_of_any_piece(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, lines_of())
    size = PieceSize(4, 10**9)
    every = list(pieces(path, "rows", Meter(), size))
    assert len(every) == 6
    for number, piece in enumerate(every):
        assert list(pieces(path, "rows", Meter(), size, piece.end)) == every[number + 1 :]


def test_a_mark_at_the_beginning_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"answer": "a"}\n' * 3)
    assert [one.answer for one in in_pieces(read(path), PieceSize(1, 10**9))] == ["a"] * 3


def test_windows_1252_is_read_in_every_piece_and_told_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(b'{"answer": "Z\xfcrich %d"}\n' % number for number in range(4)))
    examples = read(path)
    found = in_pieces(examples, PieceSize(1, 10**9))
    assert [one.answer for one in found] == [f"Zürich {number}" for number in range(4)]
    assert examples.notes == _notes_of_the_whole(path)


def test_what_goes_on_knows_of_windows_1252_in_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"answer": "Z\xfcrich"}\n{"answer": "a"}\n{"answer": "b"}\n')
    end = list(read(path).pieces(PieceSize(1, 10**9)))[1].end
    rest = read(path)
    assert [one.answer for one in in_pieces(rest, PieceSize(1, 10**9), end)] == ["b"]
    assert rest.notes == _notes_of_the_whole(path) != []


def _notes_of_the_whole(path: Path) -> list[str]:
    examples = read(path)
    list(examples)
    return examples.notes


def test_a_file_that_breaks_off_is_told_after_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    text = "".join(f'{{"answer": "{number}"}}\n' for number in range(5_000))
    path.write_bytes(gzip.compress(text.encode())[:-100])
    with pytest.raises(DataError, match="cut off"):
        in_pieces(read(path), PieceSize(1000, 10**9))


def test_a_piece_read_elsewhere_knows_its_lines_and_leaves_bad_records_out(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", lines_of(bad=True))
    examples = read(path)
    second: Lines = list(examples.pieces(PieceSize(6, 10**9)))[1]
    apart, facts, ids = pickle.loads(pickle.dumps(examples.apart())), ReadFacts(), SeenIds()
    found = apart.read_part(second, ids, facts)
    assert [(line, one.id) for line, one in found] == [(7, "r6"), (10, "r3"), (15, "r7")]
    assert [one.line for one in facts.rejected] == [11, 12, 13]
    assert facts.good == 3
    assert sorted(ids.all().places.tolist()) == [7, 10, 12, 15]
    again = apart.read_part(second, SeenIds(), facts, {10: 4, 15: 2})
    assert [one.id for _, one in again] == ["r6"]
    assert "'r3', as in line 4" in str(facts.rejected[3].faults[0])


def test_an_id_under_two_systems_is_noticed_in_a_later_piece(tmp_path: Path) -> None:
    rows = [{"id": f"q{number % 5}", "system": "ab"[number // 5], "answer": "x"}
            for number in range(10)]  # fmt: skip
    path = write(tmp_path / "rows.jsonl", [json.dumps(row) for row in rows])
    with pytest.raises(IdsOfSystems):
        in_pieces(read(path), PieceSize(3, 10**9))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", "id,answer\n1,a\n"),
        ("rows.jsonl", '{"context.span_id": "s", "context.trace_id": "t", "input": "q",'
                       ' "reference": "r"}\n'),
    ],
)  # fmt: skip
def test_what_is_not_a_record_a_line_is_not_read_in_pieces(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    assert not read(tmp_path / name).in_pieces()


def test_neither_is_what_ends_at_a_limit(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", lines_of())
    assert read(path).in_pieces()
    assert not read(path, limit=3).in_pieces()


def test_a_column_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", lines_of())
    with pytest.raises(DataError, match="a column called 'nowhere'"):
        read(path, columns={"answer": "nowhere"}).pieces(PieceSize(3, 10**9))


@pytest.mark.parametrize(
    "first", [b"\xef\xbb\xbf\n", '{"answer": "Käse"}\n\xa0\n'.encode("cp1252")]
)
def test_a_line_that_only_seems_to_hold_a_record_counts_as_none(
    tmp_path: Path, first: bytes
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(first + b"".join(b'{"answer": "a"}\n' for _ in range(9)))
    whole = list(read(path))
    assert in_pieces(read(path), PieceSize(2, 10**9)) == whole
    assert [one.id for one in whole] == [str(at + 1) for at in range(len(whole))]


def test_ids_are_kept_of_a_piece_and_not_of_all_data(tmp_path: Path) -> None:
    """Those of all data would be more than memory should hold."""
    rows = [{"question": f"q {at}?", "answer": "a", "system": "s"} for at in range(9)]
    path = write(tmp_path / "rows.jsonl", [*map(json.dumps, rows), '{"id": "x", "answer": {}}'])
    whole = read(path, skip_bad=True)
    assert len(list(whole)) == 9
    assert (whole.facts.own_ids, whole.facts.other_ids, whole.facts.unread_ids) == (0, [], [])
    (piece,) = read(path, skip_bad=True).pieces(PieceSize(100, 10**9))
    facts = ReadFacts()
    list(read(path, skip_bad=True).read_part(piece, SeenIds(), facts))
    numbers = [str(at + 1) for at in range(9)]
    assert (facts.own_ids, facts.other_ids, facts.unread_ids) == (0, numbers, ["x"])
