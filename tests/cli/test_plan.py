import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from ragstone.cli.plan import plan

Command = Callable[..., Any]
app = typer.Typer()
app.add_typer(plan, name="plan")


def call(*arguments: object) -> tuple[int, str, str]:
    given = ["plan", *(str(one) for one in arguments)]
    result = CliRunner(env={"COLUMNS": "120"}).invoke(app, given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rate", "--value", 0.8, "--half-width", 0.03], ["682 rows", "0.768 – 0.828", "●"]),
        (
            ["labels", "--rate", 0.3, "--sensitivity", 0.9, "--specificity", 0.85, "--judged",
             2000, "--half-width", 0.05],
            ["179 answers", "320 answers without the judge", "about half of all samples"],
        ),
        (
            ["labels", "--rate", 0.3, "--sensitivity", 0.9, "--specificity", 0.85, "--judged",
             2000, "--half-width", 0.05, "--assurance", 0.9],
            ["in 90 % of samples", "179 answers", "or 320 answers without the judge", "by PPI++"],
        ),
        (
            ["labels", "--rate", 0.3, "--sensitivity", 0.9, "--specificity", 0.85, "--judged",
             200, "--half-width", 0.05],
            ["judge more", "320 answers without the judge"],
        ),
        (
            ["labels", "--deviation", 0.3, "--correlation", 0.6, "--judged", 2000,
             "--half-width", 0.03],
            ["267 answers", "387 answers without the judge"],
        ),
    ],
)  # fmt: skip
def test_plans_of_numbers(arguments: list[object], words: list[str]) -> None:
    status, out, err = call(*arguments)
    assert status == 0, err
    unbroken = " ".join(out.split())
    assert [word for word in words if word not in unbroken] == []


def test_a_plan_of_a_mean_goes_by_a_run(demo: Path) -> None:
    status, out, err = call("mean", demo, "-m", "token_f1", "--half-width", 0.05)
    assert status == 0, err
    assert "token_f1" in out
    assert "local_search" in out
    assert "needed" in out


def test_a_plan_of_all_means_has_each_metric(demo: Path) -> None:
    status, out, _ = call("mean", demo, "--half-width", 0.05)
    assert status == 0
    assert "faithfulness" in out


def test_a_plan_of_a_comparison_goes_by_a_run(demo: Path) -> None:
    status, out, err = call("paired", demo, "-m", "token_f1", "--difference", 0.05)
    assert status == 0, err
    assert "power now" in out
    status, out, _ = call("paired", demo, "-m", "token_f1", "--n", 500, "--json")
    assert status == 0
    assert '"at": 500' in out


def test_a_plan_of_labels_goes_by_a_run(demo: Path) -> None:
    status, out, err = call(
        "labels", demo, "-m", "unsupported_claim", "--sensitivity", 0.9, "--specificity", 0.9,
        "--half-width", 0.2,
    )  # fmt: skip
    assert status == 0, err
    assert "design effect" in out


def test_a_plan_of_labels_goes_by_those_that_are_there(demo: Path, tmp_path: Path) -> None:
    ids = pl.read_parquet(demo / "examples" / "000000.parquet")["id"].to_list()[:20]
    file = tmp_path / "labels.csv"
    rows = [f"{name},ann,{at % 3 > 0:d}" for at, name in enumerate(ids)]
    file.write_text("\n".join(["id,annotator,mine", *rows]) + "\n", encoding="utf-8")
    given = ("labels", demo, "-m", "token_f1", "--half-width", 0.1, "--labels", file)
    status, _, err = call(*given)
    assert status == 2
    status, out, err = call(*given, "--map", "token_f1=mine", "--json")
    assert status == 0, err
    assert json.loads(out)["metric"] == "token_f1"


def test_json_has_a_reason_beside_no_number_of_labels() -> None:
    known = ["--rate", 0.3, "--sensitivity", 0.9, "--specificity", 0.9, "--judged", 200]
    few = json.loads(call("labels", *known, "--half-width", 0.01, "--json")[1])
    assert few["labels"] is None
    assert few["reason"].startswith("all_judged_too_few?n=")
    sure = json.loads(call("labels", *known, "--half-width", 0.1, "--assurance", 0.9, "--json")[1])
    assert sure["reason"] is None
    assert sure["assurance"] == 0.9
    assert sure["labels"] > sure["on_average"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rate", "--value", 8, "--half-width", 0.1], "[0, 1]"),
        (["rate", "--value", 0.5, "--half-width", 0], "half-width"),
        (["rate", "--value", 0.5, "--half-width", 0.1, "--level", 1], "level"),
        (["labels", "--half-width", 0.1, "--rate", 0.3], "--judged"),
        (
            ["labels", "--half-width", 0.1, "--judged", 900, "--rate", 0.3, "--sensitivity", 0.9,
             "--specificity", 0.9, "--assurance", 90],
            "assurance",
        ),
        (["labels", "--half-width", 0.1, "--judged", 9, "--rate", 0.3], "--sensitivity"),
        (["labels", "--half-width", 0.1, "--judged", 9, "--metric", "x"], "used with a RUN"),
        (["mean", "nowhere", "--half-width", 0.1], "evaluate DATA --out nowhere"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_2_and_says_why(arguments: list[object], words: str) -> None:
    status, _, err = call(*arguments)
    assert status == 2
    assert words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mean", "-m", "nothing", "--half-width", 0.1], "nothing"),
        (["mean", "--system", "nobody", "--half-width", 0.1], "nobody"),
        (["paired", "--baseline", "nobody"], "nobody"),
        (["labels", "--half-width", 0.1], "--metric"),
        (["labels", "--half-width", 0.1, "-m", "token_f1"], "--correlation"),
    ],
)
def test_names_that_the_run_has_not_end_with_2(
    arguments: list[object], words: str, demo: Path
) -> None:
    status, _, err = call(arguments[0], demo, *arguments[1:])
    assert status == 2
    assert words in err


def test_the_sample_to_draw_names_the_metric(demo: Path) -> None:
    known = ["--sensitivity", 0.9, "--specificity", 0.9, "--half-width", 0.2]
    out = call("labels", demo, "-m", "unsupported_claim", *known)[1]
    assert "ragstone sample RUN --metric unsupported_claim" in " ".join(out.split())
    out = call("labels", "--rate", 0.3, "--judged", 900, *known)[1]
    assert "ragstone sample RUN --metric … --n N" in out


def test_a_metric_that_the_run_has_not_can_be_added(demo: Path) -> None:
    status, _, err = call("paired", demo, "-m", "ndcg(k=5)")
    assert status == 2
    assert f"ragstone score {demo} --metric 'ndcg(k=5)'" in " ".join(err.split())
    assert "ragstone score" not in call("paired", demo, "-m", "nothing")[2]
