import json
import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone import rescore
from ragstone.analysis.composite_weights.fit_weights import fit_weights
from ragstone.analysis.composite_weights.preferences import (
    Opinion,
    Opinions,
    Sort,
    judged_of,
    read_opinions,
)
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import DataError, InputError, UnknownName
from ragstone.judgements import References
from ragstone.metrics import Range, Undefined, metric, parse_metric, register
from ragstone.metrics.composite import Composite
from ragstone.report.reason_words import explain

WORDS = ("pier", "mole", "adit", "cove", "reef", "quay", "weir", "lock")
METRICS = ["token_f1", "rouge_l", "exact_match", "abstention", "contradiction", "helpfulness"]


def row(question: int, system: str, draw: random.Random) -> dict[str, Any]:
    """A reference of eight words; an answer of some of them, in order or not."""
    words = draw.sample(WORDS, draw.randrange(1, 9))
    answer = sorted(words, key=WORDS.index) if draw.random() < 0.5 else words
    return {
        "id": f"{question}-{system}", "question_id": f"q{question}", "system": system,
        "question": "Which?", "answer": " ".join(answer), "reference": " ".join(WORDS),
    }  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ragstone.Run:
    draw = random.Random(2)
    rows = [row(question, system, draw) for question in range(150) for system in "ab"]
    out = tmp_path_factory.mktemp("weights") / "run"
    return ragstone.evaluate(rows, metrics=METRICS, judge="local", out=out)


@pytest.fixture(scope="module")
def scored(run: ragstone.Run) -> Scored:
    return Scored(run)


def scores(scored: Scored, metric: str) -> dict[str, float]:
    return dict(scored.of(metric).select("example_id", "value").iter_rows())


def preferring(
    scored: Scored, weights: dict[str, float], *, noise: float = 0.05, seed: int = 0
) -> Opinions:
    """People who go by these weights, in steps from -2 to 2."""
    draw = random.Random(seed)
    values = {name: scores(scored, name) for name in weights}
    rows = []
    for question in range(150):
        gap = sum(
            weight * (values[name][f"{question}-b"] - values[name][f"{question}-a"])
            for name, weight in weights.items()
        )
        for annotator in ("ann", "ben"):
            said = max(-2, min(2, round(8 * (gap + draw.gauss(0, noise)))))
            rows.append(
                Opinion(None, annotator, said, question_id=f"q{question}", system_a="a",
                        system_b="b")
            )  # fmt: skip
    return Opinions("people", Sort.PREFERENCE, tuple(rows))


TWO = ["token_f1", "rouge_l"]


def test_people_who_go_by_one_metric_are_found_out(scored: Scored) -> None:
    people = preferring(scored, {"rouge_l": 1.0, "token_f1": 0.0})
    found = fit_weights(scored, people, metrics=TWO)
    assert found.kept == "fitted"
    assert found.gain_low is not None
    assert found.gain_low > 0
    weights = {one.metric: one.fitted for one in found.weights}
    assert weights["rouge_l"] > 0.9
    assert sum(weights.values()) == pytest.approx(1)
    assert found.fitted.concordance is not None
    assert found.start.concordance is not None
    assert found.fitted.concordance > found.start.concordance
    assert "clears 0" in explain(found.why)


def test_people_who_go_by_equal_weights_keep_them(scored: Scored) -> None:
    people = preferring(scored, {"rouge_l": 0.5, "token_f1": 0.5}, noise=0.15)
    found = fit_weights(scored, people, metrics=TWO)
    assert found.kept == "start"
    assert "equal weights stay" in explain(found.why)
    assert found.composite == 'composite(weights="token_f1:1 rouge_l:1")'


def test_people_who_toss_a_coin_keep_the_start(scored: Scored) -> None:
    people = preferring(scored, {"rouge_l": 0.0}, noise=1.0)
    assert fit_weights(scored, people, metrics=TWO).kept == "start"


def test_people_who_want_the_opposite_get_no_weights(scored: Scored) -> None:
    found = fit_weights(
        scored, preferring(scored, {"rouge_l": -1.0, "token_f1": -1.0}), metrics=TWO
    )
    assert found.fitted.composite is None
    assert found.kept == "start"
    assert "no metric goes with" in explain(found.why)


def test_the_composite_is_scored_by_its_text(scored: Scored, run: ragstone.Run) -> None:
    people = preferring(scored, {"rouge_l": 0.8, "token_f1": 0.2})
    found = fit_weights(scored, people, metrics=TWO)
    composite = parse_metric(found.composite)
    assert isinstance(composite, Composite)
    assert sum(weight for _, weight in composite.terms) == pytest.approx(1)
    again = Scored(rescore(run.path, metrics=found.composite))
    expected = {
        id: sum(weight * scores(scored, name)[id] for name, weight in composite.terms)
        for id in scores(scored, "rouge_l")
    }
    assert scores(again, found.composite) == pytest.approx(expected)


