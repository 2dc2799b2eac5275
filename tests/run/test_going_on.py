"""A run that is killed goes on with the shards that are not done."""

import json
import time
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import ragstone
from ragstone import evaluate, rescore
from ragstone.core.errors import DamagedRun
from ragstone.core.files import RunEntry
from ragstone.run import Run
from ragstone.run.folder.checksums import File, check_file
from ragstone.run.folder.run_list import Progress
from ragstone.run.folder.shards import ShardLedger, Shards
from ragstone.run.judging import prefetch as streaming
from ragstone.run.judging import sharding as blocks
from tests.forked import Forked

PROGRAM = """
import sys, time
from ragstone import evaluate
from ragstone.run.judging import sharding
sharding.OF_A_SHARD = 10
evaluate(sys.argv[1], out=sys.argv[2], progress=lambda told: time.sleep(told.examples // 30 * 900))
"""


def write_rows(path: Path, n: int) -> None:
    ragstone.write(
        ragstone.read(
            {
                "id": f"e{number}",
                "system": f"s{number % 3}",
                "question": f"Who built engine {number // 3}?",
                "contexts": [f"Engine {number // 3} was built by Mr. Harvey in Hayle."],
                "answer": "Harvey built it." if number % 2 else "I don't know.",
                "reference": "Harvey",
            }
            for number in range(n)
        ),
        path,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of 26 rows in one shard and one block, beside its data, rows.jsonl."""
    folder = tmp_path_factory.mktemp("whole")
    write_rows(folder / "rows.jsonl", 26)
    return evaluate(folder / "rows.jsonl", out=folder / "run")


def lines(parts: Path) -> list[bytes]:
    return (parts / RunEntry.SHARDS).read_bytes().splitlines()


def assert_same(one: Run, other: Run) -> None:
    assert_frame_equal(one.estimates(), other.estimates(), rel_tol=1e-12)
    order = ["metric", "example_id"]
    assert_frame_equal(one.scores().sort(order), other.scores().sort(order))


def contents(run: Path) -> dict[str, bytes]:
    """All that a run keeps, but the manifest, which knows the time."""
    return {
        file.relative_to(run).as_posix(): file.read_bytes()
        for file in run.rglob("*")
        if file.is_file() and file.name not in ("run.json", ".lock")
    }


@pytest.mark.kill
def test_killed_at_any_moment_the_same_call_finishes_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, out = tmp_path / "rows.jsonl", tmp_path / "run"
    write_rows(data, 50)
    child = Forked(PROGRAM, data, out, cwd=tmp_path)
    parts = out / "parts"
    # It waits for its end after three shards, so that it is not done before on a busy machine.
    while not (parts / RunEntry.SHARDS).is_file() or len(lines(parts)) < 2:
        assert child.returncode is None
        time.sleep(0.02)
    child.kill()
    child.communicate()
    files = [
        Shards(parts).file("scores", form.shard) for form in ShardLedger(parts / RunEntry.SHARDS)
    ]
    stamps = {file: file.stat().st_mtime_ns for file in files}
    kept: dict[Path, int] = {}

    def look(_: object) -> None:
        for file in stamps:
            if file.exists():
                kept[file] = file.stat().st_mtime_ns

    monkeypatch.setattr(blocks, "OF_A_SHARD", 10)
    evaluate(data, out=out, progress=look)
    assert kept == stamps
    evaluate(data, out=tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")
    assert not parts.exists()


def test_blocks_of_any_size_give_the_same_run(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where systems share a question, and so a judgement, over the end of a block."""
    data = whole.path.with_name("rows.jsonl")
    monkeypatch.setattr(streaming, "BLOCK", 7)
    cut = evaluate(data, out=tmp_path / "cut")
    assert_same(cut, whole)
    assert cut.manifest["tables"] == whole.manifest["tables"]
    order = ["example_id", "ask", "judge"]
    assert_frame_equal(cut.ledger().sort(order), whole.ledger().sort(order))
    for kind in ("claims", "relevance"):
        assert cut.judgements(kind).height
        assert_frame_equal(cut.judgements(kind), whole.judgements(kind))


def test_shards_of_any_size_give_the_same_run(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = whole.path.with_name("rows.jsonl")
    monkeypatch.setattr(blocks, "OF_A_SHARD", 7)
    cut = evaluate(data, out=tmp_path / "cut")
    assert len(list((cut.path / "scores").iterdir())) == 4
    assert_same(cut, whole)
    assert_frame_equal(cut.judgements("claims"), whole.judgements("claims"))


@pytest.mark.kill
@pytest.mark.parametrize("moment", ["finish", "settle", "_take"])
def test_killed_while_its_tables_are_put_in_place_it_still_finishes(
    moment: str, whole: Run, tmp_path: Path
) -> None:
    data, out = whole.path.with_name("rows.jsonl"), tmp_path / "run"
    stopped_at({"finish": "Folder.finish", "settle": "shutil.rmtree", "_take": "_take"}[moment],
               data, out)  # fmt: skip
    assert_same(evaluate(data, out=out), whole)


def stopped_at(moment: str, data: Path, out: Path) -> None:
    """A run that is killed when this of ``run.folder.folder`` is called."""
    program = PROGRAM.replace("sys, time", "sys, time, os").replace(
        "evaluate(sys", "from ragstone.run.folder import folder\n"
        f"folder.{moment} = lambda *_, **__: os._exit(9)\nevaluate(sys"
    )  # fmt: skip
    child = Forked(program, data, out, cwd=data.parent)
    child.communicate()
    assert child.returncode == 9


def test_a_hole_among_the_finished_shards_is_judged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 10)
    data, out = tmp_path / "rows.jsonl", tmp_path / "run"
    write_rows(data, 26)
    whole = evaluate(data, out=tmp_path / "whole")
    stopped_at("Folder.finish", data, out)
    parts = out / "parts"
    assert len(lines(parts)) == 3
    (parts / "judgements" / "claims" / "000001.parquet").unlink()
    others = [parts / "scores" / f"{number:06d}.parquet" for number in (0, 2)]
    before = [file.stat().st_mtime_ns for file in others]
    judged: list[int] = []

    def look(told: Progress) -> None:
        judged.append(told.examples)
        assert [file.stat().st_mtime_ns for file in others if file.exists()] in ([], before)

    again = evaluate(data, out=out, progress=look)
    assert min(judged) == 26, "the 16 of the others count from the beginning"
    assert_same(again, whole)
    assert contents(out) == contents(tmp_path / "whole")


def test_a_run_that_goes_on_verifies_what_it_found_and_not_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 10)
    data, out = tmp_path / "rows.jsonl", tmp_path / "run"
    write_rows(data, 26)
    stopped_at("Folder.finish", data, out)
    (out / "parts" / "judgements" / "claims" / "000001.parquet").unlink()
    verified = list[str]()

    def checking(file: Path, noted: File) -> None:
        verified.append(f"{file.parent.name} {file.stem}")
        check_file(file, noted)

    monkeypatch.setattr("ragstone.run.folder.shards.check_file", checking)
    evaluate(data, out=out)
    assert set(verified) >= {"facets 000000", "scores 000000", "facets 000002", "scores 000002"}
    assert [one for one in verified if one.endswith("1")] == []


