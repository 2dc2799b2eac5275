import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import ragstone as package
from ragstone.cli.decide import weights
from ragstone.cli.output import guarded
from ragstone.data import cornwall

Command = Callable[..., Any]
app = typer.Typer()
app.command()(guarded(weights))
SYSTEMS = ("local_search", "basic_search")


def call(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Somebody who prefers one of two systems by chance."""
    draw = random.Random(1)
    questions = {one.question_id for one in package.read(cornwall()) if one.system == SYSTEMS[0]}
    rows = [
        {"question_id": question, "system_a": SYSTEMS[0], "system_b": SYSTEMS[1],
         "preference": draw.choice([-2, -1, 0, 1, 2]), "annotator": "ann"}
        for question in sorted(questions)
    ]  # fmt: skip
    file = tmp_path / "people.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_weights_are_shown_with_a_composite_to_score_by(
    ragstone: Command, demo: Path, people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "weights.json"
    status, shown, err = call(
        demo, "--preferences", people, "-m", "token_f1", "-m", "rouge_l", "--out", out
    )
    assert status == 0, err
    for word in ("token_f1", "equal", "fitted", "concordance", "keep", "ragstone score"):
        assert word in shown
    assert err == f"note: written to {out}.\n"
    text = out.read_text(encoding="utf-8")
    assert text.endswith("}\n"), "a line ends with its sign"
    found = json.loads(text)
    assert found["seed"] == 0
    assert found["composite"].startswith("composite(weights=")
    scored = ragstone("score", demo, "--metric", found["composite"], "--json")
    assert scored.status == 0, scored.err
    assert found["composite"] in {one["metric"] for one in scored.json["estimates"]}


def test_weights_as_json_hold_both_fits(demo: Path, people: Path) -> None:
    status, out, err = call(demo, "--preferences", people, "-m", "token_f1", "-m", "rouge_l",
                            "--json")  # fmt: skip
    assert status == 0
    assert "written" not in err
    found = json.loads(out)
    assert found["kept"] in ("start", "fitted")
    assert {"loss", "concordance", "composite"} == set(found["start"])
    assert found["gain"]["level"] == 0.95


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-m", "nothing"], "nothing"),
        (["--start", "token_f1"], "weighted mean"),
        (["--folds", 1], "two folds"),
        (["-m", "abstention"], "neither more nor less"),
    ],
)
def test_bad_input_ends_with_2_and_says_why(
    arguments: list[object], words: str, demo: Path, people: Path
) -> None:
    status, _, err = call(demo, "--preferences", people, *arguments)
    assert status == 2
    assert words in err


def test_a_file_that_is_not_there_ends_with_2(demo: Path, tmp_path: Path) -> None:
    status, _, err = call(demo, "--preferences", tmp_path / "none.csv")
    assert status == 2
    assert "none of this name" in err


def test_where_nothing_could_be_fitted_a_dash_stands(demo: Path, people: Path) -> None:
    rows = [json.loads(line) | {"preference": 0} for line in people.read_text().splitlines()]
    people.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, shown, err = call(demo, "--preferences", people, "-m", "token_f1", "-m", "rouge_l")
    assert status == 0, err
    (line,) = (line for line in shown.splitlines() if line.startswith("token_f1"))
    assert line.split() == ["token_f1", "0.50", "–", "–"]
