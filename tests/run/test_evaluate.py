"""A data set in, a run out."""

import asyncio
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone import evaluate, rescore
from ragstone.core.errors import DataError, InputError, RunConflict, UnknownName
from ragstone.data import cornwall
from ragstone.judgements import References
from ragstone.metrics import Metric, load_metrics, metric, metric_types
from ragstone.run import Estimate, Progress, Run
from ragstone.run.folder.folder import Folder
from tests.registries import NEED_A_PARAMETER


def rows(n: int = 6) -> list[dict[str, Any]]:
    return [
        {
            "id": f"e{number}",
            "system": "a" if number % 2 else "b",
            "kind": "short" if number < 3 else "long",
            "question": f"When was lighthouse {number // 2} built?",
            "contexts": [f"Lighthouse {number // 2} was built in 18{number // 2:02d} of granite."],
            "answer": f"It was built in 18{number // 2:02d}." if number % 2 else "In 1999.",
            "reference": f"18{number // 2:02d}",
        }
        for number in range(n)
    ]


def one(run: Run, metric: str, **group: str) -> Estimate:
    found = [e for e in run.estimate_list if e.metric == metric and e.group == group]
    assert len(found) == 1, (metric, group)
    return found[0]


def test_a_list_of_mappings_is_judged_scored_and_estimated() -> None:
    run = evaluate(rows())
    assert one(run, "answer_outcome", system="a").value == 1
    assert one(run, "answer_outcome", system="b").value == 0
    assert one(run, "answer_outcome").value == 0.5
    assert one(run, "answer_outcome", system="a").labels == {"correct": 3}
    assert run.exit_status == 0


def test_the_same_examples_give_the_same_estimates_in_any_container(tmp_path: Path) -> None:
    records = rows()
    path = tmp_path / "rows.jsonl"
    ragstone.write(ragstone.read(records), path)
    frame = pl.DataFrame(records)
    expected = evaluate(records).estimates().drop("signature")
    for data in (path, frame, frame.to_arrow(), frame.to_pandas(), ragstone.read(records)):
        assert evaluate(data).estimates().drop("signature").equals(expected)


def test_estimates_are_by_system_by_field_and_by_both() -> None:
    run = evaluate(rows(), metrics=["exact_match"], by=["kind"])
    groups = [dict(estimate.group) for estimate in run.estimate_list]
    assert groups == [
        {},
        {"system": "b"},
        {"system": "a"},
        {"kind": "long"},
        {"kind": "short"},
        {"system": "b", "kind": "long"},
        {"system": "b", "kind": "short"},
        {"system": "a", "kind": "long"},
        {"system": "a", "kind": "short"},
    ]


def test_a_rate_with_one_row_a_question_has_a_wilson_interval_else_a_clustered_one() -> None:
    run = evaluate(rows(), metrics=["exact_match", "token_f1"])
    assert one(run, "exact_match", system="a").method == "wilson"
    assert one(run, "exact_match").method == "cluster_wilson"
    assert one(run, "exact_match").clusters == 3
    assert one(run, "token_f1", system="a").method == "bounded_wilson"


def test_what_no_judge_gives_is_missing_with_its_reason_and_bounds() -> None:
    run = evaluate(rows(), metrics=["helpfulness", "exact_match"])
    helpful = one(run, "helpfulness")
    assert (helpful.value, helpful.n, helpful.n_missing) == (None, 0, 6)
    assert (helpful.worst, helpful.best) == (0, 1)
    assert "quality" in next(iter(helpful.reasons))
    assert run.exit_status == 4


def test_systems_that_do_not_retrieve_have_undefined_retrieval_metrics() -> None:
    records = [{**row, "contexts": None} for row in rows()]
    run = evaluate(records, metrics=["context_precision", "faithfulness", "context_recall"])
    for estimate in run.estimate_list:
        assert (estimate.n, estimate.n_missing) == (0, 0)
        assert estimate.reasons == {"no_retrieval": estimate.n_undefined}
    assert run.exit_status == 0


