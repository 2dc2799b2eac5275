import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ragstone
from ragstone.analysis.label_sampling.asked_labels import labels_asked, shared_out
from ragstone.analysis.label_sampling.draw_sample import Sample, draw_sample
from ragstone.analysis.label_sampling.queue_items import LabelSheet, label_sheet, write_sheet
from ragstone.analysis.label_sampling.sample_designs import among_votes, verdicts
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.queue.form import AskedLabel
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import Quality, guideline_of
from ragstone.metrics import parse_metric
from ragstone.report.reason_words import explain

WORDS = ("pier", "mole", "adit", "cove", "reef", "quay")
METRICS = ["token_f1", "exact_match", "faithfulness"]


def row(question: int, system: str, right: int) -> dict[str, Any]:
    reference = " ".join(WORDS[(question + step) % 6] for step in range(4))
    answer = " ".join([*reference.split()[:right], *["sand"] * (4 - right)])
    return {
        "id": f"{question}-{system}", "question_id": f"q{question}", "system": system,
        "question": f"Which of {question}?", "answer": answer, "reference": reference,
        "contexts": [reference, "Gulls are loud."], "topic": ["sea", "mine"][question % 2],
        "history": [{"role": "user", "text": "Hello."}],
    }  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sampling")


@pytest.fixture(scope="module")
def run(folder: Path) -> ragstone.Run:
    """40 questions, two systems."""
    draw = random.Random(1)
    rows = [row(q, system, draw.randrange(5)) for q in range(40) for system in "ab"]
    return ragstone.evaluate(rows, metrics=METRICS, judge="local", out=folder / "run")


@pytest.fixture(scope="module")
def scored(run: ragstone.Run) -> Scored:
    return Scored(run, by=["topic"])


@pytest.fixture(scope="module")
def uncorrected(scored: Scored) -> Scored:
    """The same for many draws: the run is read once."""
    own = scored.without_corrections()
    own.__dict__["without_corrections"] = lambda: own
    return own


def test_a_random_sample_gives_each_the_same_chance(scored: Scored) -> None:
    found = draw_sample(scored, 20, seed=3)
    assert found.rows.height == found.rows["example_id"].n_unique() == 20
    assert found.rows["inclusion_probability"].to_list() == [0.25] * 20
    assert found.effective == pytest.approx(20)
    assert found.rows.equals(draw_sample(scored, 20, seed=3).rows)
    assert not found.rows.equals(draw_sample(scored, 20, seed=4).rows)


def test_a_sample_is_drawn_where_every_score_is_missing(tmp_path: Path) -> None:
    rows = [row(question, "a", 2) for question in range(10)]
    ragstone.evaluate(rows, metrics=["token_f1"], out=tmp_path / "run")
    scored = Scored(ragstone.rescore(tmp_path / "run", metrics="faithfulness"))
    found = draw_sample(scored, 4, metric="faithfulness")
    assert found.rows["inclusion_probability"].to_list() == [0.4] * 4
    assert found.widths == {}


def test_a_stratified_sample_draws_from_each_stratum(scored: Scored) -> None:
    found = draw_sample(scored, 20, by="stratified", strata=["system", "topic"], allocation="equal")
    assert [one.drawn for one in found.strata] == [5] * 4
    assert Counter(found.rows["stratum"]) == {one.name: 5 for one in found.strata}
    assert found.strata[0].name == "system=a, topic=mine"
    assert found.rows["inclusion_probability"].to_list() == [0.25] * 20


def test_a_verdict_is_a_word_of_the_judge(scored: Scored) -> None:
    assert set(verdicts(scored, "exact_match", 0.5)) == {"0", "1"}
    assert set(verdicts(scored, "token_f1", 0.4)) == {"<0.4", "≥0.4"}


def test_neyman_draws_more_where_scores_vary(scored: Scored) -> None:
    found = draw_sample(
        scored, 24, by="stratified", strata=["verdict"], metric="token_f1", threshold=0.4,
        allocation="neyman",
    )  # fmt: skip
    assert sum(one.drawn for one in found.strata) == 24
    with pytest.raises(InputError, match="does not vary inside"):
        draw_sample(
            scored, 24, by="stratified", strata=["verdict"], metric="exact_match",
            allocation="neyman",
        )  # fmt: skip


