"""A few examples are read without the rest of a run's tables, and are as they are in the whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone import Run
from ragstone.core.parquet import read_parquet, scan_parquet, write_parquet
from ragstone.judgements import KINDS
from ragstone.run.folder.checksums import described, signed, write_json
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.shards import write_ledger
from ragstone.run.run import Excerpt
from ragstone.testing import ScriptedEncoder

MILLION = "a word " * 140_000
HOSTILE = (
    "a<::>b",
    "../../etc/passwd",
    "*?[x].parquet",
    "",
    "null",
    "é\u202e\U0001f600",
    "i" * 10_000,
)


def labelled(id: str, **fields: Any) -> dict[str, Any]:
    """An example of which people judged two contexts and a claim."""
    labels = {
        "contexts": [{"topically_relevant": 1}, {"topically_relevant": 0}],
        "claims": [{"text": f"Of {id[:20]}.", "support": "supported"}],
        "answer": {"helpful": 1},
    }
    contexts = [{"id": "c1", "text": "The pier."}, {"id": "c2", "text": "Gulls."}]
    return {"id": id, "question": "How long?", "answer": "Long.", "contexts": contexts,
            "labels": labels, **fields}  # fmt: skip


def same_as_the_whole(run: Run, ids: Sequence[str]) -> None:
    """Whether each table of the excerpt has the rows of these examples, in the order of the run."""
    some = run.excerpt(ids)
    tables = [(run.examples(), some.examples(), "id")]
    tables += [
        (run.scores(), some.scores(), "example_id"),
        (run.ledger(), some.ledger(), "example_id"),
    ]
    tables += [(run.judgements(kind), some.judgements(kind), "example_id") for kind in KINDS]
    for whole, found, column in tables:
        assert found.equals(whole.filter(pl.col(column).is_in(list(ids))))


METRICS = ("precision", "faithfulness", "helpfulness", "token_f1")


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of three shards, of which the texts fill the first two."""
    rows = [labelled(f"r{number}", answer=MILLION) for number in range(70)]
    out = tmp_path_factory.mktemp("runs") / "run"
    run = ragstone.evaluate(rows, metrics=METRICS, judge="human", out=out)
    table = scan_parquet([*(out / "examples").iterdir()]).select("shard").collect()
    assert table["shard"].n_unique() == 3
    return run


@pytest.mark.parametrize("ids", [["r0"], ["r69"], ["r40", "r1"], ["r4", "r4", "of no run"]])
def test_an_excerpt_has_the_rows_of_its_examples_in_the_order_of_the_run(
    shards: Run, ids: list[str]
) -> None:
    same_as_the_whole(shards, ids)
    assert set(shards.excerpt(ids).judgements("claims")["example_id"]) == {*ids} - {"of no run"}


def test_an_excerpt_shows_the_shard_of_each_row_and_needs_no_corrections(shards: Run) -> None:
    some = Excerpt(shards.folder, ["r0", "r69"])
    assert set(some.entries.select("example_id", "shard").unique().rows()) == {
        ("r0", 0),
        ("r69", 2),
    }
    assert some.ledger().equals(some.entries.drop("shard"))
    assert sorted(some.stored("claims").select("text", "shard").unique().rows()) == [
        ("Of r0.", 0), ("Of r69.", 2),
    ]  # fmt: skip


def test_of_an_unknown_example_every_table_is_empty_with_its_columns(shards: Run) -> None:
    same_as_the_whole(shards, ["of no run"])
    same_as_the_whole(shards, [])
    assert shards.excerpt(["of no run"]).calls("of no run") == []


def test_examples_lie_in_groups_of_five_hundred(tmp_path: Path) -> None:
    rows = [{"id": f"{number}", "question": "Q?", "answer": "A."} for number in range(1_100)]
    run = ragstone.evaluate(rows, metrics="token_f1", judge="rules", out=tmp_path / "run")
    lazy = pl.scan_parquet(run.path / "examples" / "000000.parquet")
    sizes = [batch.height for batch in lazy.collect_batches(maintain_order=True)]
    assert sum(sizes) == 1_100
    assert max(sizes) <= 500
    same_as_the_whole(run, ["0", "499", "500", "1099"])