def test_a_start_of_ones_own_is_kept_as_it_is_written(scored: Scored) -> None:
    start = 'composite(weights="rouge_l:4 token_f1:1")'
    people = preferring(scored, {"rouge_l": 0.8, "token_f1": 0.2}, noise=0.3)
    found = fit_weights(scored, people, start=start)
    assert {one.metric: one.start for one in found.weights} == {"rouge_l": 0.8, "token_f1": 0.2}
    assert found.kept == "start"
    assert found.composite == start


def test_without_metrics_those_that_fit_together_are_taken(scored: Scored) -> None:
    found = fit_weights(scored, preferring(scored, {"rouge_l": 1.0}))
    assert {one.metric for one in found.weights} == {"token_f1", "rouge_l", "exact_match"}
    assert found.excluded["contradiction"] == "no_score_in_run"
    assert found.excluded["abstention"] == "neither_is_better"
    assert found.excluded["helpfulness"] == "no_score_in_run"


def test_ratings_are_fitted_by_squares(scored: Scored) -> None:
    rouge, draw = scores(scored, "rouge_l"), random.Random(1)
    rows = [
        Opinion(None, "ann", 1 + 4 * value + draw.gauss(0, 0.3), id=id)
        for id, value in rouge.items()
    ]
    found = fit_weights(scored, Opinions("people", Sort.RATING, tuple(rows)), metrics=TWO)
    assert found.kept == "fitted"
    assert found.weights[0].metric == "rouge_l"
    assert found.weights[0].fitted > 0.8
    assert found.fitted.loss == pytest.approx(0.09, rel=0.3)
    assert found.fitted.low is not None
    assert found.fitted.concordance is not None
    assert found.fitted.low < found.fitted.concordance


@pytest.mark.usefixtures("registries")
def test_metrics_of_which_less_is_better_make_a_composite_of_their_own(
    scored: Scored, run: ragstone.Run, tmp_path: Path
) -> None:
    @metric(over=References, range=Range(0, 1, better="-"), empty=Undefined("no_reference"))
    def off_by() -> pl.Expr:
        return 1 - References.rouge_l.max()

    register(off_by)
    copy = shutil.copytree(run.path, tmp_path / "run")
    again = Scored(rescore(copy, metrics=[off_by]))
    people = preferring(scored, {"rouge_l": 1.0})
    found = fit_weights(again, people, metrics=["off_by"])
    assert found.weights[0].fitted == 1
    assert found.start.concordance is not None
    assert found.start.concordance > 0.9
    both = fit_weights(again, people, metrics=["off_by", "rouge_l"])
    assert both.excluded["off_by"] == "less_is_better"


def test_pairs_without_a_score_are_left_out_and_counted(tmp_path: Path) -> None:
    draw = random.Random(3)
    rows = [row(question, system, draw) for question in range(12) for system in "ab"]
    rows[0]["reference"] = None
    run = Scored(ragstone.evaluate(rows, metrics=TWO, out=tmp_path / "run"))
    people = Opinions("people", Sort.PREFERENCE, tuple(
        Opinion(None, "ann", 1.0, id_a=f"{question}-a", id_b=f"{question}-b")
        for question in range(12)
    ))  # fmt: skip
    found = fit_weights(run, people)
    assert (found.n, found.n_left_out) == (11, 1)
    assert found.left_out == {"token_f1": 1, "rouge_l": 1}


def test_opinions_of_one_question_are_refused(scored: Scored) -> None:
    whole = preferring(scored, {"rouge_l": 1.0})
    one = Opinions("people", Sort.PREFERENCE, whole.rows[:2])
    with pytest.raises(InputError, match="about one question"):
        fit_weights(scored, one, metrics=TWO)


@pytest.mark.parametrize("questions", [2, 3])
def test_few_questions_keep_the_start(scored: Scored, questions: int) -> None:
    whole = preferring(scored, {"rouge_l": 1.0})
    few = Opinions("people", Sort.PREFERENCE, whole.rows[: 2 * questions])
    found = fit_weights(scored, few, metrics=TWO)
    assert found.n == questions
    assert found.folds == questions
    json.dumps(found.to_dict(), allow_nan=False)


