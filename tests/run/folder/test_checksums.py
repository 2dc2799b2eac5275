"""What lies in a run's folder is read only if it is what was written there."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate, rescore
from ragstone.core.errors import DamagedRun
from ragstone.core.files import RunEntry
from ragstone.data import cornwall
from ragstone.run import Run
from ragstone.run.folder.checksums import described, read_json, signed
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.schemas import ShardForm
from ragstone.run.folder.shards import ShardLedger, write_ledger
from ragstone.run.settings import Several

METRICS = ["faithfulness", "token_f1"]
SCORES = "scores/000000.parquet"

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    return evaluate(cornwall(), metrics=METRICS, out=tmp_path_factory.mktemp("sound") / "run").path


@pytest.fixture
def run(sound: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(sound, tmp_path / "run"))


def flip(file: Path) -> None:
    """Turn one bit in the middle."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 16
    file.write_bytes(content)


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def gone(file: Path) -> None:
    file.unlink()


def endless(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def never_written(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def to_itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES = [flip, longer, gone, endless, never_written, to_itself, a_folder]


READERS: dict[str, Callable[[Run], Any]] = {
    "scores/000000.parquet": Run.scores,
    "examples/000000.parquet": Run.examples,
    "judgements/ledger/000000.parquet": Run.ledger,
    "judgements/claims/000000.parquet": lambda run: run.judgements("claims"),
    "shards.jsonl": Run.scores,
    "estimates.json": Run.estimates,
    "run.json": lambda run: Run.open(run.path),
}


@pytest.mark.parametrize(
    ("place", "damage"),
    [
        (place, damage)
        for place in READERS
        for damage in DAMAGES
        if (place, damage) != ("run.json", gone)
    ],
)
def test_a_file_that_is_not_what_was_written_is_not_read(
    place: str, damage: Damage, run: Path
) -> None:
    opened = Run.open(run)
    damage(run / place)
    with pytest.raises(DamagedRun) as found:
        READERS[place](opened)
    (fault,) = found.value.faults
    assert fault.file == str(run / place)
    assert fault.expected
    assert fault.got
    assert "evaluate command" in str(found.value)


def test_every_damaged_file_is_named_at_once(run: Path) -> None:
    flip(run / "scores" / "000000.parquet")
    flip(run / "judgements" / "claims" / "000000.parquet")
    with pytest.raises(DamagedRun) as found:
        Run.open(run).scores()
    assert {Path(fault.file).parent.name for fault in found.value.faults} == {"scores", "claims"}


def test_tables_that_were_exchanged_are_not_read(run: Path) -> None:
    judged = run / "judgements"
    (judged / "claims").rename(run / "aside")
    (judged / "response").rename(judged / "claims")
    (run / "aside").rename(judged / "response")
    with pytest.raises(DamagedRun):
        Run.open(run).judgements("claims")


def noting(run: Path, name: str, **other: Any) -> None:
    """Let the ledger say something else of a table of the first shard, and run.json of the ledger.

    Args:
        run: The folder.
        name: Of the table.
        other: What its line says of it instead.
    """
    forms = list(ShardLedger(run / "shards.jsonl"))
    noted = forms[0].files[name].model_copy(update=other)
    forms[0] = forms[0].model_copy(update={"files": {**forms[0].files, name: noted}})
    written(run, forms)


def written(run: Path, forms: list[ShardForm]) -> None:
    """Write another ledger, and make its line in run.json fit if there is one."""
    write_ledger(run / "shards.jsonl", forms)
    if (run / "run.json").is_file():
        content = Folder(run).manifest
        content["files"]["shards.jsonl"] = noted_of(run / "shards.jsonl")
        (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")


def noted_of(file: Path) -> dict[str, Any]:
    return described(file).model_dump(exclude_none=True)


def test_rows_are_counted(run: Path) -> None:
    content = Folder(run).manifest
    content["tables"]["claims"] += 1
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    rows = content["tables"]["claims"]
    noting(run, "claims", rows=rows)
    with pytest.raises(DamagedRun, match=f"expected {rows} rows, got {rows - 1}"):
        Run.open(run).judgements("claims")


def fit(run: Path, at: str, table: pl.DataFrame) -> None:
    """Put another table in a run's, and make its record fit."""
    table.write_parquet(run / at)
    noting(run, Path(at).parent.name, **noted_of(run / at))


def held(run: Path, at: str) -> pl.DataFrame:
    return pl.read_parquet(run / at)


@pytest.mark.parametrize("column", ["contexts", "history", "evidence"])
def test_lists_of_examples_that_are_none_are_refused(column: str, run: Path) -> None:
    examples = held(run, "examples/000000.parquet")
    fit(run, "examples/000000.parquet", examples.with_columns(pl.lit(1).alias(column)))
    with pytest.raises(DamagedRun, match=rf"{column}  expected List\(.*\), got Int32"):
        Run.open(run).examples()


@pytest.mark.parametrize("field", ["suites", "by", "judged", "metrics", "served"])
def test_what_every_run_says_must_be_there(field: str, run: Path) -> None:
    content = Folder(run).manifest
    del content[field]
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    with pytest.raises(DamagedRun, match=f"{field}  expected a value, got none"):
        Run.open(run)


def test_of_a_list_of_a_million_faults_the_first_is_told(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(f"[{'[],' * 999_999}[]]")
    with pytest.raises(DamagedRun) as found:
        read_json(file, Several[int])
    assert [fault.field for fault in found.value.faults] == ["0"]


def test_a_file_of_json_has_an_end(run: Path) -> None:
    os.truncate(run / "run.json", 64 * 2**20 + 1)
    with pytest.raises(DamagedRun, match="expected at most 67,108,864 bytes, got 67,108,865"):
        Run.open(run)


def test_a_ledger_that_run_json_does_not_name_is_not_read(run: Path) -> None:
    content = Folder(run).manifest
    del content["files"]["shards.jsonl"]
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    with pytest.raises(DamagedRun, match=r"a line for shards\.jsonl, got none"):
        Run.open(run).scores()


def test_a_shard_of_a_huge_number_takes_no_memory(run: Path) -> None:
    (form,) = ShardLedger(run / "shards.jsonl")
    written(run, [form.model_copy(update={"shard": 999_999_999})])
    with pytest.raises(DamagedRun, match=r"999999999\.parquet"):
        Run.open(run).scores()


def test_a_run_without_checksums_is_refused(run: Path) -> None:
    content = json.loads((run / "run.json").read_text(encoding="utf-8"))
    del content["checksum"]
    (run / "run.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DamagedRun, match=r"checksum.*got none"):
        Run.open(run)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("finished", "yes", "finished  expected a valid boolean, got 'yes'"),
        ("metrics", "faithfulness", "metrics  expected a valid array"),
        ("settings", [], "settings  expected an object"),
        ("judged", [["claims", "local", "ok", -1]], "judged.0.3  expected greater than"),
        ("models", {"reads": "many"}, "models.reads  expected a valid integer"),
        ("data", 2**64, "data  expected an object"),
        ("files", {"shards.jsonl": {"bytes": 10**300, "checksum": ""}}, "files.shards.jsonl"),
        ("tables", {"scores": -1}, "tables.scores"),
    ],
)
def test_what_no_run_says_is_refused_though_its_checksum_holds(
    field: str, value: object, expected: str, run: Path
) -> None:
    content = Folder(run).manifest | {field: value}
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    with pytest.raises(DamagedRun) as found:
        Run.open(run)
    assert expected in str(found.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"value": pl.col("value").cast(pl.String)}, "value  expected Float64, got String"),
        ({"status": pl.lit(1)}, "status  expected String, got Int32"),
    ],
)
def test_a_table_with_other_columns_is_refused_though_its_checksum_holds(
    change: dict[str, pl.Expr], expected: str, run: Path
) -> None:
    fit(run, SCORES, held(run, SCORES).with_columns(**change))
    with pytest.raises(DamagedRun) as found:
        Run.open(run).scores()
    assert expected in str(found.value)