def test_whatever_an_id_holds_its_example_is_found(tmp_path: Path) -> None:
    ids = [id or "empty" for id in HOSTILE]
    rows = [labelled(id) for id in ids]
    run = ragstone.evaluate(rows, metrics=METRICS, judge="human", out=tmp_path / "run")
    for id in ids:
        same_as_the_whole(run, [id])
        assert run.excerpt([id]).judgements("claims")["text"].to_list() == [f"Of {id[:20]}."]


def test_examples_that_share_a_judgement_both_have_it(tmp_path: Path) -> None:
    """Two systems retrieved the same for the same question, so it is judged once."""
    shared = {"question_id": "q", "question": "How long?", "contexts": ["The pier is 90 m long."]}
    rows = [{"id": system, "system": system, "answer": system, **shared} for system in "ab"]
    run = ragstone.evaluate(rows, metrics="mrr", judge="local", out=tmp_path / "run")
    assert read_parquet(run.path / "judgements/relevance/000000.parquet").height == 1
    for id in "ab":
        same_as_the_whole(run, [id])
        assert run.excerpt([id]).judgements("relevance")["example_id"].to_list() == [id]


def test_people_s_word_stands_in_an_excerpt_as_it_stands_in_the_run(tmp_path: Path) -> None:
    rows = [labelled(f"r{number}") for number in range(5)]
    run = ragstone.evaluate(rows, metrics=METRICS, judge="human", out=tmp_path / "run")
    run.correct(
        "r3", "support", {"verdict": "absent"}, unit=1, author="Ada", reason="It does not say so."
    )
    same_as_the_whole(run, ["r3"])
    same_as_the_whole(run, ["r1"])
    faithful = pl.col("metric") == "faithfulness"
    assert run.excerpt(["r3"]).scores().filter(faithful)["value"].to_list() == [0.0]
    left = run.without_corrections().excerpt(["r3"])
    assert left.scores().filter(faithful)["value"].to_list() == [1.0]


def test_an_excerpt_is_as_the_whole_after_scoring_again(tmp_path: Path) -> None:
    rows = [labelled(f"r{number}", reference="Quite long.") for number in range(5)]
    ragstone.evaluate(rows, metrics="precision", judge="human", out=tmp_path / "run")
    before = Run.open(tmp_path / "run").excerpt(["r3"])
    assert before.judgements("similarity").is_empty()
    run = ragstone.rescore(
        tmp_path / "run", metrics=["mrr", "semantic_similarity"], embedder=ScriptedEncoder()
    )
    same_as_the_whole(run, ["r3"])
    assert set(run.excerpt(["r3"]).scores()["metric"]) == {
        "precision", "mrr", "semantic_similarity"}  # fmt: skip


def test_a_run_whose_tables_are_grouped_otherwise_is_read_the_same(tmp_path: Path) -> None:
    """Of an older version, or written by another program."""
    rows = [labelled(f"r{number}") for number in range(30)]
    made = ragstone.evaluate(rows, metrics=METRICS, judge="human", out=tmp_path / "run")
    folder = Folder(made.path)
    manifest = folder.manifest
    (form,) = folder.shards.ledger
    for name in form.files:
        file = folder.shards.file(name, 0)
        write_parquet(read_parquet(file), file)
        form.files[name] = described(file)
    write_ledger(made.path / "shards.jsonl", [form])
    noted = described(made.path / "shards.jsonl").model_dump(exclude_none=True)
    manifest["files"]["shards.jsonl"] = noted
    write_json(made.path / "run.json", signed(manifest))
    same_as_the_whole(Run.open(made.path), ["r7", "r29"])
