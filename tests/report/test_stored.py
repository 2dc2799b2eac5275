"""Pages and tables that are made from a run's stored tables."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.core.errors import InputError, UnknownName
from ragstone.report import as_bytes, dossier, example_page, export_table, worst, worst_page
from ragstone.report.run_contents import FileFormat, exported, write_table
from ragstone.run import Run

ROWS: list[dict[str, Any]] = [
    {
        "id": "pier-a",
        "question_id": "pier",
        "system": "a",
        "question_type": "Fact Retrieval",
        "question": "How long is the pier?",
        "contexts": [
            {"id": "c1", "text": "The pier is 90 metres long.", "rank": 1},
            {"id": "c2", "text": "Gulls are loud.", "rank": 2},
        ],
        "answer": "The pier is 90 metres long.",
        "reference": "The pier is 90 metres long.",
        "labels": {"contexts": [{"topically_relevant": 1}, {"topically_relevant": 0}]},
    },
    {
        "id": "pier-b",
        "question_id": "pier",
        "system": "b",
        "question_type": "Fact Retrieval",
        "question": "How long is the pier?",
        "contexts": [{"id": "c2", "text": "Gulls are loud.", "rank": 1}],
        "answer": "The pier is 500 metres long and made of glass.",
        "reference": "The pier is 90 metres long.",
        "labels": {"contexts": [{"topically_relevant": 0}]},
    },
    {
        "id": "mine-a",
        "question_id": "mine",
        "system": "a",
        "question_type": "Complex Reasoning",
        "question": "Why was the mine closed?",
        "contexts": None,
        "answer": "I don't know.",
        "reference": "The mine was closed because it was flooded.",
    },
]
METRICS = ("precision", "answer_outcome", "token_f1", "helpfulness", "abstention")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("r") / "run"
    return evaluate(ROWS, metrics=METRICS, suites=["graphrag"], out=out, offline=True)


def test_worst_examples_come_worst_first(run: Run) -> None:
    found = worst(run, metrics=["precision"], limit=5)["precision"]
    assert [(row.example_id, row.value) for row in found] == [("pier-b", 0.0), ("pier-a", 0.5)]
    assert found[0].question == "How long is the pier?"


def test_worst_leaves_out_what_could_not_be_better(run: Run) -> None:
    found = worst(run, metrics=["token_f1"], limit=5)["token_f1"]
    assert "pier-a" not in [row.example_id for row in found]


def test_a_metric_without_a_better_end_has_no_worst_unless_named(run: Run) -> None:
    assert "abstention" not in worst(run)
    assert worst(run, metrics=["abstention"])["abstention"][0].example_id == "mine-a"


def test_summary_shows_question_and_answer(run: Run, text: Callable[..., str]) -> None:
    printed = text(worst_page(run))
    assert "Q  How long is the pier?" in printed
    assert "A  The pier is 500 metres long" in printed


def test_a_metric_without_a_score_is_not_said_to_be_as_good_as_can_be(
    run: Run, text: Callable[..., str]
) -> None:
    """Nobody says whether the answers help."""
    printed = " ".join(text(worst_page(run, metrics=["helpfulness"])).split())
    assert "helpfulness ↑ no example has a score (3 missing)" in printed


def test_dossier_holds_all_that_was_judged_as_json(run: Run) -> None:
    found = json.loads(json.dumps(dossier(run, "pier-a").to_dict(), allow_nan=False))
    assert [context["relevance"]["relevant"] for context in found["contexts"]] == [True, False]
    assert [context["relevance"]["judge"] for context in found["contexts"]] == ["human", "human"]
    assert found["claims"][0]["support"]["verdict"] == "supported"
    assert found["claims"][0]["support"]["evidence"] == ["c1"]
    assert found["statements"][0]["agreement"]["verdict"] == "full"
    assert (found["id"], found["question_id"], found["system"]) == ("pier-a", "pier", "a")
    scores = {score["metric"]: score for score in found["scores"]}
    assert scores["precision"]["value"] == 0.5
    assert scores["helpfulness"]["status"] == "missing"


def test_example_page_shows_claims_verdicts_evidence_and_reasons(
    run: Run, text: Callable[..., str]
) -> None:
    printed = text(example_page(dossier(run, "pier-a")))
    for part in ("How long is the pier?", "relevant  (human)", "supported", "from c1",
                 "response type: answer", "Reference", "token_f1", "1.000"):  # fmt: skip
        assert part in printed


def test_example_page_tells_missing_from_undefined(run: Run, text: Callable[..., str]) -> None:
    printed = text(example_page(dossier(run, "mine-a")))
    scores = printed[printed.index("Scores") :]
    assert "undefined (no_retrieval)" in scores
    assert "missing (quality needs" in scores
    assert "this system does not retrieve" in printed


def test_an_unknown_example_names_those_that_are_near(run: Run) -> None:
    with pytest.raises(UnknownName, match="Did you mean pier-"):
        dossier(run, "pier-c")


@pytest.mark.parametrize("what", ["scores", "estimates", "examples", "judgements:support"])
def test_every_part_can_be_written_in_every_format(what: str, run: Run) -> None:
    table = export_table(run, what)
    assert table.height > 0
    assert pl.read_csv(BytesIO(as_bytes(table, "csv"))).shape == table.shape
    assert pl.read_ndjson(BytesIO(as_bytes(table, "jsonl"))).height == table.height
    assert pl.read_parquet(BytesIO(as_bytes(table, "parquet"))).equals(table)


@pytest.mark.parametrize("what", ["scores", "estimates", "examples", "judgements:support"])
def test_what_is_exported_part_by_part_is_the_table(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.run.judging.sharding.OF_A_SHARD", 2)
    run = evaluate(ROWS, metrics=METRICS, out=tmp_path / "run", offline=True)
    assert len(run.shards) > 1
    for format in get_args(FileFormat):
        whole = as_bytes(export_table(run, what), format)
        assert b"".join(exported(run, what, format)) == whole


def test_undefined_and_missing_scores_are_empty_cells(run: Run) -> None:
    rows = pl.read_csv(BytesIO(as_bytes(export_table(run, "scores"), "csv")))
    assert rows.filter(pl.col("status") != "value")["value"].null_count() > 0
    assert rows.filter(pl.col("status") != "value")["value"].drop_nulls().is_empty()


def test_nothing_else_can_be_exported(run: Run) -> None:
    with pytest.raises(UnknownName, match="judgement kind"):
        export_table(run, "judgements:suport")
    with pytest.raises(UnknownName, match="There are scores, estimates, judgements:KIND, examples"):
        export_table(run, "everything")


@pytest.mark.parametrize("name", ["a.csv", "new/folder/a.jsonl", "a.b.parquet"])
def test_a_table_is_written_as_its_files_name_ends(run: Run, tmp_path: Path, name: str) -> None:
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".csv": pl.read_csv, ".jsonl": pl.read_ndjson, ".parquet": pl.read_parquet,
    }  # fmt: skip
    table = export_table(run)
    write_table(table, tmp_path / name)
    assert readers[Path(name).suffix](tmp_path / name)["metric"].equals(table["metric"])


def test_a_table_is_written_in_no_other_format(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.xlsx: a table is written as \.csv, \.jsonl"):
        write_table(export_table(run), tmp_path / "new" / "a.xlsx")
    assert not (tmp_path / "new").exists()
    other: Any = "xlsx"
    with pytest.raises(InputError, match="written as csv, jsonl, parquet"):
        as_bytes(export_table(run), other)


def test_what_nests_is_json_in_csv_and_nothing_stays_nothing() -> None:
    table = pl.DataFrame({"a": [["é", "b"], None, []], "n": [1, 2, None]})
    back = pl.read_csv(BytesIO(as_bytes(table, "csv")))
    assert back["a"].to_list() == ['["é", "b"]', None, "[]"]
    assert back["n"].to_list() == [1, 2, None]


def test_a_page_is_read_back_from_the_folder(run: Run, text: Callable[..., str]) -> None:
    from ragstone.report.notebook import page_of

    assert isinstance(run.path, Path)
    assert text(page_of(Run.open(run.path))) == text(page_of(run))
