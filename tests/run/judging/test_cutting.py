"""A run goes on at the place in its data where it was, and ends as if nothing had happened."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import CannotGoOn, InputError, RunConflict
from ragstone.data import Examples
from ragstone.data.line_ranges import LinePlace
from ragstone.run import Run
from ragstone.run.evaluate import evaluate
from ragstone.run.judging import sharding as blocks
from ragstone.run.run_plan import INPUT_FILE, known_file, known_input, prepare


def run_of(data: Path, **how: Any) -> Run:
    return evaluate(data, metrics=["helpfulness", "hit"], **how)


def write(path: Path, rows: int, *, systems: bool = False) -> Path:
    with path.open("w") as file:
        for number in range(rows):
            row = {
                "id": f"r{number}",
                "question": f"Q{number // 2}?",
                "answer": "It is so.",
                "contexts": ["It is so."],
                "labels": {"answer": {"helpful": number % 2}},
            }
            if systems:
                row |= {"id": f"q{number % (rows // 2)}", "system": "ab"[number // (rows // 2)]}
            if number % 9 == 4:
                row["labels"] = {"contexts": [{"topically_relevant": 0, "evidence_sufficient": 1}]}
            file.write(json.dumps(row) + "\n")
    return path


def stop_after(shards: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the run fail when so many shards are kept."""
    kept = [0]

    def kept_one(self: object, form: object) -> None:  # noqa: ARG001
        kept[0] += 1
        if kept[0] == shards:
            raise KeyboardInterrupt

    monkeypatch.setattr("ragstone.run.folder.folder.Folder.kept", kept_one)


NOT_COMPARED = ("run.json", ".lock")


def content(run: Path) -> dict[str, bytes]:
    files = (
        one for one in run.rglob("*") if one.is_file() and one.name not in ("run.json", ".lock")
    )
    return {str(one.relative_to(run)): one.read_bytes() for one in files}


def test_a_run_that_goes_on_reads_from_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)
    data = write(tmp_path / "rows.jsonl", 26)
    whole = evaluate(data, out=tmp_path / "whole")
    with monkeypatch.context() as stopping:
        stop_after(2, stopping)
        with pytest.raises(KeyboardInterrupt):
            evaluate(data, out=tmp_path / "run")
    begun: list[LinePlace] = []
    as_it_is = Examples.pieces

    def noting(self: Examples, size: object, start: LinePlace) -> object:
        begun.append(start)
        return as_it_is(self, size, start)  # type: ignore[arg-type]

    monkeypatch.setattr(Examples, "pieces", noting)
    monkeypatch.setattr(Examples, "fingerprint", lambda _: pytest.fail("read in full"))
    run = evaluate(data, out=tmp_path / "run")
    assert [(place.records, place.lines) for place in begun] == [(14, 14)]
    assert content(run.path) == content(whole.path)
    ours, theirs = run.form, whole.form
    assert ours.data == theirs.data
    assert ours.data.label_violations == {"evidence_requires_relevance": 3}
    assert ours.remarks == theirs.remarks


def test_records_left_out_are_told_whether_a_run_was_stopped_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)
    data = write(tmp_path / "rows.jsonl", 30)
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:3], "{", lines[0], *lines[3:], "{}"]) + "\n")
    whole = run_of(data, out=tmp_path / "whole", skip_bad=True)
    with monkeypatch.context() as stopping:
        stop_after(2, stopping)
        with pytest.raises(KeyboardInterrupt):
            run_of(data, out=tmp_path / "run", skip_bad=True)
    run = run_of(data, out=tmp_path / "run", skip_bad=True)
    assert run.form.data.rejected == 3
    assert run.form.data == whole.form.data
    assert content(run.path) == content(whole.path)


