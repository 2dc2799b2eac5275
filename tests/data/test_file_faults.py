"""What a disk can hold instead of examples is told, with its place, and is never a traceback."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError, Fault, InputError
from ragstone.data import Examples, read

GOOD = '{"id": "%s", "answer": "a"}\n'


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def error_of(source: Any, **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        list(read(source, **options))
    return caught.value


def only_fault(source: Any, **options: Any) -> Fault:
    (fault,) = error_of(source, **options).faults
    return fault


def test_all_faults_come_in_one_message_with_file_line_field_expected_got(tmp_path: Path) -> None:
    lines = [GOOD % "x", '{"answer": true}\n', "{broken\n", "[]\n", '{"answer": "a", "id": "x"}\n']
    path = written(tmp_path, "data.jsonl", "".join(lines))
    error = error_of(path)
    assert [(f.line, f.field) for f in error.faults] == [(2, "answer"), (3, ""), (4, ""), (5, "id")]
    assert all(fault.file == str(path) for fault in error.faults)
    assert f"{path}:2  answer  expected text, got true (a truth value)" in str(error)
    assert f"{path}:5  id  expected an id of its own, got 'x', as in line 1" in str(error)
    assert "skip_bad=True" in str(error)


def test_nothing_is_yielded_after_the_first_fault(tmp_path: Path) -> None:
    path = written(tmp_path, "data.jsonl", GOOD % "a" + "{\n" + GOOD % "b")
    seen = []
    stream = iter(read(path))
    seen.append(next(stream).id)
    with pytest.raises(DataError):
        next(stream)
    assert seen == ["a"]


def test_twenty_faults_are_shown_a_thousand_kept_and_all_counted(tmp_path: Path) -> None:
    error = error_of(written(tmp_path, "data.jsonl", GOOD % "a" + "{\n" * 1500))
    assert error.total == 1500
    assert len(error.faults) == 1000
    assert str(error).startswith("1,500 faults in the data.")
    assert "… and 1,480 more" in str(error)
    assert len(str(error).splitlines()) == 23


def test_skip_bad_is_offered_only_where_something_good_would_be_left(tmp_path: Path) -> None:
    mixed = error_of(written(tmp_path, "mixed.jsonl", GOOD % "a" + "{oops\n"))
    assert "With skip_bad=True the one good record is read" in str(mixed)
    assert "skip_bad=" not in str(error_of(written(tmp_path, "bad.jsonl", "{oops\n")))


def test_skip_bad_goes_on_and_keeps_the_rejected_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "data.jsonl", GOOD % "a" + '{"answer": true}\n{oops\n' + GOOD % "b")
    examples = read(path, skip_bad=True)
    assert [example.id for example in examples] == ["a", "b"]
    assert [(one.line, one.record) for one in examples.rejected] == [
        (2, '{"answer": true}'),
        (3, "{oops"),
    ]
    assert examples.rejected[0].faults[0].field == "answer"
    assert examples.n_faults == 2


def test_skip_bad_with_nothing_good_is_an_error(tmp_path: Path) -> None:
    assert error_of(written(tmp_path, "data.jsonl", "{\n"), skip_bad=True).total == 1


def test_rejected_rows_of_a_table_are_json_text() -> None:
    examples = read([{"answer": "a"}, {"answer": "b", "id": 1.5}], skip_bad=True)
    assert len(list(examples)) == 1
    assert json.loads(examples.rejected[0].record) == {"answer": "b", "id": 1.5}


@pytest.mark.parametrize(
    "name", ["data.jsonl", "data.json", "data.csv", "data.tsv", "data.jsonl.gz"]
)
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    fault = only_fault(written(tmp_path, name, ""))
    assert (fault.line, fault.expected, fault.got) == (None, "at least one record", "an empty file")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", "\n\n"), ("a.json", "[]"), ("a.json", " \n"), ("a.csv", "answer\n")],
)
def test_a_file_without_records(tmp_path: Path, name: str, content: str) -> None:
    assert only_fault(written(tmp_path, name, content)).got == "a file without any"
    assert only_fault([]).got == "none"


def test_a_missing_file_with_close_names(tmp_path: Path) -> None:
    written(tmp_path, "answers.jsonl", GOOD % "a")
    error = error_of(tmp_path / "anwsers.jsonl")
    assert error.faults[0].expected == "a file or folder"
    assert "answers.jsonl" in error.hint
    assert error_of("no/such/folder/x.jsonl").hint == ""
    assert error_of("a\0b").faults[0].got == "none of this name"


def test_a_folder_that_is_no_data_set(tmp_path: Path) -> None:
    assert only_fault(tmp_path).got == "a folder without files"
    written(tmp_path, "answers.jsonl", GOOD % "a")
    assert "answers.jsonl" in error_of(tmp_path).hint


@pytest.mark.parametrize("name", ["data.jsonl", "data.json", "data.csv"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_named(tmp_path: Path, name: str, encoding: str) -> None:
    path = written(tmp_path, name, ((GOOD % "a") * 20).encode(encoding))
    fault = only_fault(path)
    assert fault.expected == "text in UTF-8"
    assert "UTF-32" in fault.got if encoding == "utf-32" else "UTF-16" in fault.got


@pytest.mark.parametrize(
    ("encoding", "told"),
    [("utf-32-le", "UTF-32"), ("utf-32-be", "UTF-32"),
     ("utf-16-le", "UTF-16 (it begins with 0xFF)"),
     ("utf-16-be", "UTF-16 (it begins with 0xFE)")],
)  # fmt: skip
def test_a_byte_order_mark_names_the_encoding(tmp_path: Path, encoding: str, told: str) -> None:
    path = written(tmp_path, "data.jsonl", ("\ufeff" + GOOD % "é").encode(encoding))
    assert only_fault(path).got == f"text in {told}"


@pytest.mark.parametrize("format", ["jsonl", "json", "csv"])
def test_an_error_of_the_disk_is_told_in_its_words(format: str) -> None:
    fault = only_fault("/proc/self/mem", format=format)
    assert (fault.expected, fault.got) == ("a readable file", "the error 'Input/output error'")


def test_bytes_of_no_known_encoding_are_told_by_line_and_place(tmp_path: Path) -> None:
    raw = (GOOD % "a").encode() + b'{"answer": "caf\xe9\x81"}\n'
    fault = only_fault(written(tmp_path, "data.jsonl", raw))
    assert (fault.line, fault.got) == (2, "byte 0xE9 at byte 16 of the line")
    fault = only_fault(written(tmp_path, "data.csv", b"id,answer\n1,a\n2,caf\xe9\x81\n"))
    assert (fault.line, fault.got) == (3, "byte 0xE9 at byte 6 of the line")
    listed = b'[{"answer": "a"},\n{"answer": "caf\xe9\x81"},\n{"answer": []}]'
    first, second = error_of(written(tmp_path, "data.json", listed)).faults
    assert (first.line, first.got) == (2, "byte 0xE9, in element 2")
    assert (second.line, second.field) == (3, "answer")


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.json"):
        path = written(tmp_path, name, b"\xef\xbb\xbf" + (GOOD % "x").encode())
        assert [e.id for e in read(path)] == ["x"]
    path = written(tmp_path, "a.csv", b"\xef\xbb\xbfid,answer\nx,a\n")
    assert [e.id for e in read(path)] == ["x"]


@pytest.mark.parametrize("name", ["data.jsonl", "data.json", "data.csv"])
def test_a_binary_file(tmp_path: Path, name: str) -> None:
    fault = only_fault(written(tmp_path, name, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0" * 30))
    assert fault.got == "a binary file"


@pytest.mark.parametrize("shift", range(4))
def test_a_text_with_a_null_is_text_wherever_the_part_that_is_looked_at_ends(
    tmp_path: Path, shift: int
) -> None:
    answer = "\0" + "a" * shift + "😀" * 3000
    (example,) = read(written(tmp_path, "data.csv", f"answer\n{answer}\n"))
    assert example.answer == answer
    latin = written(tmp_path, "data.csv", f"answer\n{answer}".encode()[:1000] + b"\xe9" * 1000)
    assert only_fault(latin).got == "a binary file"


@pytest.mark.parametrize("name", ["data.jsonl.gz", "data.json.gz", "data.csv.gz"])
def test_a_cut_off_archive(tmp_path: Path, name: str) -> None:
    text = "id,answer\n" + "".join(f"{i},{i * 7919 % 10007}\n" for i in range(20_000))
    if "json" in name:
        rows = [{"id": str(i), "answer": str(i * 7919 % 10007)} for i in range(20_000)]
        text = "\n".join(json.dumps(row) for row in rows)
        text = f"[{text}]".replace("\n", ",\n") if "jsonl" not in name else text
    packed = gzip.compress(text.encode())
    fault = error_of(written(tmp_path, name, packed[: len(packed) // 2])).faults[0]
    assert (fault.expected, fault.got.split(",")[0]) == (
        "a whole gzip archive",
        "one that is cut off",
    )
    assert fault.line is not None


def test_a_corrupt_archive_and_what_only_is_called_one(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress((GOOD % "a").encode() * 1000))
    packed[40] ^= 0xFF
    assert "corrupt" in error_of(written(tmp_path, "a.jsonl.gz", bytes(packed))).faults[0].got
    assert "gzip" in only_fault(written(tmp_path, "b.jsonl.gz", GOOD % "a")).expected


def test_an_archive_without_the_ending_is_unpacked(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", gzip.compress((GOOD % "x").encode()))
    assert [e.id for e in read(path)] == ["x"]


@pytest.mark.parametrize("depth", [250, 5_000, 200_000])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_absurd_nesting(tmp_path: Path, depth: int, name: str) -> None:
    text = '{"answer": "a", "x": ' + "[" * depth + "]" * depth + "}\n"
    assert "nesting" in error_of(written(tmp_path, name, text)).faults[0].expected


def test_numbers_that_are_none(tmp_path: Path) -> None:
    score = '{"contexts": [{"text": "t", "score": %s}]}\n'
    path = written(tmp_path, "a.jsonl", score % "NaN" + score % "1e999" + score % ("9" * 400))
    assert [f.got for f in error_of(path).faults][:2] == ["NaN", "Infinity"]
    assert error_of(path).faults[2].got == "a number of more than 60 digits"
    path = written(tmp_path, "b.jsonl", '{"answer": "a", "id": %s}\n' % ("9" * 5000))
    assert only_fault(path).line == 1


def test_a_line_that_is_no_json_is_told_with_its_column(tmp_path: Path) -> None:
    fault = only_fault(written(tmp_path, "a.jsonl", '{"answer" 5}\n'))
    assert (fault.line, fault.got) == (1, "'5}' at column 11 (expecting ':' delimiter)")
    fault = only_fault(written(tmp_path, "a.jsonl", '{"answer": 5\n'))
    assert fault.got.startswith("the end of the text at column 13 (")


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    fault = only_fault(written(tmp_path, "a.jsonl", '{"answer": "a\\ud83d"}\n'))
    assert (fault.field, fault.got) == ("answer", "half a surrogate pair (U+D83D)")
    whole = written(tmp_path, "b.jsonl", '{"answer": "\\ud83d\\ude00"}\n')
    assert next(iter(read(whole))).answer == "😀"


def test_a_very_long_line_is_valid(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    for name, text in (
        ("a.jsonl", json.dumps({"answer": long})),
        ("a.json", json.dumps([{"answer": long}])),
        ("a.csv", f"answer\n{long}\n"),
    ):
        assert next(iter(read(written(tmp_path, name, text)))).answer == long


@pytest.mark.parametrize(
    ("text", "line", "got"),
    [
        ('[{"answer": "a"},\n {"answer": "b"', 2, "the end of the file in the middle of it"),
        ('[{"answer": "a"},\n', 2, "the end of the file"),
        ('[{"answer": "a"}', 1, "the end of the file"),
        ('[{"answer": "a"},\n {"answer": "b', 2, "the end of the file inside the text"),
        ('[{"answer": "a"}\n\n {"answer": "b"}]', 3, '\'{"answer": "b"}]\''),
        ('[{"answer": "a"},\n{"answer" 5}]', 2, "'5}]' (expecting ':' delimiter)"),
        ('[{"answer": "a"}] x', 1, "'x'"),
        ('{"results": [{"answer": "a"}]} {}', 1, "'{}'"),
        ('{"answer": "a"', 1, "the end of the file"),
        ('{"results":', 1, "the end of the file"),
        ('{"results": {"results":', 1, "the end of the file"),
        ('{"results": {"results": [{"answer": "a"}]', 1, "the end of the file"),
        ("hello", 1, "'hello'"),
        ("[1, 2]", 1, "1 (a number)"),
        ('{"question": ["a"], "answer": ["a", "b"]}', 1, "question 1, answer 2"),
    ],
)
def test_a_broken_json_document(tmp_path: Path, text: str, line: int, got: str) -> None:
    fault = error_of(written(tmp_path, "a.json", text)).faults[0]
    assert fault.line == line
    assert got in fault.got


@pytest.mark.parametrize(
    ("text", "line", "got"),
    [
        ("id,answer\n1,a\n2\n", 3, "1"),
        ("id,answer\n1,a,b\n", 2, "3"),
        ('id,answer\n1,"a\n', 2, "broken quoting"),
        ("answer,answer\na,b\n", 1, "'answer' twice"),
        ('id,contexts\n1,"[""a"", ""b"""\n', 2, "the end of the text"),
    ],
)
def test_a_broken_csv(tmp_path: Path, text: str, line: int, got: str) -> None:
    fault = error_of(written(tmp_path, "a.csv", text)).faults[0]
    assert fault.line == line
    assert got in fault.got


