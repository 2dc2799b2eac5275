"""What a quick run keeps out of its tables while it goes on is in the result as if it had not."""

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.run.folder.run_list import Progress
from ragstone.run.folder.schemas import AlikeScores
from ragstone.run.folder.shards import ShardLedger, Shards
from ragstone.run.judging import evaluation
from ragstone.run.judging import prefetch as streaming
from ragstone.run.judging import sharding as blocks
from ragstone.run.judging.scoring import parted
from ragstone.run.request import Request
from ragstone.run.run_plan import prepare
from ragstone.run.run_spec import RunSpec

MISSING = ("missing", "no_reference")


def rows(n: int, seed: int, *, uneven: bool) -> list[dict[str, Any]]:
    """Answers of which some, or whole shards of two, have references, labels and citations."""
    draw = random.Random(seed)
    found = []
    for number in range(n):
        has = (number // 2) % 2 == 0 if uneven else draw.random() < 0.7
        row: dict[str, Any] = {
            "id": f"r{number}",
            "question": f"How long is pier {number}?",
            "system": "ab"[number % 2],
            "answer": f"It is {number} m long." + (" [1]" if has else ""),
            "contexts": [f"Pier {number} is {number} m long.", "The beach is wide."],
        }
        if has:
            row["reference"] = f"It is {draw.randrange(9)} m long."
            row["labels"] = {"contexts": [{"topically_relevant": 1}, {"topically_relevant": 0}]}
        found.append(row)
    return found


def content(run: Path) -> dict[str, bytes]:
    names = ("scores", "estimates.json", "shards.jsonl", "facets")
    files = [file for name in names for file in (run / name, *(run / name).glob("*"))]
    return {str(file.relative_to(run)): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.parametrize("judge", ["human", "local:strings"])
@pytest.mark.parametrize(("seed", "uneven"), [(0, False), (1, True)])
def test_the_files_are_those_of_a_run_that_keeps_all(
    judge: str, seed: int, uneven: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 2)
    data = rows(6, seed, uneven=uneven)
    evaluate(data, judge=judge, out=tmp_path / "run")
    monkeypatch.setattr(evaluation, "parted", lambda _, scores: (scores, []))
    evaluate(data, judge=judge, out=tmp_path / "whole")
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def test_a_run_that_was_stopped_goes_on_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "OF_A_SHARD", 2)
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows(6, 1, uneven=True)))
    evaluate(file, judge="human", out=tmp_path / "whole")

    def stop(progress: Progress) -> None:
        if progress.examples >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(file, judge="human", out=tmp_path / "run", progress=stop)
    ledger = ShardLedger(tmp_path / "run" / "parts" / "shards.jsonl")
    assert any(form.alike for form in ledger)
    evaluate(file, judge="human", out=tmp_path / "run")
    assert content(tmp_path / "run") == content(tmp_path / "whole")
    assert not any(form.alike for form in Shards(tmp_path / "run").ledger)


def test_tables_that_hold_what_is_reported_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shards, "change", None)
    data = [{"question": f"Pier {n}?", "answer": "Long.", "reference": "Long."} for n in range(6)]
    assert "token_f1" in evaluate(data, judge="human", out=tmp_path / "run").form.metrics


@pytest.fixture
def quick() -> RunSpec:
    return prepare(Request(rows(2, 0, uneven=False), metrics=["mrr"], suites=["quick"])).spec


def scores(metric: str, *found: tuple[float | None, str, str | None]) -> pl.DataFrame:
    values, statuses, reasons = zip(*found, strict=True)
    return pl.DataFrame(
        {"metric": metric, "value": values, "label": None, "status": statuses, "reason": reasons},
        schema_overrides={"value": pl.Float64, "label": pl.String, "reason": pl.String},
    )


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        (scores("token_f1", (None, *MISSING), (None, *MISSING)), False),
        (scores("token_f1", (None, *MISSING), (None, "undefined", "no_reference")), True),
        (scores("token_f1", (None, *MISSING), (None, "missing", "other")), True),
        (scores("token_f1", (1.0, "value", None), (1.0, "value", None)), True),
        (scores("token_f1", (0.0, "value", None), (0.0, "value", None)), True),
        (scores("citation_presence", (0.0, "value", None), (0.0, "value", None)), False),
        (scores("citation_presence", (1.0, "value", None), (1.0, "value", None)), True),
        (scores("mrr", (None, *MISSING), (None, *MISSING)), True),
        (
            scores("token_f1", (None, *MISSING), (None, *MISSING)).with_columns(label=pl.lit("x")),
            True,
        ),
    ],
    ids=["alike", "status", "reason", "one", "zero", "uncited", "cited", "asked", "labelled"],
)
def test_what_is_kept_out(quick: RunSpec, table: pl.DataFrame, kept: bool) -> None:
    other = scores("rouge_l", (0.5, "value", None), (0.25, "value", None))
    here, alike = parted(quick, pl.concat([other, table]))
    metric, value, _, status, reason = table.row(0)
    assert alike == ([] if kept else [AlikeScores(metric=metric, value=value, status=status,
                                                  reason=reason)])  # fmt: skip
    assert here.equals(pl.concat([other, table]) if kept else other)


def test_nothing_is_kept_out_of_a_run_that_is_not_quick() -> None:
    spec = prepare(Request(rows(2, 0, uneven=False), metrics=["token_f1"])).spec
    table = scores("token_f1", (None, *MISSING), (None, *MISSING))
    here, alike = parted(spec, table)
    assert (here.equals(table), alike) == (True, [])


def test_shards_of_several_blocks_have_the_same_rows_and_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is put back stands metric by metric, what was never away block by block."""
    monkeypatch.setattr(streaming, "BLOCK", 1)
    monkeypatch.setattr(blocks, "OF_A_SHARD", 3)
    data = rows(6, 1, uneven=True)
    run = evaluate(data, judge="human", out=tmp_path / "run")
    monkeypatch.setattr(evaluation, "parted", lambda _, scores: (scores, []))
    whole = evaluate(data, judge="human", out=tmp_path / "whole")
    order = ["metric", "example_id"]
    assert run.scores().sort(order).equals(whole.scores().sort(order))
    assert run.estimates().equals(whole.estimates())