def test_what_others_change_in_a_run_just_made_is_noticed(tmp_path: Path) -> None:
    rows = [{"question": f"q{n}", "answer": "a", "reference": "a"} for n in range(4)]
    run = evaluate(rows, metrics="token_f1", out=tmp_path / "run")
    rescore(tmp_path / "run", metrics="exact_match")
    assert set(run.scores()["metric"]) == {"token_f1", "exact_match"}
    assert run.form.metrics == ["token_f1", "exact_match"]
    run = evaluate(rows, metrics="token_f1", out=tmp_path / "other")
    file = tmp_path / "other" / "scores" / "000000.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    time.sleep(0.02)  # The clock of files is coarse.
    file.write_bytes(content)
    with pytest.raises(DamagedRun):
        run.scores()


def test_what_was_noted_of_finished_shards_is_told_when_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of records that are read otherwise than they look, all in the first shard."""
    search = {"role": "tool", "name": "search", "content": "The pier is 90 m long."}
    question = {"role": "user", "content": "How long?"}
    answer = {"role": "assistant", "content": "90 m."}
    plain: dict[str, object] = {
        "question": "How long?",
        "answer": "90 m.",
        "contexts": ["The pier is 90 m long."],
    }
    rows: list[dict[str, object]] = [
        {"messages": [question, search, answer]},
        {**plain, "answer": '{"length": "90 m"}', "reference": [90, "90 m"]},
        {**plain, "answer": '["90 m"]', "contexts": [{"text": "The pier is 90 m long."}]},
        {**plain, "answer": "<think>Long.</think>90 m.", "meta": {"contexts": ["It is long."]}},
        *[plain] * 8,
    ]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(f"{json.dumps({'id': str(n), **row})}\n" for n, row in enumerate(rows)))
    monkeypatch.setattr(blocks, "OF_A_SHARD", 4)
    whole = evaluate(data, metrics="token_f1", out=tmp_path / "whole")

    def stop(progress: Progress) -> None:
        if progress.examples >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(data, metrics="token_f1", out=tmp_path / "run", progress=stop)
    gone_on = evaluate(data, metrics="token_f1", out=tmp_path / "run")
    assert gone_on.manifest["remarks"] == whole.manifest["remarks"]
    told = {note.partition("?")[0] for note in gone_on.manifest["remarks"]}
    assert {"contexts_of_tools", "answers_structured", "answers_are_json", "numbers_as_texts",
            "thoughts_taken_off"} <= told  # fmt: skip