@pytest.mark.parametrize("whole", [False, True])
def test_near_the_threshold_is_ten_times_as_likely_as_farthest_from_it(
    uncorrected: Scored, whole: bool
) -> None:
    found = draw_sample(
        uncorrected, 4, by="near-threshold", metric="token_f1", whole_questions=whole
    )
    assert found.rows["inclusion_probability"].min() > 0  # type: ignore[operator]
    if not whole:
        everything = draw_sample(uncorrected, 80, by="near-threshold", metric="token_f1")
        assert everything.rows.height == 80
        chances = pl.concat(
            [draw_sample(uncorrected, 4, by="near-threshold", metric="token_f1", seed=seed).rows
             for seed in range(60)]
        )  # fmt: skip
        both = chances.join(uncorrected.of("token_f1"), on="example_id").unique("example_id")
        near = both.filter(pl.col("value") == 0.5)["inclusion_probability"].max()
        far = both.filter(pl.col("value").is_in([0.0, 1.0]))["inclusion_probability"].min()
        assert near / far == pytest.approx(10)  # type: ignore[operator]


def test_the_mean_by_inclusion_probabilities_is_that_of_the_run(uncorrected: Scored) -> None:
    values = uncorrected.of("token_f1").select("example_id", "value")
    truth = float(values["value"].to_numpy().mean())
    means = []
    for seed in range(150):
        rows = draw_sample(
            uncorrected, 16, by="near-threshold", metric="token_f1", seed=seed
        ).rows.join(values, on="example_id")
        means.append(float((rows["value"] / rows["inclusion_probability"]).sum()) / 80)
    assert abs(np.mean(means) - truth) < 3.5 * np.std(means) / np.sqrt(len(means))


def test_whole_questions_come_with_all_their_examples(scored: Scored) -> None:
    found = draw_sample(scored, 10, whole_questions=True)
    assert (found.rows.height, found.questions) == (20, 10)
    assert set(Counter(found.rows["question_id"]).values()) == {2}
    assert found.rows["inclusion_probability"].to_list() == [0.25] * 20
    with pytest.raises(InputError, match="several strata"):
        draw_sample(scored, 10, by="stratified", strata=["system"], whole_questions=True)
    assert draw_sample(
        scored, 10, by="stratified", strata=["topic"], whole_questions=True
    ).rows.height == 20  # fmt: skip


def test_runs_that_disagree_are_drawn_more_often(scored: Scored, folder: Path) -> None:
    rows = [row(q, system, 4 if q < 4 else 2) for q in range(40) for system in "ab"]
    other = Scored(ragstone.evaluate(rows, metrics=METRICS, judge="local", out=folder / "other"))
    found = draw_sample(scored, 20, by="disagreement", metric="token_f1", others=[other])
    assert found.rows["inclusion_probability"].n_unique() > 1
    assert "agree on" in explain(found.notes[0])
    same = draw_sample(scored, 20, by="disagreement", metric="token_f1", others=[scored])
    assert same.rows["inclusion_probability"].to_list() == pytest.approx([0.25] * 20)
    far = [row(q, "z", 2) for q in range(3)]
    strangers = Scored(ragstone.evaluate(far, metrics=METRICS, judge="local", out=folder / "far"))
    with pytest.raises(InputError, match="none of the examples"):
        draw_sample(scored, 20, by="disagreement", metric="token_f1", others=[strangers])


class Voted:
    """A run whose panel of three voted on two claims of one example."""

    path = "run"

    def ledger(self) -> pl.DataFrame:
        return pl.DataFrame(
            [("e1", "support/claim", judge, "s", "vote") for judge in "xyz"]
            + [("e1", "support/claim", "panel", "s", "ok")],
            schema=["example_id", "ask", "judge", "subject", "status"], orient="row",
        )  # fmt: skip

    def judgements(self, kind: str) -> pl.DataFrame:
        said = {"x": "supported", "y": "supported", "z": "absent"}
        rows = [
            ("e1", judge, "s", "claim", "local", 0, index, said[judge] if index else "supported")
            for judge in "xyz"
            for index in (0, 1)
        ]
        unit = ["origin", "author", "reference", "index"]
        names = ["example_id", "judge", "subject", *unit, "verdict"]
        found = pl.DataFrame(rows, schema=names, orient="row")
        return found if kind == "support" else found.clear().with_columns(response_type="verdict")


