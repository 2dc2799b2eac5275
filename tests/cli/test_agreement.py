"""``ragstone agreement``: what people see, what programs read, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ragstone.annotation.read_labels import read_label_table
from ragstone.cli.labels import agreement
from ragstone.core.errors import DataError, InputError, UnknownName

APP = typer.Typer()
APP.command()(agreement)

ROWS = [
    {"id": f"q{at}", "annotator": name, "helpful": int(at % 3 > 0) ^ int(at == 4 and name == "ben"),
     "tone": 1 + at % 4}
    for at in range(12)
    for name in ("ann", "ben")
]  # fmt: skip


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    discarded = {"id": "q99", "annotator": "ann", "helpful": 1, "discard": "not English"}
    path.write_text("".join(json.dumps(row) + "\n" for row in [*ROWS, discarded]))
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(APP, [str(one) for one in arguments], env={"COLUMNS": "110"})


def told(*arguments: object) -> Any:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_program_reads_every_coefficient(labels: Path) -> None:
    found = told(labels)
    assert [one["column"] for one in found["labels"]] == ["helpful", "tone"]
    helpful = found["labels"][0]
    assert (helpful["kind"], helpful["n_items"], helpful["n_annotators"]) == ("quality", 12, 2)
    for name in ("percent", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        one = helpful[name]
        assert one["low"] <= one["value"] <= one["high"]
    assert helpful["percent"]["value"] == pytest.approx(11 / 12)
    assert found["discarded"] == {"not English": 1}


def test_a_person_sees_the_strips_the_people_and_what_divides_them(labels: Path) -> None:
    shown = call(labels).stdout
    for words in (
        "Krippendorff's α", "├", "ann", "q4  ", "discarded", "not English 1",
        "Only 12 items", "overview",
    ):  # fmt: skip
        assert words in shown, words
    assert max(map(len, shown.splitlines())) <= 110


def test_columns_scales_and_the_seed_are_chosen(labels: Path) -> None:
    found = told(labels, "--column", "tone", "--scale", "tone=nominal", "--seed", 4)
    (tone,) = found["labels"]
    assert (tone["scale"], tone["seed"]) == ("nominal", 4)
    mapped = told(labels, "--map", "mood=tone", "--column", "mood")
    assert mapped["labels"][0]["column"] == "mood"


def test_a_program_reads_every_dividing_item_and_tie(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = [f"q{n},{who},{said}\n" for n in range(5) for who, said in (("ann", 1), ("ben", 0))]
    path.write_text("id,annotator,helpful\n" + "".join(rows))
    (one,) = told(path, "--limit", 1)["labels"]
    assert len(one["dividing"]) == len(one["ties"]) == one["n_divided"] == one["n_ties"] == 5
    assert "and 4 more (--limit, --json)" in call(path, "--limit", 1).stdout


def test_every_column_of_the_tables_is_explained(labels: Path) -> None:
    shown = call(labels).stdout
    for words in (
        "compared         labels on items where the others", "like the others  share of",
        "difference       how far", "again            where one annotator",
        "given            how often",
    ):  # fmt: skip
        assert words in shown, words


def test_what_was_set_aside_is_not_called_discarded(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,helpful\na,ann,1\na,ann,0\nb,ann,1\nb,ben,1\n")
    found = told(path)
    assert found["discarded"] == {}
    assert found["set_aside"] == {"two_labels": 2}
    shown = call(path).stdout
    assert "set aside  2, not used: two labels by one annotator 2" in shown
    assert "discarded" not in shown


def test_what_they_say_together_is_written(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "together.csv"
    result = call(labels, "--out", out)
    assert "1 tie stays open" in result.stderr
    assert read_label_table(out).used.height == 12 + 12 - 1


def test_it_says_how_much_was_adjudicated_and_what(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,annotator,helpful\nq1,ann,1\nq1,ben,0\nq1,adjudicator:cleo,0\n"
        "q2,ann,1\nq2,ben,1\nq2,adjudicator:cleo,1\n"
    )
    found = told(path)
    assert (found["annotators"], found["adjudicators"]) == (["ann", "ben"], ["cleo"])
    assert found["adjudication"] == {"n": 2, "compared": 1, "as_majority": 1}
    assert found["labels"][0]["n_ties"] == 0
    shown = call(path).stdout
    assert "adjudicated  2 labels by cleo; as the majority 1 of 1 times" in shown
    assert "4 labels by 2 annotators" in shown
    assert "decided: false" in shown


def test_broken_rules_are_flagged(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,source_cited,fabricated_source\nq1,ann,0,1\nq1,ben,1,1\n")
    assert told(path)["broken_rules"] == [
        {"rule": "fabricated_requires_cited", "severity": "block", "example_id": "q1",
         "unit": None, "annotator": "ann"}
    ]  # fmt: skip
    assert "fabricated requires cited" in call(path).stdout


def test_labels_of_one_annotator_have_a_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,helpful\nq1,1\nq2,0\n")
    assert "nothing to compare  helpful" in call(path).stdout


def test_constant_labels_have_a_line_each(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,helpful\n" + "".join(f"q1,{name},1\n" for name in "ab"))
    shown = call(path).stdout
    assert "undefined: all labels are the same" in shown
    assert "Only 1 item" in shown


def test_bad_input_is_refused_whole(labels: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("id,annotator,helpful\n,ann,1\nq1,ann,7\nq1,ben,3\n")
    error = call(bad).exception
    assert isinstance(error, DataError)
    assert [fault.line for fault in error.faults] == [2, 3, 4]
    assert isinstance(call(labels, "--column", "hepful").exception, UnknownName)
    assert isinstance(call(labels, "--cluster", "planet").exception, InputError)
    for wrong in ("tone=warm", "=nominal", "nominal"):
        assert call(labels, "--scale", wrong).exit_code == 2


def test_the_shared_data_is_compared_without_flags(shared: Path) -> None:
    rated = told(shared / "data/rag_quality_mtrag/answers.jsonl.gz", "-c", "faithfulness")
    (one,) = rated["labels"]
    assert (one["n_items"], one["n_clusters"], one["scale"]) == (249, 83, "ordinal")
    paired = told(shared / "data/pairwise_ragchecker/pairs.jsonl.gz")
    assert [one["column"] for one in paired["labels"]] == ["correctness", "completeness", "overall"]
