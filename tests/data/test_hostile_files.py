"""Files made to break a reader are refused in words, and cost no more memory than they hold."""

import gzip
import io
import json
import struct
from pathlib import Path

import polars as pl
import pytest

from ragstone.core.errors import DataError, InputError
from ragstone.data import read
from ragstone.data.text_files import MAX_UNPACKED, most_unpacked
from ragstone.judges.llm.rubrics import load_rubrics
from ragstone.run.calls.budget import load_prices

MB = 1 << 20


def faults_of(path: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        list(read(path))
    told = [f"{fault.field} {fault.expected}, got {fault.got}" for fault in caught.value.faults]
    str(caught.value).encode()
    return told


@pytest.mark.parametrize("wrong", [b'"\\ud800"', b'"caf\xe9\x81"', b'{"a": ["\xff"]}'])
@pytest.mark.parametrize("column", [b"answer", b"meta"])
def test_columns_of_json_with_what_is_no_text_are_a_fault(
    wrong: bytes, column: bytes, tmp_path: Path
) -> None:
    columns = {b"question": b'"a"', b"answer": b'"c"', b"meta": b"null", column: wrong}
    members = [b'"%s": [%s, null]' % (name, value) for name, value in columns.items()]
    path = tmp_path / "data.json"
    path.write_bytes(b"{" + b", ".join(members) + b"}")
    assert any(
        "text in UTF-8" in told and told.startswith(column.decode()) for told in faults_of(path)
    )


def test_a_name_of_a_column_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(b'{"question": ["a"], "answer": ["b"], "x\xe9\x81": [1]}')
    assert "field" in faults_of(path)[0] or "UTF-8" in faults_of(path)[0]


def test_a_list_in_pythons_words_with_half_a_pair_stays_the_text_it_is(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("question,answer,contexts\nq,a,\"['\\ud800']\"\n")
    assert "contexts" in faults_of(path)[0]


@pytest.mark.parametrize("size", [1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, -1])
def test_an_arrow_stream_that_lies_about_its_length_is_cut_off(size: int, tmp_path: Path) -> None:
    stream = io.BytesIO()
    frame = pl.DataFrame({"question": ["q"], "answer": ["a"]})
    frame.write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    content = bytearray(stream.getvalue())
    told = []
    for at in range(8, len(content) - 8, 8):
        (number,) = struct.unpack_from("<q", content, at)
        if 0 < number < len(content):
            lying = bytearray(content)
            struct.pack_into("<q", lying, at, size)
            path = tmp_path / f"data{at}.arrow"
            path.write_bytes(lying)
            try:
                list(read(path))
            except DataError as error:
                told.append(str(error))
    path = tmp_path / "header.arrow"
    path.write_bytes(content[:4] + struct.pack("<i", 2**31 - 1) + content[8:])
    assert "cut off" in faults_of(path)[0] or "broken" in faults_of(path)[0]
    assert told
    assert all("Arrow stream" in one for one in told)


@pytest.mark.parametrize(
    "value", ["9" * 5000, "0x" + "f" * 5000, "[" * 5000, "-1", "inf", "true", '"a"', "1" * 400]
)
def test_a_settings_file_with_an_odd_number_is_refused(value: str, tmp_path: Path) -> None:
    rubrics, prices = tmp_path / "rubrics.toml", tmp_path / "prices.toml"
    rubrics.write_text(
        '[politeness]\nabout = "How polite?"\nsees = ["answer"]\n'
        f'points = [{{value = 0, means = "rude"}}, {{value = {value}, means = "polite"}}]\n'
    )
    prices.write_text(f'["openai:gpt-5-mini"]\ninput = {value}\noutput = 2.0\n')
    with pytest.raises(InputError, match="rubrics"):
        load_rubrics(rubrics)
    with pytest.raises(InputError, match="prices="):
        load_prices(prices)


def test_a_number_of_5000_digits_in_json_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"answer": "a", "n": ' + "9" * 5000 + "}\n")
    assert faults_of(path) == [" JSON, got a number of more than 4,300 digits"]


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_what_unpacks_to_a_thousand_times_its_size_is_refused(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.data.text_files.UNPACKED_IN_ANY_CASE", 2 * MB)
    record = {"question": "q", "answer": "a" * (5 * MB), "contexts": []}
    text = {
        "jsonl": json.dumps(record),
        "json": json.dumps([record]),
        "csv": f"question,answer\nq,{record['answer']}\n",
    }[ending]
    path = tmp_path / f"data.{ending}.gz"
    path.write_bytes(gzip.compress(text.encode()))
    (told,) = faults_of(path)
    assert "at most 2 MB unpacked (RAGSTONE_MAX_UNPACKED=10G allows 10 GB), got more" in told
    monkeypatch.setenv(MAX_UNPACKED, "6M")
    (example,) = read(path)
    assert example.answer == record["answer"]


def test_the_limit_is_256_mb_or_a_hundred_times_the_packed_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert most_unpacked(972_000) == 256 * MB
    assert most_unpacked(100 * MB) == 100 * 100 * MB
    for given, bytes_ in [("500", 500), ("3k", 3072), ("2G", 2 << 30), ("1TB", 1 << 40)]:
        monkeypatch.setenv(MAX_UNPACKED, given)
        assert most_unpacked(10) == bytes_
    monkeypatch.setenv(MAX_UNPACKED, "much")
    with pytest.raises(InputError, match="RAGSTONE_MAX_UNPACKED is a size such as"):
        most_unpacked(10)


def test_a_header_of_a_hundred_thousand_names_takes_a_moment(tmp_path: Path) -> None:
    header = ",".join(["question", "answer", *(f"c{i}" for i in range(100_000))])
    path = tmp_path / "data.csv"
    path.write_text(f"{header}\n")
    assert faults_of(path) == [" at least one record, got a file without any"]
    path.write_text(f"{header},{header}\n")
    (told,) = faults_of(path)
    assert told.startswith(" a header that names each column once, got 'answer, c0, c1, c10, c100'")
    assert told.endswith("and 99,997 more twice")


@pytest.mark.parametrize("name", ["../data.arrow", "/etc/passwd", "..", "a/b.arrow", "x\ud800"])
def test_a_dataset_lists_files_of_its_own_folder_alone(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    pl.DataFrame({"answer": ["a"]}).write_ipc_stream(
        tmp_path / "data.arrow", compat_level=pl.CompatLevel.oldest()
    )
    state = {"_data_files": [{"filename": name}]}
    (folder / "state.json").write_text(json.dumps(state))
    with pytest.raises(DataError, match=r"inside the folder|none called") as caught:
        read(folder)
    str(caught.value).encode()
