"""``ragstone runs`` and ``ragstone show``, and the word latest in the place of a run."""

import csv
import io
import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from ragstone import Run, read
from ragstone.cli.runs import As
from ragstone.core.errors import InputError
from ragstone.report.layouts import EXCHANGE, LAYOUTS
from ragstone.report.pages.runs_page import runs_page
from ragstone.report.render.terminal import as_text
from ragstone.run.folder.checksums import signed, write_json
from ragstone.run.folder.run_list import Beat, latest_run, runs_in

Command = Callable[..., Any]


@pytest.fixture
def runs(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four runs, an hour between each: two finished, one under way, and the newest damaged."""
    folder = tmp_path / "runs"
    for name in ("first", "second", "under-way", "broken"):
        shutil.copytree(demo, folder / name)
    under_way = folder / "under-way" / "run.json"
    content = json.loads(under_way.read_text(encoding="utf-8"))
    write_json(
        under_way,
        signed(
            {name: content[name] for name in content if name != "checksum"} | {"finished": False}
        ),
    )
    (folder / "broken" / "run.json").write_text("{}")
    for at, name in enumerate(("first", "second", "under-way", "broken")):
        os.utime(folder / name / "run.json", (at * 3600, at * 3600))
    (folder / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    return folder


def test_runs_are_listed_newest_first_with_their_state(ragstone: Command, runs: Path) -> None:
    found = ragstone("runs", runs, "--json").json["runs"]
    assert [(Path(one["run"]).name, one["state"]) for one in found] == [
        ("broken", "damaged"),
        ("under-way", "unfinished"),
        ("second", "finished"),
        ("first", "finished"),
    ]
    assert (found[2]["written"], found[2]["systems"]) == ("1970-01-01T01:00:00+00:00", 3)
    assert [one["data"] is None for one in found] == [True, True, False, False]


def test_a_person_sees_a_line_a_run(ragstone: Command, runs: Path) -> None:
    lines = ragstone("runs", runs).out.splitlines()
    named = [at for at, line in enumerate(lines) if line.startswith(str(runs / "broken"))]
    damaged, unfinished, second, _ = (line for line in lines[named[0] :] if "1970" in line)
    assert damaged.endswith("damaged")
    assert unfinished.endswith("unfinished")
    assert "cornwall.jsonl" in second
    assert "1970-01-01 01:00" in second


def test_latest_is_the_newest_finished_run(ragstone: Command, runs: Path) -> None:
    assert latest_run(runs) == runs / "second"
    shown = ragstone("show", "latest", "--limit", 1)
    assert shown.status == 0, shown.err
    assert str(Path("runs", "second")) in shown.out
    compared = ragstone("compare", "latest", "latest", "-m", "token_f1")
    assert compared.status == 0, compared.err


def test_a_folder_called_latest_is_that_folder(ragstone: Command, runs: Path) -> None:
    shutil.copytree(runs / "first", "latest")
    assert "runs" not in ragstone("export", "latest", "--what", "estimates").err
    assert "run        latest" in ragstone("show", "latest").out


def test_where_there_is_no_run_the_way_to_one_is_told(
    ragstone: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = ragstone("show", "latest")
    assert outcome.status == 2
    assert "There is no folder runs: `ragstone evaluate DATA` makes a run." in outcome.err
    (tmp_path / "runs").mkdir()
    with pytest.raises(InputError, match="no finished run in runs"):
        latest_run(Path("runs"))
    assert "ragstone evaluate DATA" in as_text(runs_page(Path("runs"), runs_in()), 80)


def test_a_file_has_no_runs_in_it(ragstone: Command, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.touch()
    outcome = ragstone("runs", file)
    assert outcome.status == 2
    assert "answers.jsonl is a file. Name a folder" in outcome.err


def test_a_run_that_goes_on_says_how_far_it_is_and_by_how_many_workers(
    ragstone: Command, runs: Path
) -> None:
    beat = Beat(
        at=datetime.now(UTC), stage="judging", examples=62_000, fraction=0.62, seconds=9,
        judges=["human"], workers=3,
    )  # fmt: skip
    file = runs / "under-way" / "progress.json"
    file.write_text(beat.model_dump_json())
    assert "running, 62%, 3 workers" in ragstone("runs", runs).out.replace(" %", "%")
    found = ragstone("runs", runs, "--json").json["runs"][1]
    assert (found["state"], found["progress"]["workers"]) == ("unfinished", 3)
    file.write_text(replaced(beat, at=beat.at - timedelta(hours=1)))
    assert "running" not in ragstone("runs", runs).out
    one_process = replaced(beat, fraction=None, workers=None)
    file.write_text(one_process)
    assert "running, 62,000 rows" in ragstone("runs", runs).out


def replaced(beat: Beat, **changes: Any) -> str:
    return beat.model_copy(update=changes).model_dump_json()


def test_show_lists_the_worst_examples(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("show", demo, "-m", "token_f1", "--limit", 2)
    assert outcome.status == 0
    assert outcome.out.count("  Q  ") == 2
    assert "token_f1" in outcome.out
    assert "faithfulness" not in outcome.out


def test_show_lists_the_worst_examples_of_all_metrics_once(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("show", demo, "--limit", 2)
    assert outcome.status == 0
    assert outcome.out.count("  Q  ") == 2
    assert outcome.out.count(" below the best:") == 2
    assert "ranked   by how far the scores lie below the best possible" in outcome.out


def test_show_as_json_holds_estimates_and_worst(ragstone: Command, demo: Path) -> None:
    found = ragstone("show", demo, "--json").json
    assert found["estimates"]
    assert len(found["worst"]) == 5
    assert len({one["example_id"] for one in found["worst"]}) == 5
    assert found["worst"][0]["reasons"]
    assert "faithfulness" in found["ranked_by"]["metrics"]
    one_metric = ragstone("show", demo, "-m", "faithfulness", "--json").json
    assert len(one_metric["worst_by_metric"]["faithfulness"]) == 3
    assert one_metric["worst_by_metric"]["faithfulness"][0]["reasons"][0].startswith("claim ")


def test_show_failures_prints_the_waterfall_by_system_and_slice(
    ragstone: Command, demo: Path
) -> None:
    outcome = ragstone("show", demo, "--failures", "--by", "question_type")
    assert outcome.status == 0
    for part in ("first fault", "not retrieved", "no fault", "by question_type", "not known: "):
        assert part in outcome.out
    found = ragstone("show", demo, "--failures", "--json").json
    whole, *systems = found["groups"]
    assert whole["judged"] == sum(one["judged"] for one in systems) == 24
    assert ragstone("show", demo, "--by", "question_type").status == 2
    assert ragstone("show", demo, "--stage", "not_used").status == 2


def test_show_a_stage_lists_the_answers_that_failed_there(ragstone: Command, demo: Path) -> None:
    found = ragstone("show", demo, "--failures", "--stage", "not_retrieved", "--json").json
    n = len(found["examples"])
    assert n > 2
    assert all(one["system"] != "" for one in found["examples"])
    outcome = ragstone("show", demo, "--failures", "--stage", "not_retrieved", "--limit", 2)
    assert f"less than half of the reference is in the contexts: {n} answers" in outcome.out
    assert outcome.out.count("  Q  ") == 2
    assert f"and {n - 2} more" in outcome.out
    assert ragstone("show", demo, "--failures", "--stage", "nowhere").status == 2


def test_show_one_example_in_full(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("show", demo, "lizard-point-local_search")
    assert outcome.status == 0
    for part in ("Contexts", "Claims of the answer", "supported", "Reference", "Scores", "(human)"):
        assert part in outcome.out


def test_show_one_example_as_json(ragstone: Command, demo: Path) -> None:
    found = ragstone("show", demo, "lizard-point-local_search", "--json").json
    assert found["id"] == "lizard-point-local_search"
    assert found["claims"][0]["support"]["verdict"]
    assert {score["status"] for score in found["scores"]} <= {"value", "undefined", "missing"}


def test_every_example_of_the_demo_can_be_shown(ragstone: Command, demo: Path) -> None:
    ids = pl.read_parquet(demo / "examples" / "000000.parquet")["id"].to_list()
    for name in ids[:6] + ids[-3:]:
        assert ragstone("show", demo, name).status == 0
        assert ragstone("show", demo, name, "--json").json["id"] == name


def test_an_unknown_example_ends_with_2_and_near_names(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("show", demo, "lizard-point-local_serch")
    assert outcome.status == 2
    assert "Did you mean lizard-point-local_search" in outcome.err


def test_a_metric_that_the_run_has_not_ends_with_2(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("show", demo, "-m", "win_rate")
    assert outcome.status == 2
    assert "win_rate" in outcome.err


def test_export_scores_as_csv(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("export", demo)
    found = list(csv.DictReader(io.StringIO(outcome.out)))
    assert found
    assert {"example_id", "metric", "value", "status", "reason"} <= set(found[0])
    assert all(row["value"] == "" for row in found if row["status"] != "value")


def test_export_judgements_as_json_lines(ragstone: Command, demo: Path) -> None:
    outcome = ragstone("export", demo, "--as", "jsonl", "--what", "judgements:claims")
    assert all(json.loads(line)["text"] for line in outcome.out.splitlines())


def test_export_parquet_into_a_file(ragstone: Command, demo: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "scores.parquet"
    outcome = ragstone("export", demo, "--as", "parquet", "--out", file)
    assert outcome.status == 0
    assert pl.read_parquet(file).height > 0
    assert str(file) in outcome.err


@pytest.mark.parametrize("name", ["scores.xlsx", "scores.json", "scores.csv.gz"])
def test_a_table_is_not_written_into_a_file_of_another_format(
    name: str, demo: Path, ragstone: Command, tmp_path: Path
) -> None:
    outcome = ragstone("export", demo, "--out", tmp_path / name)
    assert (outcome.status, list(tmp_path.iterdir())) == (2, [])
    assert "Let --out end with .csv, .jsonl or .parquet" in outcome.err
    assert ragstone("export", demo, "--as", "csv", "--out", tmp_path / name).status == 0


def test_a_file_is_exported_in_the_format_that_it_ends_with(
    ragstone: Command, demo: Path, tmp_path: Path
) -> None:
    def exported(name: str) -> bytes:
        assert ragstone("export", demo, "--what", "examples", "--out", tmp_path / name).status == 0
        return (tmp_path / name).read_bytes()

    exported("again.jsonl")
    ids = [example.id for example in read(tmp_path / "again.jsonl")]
    assert ids == list(Run.open(demo).examples()["id"])
    assert exported("again.parquet").startswith(b"PAR1")
    assert exported("again.txt") == exported("again.csv")
    assert exported("again.csv").startswith(b"id,")


def test_export_of_a_report_names_what_is_not_there(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    ragstone("evaluate", data, "--suite", "graphrag", "--out", run, "--offline")
    outcome = ragstone("export", run, "--as", "graphrag")
    assert outcome.status == 0
    found = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [row["method"] for row in found] == ["a", "b"] * 3
    assert [row["classification"] for row in found] == ["CORRECT", "DON'T KNOW"] * 3
    assert [row["factual_accuracy_grade"] for row in found] == ["A", "E"] * 3
    assert found[0]["bert_score_f1"] == ""
    assert "no value of ragas_answer_relevance" in outcome.err
    assert "bert_score_f1" in outcome.err


def test_a_report_is_written_into_a_folder(ragstone: Command, data: Path, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "report"
    ragstone("evaluate", data, "--suite", "graphrag", "--out", run, "--offline")
    outcome = ragstone("export", run, "--as", "graphrag", "--out", out)
    assert outcome.status == 0
    assert len(list(out.iterdir())) == 6
    assert str(out / "wrong_answers.csv") in outcome.err
    refused = ragstone("export", run, "--as", "graphrag", "--what", "estimates")
    assert refused.status == 2
    assert "the report of graphrag has its own tables" in " ".join(refused.err.split())


def test_evaluate_writes_the_report_of_its_suite(
    ragstone: Command, data: Path, tmp_path: Path
) -> None:
    file = tmp_path / "report.csv"
    run = tmp_path / "run"
    outcome = ragstone(
        "evaluate", data, "--suite", "graphrag", "--offline", "--export", file, "--out", run
    )
    assert outcome.status == 4, "much is missing without a model"
    assert outcome.err.count("is made of part of its weight") == 1
    assert file.read_text() == ragstone("export", run, "--as", "graphrag").out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--export", "r.csv"], "--export writes the report of one suite"),
        (["--suite", "quick", "--export", "r.csv"], "Name one with --suite: graphrag"),
        (["--suite", "graphrag", "--export", "r.xlsx"], "a report is written as CSV"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_judged(
    given: list[str], said: str, ragstone: Command, data: Path, tmp_path: Path
) -> None:
    outcome = ragstone("evaluate", data, *given, "--out", tmp_path / "run")
    assert outcome.status == 2
    assert said in outcome.err
    assert not (tmp_path / "run").exists()


def test_every_report_can_be_exported() -> None:
    formats = list(get_args(As))
    assert formats == ["csv", "jsonl", "parquet", *LAYOUTS, *EXCHANGE]


@pytest.mark.parametrize("what", ["nothing", "judgements:nothing", "judgements"])
def test_export_of_nothing_ends_with_2(what: str, ragstone: Command, demo: Path) -> None:
    assert ragstone("export", demo, "--what", what).status == 2
