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
from ragstone.data import cornwall
from ragstone.errors import DamagedRun
from ragstone.run import Run
from ragstone.run.folder import Folder
from ragstone.run.parts import Parts
from ragstone.run.places import READY
from ragstone.run.written import Several, described, read_json, signed

METRICS = ["faithfulness", "token_f1"]

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
    "scores.parquet": Run.scores,
    "examples.parquet": Run.examples,
    "judgements/ledger.parquet": Run.ledger,
    "judgements/claims.parquet": lambda run: run.judgements("claims"),
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
    flip(run / "scores.parquet")
    flip(run / "judgements" / "claims.parquet")
    with pytest.raises(DamagedRun) as found:
        Run.open(run).scores()
    assert [Path(fault.file).name for fault in found.value.faults] == [
        "scores.parquet",
        "claims.parquet",
    ]


def test_tables_that_were_exchanged_are_not_read(run: Path) -> None:
    judged = run / "judgements"
    (judged / "claims.parquet").rename(run / "aside")
    (judged / "response.parquet").rename(judged / "claims.parquet")
    (run / "aside").rename(judged / "response.parquet")
    with pytest.raises(DamagedRun):
        Run.open(run).judgements("claims")


def test_rows_are_counted(run: Path) -> None:
    content = Folder(run).manifest
    content["files"]["scores.parquet"]["rows"] += 1
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    rows = Run.open(run).folder.manifest["files"]["scores.parquet"]["rows"]
    with pytest.raises(DamagedRun, match=f"expected {rows} rows, got {rows - 1}"):
        Run.open(run).scores()


def fit(run: Path, place: str, table: pl.DataFrame) -> None:
    """Put another table in a run's, and make its line in run.json fit."""
    content = Folder(run).manifest
    table.write_parquet(run / place)
    content["files"][place] = described(run / place)
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")


def held(run: Path, place: str) -> pl.DataFrame:
    return pl.read_parquet(run / place)


@pytest.mark.parametrize("times", [2, 2_000])
@pytest.mark.parametrize(
    "place", ["examples.parquet", "scores.parquet", "judgements/ledger.parquet"]
)
def test_a_table_repeated_under_fitting_checksums_is_not_read_and_made_anew(
    place: str, times: int, run: Path
) -> None:
    table = held(run, place)
    fit(run, place, pl.concat([table] * times))
    with pytest.raises(DamagedRun) as found:
        READERS[place](Run.open(run))
    (fault,) = found.value.faults
    assert fault.file == str(run / place)
    assert fault.expected == f"{len(table):,} rows"
    assert fault.got == f"{times * len(table):,}"
    again = evaluate(cornwall(), metrics=METRICS, out=run)
    assert READERS[place](again).equals(table.drop("block"))