def test_a_table_that_polars_cannot_read_is_damage_though_its_checksum_holds(run: Path) -> None:
    content = bytearray((run / SCORES).read_bytes())
    content[4:200] = b"\xff" * 196
    (run / SCORES).write_bytes(content)
    noting(run, "scores", **noted_of(run / SCORES))
    with pytest.raises(DamagedRun, match="tables that can be read"):
        Run.open(run).scores()


def test_the_same_command_makes_a_damaged_run_anew(run: Path, sound: Path) -> None:
    flip(run / SCORES)
    (run / "judgements" / "claims" / "000000.parquet").unlink()
    again = evaluate(cornwall(), metrics=METRICS, out=run)
    assert again.scores().equals(Run.open(sound).scores())
    assert again.judgements("claims").equals(Run.open(sound).judgements("claims"))
    remarks = again.manifest["remarks"]
    assert "claims/000000.parquet" in remarks[0]
    assert SCORES in remarks[1]


def test_damaged_facets_are_made_anew_from_the_judgements(run: Path, sound: Path) -> None:
    shutil.rmtree(run / "facets")
    assert [Path(fault.file).parent.name for fault in Folder(run).damage()] == ["facets"]
    again = rescore(run)
    assert again.estimates().equals(Run.open(sound).estimates())
    assert not Folder(run).damage()


