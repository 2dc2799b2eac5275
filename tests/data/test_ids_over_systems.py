"""Where ids repeat over systems, an id is the question's and an example is ID/SYSTEM."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.core.errors import DataError
from ragstone.data import Example, read
from ragstone.report.reason_words import explain
from ragstone.run import Run

TOLD = "Ids repeat over systems: an id is the question's, and an example is ID/SYSTEM."


def row(id: str, system: str | None, **more: Any) -> dict[str, Any]:
    method = {} if system is None else {"method": system}
    return {"id": id, **method, "question": f"{id}?", "answer": "Ann", "reference": "Ann", **more}


ROWS = [row(id, system) for system in ("a", "b") for id in ("q1", "q2", "q3")]


def as_jsonl(rows: list[dict[str, Any]], folder: Path) -> Path:
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


@pytest.mark.parametrize("key", ["method", "system"])
@pytest.mark.parametrize("door", ["file", "dicts", "iterator", "table", "examples", "slices"])
def test_the_id_is_the_questions_and_the_examples_is_id_and_system(
    door: str, key: str, tmp_path: Path
) -> None:
    rows = [
        {key if name == "method" else name: value for name, value in one.items()} for one in ROWS
    ]
    sources: dict[str, Any] = {
        "file": as_jsonl(rows, tmp_path),
        "dicts": rows,
        "iterator": iter(rows),
        "table": pl.DataFrame(rows),
        "examples": [
            Example(one["id"], one["id"], one[key], one["question"], answer="Ann") for one in rows
        ],
        "slices": [{name: one[name] for name in ("id", "question", "answer")}
                   | {"slices": {key: one[key]}} for one in rows],
    }  # fmt: skip
    examples = read(sources[door])
    found = [(one.id, one.question_id, one.system) for one in examples]
    assert found == [(f"{q}/{s}", q, s) for s in ("a", "b") for q in ("q1", "q2", "q3")]
    assert [*map(explain, examples.notes)] == [TOLD]
    assert [one.id for one in examples] == [id for id, *_ in found]


def test_a_question_that_the_data_name_stays_the_question() -> None:
    rows = [one | {"question_id": f"Q{one['id']}"} for one in ROWS]
    assert {one.question_id for one in read(rows)} == {"Qq1", "Qq2", "Qq3"}


def test_an_id_with_another_question_in_another_system_is_told() -> None:
    rows = [row("1", "a"), row("2", "a"), row("1", "b"), row("2", "b") | {"question": "Other?"}]
    examples = read(rows)
    assert [one.question_id for one in examples] == ["1", "2", "1", "2"]
    (note,) = map(explain, examples.notes)
    assert note.startswith(f"{TOLD} But 1 id stands for other questions in other systems, 2 first")


def test_a_repeated_id_and_system_is_a_fault(tmp_path: Path) -> None:
    path = as_jsonl([*ROWS, row("q2", "b")], tmp_path)
    with pytest.raises(DataError) as caught:
        list(read(path))
    (fault,) = caught.value.faults
    assert (fault.line, fault.field) == (7, "id")
    assert fault.got == "'q2' of system 'b', as in line 5"
    assert len(list(read(path, skip_bad=True))) == 6


def test_ids_that_repeat_within_one_system_are_a_fault_as_ever(tmp_path: Path) -> None:
    for rows in ([row("q1", "a"), row("q1", "a")], [row("q1", None), row("q1", None)]):
        with pytest.raises(DataError, match="expected an id of its own, got 'q1', as in line 1"):
            list(read(as_jsonl(rows, tmp_path)))


def test_skipping_bad_rows_loses_no_system(tmp_path: Path) -> None:
    bad = [
        {"id": "q0", "method": "a", "answer": True},
        *ROWS[:4],
        {"id": "q9", "answer": []},
        *ROWS[4:],
    ]
    examples = read(as_jsonl(bad, tmp_path), skip_bad=True)
    assert len(list(examples)) == 6
    assert len(examples.rejected) == 2


def test_ids_that_do_not_repeat_stay_what_they_are() -> None:
    rows = [row(f"{one['id']}-{one['method']}", one["method"]) for one in ROWS]
    examples = read(rows)
    assert [one.id for one in examples] == [one["id"] for one in rows]
    assert examples.notes == []
    nameless = [{name: one[name] for name in one if name != "id"} for one in ROWS]
    assert [one.id for one in read(nameless)] == ["1", "2", "3", "4", "5", "6"]


def test_the_first_rows_that_are_read_decide(tmp_path: Path) -> None:
    path = as_jsonl(ROWS, tmp_path)
    assert [one.id for one in read(path, limit=3)] == ["q1", "q2", "q3"]
    assert [one.id for one in read(path, limit=4)] == ["q1/a", "q2/a", "q3/a", "q1/b"]


def test_data_without_systems_or_ids_are_read_once() -> None:
    read_records = 0

    class Counted(list[dict[str, Any]]):
        def __iter__(self) -> Iterator[dict[str, Any]]:
            nonlocal read_records
            for one in super().__iter__():
                read_records += 1
                yield one

    for id, system in ((True, False), (False, True)):
        read_records = 0
        rows = [row(f"q{i}", "a" if system else None) for i in range(5000)]
        list(read(Counted(one if id else {**one, "id": None} for one in rows)))
        assert read_records == 5000 + 1000


def test_a_run_over_such_data_pairs_its_systems_and_goes_on(tmp_path: Path) -> None:
    path = as_jsonl(ROWS, tmp_path)
    evaluate(path, metrics=["token_f1"], out=tmp_path / "run")
    run = evaluate(path, metrics=["token_f1"], out=tmp_path / "run")
    assert run.manifest["data"]["examples"] == 6
    assert run.manifest["data"]["questions"] == 3
    assert TOLD in map(explain, run.manifest["remarks"])
    assert set(Run.open(tmp_path / "run").examples()["id"]) == {
        f"{q}/{s}" for q in ("q1", "q2", "q3") for s in ("a", "b")
    }