def first_of(column: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda table: table.with_columns(pl.col(column).first())


def all_are(column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda table: table.with_columns(pl.lit(value, table.schema[column]).alias(column))


@pytest.mark.parametrize(
    ("place", "change", "expected"),
    [
        ("examples", first_of("id"), "id  expected each once, got 24 rows of 1"),
        ("examples", all_are("system", None), "system  expected a value in each row, got none in"),
        ("examples", all_are("meta", "[1]"), "meta  expected a JSON object, got '[1]'"),
        ("examples", all_are("labels", "{"), "labels  expected a JSON object, got '{'"),
        ("scores", first_of("metric"), "metric  expected 24 scores of token_f1, got 0"),
        ("scores", first_of("example_id"), "example_id, metric  expected each once"),
        ("scores", all_are("example_id", "x"), "expected one of the ids of the 24 examples"),
        ("scores", all_are("status", "known"), "expected one of value, undefined, missing"),
        ("scores", all_are("value", float("nan")), "value  expected a number where the status is"),
        ("scores", all_are("value", None), "value  expected a number where the status is value"),
        ("judgements/ledger", first_of("ask"), "example_id, ask, judge  expected each once"),
        ("judgements/ledger", all_are("ask", "hope"), "ask  expected one of response, claims"),
        ("judgements/ledger", all_are("example_id", "x"), "expected one of the ids of the 24"),
        ("judgements/claims", lambda table: pl.concat([table] * 2), "index  expected each once"),
        ("judgements/support", all_are("subject", None), "subject  expected a value in each row"),
    ],
)  # fmt: skip
def test_rows_that_no_run_writes_are_refused_though_their_checksum_holds(
    place: str, change: Callable[[pl.DataFrame], pl.DataFrame], expected: str, run: Path
) -> None:
    fit(run, f"{place}.parquet", change(held(run, f"{place}.parquet")))
    with pytest.raises(DamagedRun) as found:
        Run.open(run).folder.finished(Path(place).name)
    assert f"{run / place}.parquet" in str(found.value)
    assert expected in str(found.value)


@pytest.mark.parametrize(
    "column", ["contexts", "reference", "reference_contexts", "evidence", "history"]
)
def test_lists_of_examples_with_holes_are_refused(column: str, run: Path) -> None:
    examples = held(run, "examples.parquet")
    fit(
        run,
        "examples.parquet",
        examples.with_columns(pl.lit([None], examples.schema[column]).alias(column)),
    )
    with pytest.raises(DamagedRun, match=f"{column}  expected no nulls, got 24"):
        Run.open(run).examples()
    assert Run.open(run).examples(["id"]).equals(examples.select("id"))


@pytest.mark.parametrize("column", ["contexts", "history", "evidence"])
def test_lists_of_examples_that_are_none_are_refused(column: str, run: Path) -> None:
    examples = held(run, "examples.parquet")
    fit(run, "examples.parquet", examples.with_columns(pl.lit(1).alias(column)))
    with pytest.raises(DamagedRun, match=rf"{column}  expected List\(.*\), got Int32"):
        Run.open(run).examples()


@pytest.mark.parametrize("field", ["id", "rank"])
def test_contexts_without_id_or_rank_are_refused_and_the_run_is_made_anew(
    field: str, run: Path
) -> None:
    examples = held(run, "examples.parquet")
    holed = pl.element().struct.with_fields(pl.field(field).replace_strict({}, default=None))
    contexts = pl.col("contexts").list.eval(holed).cast(examples.schema["contexts"])
    fit(run, "examples.parquet", examples.with_columns(contexts))
    with pytest.raises(DamagedRun, match=rf"contexts\.{field}  expected no nulls"):
        Run.open(run).examples(["contexts"])
    assert (
        evaluate(cornwall(), metrics=METRICS, out=run)
        .examples()["contexts"]
        .equals(examples["contexts"])
    )


def test_an_estimate_of_a_metric_that_the_run_has_not_is_refused(run: Path) -> None:
    content = Folder(run).manifest
    estimates = json.loads((run / "estimates.json").read_text())
    estimates[1]["metric"] = "factual_accuracy"
    (run / "estimates.json").write_text(json.dumps(estimates))
    content["files"]["estimates.json"] = described(run / "estimates.json")
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    expected = "1.metric  expected one of the 2 metrics in run.json, got 'factual_accuracy'"
    with pytest.raises(DamagedRun, match=expected):
        Run.open(run).estimates()


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


def test_a_table_that_run_json_does_not_name_is_not_read(run: Path) -> None:
    content = Folder(run).manifest
    del content["files"]["scores.parquet"]
    (run / "run.json").write_text(json.dumps(signed(content)), encoding="utf-8")
    with pytest.raises(DamagedRun, match=r"a line for scores\.parquet, got none"):
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
        ("files", {"scores.parquet": {"bytes": 10**300, "checksum": ""}}, "files.scores.parquet"),
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
    file = run / "scores.parquet"
    pl.read_parquet(file).with_columns(**change).write_parquet(file)
    Folder(run).write_manifest(Folder(run).manifest)
    with pytest.raises(DamagedRun) as found:
        Run.open(run).scores()
    assert expected in str(found.value)


def test_a_table_that_polars_cannot_read_is_damage_though_its_checksum_holds(run: Path) -> None:
    file = run / "scores.parquet"
    content = bytearray(file.read_bytes())
    content[4:200] = b"\xff" * 196
    file.write_bytes(content)
    Folder(run).write_manifest(Folder(run).manifest)
    with pytest.raises(DamagedRun, match="tables that can be read"):
        Run.open(run).scores()


def test_the_same_command_makes_a_damaged_run_anew(run: Path, sound: Path) -> None:
    flip(run / "scores.parquet")
    (run / "judgements" / "claims.parquet").unlink()
    again = evaluate(cornwall(), metrics=METRICS, out=run)
    assert again.scores().equals(Run.open(sound).scores())
    assert again.judgements("claims").equals(Run.open(sound).judgements("claims"))
    assert "scores.parquet" in again.manifest["remarks"][0]


def test_damaged_scores_are_made_anew_from_the_judgements(run: Path, sound: Path) -> None:
    (run / "estimates.json").unlink()
    flip(run / "scores.parquet")
    again = rescore(run)
    assert again.scores().equals(Run.open(sound).scores())
    assert again.estimates().equals(Run.open(sound).estimates())


def test_a_score_that_is_stopped_while_it_puts_its_files_in_place_is_ended_by_whoever_opens_it(
    run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = rescore(shutil.copytree(run, tmp_path / "other"), metrics="rouge_l").scores()
    moved: list[Path] = []

    class Stopped(BaseException):
        """As a kill would."""

    def replace(file: Path, target: Path, *, how: Any = Path.replace) -> Path:
        if READY in file.parts:
            if len(moved) == 2:
                raise Stopped
            moved.append(file)
        return Path(how(file, target))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(Stopped):
            rescore(run, metrics="rouge_l")
    assert (run / READY).is_dir()
    assert Run.open(run).scores().equals(expected)
    assert not (run / READY).exists()


def unfinished(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was stopped when its only block was finished."""

    class Stopped(BaseException):
        """As a kill would."""

    def stop(*_: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "join", stop)
        with pytest.raises(Stopped):
            evaluate(cornwall(), metrics=METRICS, out=path)
    return path / "parts" / "000000"


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name", ["part.json", "facets.parquet", "ledger.parquet", "scores.parquet", "claims.parquet"]
)
def test_a_block_that_is_not_what_was_written_is_not_gone_on_with(
    name: str, damage: Damage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = unfinished(tmp_path / "run", monkeypatch)
    damage(part / name)
    with pytest.raises(DamagedRun) as found:
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    assert found.value.faults[0].file == str(part / name)
    assert f"Delete {part}" in str(found.value)
    shutil.rmtree(part)
    again = evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    assert not again.too_much_missing


def test_a_block_in_the_place_of_another_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = unfinished(tmp_path / "run", monkeypatch)
    shutil.copytree(part, part.with_name("000001"))
    with pytest.raises(DamagedRun, match="block  expected 1, got 0"):
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")


def test_a_block_with_a_file_too_many_or_too_few_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = unfinished(tmp_path / "run", monkeypatch)
    shutil.copy(part / "claims.parquet", part / "probes.parquet")
    with pytest.raises(DamagedRun, match=r"probes\.parquet  expected no such file"):
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
    (part / "probes.parquet").unlink()
    content = json.loads((part / "part.json").read_text())
    del content["files"]["facets.parquet"], content["checksum"]
    (part / "part.json").write_text(json.dumps(signed(content)))
    (part / "facets.parquet").unlink()
    with pytest.raises(DamagedRun, match=r"files\.facets  expected a file, got none"):
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")


def test_scores_that_lack_a_row_are_damage_though_the_checksums_of_their_block_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = unfinished(tmp_path / "run", monkeypatch)
    scores = pl.read_parquet(part / "scores.parquet")
    scores[1:].write_parquet(part / "scores.parquet")
    content = json.loads((part / "part.json").read_text())
    del content["checksum"]
    content["files"]["scores.parquet"] = described(part / "scores.parquet")
    (part / "part.json").write_text(json.dumps(signed(content)))
    with pytest.raises(DamagedRun, match="expected 24 scores of faithfulness, got 23"):
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")


def test_a_repeated_table_of_a_block_is_damage_though_the_checksums_of_the_block_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = unfinished(tmp_path / "run", monkeypatch)
    examples = pl.read_parquet(part / "examples.parquet")
    pl.concat([examples] * 2).write_parquet(part / "examples.parquet")
    content = json.loads((part / "part.json").read_text())
    del content["checksum"]
    content["files"]["examples.parquet"] = described(part / "examples.parquet")
    (part / "part.json").write_text(json.dumps(signed(content)))
    with pytest.raises(DamagedRun, match=r"examples\.parquet  expected 24 rows, got 48"):
        evaluate(cornwall(), metrics=METRICS, out=tmp_path / "run")