class Panel(Scored):
    facets = pl.DataFrame({"example_id": ["e0", "e1"]})

    def __init__(self) -> None:
        self.run = Voted()  # type: ignore[assignment]


def test_votes_disagree_by_the_share_that_was_outvoted() -> None:
    assert among_votes(Panel(), "faithfulness").to_list() == [None, pytest.approx(1 / 6)]


def test_a_run_without_votes_has_no_disagreement(scored: Scored) -> None:
    with pytest.raises(InputError, match="no votes"):
        draw_sample(scored, 5, by="disagreement", metric="faithfulness")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": 0}, "at least one example"),
        ({"n": 81}, "more than"),
        ({"n": 41, "whole_questions": True}, "40 questions"),
        ({"n": 5, "by": "stratified"}, "strata=FIELD"),
        ({"n": 5, "strata": ["topic"]}, 'by="stratified"'),
        ({"n": 5, "by": "near-threshold"}, "metric=METRIC"),
        ({"n": 5, "by": "stratified", "strata": ["verdict"]}, "metric=METRIC"),
        ({"n": 1, "by": "stratified", "strata": ["system"]}, "2 strata"),
        (
            {"n": 5, "by": "stratified", "strata": ["system"], "allocation": "neyman"},
            "metric=METRIC",
        ),
        ({"n": 5, "overlap": 0.5}, "several annotators"),
        ({"n": 5, "overlap": 2.0, "annotators": ["a", "b"]}, r"\[0, 1\]"),
        ({"n": 5, "annotators": ["a", "a", ""]}, "twice"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], words: str, scored: Scored) -> None:
    with pytest.raises(InputError, match=words):
        draw_sample(scored, **given)


def test_unknown_names_are_refused(scored: Scored) -> None:
    with pytest.raises(UnknownName, match="metric"):
        draw_sample(scored, 5, metric="helpfulness")
    with pytest.raises(UnknownName, match="way"):
        draw_sample(scored, 5, by="chance")  # type: ignore[arg-type]


def test_a_share_goes_to_everybody_and_the_rest_is_shared_out_evenly() -> None:
    found = shared_out(100, ["ann", "ben", "cy"], 0.2, np.random.default_rng(0))
    assert sum(len(who) == 3 for who in found) == 20
    own = Counter(who[0] for who in found if len(who) == 1)
    assert sorted(own.values()) == [26, 27, 27]
    assert shared_out(3, [], 0, np.random.default_rng(0)) == [("",)] * 3
    assert shared_out(3, ["ann"], 0, np.random.default_rng(0)) == [("ann",)] * 3
    few = shared_out(3, ["ann", "ben"], 0.01, np.random.default_rng(0))
    assert sum(len(who) == 2 for who in few) == 1


def sheet_of(
    sample: Sample, run: ragstone.Run, *labels: str, metric: str | None = None
) -> LabelSheet:
    known = None if metric is None else parse_metric(metric)
    return label_sheet(sample, run, labels_asked(labels, known))


def test_a_sheet_has_a_row_for_each_annotator_and_example(
    scored: Scored, run: ragstone.Run
) -> None:
    sample = draw_sample(scored, 10, annotators=["ann", "ben"], overlap=0.2)
    frame = sheet_of(sample, run, "helpful").frame
    assert frame.height == 12
    assert frame.columns == [
        "id", "annotator", "inclusion_probability", "question", "history", "answer",
        "helpful", "note", "discard",
    ]  # fmt: skip
    assert frame["helpful"].null_count() == 12
    assert frame["history"][0] == "user: Hello."
    assert frame["annotator"].to_list() == sorted(frame["annotator"])