def test_damaged_scores_are_made_anew_from_the_judgements(run: Path, sound: Path) -> None:
    (run / "estimates.json").unlink()
    flip(run / SCORES)
    again = rescore(run)
    assert again.scores().equals(Run.open(sound).scores())
    assert again.estimates().equals(Run.open(sound).estimates())


def test_a_score_that_is_stopped_while_it_puts_its_files_in_place_is_ended_by_whoever_opens_it(
    run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = rescore(shutil.copytree(run, tmp_path / "other"), metrics="rouge_l").scores()
    moved: list[Path] = []

    def replace(file: Path, target: Path, *, how: Any = Path.replace) -> Path:
        if RunEntry.READY in file.parts:
            if len(moved) == 2:
                raise Stopped
            moved.append(file)
        return Path(how(file, target))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(Stopped):
            rescore(run, metrics="rouge_l")
    assert (run / RunEntry.READY).is_dir()
    assert Run.open(run).scores().equals(expected)
    assert not (run / RunEntry.READY).exists()


class Stopped(BaseException):
    """As a kill would."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped when its only shard was finished."""

    def stop(*_: object) -> None:
        raise Stopped

    out = tmp_path_factory.mktemp("stopped") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Folder, "finish", stop)
        with pytest.raises(Stopped):
            evaluate(cornwall(), metrics=METRICS, out=out)
    return out


@pytest.fixture
def parts(stopped: Path, tmp_path: Path) -> Path:
    """The shards of a copy of it, ``run``."""
    return Path(shutil.copytree(stopped, tmp_path / "run")) / "parts"


OF_A_SHARD = [
    "facets/000000.parquet",
    "judgements/ledger/000000.parquet",
    SCORES,
    "judgements/claims/000000.parquet",
]


@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if damage is not flip])
@pytest.mark.parametrize("at", OF_A_SHARD)
def test_a_shard_whose_files_are_not_there_is_judged_again(
    at: str, damage: Damage, parts: Path, tmp_path: Path, sound: Path
) -> None:
    damage(parts / at)
    again = evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    assert again.scores().equals(Run.open(sound).scores())
    assert again.judgements("claims").equals(Run.open(sound).judgements("claims"))
    assert again.manifest["judged"] == Run.open(sound).manifest["judged"]
    assert not again.folder.damage()


@pytest.mark.parametrize("table", ["scores", "facets"])
def test_of_a_table_of_other_bytes_no_estimate_is_made(
    table: str, parts: Path, tmp_path: Path
) -> None:
    file = parts / table / "000000.parquet"
    flip(file)
    with pytest.raises(DamagedRun) as found:
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    assert [fault.file for fault in found.value.faults] == [str(file)]
    assert f"Delete {file}" in str(found.value)
    file.unlink()
    assert evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run").manifest["finished"]


def test_a_judgement_of_other_bytes_is_found_when_it_is_read(parts: Path, tmp_path: Path) -> None:
    at = "judgements/claims/000000.parquet"
    flip(parts / at)
    run = evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    with pytest.raises(DamagedRun) as found:
        run.judgements("claims")
    assert [fault.file for fault in found.value.faults] == [str(run.path / at)]


@pytest.mark.parametrize("damage", [flip, never_written, to_itself, a_folder])
def test_a_run_with_a_damaged_ledger_does_not_go_on(
    damage: Damage, parts: Path, tmp_path: Path
) -> None:
    ledger = parts / "shards.jsonl"
    damage(ledger)
    with pytest.raises(DamagedRun) as found:
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    assert found.value.faults[0].file == str(ledger)


def test_without_its_ledger_a_run_begins_again(parts: Path, tmp_path: Path, sound: Path) -> None:
    (parts / "shards.jsonl").unlink()
    again = evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    assert again.scores().equals(Run.open(sound).scores())


@pytest.mark.parametrize("table", ["scores", "facets"])
def test_a_table_that_lacks_a_column_is_damage_though_the_checksums_of_its_shard_hold(
    table: str, parts: Path, tmp_path: Path
) -> None:
    at = f"{table}/000000.parquet"
    rows = held(parts, at)
    fit(parts, at, rows.select(rows.columns[1:]))
    with pytest.raises(DamagedRun, match="no such column"):
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
