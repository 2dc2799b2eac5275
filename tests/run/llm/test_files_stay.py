"""A file that a run keeps is never replaced by a result."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.core.errors import InputError
from ragstone.core.files import write_result
from ragstone.run.folder.run_list import Progress
from ragstone.testing import ScriptedModel

from .conftest import Row

METRICS = ("precision", "answer_coverage", "helpfulness")


def files_of(run: Path) -> dict[str, bytes]:
    return {
        one.relative_to(run).as_posix(): one.read_bytes() for one in run.rglob("*") if one.is_file()
    }


def assert_all_stay(run: Path) -> None:
    before = files_of(run)
    for name in before:
        with pytest.raises(InputError, match="Name another file"):
            write_result(run / name, "a report")
    assert files_of(run) == before


def test_no_file_of_a_run_is_replaced_while_it_goes_on_or_later(
    pier: list[Row], scripted: Callable[[], ScriptedModel], tmp_path: Path
) -> None:
    run, going, labels = tmp_path / "run", tmp_path / "going", tmp_path / "labels.csv"
    labels.write_text("id,annotator,helpful\n1,ann,1\n1,bob,0\n2,ann,1\n")
    pier[1]["labels"] = {"contexts": [{"topically_relevant": 0, "evidence_sufficient": 1}] * 2}
    bad: dict[str, Any] = {**pier[0], "id": "3", "contexts": 7}

    def copied(progress: Progress) -> None:
        if progress.stage == "estimating":
            copytree(run, going)

    made = evaluate(
        [*pier, bad],
        metrics=METRICS,
        judge=[f"human:{labels}", scripted()],
        skip_bad=True,
        out=run,
        progress=copied,
    )
    made.correct("1", "relevance", {"grade": 0}, unit=2, author="Ann", reason="No.")

    assert {one.name for one in going.iterdir()} >= {"parts", "progress.json", "run.json"}
    assert_all_stay(going)
    kept = ["rejected.jsonl", "label_violations.jsonl", "label_ties.jsonl", "journal.sqlite"]
    assert {*kept, "overrules.sqlite", "estimates.json"} <= files_of(run).keys()
    assert_all_stay(run)


def test_a_file_that_a_run_may_make_later_is_not_made_by_a_result(
    pier: list[Row], scripted: Callable[[], ScriptedModel], tmp_path: Path
) -> None:
    evaluate(pier, metrics="precision", judge=scripted(), out=tmp_path / "run")
    for name in ("overrules.sqlite", "label_ties.jsonl", "parts/scores/000000.parquet"):
        with pytest.raises(InputError, match="part of the run"):
            write_result(tmp_path / "run" / name, "a report")