def test_an_id_of_a_shard_that_is_done_is_not_taken_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)
    data = write(tmp_path / "rows.jsonl", 30)
    data.write_text(data.read_text() + data.read_text().splitlines()[2] + "\n")
    with monkeypatch.context() as stopping:
        stop_after(2, stopping)
        with pytest.raises(KeyboardInterrupt):
            run_of(data, out=tmp_path / "run", skip_bad=True)
    run = run_of(data, out=tmp_path / "run", skip_bad=True)
    assert run.form.data.rejected == 1
    assert run.examples()["id"].to_list() == [f"r{number}" for number in range(30)]


def test_ids_that_turn_out_to_be_those_of_questions_begin_the_run_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "rows.jsonl", 20, systems=True)
    at_once = evaluate(data, out=tmp_path / "at once")
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)
    run = evaluate(data, out=tmp_path / "run")
    assert run.examples()["id"].to_list() == at_once.examples()["id"].to_list()
    assert set(run.examples()["question_id"]) == {f"q{number}" for number in range(10)}
    assert run.form.remarks == at_once.form.remarks
    assert len(run.folder.shards.ledger) == 3


def test_a_file_that_changed_is_other_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)
    data = write(tmp_path / "rows.jsonl", 30)
    stop_after(2, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run_of(data, out=tmp_path / "run")
    assert (tmp_path / "run" / "parts" / INPUT_FILE).is_file()
    assert known_input(tmp_path / "run", [known_file(data)]) is not None
    data.write_text(data.read_text().replace("It is so.", "It is no."))
    assert known_input(tmp_path / "run", [known_file(data)]) is None
    with pytest.raises(RunConflict, match="different data"):
        run_of(data, out=tmp_path / "run")


@pytest.mark.parametrize("size", [0, 1, 5000, 1_000_000])
def test_a_sample_notices_what_changed_at_either_end(tmp_path: Path, size: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"a" * size)
    before = known_file(file).sample
    assert known_file(file).sample == before
    for at in {0, size - 1} if size else ():
        file.write_bytes(b"a" * at + b"b" + b"a" * (size - at - 1))
        assert known_file(file).sample != before


def kept_by(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen when the first shard is kept."""
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)

    def kept(self: object, form: object) -> None:  # noqa: ARG001
        happens()
        monkeypatch.undo()

    monkeypatch.setattr("ragstone.run.folder.folder.Folder.kept", kept)


def test_a_file_of_another_time_with_the_same_content_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "rows.jsonl", 30)
    kept_by(monkeypatch, lambda: os.utime(data, (1, 1)))
    assert run_of(data, out=tmp_path / "run").form.data.examples == 30


def test_a_file_that_is_gone_at_the_end_can_be_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, away = write(tmp_path / "rows.jsonl", 30), tmp_path / "away"
    kept_by(monkeypatch, lambda: data.rename(away))
    with pytest.raises(CannotGoOn, match=r"rows\.jsonl cannot be read any more \(No such file"):
        run_of(data, out=tmp_path / "run")
    away.rename(data)
    assert run_of(data, out=tmp_path / "run").form.data.examples == 30


def test_a_file_that_changes_while_it_is_read_makes_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "rows.jsonl", 30)
    whole = data.read_text()
    kept_by(monkeypatch, lambda: data.write_text(f'{whole}{{"answer": "Another one."}}\n'))
    with pytest.raises(InputError, match=r"rows\.jsonl changed while the run was reading it"):
        run_of(data, out=tmp_path / "run")
    assert not (tmp_path / "run" / "estimates.json").exists()


def test_data_that_change_after_their_fingerprint_was_taken_make_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "rows.jsonl", 30)
    prepared = prepare

    def later(request: object) -> object:
        found = prepared(request)  # type: ignore[arg-type]
        with data.open("a") as file:
            file.write(json.dumps({"id": "more", "question": "Q?", "answer": "It is so."}) + "\n")
        return found

    monkeypatch.setattr("ragstone.run.evaluate.prepare", later)
    with pytest.raises(InputError, match="changed while the run was reading it"):
        run_of(data, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_whose_name_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    data = write(tmp_path / "caf\udce9.jsonl", 3)
    with pytest.raises(InputError, match=r"the name of this file is not UTF-8\. Rename it\."):
        run_of(data, out=tmp_path / "run")