def test_a_mapped_column_missing_from_a_table(tmp_path: Path) -> None:
    fault = only_fault(written(tmp_path, "a.csv", "q,r\n1,2\n"), columns={"answer": "x"})
    assert (fault.expected, fault.got) == ("a column called 'x'", "only the columns q, r")


def test_unreadable_tables(tmp_path: Path) -> None:
    assert "Parquet" in only_fault(written(tmp_path, "a.parquet", b"PAR1nothingPAR1")).expected
    assert "Parquet" in only_fault(written(tmp_path, "b.parquet", b"")).expected
    for content in (b"nothing at all", b"\xff\xff\xff\xff\0\0", b"\0" * 8):
        fault = only_fault(written(tmp_path, "a.arrow", content))
        assert (fault.expected, fault.got) == ("an Arrow stream", "other bytes")


def test_an_unknown_ending_is_told_unless_the_text_is_plain(tmp_path: Path) -> None:
    assert ".jsonl" in only_fault(written(tmp_path, "a.docx", "words")).expected
    assert only_fault(written(tmp_path, "a", "")).got == "an empty file"
    assert [e.id for e in read(written(tmp_path, "a.txt", GOOD % "x"))] == ["x"]
    assert [e.id for e in read(written(tmp_path, "b", f"[{GOOD % 'x'}]"))] == ["x"]
    assert [e.id for e in read(written(tmp_path, "c.dat", GOOD % "x"), format="jsonl")] == ["x"]