def test_people_are_shown_the_question_and_what_a_model_is_shown_and_told_the_same(
    scored: Scored, run: ragstone.Run, tmp_path: Path
) -> None:
    sample = draw_sample(scored, 10)
    texts = {"question", "history", "answer", "contexts", "reference", "policy", "text"}

    def shown(*labels: str) -> set[str]:
        return texts & set(sheet_of(sample, run, *labels).frame.columns)

    assert shown("helpful") == {"question", "history", "answer"}
    assert shown("topically_relevant") == {"question", "history", "text"}
    assert shown("support") == {"question", "history", "contexts", "text"}
    assert shown("support_present") == {"question", "history", "answer", "contexts"}
    everything = {"question", "history", "answer", "contexts", "reference"}
    assert shown("my_own") == shown("helpful", "my_own") == everything
    sheet = sheet_of(sample, run, "helpful", "topically_relevant")
    assert sheet_of(sample, run, "support_present").frame["contexts"][0].startswith("[1] ")
    assert guideline_of(Quality).hard_cases in sheet.guideline
    assert "`helpful`: yes if " in sheet.guideline
    assert "`incomplete`" not in sheet.guideline, "not asked for"
    assert "`topically_relevant`: yes if " in sheet.guideline
    assert sheet_of(sample, run, "my_own").guideline == ""
    write_sheet(sheet, tmp_path / "labels.csv")
    written = (tmp_path / "labels.guideline.md").read_text(encoding="utf-8")
    assert written == sheet.guideline


def test_labels_of_contexts_and_claims_have_rows_of_their_own(
    scored: Scored, run: ragstone.Run
) -> None:
    sample = draw_sample(scored, 5)
    frame = sheet_of(sample, run, "topically_relevant", "helpful").frame
    assert frame.height == 5 * 3
    assert frame["context"].to_list() == [None, "1", "2"] * 5
    claims = sheet_of(sample, run, metric="faithfulness").frame
    assert claims["claim"].null_count() == 0
    assert claims["text"].null_count() == 0
    assert "support" in claims.columns


def test_strata_of_the_verdict_do_not_tell_the_verdict(scored: Scored, run: ragstone.Run) -> None:
    sample = draw_sample(
        scored, 10, by="stratified", strata=["verdict", "topic"], metric="exact_match"
    )
    found = set(sheet_of(sample, run, "helpful").frame["stratum"])
    assert "verdict A, topic=sea" in found
    assert not any("=0" in name or "=1" in name for name in found)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("helpfulness", [("helpful", "answer")]),
        ("precision(k=3)", [("topically_relevant", "context")]),
        ("list_ndcg", [("topically_relevant", "context"), ("evidence_sufficient", "context")]),
        ("graded_relevance", [("grade", "context")]),
        ("faithfulness", [("support", "claim")]),
        ("context_recall", [("support", "statement")]),
        ("factual_accuracy", [("agreement", "claim"), ("agreement", "statement")]),
        ("answer_outcome", [("answer_outcome", "answer")]),
        ("token_f1", [("token_f1", "answer")]),
        ("answer_correctness", [("answer_correctness", "answer")]),
        ('rating(criterion="tone")', [("rating.tone", "answer")]),
        ('critique(aspect="harmfulness")', [("critique.harmfulness", "answer")]),
        ("abstention", [("response_type", "answer")]),
        ("citation_fabrication", [("source_cited", "answer"), ("fabricated_source", "answer")]),
    ],
)
def test_a_metric_asks_for_the_labels_it_needs(
    metric: str, expected: list[tuple[str, str]]
) -> None:
    found = labels_asked((), parse_metric(metric))
    assert [(one.label, one.unit) for one in found] == expected


def test_labels_that_are_named_go_first() -> None:
    assert labels_asked(["support"], None) == (AskedLabel("support", "claim"),)
    assert labels_asked(["support"], parse_metric("context_recall")) == (
        AskedLabel("support", "statement"),
    )
    assert labels_asked((), "my_own") == (AskedLabel("my_own", "answer"),)
    with pytest.raises(InputError, match="asked=NAME"):
        labels_asked((), None)
    with pytest.raises(InputError, match="answer, note"):
        labels_asked(["answer", "note"], None)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("metric", "label", "kind", "value"),
    [
        ("helpfulness", "helpful", ("quality", "helpful"), "1"),
        ("faithfulness", "support", ("support", "verdict"), "absent"),
        ("precision", "topically_relevant", ("relevance", "relevant"), "0"),
        ("token_f1", "token_f1", ("metric", "token_f1"), "0.25"),
    ],
)
def test_a_filled_sheet_is_read_back_as_labels(
    ending: str, metric: str, label: str, kind: tuple[str, str], value: str,
    scored: Scored, run: ragstone.Run, tmp_path: Path,
) -> None:  # fmt: skip
    sample = draw_sample(
        scored, 6, by="stratified", strata=["topic"], annotators=["ann", "ben"], overlap=0.5
    )
    sheet = sheet_of(sample, run, metric=metric)
    assert sheet.labels == (label,)
    filled = LabelSheet(sheet.frame.with_columns(pl.lit(value).alias(label)), sheet.asked, ())
    file = tmp_path / f"sheet.{ending}"
    write_sheet(filled, file)
    table = read_label_table(file)
    assert table.columns == (kind,)
    assert set(table.annotators) == {"ann", "ben"}
    assert table.frame.height == sheet.frame.height
    chances = dict(sample.rows.select("example_id", "inclusion_probability").iter_rows())
    for id, chance in table.frame.select("example_id", "inclusion_probability").iter_rows():
        assert chance == pytest.approx(chances[id])