def test_nothing_retrieved_is_zero_and_not_undefined() -> None:
    records = [{**row, "contexts": []} for row in rows()]
    run = evaluate(records, metrics=["precision(k=5)", "faithfulness", "context_recall"])
    assert one(run, "precision(k=5)").value == 0
    assert one(run, "precision(k=5)").flags == {"empty_retrieval": 6}
    assert one(run, "faithfulness").value == 0
    assert one(run, "context_recall").value == 0


def test_labels_in_the_data_speak_before_the_local_judge_and_rows_say_who() -> None:
    records = rows(4)
    records[0]["labels"] = {"contexts": [{"topically_relevant": 0}]}
    run = evaluate(records, metrics=["precision"])
    judged = run.judgements("relevance")
    by_human = judged.filter(pl.col("judge") == "human")
    assert by_human["example_id"].to_list() == ["e0"]
    assert judged.filter(pl.col("judge") == "local").height == 3
    scores = dict(run.scores().select("example_id", "value").iter_rows())
    assert scores["e0"] == 0
    assert "human 25%" in one(run, "precision").signature


def test_named_judges_alone_judge() -> None:
    run = evaluate(rows(), metrics=["precision"], judge=["human"])
    assert one(run, "precision").n_missing == 6
    assert run.exit_status == 4


def test_labels_of_a_file_of_their_own_count_by_majority(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "id,annotator,context,topically_relevant\ne0,ann,1,1\ne0,bob,1,1\ne0,cat,1,0\ne1,ann,1,0\n"
    )
    run = evaluate(rows(2), metrics=["precision"], judge=[f"human:{labels}"])
    assert dict(run.scores().select("example_id", "value").iter_rows()) == {"e0": 1, "e1": 0}