def test_metrics_that_cannot_be_weighed_are_refused(scored: Scored) -> None:
    people = preferring(scored, {"rouge_l": 1.0})
    with pytest.raises(InputError, match="neither more nor less"):
        fit_weights(scored, people, metrics=["abstention"])
    with pytest.raises(InputError, match="same for both answers"):
        fit_weights(
            scored, Opinions("p", Sort.PREFERENCE, people.rows[:2]), metrics=["exact_match"]
        )
    with pytest.raises(UnknownName, match="faithfulness"):
        fit_weights(scored, people, metrics=["faithfulness"])
    with pytest.raises(UnknownName, match="faithfulness"):
        fit_weights(scored, people, start="ragas_score")
    with pytest.raises(InputError, match="weighted mean"):
        fit_weights(scored, people, start="token_f1")
    with pytest.raises(InputError, match="two folds"):
        fit_weights(scored, people, folds=1)


def test_the_same_seed_gives_the_same(scored: Scored) -> None:
    people = preferring(scored, {"rouge_l": 0.7, "token_f1": 0.3})
    assert fit_weights(scored, people, seed=4) == fit_weights(scored, people, seed=4)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_preferences_are_read_by_question_and_by_id(tmp_path: Path, scored: Scored) -> None:
    file = write(tmp_path / "p.jsonl", [
        {"question_id": "q0", "system_a": "a", "system_b": "b", "preference": 2,
         "annotator": "ann"},
        {"id_a": "0-b", "id_b": "0-a", "preference": "tie", "annotator": "ben"},
        {"id_a": "1-a", "id_b": "1-b", "preference": "A"},
    ])  # fmt: skip
    found = judged_of(read_opinions(file), scored)
    assert list(found.values()) == [1.0, -2.0]


def test_of_opinions_those_of_adjudicators_count_alone(tmp_path: Path, scored: Scored) -> None:
    pair = {"id_a": "0-a", "id_b": "0-b"}
    file = write(tmp_path / "p.jsonl", [
        pair | {"preference": 2, "annotator": "ann"},
        pair | {"preference": 1, "annotator": "ben"},
        pair | {"preference": -1, "annotator": "adjudicator:cleo"},
    ])  # fmt: skip
    found = judged_of(read_opinions(file), scored)
    assert list(found.values()) == [-1.0]


def test_preferences_are_read_from_csv(tmp_path: Path, scored: Scored) -> None:
    file = tmp_path / "p.csv"
    file.write_text("question_id,system_a,system_b,preference,annotator\nq0,a,b,-1,ann\n")
    assert list(judged_of(read_opinions(file), scored).values()) == [-1]


def test_answers_of_a_system_that_answered_twice_count_by_their_mean(tmp_path: Path) -> None:
    draw = random.Random(4)
    rows = [row(0, "a", draw), row(0, "b", draw), {**row(0, "b", draw), "id": "again"}]
    run = Scored(ragstone.evaluate(rows, metrics=TWO, out=tmp_path / "run"))
    file = write(tmp_path / "p.jsonl", [
        {"question_id": "q0", "system_a": "a", "system_b": "b", "preference": 1}
    ])  # fmt: skip
    assert list(judged_of(read_opinions(file), run)) == [((0,), (1, 2))]


def test_every_fault_of_a_file_is_listed(tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", [
        {"id_a": "0-a", "id_b": "0-b", "preference": 3},
        {"id_a": "0-a", "preference": 1},
        {"id_a": "0-a", "id_b": "0-b", "preference": "better"},
        {"id": "0-a", "rating": "good"},
        {"id_a": "0-a", "id_b": "0-b"},
        {"rating": 3},
    ])  # fmt: skip
    with pytest.raises(DataError) as caught:
        read_opinions(file)
    assert [fault.line for fault in caught.value.faults] == [1, 2, 3, 4, 5, 6]


def test_every_row_about_what_the_run_has_not_is_listed(tmp_path: Path, scored: Scored) -> None:
    file = write(tmp_path / "p.jsonl", [
        {"id_a": "x", "id_b": "y", "preference": 1},
        {"question_id": "q0", "system_a": "a", "system_b": "z", "preference": 1},
        {"id_a": "0-a", "id_b": "0-a", "preference": 1},
        {"id_a": "0-a", "id_b": "0-b", "preference": 1, "annotator": "ann"},
        {"id_a": "0-b", "id_b": "0-a", "preference": 1, "annotator": "ann"},
    ])  # fmt: skip
    with pytest.raises(DataError) as caught:
        judged_of(read_opinions(file), scored)
    assert [fault.line for fault in caught.value.faults] == [1, 1, 2, 3, 5]
    assert "ann twice" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "no row"),
        ([{"id_a": "0-a", "id_b": "0-b", "preference": 1}, {"id": "0-a", "rating": 1}], "both"),
    ],
)
def test_a_file_of_nothing_or_of_both_sorts_is_refused(
    rows: list[dict[str, Any]], words: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=words):
        read_opinions(write(tmp_path / "p.jsonl", rows))
    with pytest.raises(DataError, match="none of this name"):
        read_opinions(tmp_path / "nothing.csv")
