"""``ragstone calibrate``: what it prints, what it keeps, and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import polars as pl
import pytest


@pytest.fixture
def run(ragstone: Callable[..., Any], data: Path, tmp_path: Path) -> Path:
    out = tmp_path / "run"
    metrics = ("-m", "unsupported_claim", "-m", "answer_coverage")
    assert ragstone("evaluate", data, "--judge", "local", *metrics, "--out", out).status == 0
    return out


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Two people say of the three answers of system a that they are borne out."""
    rows = ["id,annotator,unsupported_claim_present,covered"]
    rows += [f"{name}-a,{who},0,1" for name in ("pier", "mole", "adit") for who in ("ann", "ben")]
    rows += ["pier-b,ann,0,0"]
    file = tmp_path / "labels.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_judge_labels_and_corrected_stand_side_by_side(
    ragstone: Callable[..., Any], run: Path, labels: Path
) -> None:
    outcome = ragstone("calibrate", run, "--labels", labels, "--map", "answer_coverage=covered")
    assert outcome.status == 0
    for word in ("judge", "labels", "corrected", "answer_coverage", "unsupported_claim"):
        assert word in outcome.out
    assert "fewer than 20 labels" in outcome.out
    assert "use --anytime: the mean of the labels" in outcome.err


def test_json_has_what_programs_read(ragstone: Callable[..., Any], run: Path, labels: Path) -> None:
    found = ragstone("calibrate", run, "--labels", labels, "--json").json
    (whole, *_) = found["estimates"]
    assert set(whole) == {"metric", "group", "judge", "labels", "corrected", "kappa"}
    assert {"value", "low", "high"} <= set(whole["judge"])
    assert {"value", "low", "high", "method", "n_labels", "effective_labels"} <= set(
        whole["corrected"]
    )
    (check,) = found["agreement"]
    keys = {"kind", "column", "n", "sensitivity", "specificity", "kappa", "auroc", "ece"}
    assert keys <= set(check)
    assert check["reason"] == "no_variation"