def test_labels_that_changed_are_not_taken_for_the_old_ones(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    asked: dict[str, Any] = {"metrics": ["precision"], "judge": [f"human:{labels}"]}
    labels.write_text("id,annotator,context,topically_relevant\ne0,ann,1,1\n")
    evaluate(rows(2), out=tmp_path / "run", **asked)
    labels.write_text("id,annotator,context,topically_relevant\ne0,ann,1,0\n")
    with pytest.raises(RunConflict, match="labels"):
        evaluate(rows(2), out=tmp_path / "run", **asked)


def test_every_metric_of_the_catalogue_can_be_asked_for() -> None:
    names = [name for name in metric_types() if name not in NEED_A_PARAMETER]
    run = evaluate(cornwall(), metrics=names, offline=True)
    assert {e.metric for e in run.estimate_list} == set(names)


def test_every_fault_of_the_data_is_in_one_error_and_no_folder_is_left(tmp_path: Path) -> None:
    records = rows()
    records[1]["contexts"] = 7
    records[4]["id"] = "e0"
    out = tmp_path / "run"
    with pytest.raises(DataError) as caught:
        evaluate(records, out=out)
    assert caught.value.total == 2
    assert not out.exists()


def test_bad_rows_are_kept_beside_the_run_when_they_are_skipped(tmp_path: Path) -> None:
    records = rows()
    records[1]["contexts"] = 7
    run = evaluate(records, out=tmp_path / "run", skip_bad=True)
    assert run.manifest["data"]["examples"] == 5
    assert run.manifest["data"]["rejected"] == 1
    assert '"e1' in (tmp_path / "run" / "rejected.jsonl").read_text()


def test_labels_that_break_a_rule_are_listed_and_kept(tmp_path: Path) -> None:
    records = rows(2)
    records[0]["labels"] = {"contexts": [{"topically_relevant": 0, "evidence_sufficient": 1}]}
    run = evaluate(records, out=tmp_path / "run")
    assert run.manifest["data"]["label_violations"] == {"evidence_requires_relevance": 1}
    assert "evidence_requires_relevance" in (tmp_path / "run/label_violations.jsonl").read_text()


def test_unknown_names_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="faithfulness"):
        evaluate(rows(), metrics=["faithfullness"])
    with pytest.raises(UnknownName, match="ragas"):
        evaluate(rows(), suites=["ragass"])
    with pytest.raises(UnknownName, match="local"):
        evaluate(rows(), judge=["locl"])
    with pytest.raises(InputError, match="kind"):
        evaluate(rows(), by=["kynd"], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_field_that_tells_every_example_apart_is_no_field_to_group_by() -> None:
    with pytest.raises(InputError, match="too many to group by"):
        evaluate(rows(300), metrics=["exact_match"], by=["id"])


def test_a_finished_run_is_opened_instead_of_made_again(tmp_path: Path) -> None:
    first = evaluate(rows(), out=tmp_path / "run")
    created = first.manifest["created"], first.manifest["seconds"]
    again = evaluate(rows(), out=tmp_path / "run")
    assert (again.manifest["created"], again.manifest["seconds"]) == created
    assert Run.open(tmp_path / "run").estimates().equals(first.estimates())


def test_what_differs_is_told_where_long_settings_begin_alike(tmp_path: Path) -> None:
    shared = ["exact_match", "token_f1", "rouge_2", "rouge_l", "citation_presence", "abstention"]
    evaluate(rows(), out=tmp_path / "run", metrics=[*shared, "hit"])
    with pytest.raises(RunConflict, match=r'metrics: there \["hit"\], now \["mrr"\]'):
        evaluate(rows(), out=tmp_path / "run", metrics=[*shared, "mrr"])


def test_a_folder_of_another_run_is_refused_with_what_differs(tmp_path: Path) -> None:
    evaluate(rows(), out=tmp_path / "run", metrics=["exact_match"])
    with pytest.raises(RunConflict, match="metrics"):
        evaluate(rows(), out=tmp_path / "run", metrics=["token_f1"])
    with pytest.raises(RunConflict, match="data"):
        evaluate(rows(4), out=tmp_path / "run", metrics=["exact_match"])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "note.txt").write_text("mine")
    with pytest.raises(RunConflict, match="not empty"):
        evaluate(rows(), out=tmp_path / "other")


def test_progress_is_told_with_a_share_of_the_file() -> None:
    told: list[Progress] = []
    evaluate(cornwall(), progress=told.append)
    assert told[0] == Progress("judging", 24, 1.0)
    assert told[-1].stage == "estimating"


def test_estimates_and_scores_are_tables(tmp_path: Path) -> None:
    run = evaluate(rows(), out=tmp_path / "run", by=["kind"])
    estimates = run.estimates()
    assert {"metric", "system", "kind", "value", "low", "high", "n_missing"} <= set(
        estimates.columns
    )
    assert run.to_pandas().shape == estimates.shape
    assert set(run.scores()["status"].unique()) <= {"value", "undefined", "missing"}
    assert run.examples()["id"].to_list() == [f"e{number}" for number in range(6)]
    with pytest.raises(UnknownName, match="claims"):
        run.judgements("claim")


def test_mtrag_has_every_default_metric_by_system(shared: Path) -> None:
    run = evaluate(shared / "data/rag_quality_mtrag/answers.jsonl.gz", by=["system"])
    assert run.manifest["data"]["examples"] == 249
    faithful = one(run, "expected_faithfulness", system="gpt-4o")
    assert faithful.total == 83
    assert one(run, "expected_faithfulness").clusters <= 83
    assert {e.metric for e in run.estimate_list} >= {
        "context_precision", "context_recall", "faithfulness", "answer_outcome", "rouge_l",
    }  # fmt: skip
    assert run.exit_status == 0


@pytest.mark.parametrize("field", ["label", "value", "reason", "level", "n", "cluster", "by"])
def test_a_field_to_group_by_may_be_called_anything(field: str) -> None:
    records = [{**row, "slices": {field: row["kind"]}} for row in rows()]
    run = evaluate(records, metrics="exact_match", by=field)
    assert one(run, "exact_match", **{field: "short"}).total == 3
    column = f"by_{field}" if field in ("value", "level", "n") else field
    assert set(run.estimates()[column].drop_nulls()) == {"short", "long"}