def test_a_sheet_that_is_there_is_not_written_over(
    scored: Scored, run: ragstone.Run, tmp_path: Path
) -> None:
    sheet = sheet_of(draw_sample(scored, 2), run, "helpful")
    file = tmp_path / "sheet.csv"
    write_sheet(sheet, file)
    with pytest.raises(InputError, match="may hold labels"):
        write_sheet(sheet, file)
    with pytest.raises(InputError, match=r"\.csv"):
        write_sheet(sheet, tmp_path / "sheet.xlsx")


def test_annotators_read_the_guideline_in_their_language(
    scored: Scored, run: ragstone.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = draw_sample(scored, 5)
    asked = labels_asked(["helpful", "support_present"], None)
    sheet = label_sheet(sample, run, asked, "german")
    assert "`helpful`: ja, wenn " in sheet.guideline
    assert "`support_present`: ja, wenn " in sheet.guideline
    assert sheet.notes == ()
    with pytest.raises(UnknownName, match="No language is called 'French'"):
        label_sheet(sample, run, asked, "French")
    only = "ragstone.analysis.label_sampling.asked_labels.is_in"
    monkeypatch.setattr(only, lambda kind, *_: kind is not Quality)
    assert [*map(explain, label_sheet(sample, run, asked, "German").notes)] == [
        "No guideline in German for quality: the English one is given."
    ]


def test_a_guideline_of_the_users_is_not_overwritten(tmp_path: Path) -> None:
    sheet = LabelSheet(pl.DataFrame({"example_id": ["pier"]}), (), (), "Read every passage.\n")
    notes = tmp_path / "sheet.guideline.md"
    notes.write_text("My notes.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"sheet\.guideline\.md already exists"):
        write_sheet(sheet, tmp_path / "sheet.csv")
    assert notes.read_text(encoding="utf-8") == "My notes.\n"
    assert not (tmp_path / "sheet.csv").exists()
    notes.write_text("Read every passage.\n", encoding="utf-8")
    write_sheet(sheet, tmp_path / "sheet.csv")
    assert (tmp_path / "sheet.csv").exists()


def test_a_threshold_beyond_the_scores_is_refused(scored: Scored) -> None:
    for threshold in (1.5, -0.1, float("nan")):
        with pytest.raises(InputError, match="from 0 to 1"):
            draw_sample(scored, 5, by="near-threshold", metric="token_f1", threshold=threshold)
        with pytest.raises(InputError, match="threshold=X"):
            draw_sample(
                scored, 5, by="stratified", strata=["verdict"], metric="token_f1",
                threshold=threshold,
            )  # fmt: skip
    assert draw_sample(
        scored, 5, by="stratified", strata=["verdict"], metric="exact_match", threshold=3
    ).strata


def test_whole_values_of_another_field_are_called_so(run: ragstone.Run) -> None:
    found = draw_sample(Scored(run, cluster="topic"), 2, whole_questions=True)
    assert (found.questions, found.unit) == (2, "values of topic")
    with pytest.raises(InputError, match="has: 2 values of topic"):
        draw_sample(Scored(run, cluster="topic"), 3, whole_questions=True)


def test_the_chances_are_those_of_all_examples(scored: Scored) -> None:
    found = draw_sample(scored, 4, by="near-threshold", metric="token_f1")
    assert found.chances[1] / found.chances[0] == pytest.approx(10)
    assert draw_sample(scored, 80, by="near-threshold", metric="token_f1").chances == (1, 1)
    many = draw_sample(scored, 70, by="near-threshold", metric="token_f1").chances
    assert 1 < many[1] / many[0] < 10