@pytest.mark.parametrize(
    ("column", "value"), [("answer_coverage", 1), ("answer_coverage", 0), ("support", "absent")]
)
@pytest.mark.parametrize("options", [[], ["--method", "ppi_plus_plus"], ["--json"]])
def test_labels_that_are_all_alike_are_no_fault(
    column: str, value: object, options: list[str], ragstone: Callable[..., Any], run: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    file = tmp_path / "alike.csv"
    names = [f"{name}-{system}" for name in ("pier", "mole", "adit") for system in "ab"]
    rows = [f"{name},ann,1,{value}" for name in names]
    head = "id,annotator,claim," if column == "support" else "id,annotator,nothing,"
    file.write_text("\n".join([head + column, *rows]) + "\n", encoding="utf-8")
    outcome = ragstone("calibrate", run, "--labels", file, *options)
    assert (outcome.status, outcome.err.count("bug in Ragstone")) == (0, 0)


def test_a_label_that_nothing_answers_is_named_where_people_also_judged_the_run(
    ragstone: Callable[..., Any], tmp_path: Path
) -> None:
    rows = [
        {"id": name, "question": "Who?", "contexts": ["Ann built it."], "answer": "Ann built it.",
         "labels": {"contexts": [{"topically_relevant": 1}]}}
        for name in ("one", "two")
    ]  # fmt: skip
    data, sheet = tmp_path / "data.jsonl", tmp_path / "sheet.csv"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    sheet.write_text("id,annotator,unsupported_clam_present\none,ann,1\ntwo,ann,0\n", "utf-8")
    ragstone("evaluate", data, "-m", "precision", "--out", tmp_path / "run")
    outcome = ragstone("calibrate", tmp_path / "run", "--labels", sheet)
    assert outcome.status == 2
    assert "unsupported_clam_present, which no judgement and no metric of" in outcome.err
    assert "precision" not in outcome.err


def test_passport_is_kept_in_the_run_and_found_valid(
    ragstone: Callable[..., Any], run: Path, labels: Path
) -> None:
    ragstone("calibrate", run, "--labels", labels)
    passport = run / "judge_passport.json"
    assert "# Passport of the judge local" in (run / "judge_passport.md").read_text("utf-8")
    outcome = ragstone("calibrate", run, "--passport", passport)
    assert (outcome.status, "holds for" in outcome.out) == (0, True)


@pytest.fixture
def piers(ragstone: Callable[..., Any], tmp_path: Path) -> Path:
    """Forty answers, ten of them wrong, and what a person says of each: a fault more."""
    rows = [
        {"id": f"p{n}", "question": f"How long is pier {n}?", "system": "a",
         "contexts": [f"Pier {n} is 90 metres long.", "Gulls are loud."],
         "answer": f"Pier {n} is {90 if n % 4 else 512} metres long.",
         "labels": {"answer": {"unsupported_claim_present": n % 4 == 0 or n == 1}}}
        for n in range(40)
    ]  # fmt: skip
    data, out = tmp_path / "piers.jsonl", tmp_path / "piers"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    metrics = ("-m", "unsupported_claim", "-m", "precision")
    assert ragstone("evaluate", data, "--judge", "local", *metrics, "--out", out).status == 0
    return out


def test_corrected_numbers_are_seen_where_numbers_are_seen(
    ragstone: Callable[..., Any], piers: Path, tmp_path: Path
) -> None:
    alone = ragstone("show", piers, "--full").out
    (whole, *_) = ragstone("calibrate", piers, "--json").json["estimates"]
    mean = whole["corrected"]
    seen = f"{mean['value']:.3f} ({mean['low']:.3f} – {mean['high']:.3f}) corrected by people"
    assert (seen in alone, seen in ragstone("show", piers, "--full").out) == (False, True)
    rows = pl.read_csv(ragstone("export", piers, "--what", "estimates").out.encode())
    found = rows.filter(metric="unsupported_claim")["corrected"].to_list()
    assert found == [pytest.approx(mean["value"])] * len(found)
    assert rows.filter(metric="precision")["corrected"].null_count() == len(found)
    ragstone("report", piers, "--out", tmp_path / "report.html")
    assert seen in (tmp_path / "report.html").read_text("utf-8")
    options: list[tuple[str, ...]] = [(), ("-m", "unsupported_claim")]
    for named in options:
        assert seen in " ".join(ragstone("show", piers, *named).out.split())
        estimates = ragstone("show", piers, *named, "--json").json["estimates"]
        assert mean["value"] in [one.get("corrected", {}).get("value") for one in estimates]
    assert seen not in " ".join(ragstone("show", piers, "-m", "precision").out.split())
    copytree(piers, tmp_path / "again")
    compared = ragstone("compare", piers, tmp_path / "again")
    assert "the local judge, checked against people on unsupported_claim" in compared.out
    assert compared.out.count(seen.removesuffix(" corrected by people")) == 2


def test_passport_of_another_judge_is_void_and_says_why(
    ragstone: Callable[..., Any], run: Path, labels: Path
) -> None:
    ragstone("calibrate", run, "--labels", labels)
    passport = run / "judge_passport.json"
    told = json.loads(passport.read_text("utf-8"))
    told["judge"]["prompts"] = {"claims": "aaaa"}
    passport.write_text(json.dumps(told), encoding="utf-8")
    outcome = ragstone("calibrate", run, "--passport", passport)
    assert outcome.status == 1
    assert "prompts: claims was aaaa, is none" in outcome.out
    assert ragstone("calibrate", run, "--passport", passport, "--json").json["valid"] is False


def test_corrected_scores_of_examples_are_written(
    ragstone: Callable[..., Any], run: Path, labels: Path, tmp_path: Path
) -> None:
    file = tmp_path / "scores.csv"
    ragstone("calibrate", run, "--labels", labels, "--out", file)
    scores = pl.read_csv(file)
    assert scores.columns == ["example_id", "system", "metric", "judge", "people", "corrected"]
    assert scores["corrected"].null_count() == 0


def test_a_file_that_cannot_be_written_as_a_table_is_refused_before_anything_is_made(
    ragstone: Callable[..., Any], run: Path, labels: Path, tmp_path: Path
) -> None:
    outcome = ragstone("calibrate", run, "--labels", labels, "--out", tmp_path / "scores.xlsx")
    assert (outcome.status, outcome.out) == (2, "")
    assert "scores.xlsx: a table is written as .csv, .jsonl, .parquet" in outcome.err
    assert not (run / "judge_passport.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--labels", "none.csv"], "none.csv"),
        (["--method", "magic"], "poststratified"),
        (["--criterion", "luck"], "youden"),
        (["--metric", "recall"], "recall"),
        (["--cluster", "colour"], "colour"),
        (["--map", "recall"], "FIELD=COLUMN"),
    ],
)
def test_bad_options_are_named(
    options: list[str], said: str, ragstone: Callable[..., Any], run: Path, labels: Path
) -> None:
    given = [] if "--labels" in options else ["--labels", labels]
    outcome = ragstone("calibrate", run, *given, *options)
    assert outcome.status == 2
    assert said in outcome.err