def test_one_name_stands_for_a_list_of_one() -> None:
    run = evaluate(rows(), metrics="precision", judge="human", by="kind", suites="quick")
    assert "precision" in run.manifest["metrics"]
    assert [judge["name"] for judge in run.manifest["judges"]] == ["human", "ids", "rules"]


@pytest.mark.usefixtures("registries")
def test_a_changed_definition_of_an_own_metric_is_another_run(tmp_path: Path) -> None:
    def made(source: str) -> Metric:
        path = tmp_path / "own.py"
        path.write_text(
            "from ragstone.judgements import References\nfrom ragstone.metrics import metric\n\n\n"
            "@metric(over=References, columns=('token_f1',))\n"
            f"def my_overlap(rows):\n    return {source}\n"
        )
        return load_metrics(path)[0]

    evaluate(rows(), metrics=made("rows[0]['token_f1']"), out=tmp_path / "run")
    with pytest.raises(RunConflict, match="definitions"):
        evaluate(rows(), metrics=made("rows[0]['token_f1'] / 2"), out=tmp_path / "run")


@pytest.mark.usefixtures("registries")
def test_an_expression_that_calls_a_function_is_known_by_its_source(tmp_path: Path) -> None:
    def made(factor: int) -> Metric:
        path = tmp_path / "own.py"
        path.write_text(
            "import polars as pl\nfrom ragstone.judgements import References\n"
            "from ragstone.metrics import metric\n\n\n"
            "@metric(over=References)\n"
            "def my_scaled():\n"
            f"    scale = lambda values: values / {factor}\n"
            "    return References.token_f1.map_batches(scale, return_dtype=pl.Float64).first()\n"
        )
        return load_metrics(path)[0]

    evaluate(rows(), metrics=made(2), out=tmp_path / "run")
    with pytest.raises(RunConflict, match="definitions"):
        evaluate(rows(), metrics=made(4), out=tmp_path / "run")


def scaled(factor: float, identity: str = "") -> Metric:
    @metric(over=References, columns=("token_f1",), identity=identity)
    def my_factor(rows: list[dict[str, Any]]) -> float:
        return float(rows[0]["token_f1"]) * factor

    return my_factor