@pytest.mark.parametrize("source", [None, 5, {"question": ["a"]}, b"x.jsonl"])
def test_neither_a_path_nor_records(source: Any) -> None:
    with pytest.raises(InputError):
        read(source)


def test_a_limit_stops_early_and_may_be_zero(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", "".join(GOOD % i for i in range(9)) + "{broken")
    assert len(list(read(path, limit=3))) == 3
    assert list(read(path, limit=0)) == []
    with pytest.raises(InputError):
        read(path, limit=-1)


def test_progress_counts_bytes_on_disk(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", "".join(GOOD % i for i in range(1000)))
    examples: Examples = read(path)
    assert examples.progress() == (0, path.stat().st_size)
    list(examples)
    assert examples.progress() == (path.stat().st_size, path.stat().st_size)
    assert read([{"answer": "a"}]).progress() is None


def test_the_fingerprint_is_of_the_bytes_or_of_the_records(tmp_path: Path) -> None:
    a = read(written(tmp_path, "a.jsonl", GOOD % "x")).fingerprint()
    b = read(written(tmp_path, "b.jsonl", GOOD % "x")).fingerprint()
    c = read(written(tmp_path, "c.jsonl", GOOD % "y")).fingerprint()
    assert a == b != c
    assert len(a) == 32
    rows = [{"answer": "a", "id": 1}]
    assert read(rows).fingerprint() == read([{"id": 1, "answer": "a"}]).fingerprint()
    assert read(iter(rows)).fingerprint() == read(rows).fingerprint()


def test_an_iterator_is_read_once_and_a_file_as_often_as_wanted(tmp_path: Path) -> None:
    examples = read({"answer": str(i)} for i in range(3))
    assert examples.format == "ragstone"
    assert len(list(examples)) == 3
    with pytest.raises(InputError):
        list(examples)
    again = read({"answer": str(i)} for i in range(3))
    again.fingerprint()
    assert len(list(again)) == len(list(again)) == 3
    stored = read(written(tmp_path, "a.jsonl", GOOD % "x"))
    assert list(stored) == list(stored)
