"""Passages by their ids."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError, InputError
from ragstone.data.traces import Corpus


def corpus(folder: Path, *passages: Any) -> Path:
    file = folder / "corpus.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in passages), encoding="utf-8")
    return file


def test_a_passage_is_found_by_its_id_with_its_title(tmp_path: Path) -> None:
    passages = [{"_id": f"d{n}", "title": "T" if n % 2 else "", "text": f"Größe {n}."}
                for n in range(2_000)]  # fmt: skip
    found = Corpus(corpus(tmp_path, *passages, {"id": 7, "content": "by number"}))
    assert len(found) == 2_001
    assert found.text("d0") == "Größe 0."
    assert found.text("d1999") == "T\nGröße 1999."
    assert found.text("7") == "by number"
    assert found.text("d2000") is None
    assert found.text("") is None


def test_of_passages_with_one_id_the_first_is_found(tmp_path: Path) -> None:
    found = Corpus(corpus(tmp_path, {"_id": "a", "text": "first"}, {"_id": "a", "text": "second"}))
    assert found.text("a") == "first"


def test_a_file_that_changed_gives_no_wrong_text(tmp_path: Path) -> None:
    file = corpus(tmp_path, {"_id": "a", "text": "one"}, {"_id": "b", "text": "two"})
    found = Corpus(file)
    corpus(tmp_path, {"_id": "c", "text": "new"}, {"_id": "a", "text": "moved by some characters"})
    assert (found.text("a"), found.text("b")) == (None, None)
    file.unlink()
    assert Corpus.text(found, "x") is None


def test_each_line_that_is_no_passage_is_told(tmp_path: Path) -> None:
    file = corpus(tmp_path, {"_id": "a", "text": "one"}, {"_id": "b"}, ["c"], {"text": "no id"})
    with pytest.raises(DataError) as caught:
        Corpus(file)
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl"):
        Corpus(tmp_path / "none.jsonl")