@pytest.mark.usefixtures("registries")
def test_a_metric_whose_source_does_not_show_all_of_it_needs_an_identity(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(rows(), metrics=scaled(0.5), out=tmp_path / "run")
    assert str(caught.value) == (
        "scaled.<locals>.my_factor cannot be identified by its source: it uses factor of the "
        "enclosing function. Give it an identity, and a new one whenever it changes: "
        'identity="1" for the metric my_factor'
    )


@pytest.mark.usefixtures("registries")
def test_a_metric_with_another_identity_is_another_run(tmp_path: Path) -> None:
    first = evaluate(rows(), metrics=scaled(0.5, "half"), out=tmp_path / "run")
    again = evaluate(rows(), metrics=scaled(0.5, "half"), out=tmp_path / "run")
    assert again.manifest["settings"]["definitions"] == first.manifest["settings"]["definitions"]
    with pytest.raises(RunConflict, match="definitions"):
        evaluate(rows(), metrics=scaled(0.25, "quarter"), out=tmp_path / "run")


def test_how_an_answer_cites_can_be_told() -> None:
    row = {"question": "Who?", "answer": "Smeaton <2>.", "contexts": ["a", "b"]}
    plain = evaluate([row], metrics="citation_presence")
    told = evaluate([row], metrics="citation_presence", citations=r"<(\d+)>")
    assert (one(plain, "citation_presence", system="default").value) == 0
    assert (one(told, "citation_presence", system="default").value) == 1
    assert told.judgements("citations")["context"].to_list() == ["2"]


def test_bad_data_in_an_empty_folder_can_be_mended_and_run_again(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    with pytest.raises(DataError):
        evaluate([{"id": "a"}], out=out)
    assert evaluate(rows(), out=out).manifest["finished"]


@pytest.mark.usefixtures("registries")
def test_an_own_metric_that_is_handed_over_can_stand_in_a_composite_and_be_rescored(
    tmp_path: Path,
) -> None:
    @metric(over=References)
    def overlap_squared() -> pl.Expr:
        return References.token_f1.first() ** 2

    asked: list[str | Metric] = [
        overlap_squared,
        'composite(weights="overlap_squared exact_match")',
    ]
    run = evaluate(rows(), metrics=asked, out=tmp_path / "run")
    assert one(run, str(asked[1])).n == 6
    assert rescore(tmp_path / "run", metrics="rouge_l").exit_status == 0


def test_it_can_be_awaited() -> None:
    run = asyncio.run(ragstone.aevaluate(rows(), metrics="exact_match"))
    assert one(run, "exact_match").n == 6


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="limit"):
        evaluate(rows(), limit=0)


def test_two_runs_at_once_into_one_folder_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = evaluate(rows(), out=out, metrics="exact_match")
    with Folder(out).locked(), pytest.raises(RunConflict, match="Another run"):
        evaluate(rows(), out=out, metrics="exact_match")
    assert Run.open(out).estimates().equals(first.estimates())


def test_a_damaged_run_says_what_is_gone_and_what_to_do(tmp_path: Path) -> None:
    run = evaluate(rows(), out=tmp_path / "run")
    (tmp_path / "run" / "scores" / "000000.parquet").write_bytes(b"junk")
    with pytest.raises(InputError, match=r"(?s)scores/000000\.parquet.*evaluate"):
        run.scores()


def test_a_label_file_about_nothing_in_the_data_is_a_fault(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,annotator,helpful\nzzz,ann,1\n")
    with pytest.raises(DataError, match="zzz"):
        evaluate(rows(2), metrics="helpfulness", judge=f"human:{labels}")


def test_ties_and_unknown_ids_of_label_files_are_told(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,annotator,helpful\ne0,ann,1\ne0,bob,0\ne1,ann,1\nzzz,ann,1\n")
    run = evaluate(rows(2), metrics="helpfulness", judge=f"human:{labels}", out=tmp_path / "run")
    assert run.manifest["data"]["label_ties"] == 1
    assert run.manifest["data"]["labels_of_nothing"] == ["zzz"]
    assert '"e0"' in (tmp_path / "run" / "label_ties.jsonl").read_text()


def test_questions_alone_say_that_answers_are_lacking() -> None:
    with pytest.raises(InputError, match="add each system's answers"):
        evaluate([{"question": "Who?", "reference": "Smeaton"}])


def test_a_folder_that_is_not_ours_is_left_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "theirs"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(RunConflict, match="holds no run"):
        evaluate(rows(), out=out)
    assert [file.name for file in out.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_lock_that_is_no_file_is_refused(make: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    make(out / ".lock")
    with pytest.raises(RunConflict, match="no run made it"):
        evaluate(rows(), out=out)


def test_nothing_is_written_through_links_in_a_folder(tmp_path: Path) -> None:
    victim, out = tmp_path / "victim", tmp_path / "run"
    victim.write_text("mine")
    out.mkdir()
    (out / ".lock").symlink_to(victim)
    with pytest.raises(RunConflict, match="is a link or a folder, not a plain file"):
        evaluate(rows(), out=out)
    (out / ".lock").unlink()
    run = evaluate(rows(), metrics="exact_match", out=out)
    (out / ".lock").unlink()
    os.link(victim, out / ".lock")
    (out / "run.json.unfinished").symlink_to(victim)
    rescore(out, metrics="token_f1")
    Folder(out).write_manifest(run.manifest)
    assert victim.read_text() == "mine"
