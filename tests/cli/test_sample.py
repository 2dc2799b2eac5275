import csv
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragstone.cli.labels import sample
from ragstone.cli.output import guarded

app = typer.Typer()
app.command()(guarded(sample))


def call(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_a_sheet_is_written_for_each_annotator(demo: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "sheet.csv"
    status, out, err = call(
        demo, "--n", 6, "--by", "stratified", "--strata", "system", "--annotators", "ann, ben",
        "--overlap", 0.34, "--label", "helpful", "--out", file,
    )  # fmt: skip
    assert status == 0, err
    assert "system=local_search" in out
    assert str(file) in "".join(out.split())
    with file.open(encoding="utf-8", newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    assert len(rows) == 8
    assert {row["annotator"] for row in rows} == {"ann", "ben"}
    assert all(row["helpful"] == "" and 0 < float(row["inclusion_probability"]) <= 1
               for row in rows)  # fmt: skip


def test_a_sample_as_json_holds_seed_items_and_chances(demo: Path) -> None:
    status, out, _ = call(demo, "--n", 4, "-m", "faithfulness", "--by", "near-threshold",
                          "--seed", 7, "--json")  # fmt: skip
    assert status == 0
    found = json.loads(out)
    assert found["seed"] == 7
    assert found["labels"] == ["support"]
    assert len(found["items"]) == found["n"] == 4
    assert all(0 < one["inclusion_probability"] <= 1 for one in found["items"])


def test_whole_questions_are_counted(demo: Path) -> None:
    status, out, _ = call(demo, "--n", 2, "--whole-questions", "--label", "helpful")
    assert status == 0
    assert "2 whole questions" in out
    assert "--out sheet.csv" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n", 0, "--label", "helpful"], "at least"),
        (["--n", 100_000, "--label", "helpful"], "more than"),
        (["--n", 3], "--label"),
        (["--n", 3, "-m", "nothing"], "nothing"),
        (["--n", 3, "--label", "helpful", "--by", "stratified", "--strata", "colour"], "colour"),
        (["--n", 3, "--label", "helpful", "--overlap", 0.2], "several annotators"),
        (["--n", 3, "--label", "answer"], "has that column"),
        (["--n", 3, "--label", "helpful", "--out", "sheet.xlsx"], ".csv"),
        (["--n", 3, "--by", "disagreement", "-m", "token_f1"], "--other"),
    ],
)
def test_bad_input_ends_with_2_and_says_why(
    arguments: list[object], words: str, demo: Path
) -> None:
    status, _, err = call(demo, *arguments)
    assert status == 2
    assert words in err


def test_how_much_likelier_the_most_telling_example_was_is_what_it_was(demo: Path) -> None:
    drawn = [demo, "-m", "token_f1", "--by", "near-threshold", "--label", "helpful"]
    found = json.loads(call(*drawn, "--n", 20, "--json")[1])["chances"]
    assert f"was {found[1] / found[0]:.3g} times as likely" in call(*drawn, "--n", 20)[1]
    assert "times as likely" not in call(*drawn, "--n", 24)[1]


def test_values_of_a_cluster_field_are_no_questions(demo: Path) -> None:
    options = ["--whole-questions", "--cluster", "question_type", "--label", "helpful"]
    assert ", 3 values of question_type\n" in call(demo, "--n", 3, *options)[1]
    assert ", 1 value of question_type\n" in call(demo, "--n", 1, *options)[1]


def test_labels_of_a_first_sample_tell_where_the_judge_errs(demo: Path, tmp_path: Path) -> None:
    asked = (demo, "--n", 6, "--metric", "token_f1")
    assert "expected width" in call(*asked)[1]
    assert call(*asked, "--by", "error")[0] == 2
    items = json.loads(call(*asked, "--json")[1])["items"]
    file = tmp_path / "first.csv"
    rows = [f"{one['example_id']},ann,{at % 2}" for at, one in enumerate(items)]
    file.write_text("\n".join(["id,annotator,token_f1", *rows]) + "\n", encoding="utf-8")
    status, out, err = call(*asked, "--by", "error", "--labels", file, "--json")
    assert status == 0, err
    designs = [one["by"] for one in json.loads(out)["expected_widths"]]
    assert designs == ["error", "random", "near-threshold"]
    assert call(demo, "--n", 6, "--label", "helpful", "--labels", file)[0] == 2
