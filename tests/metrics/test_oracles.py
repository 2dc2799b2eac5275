"""Other libraries, asked the same: scikit-learn, trec_eval through pytrec-eval, rouge-score."""

import gzip
import json
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    ndcg_score,
    precision_score,
    recall_score,
)

from ragstone.data import Context, Example, read
from ragstone.judgements import ClaimsAgainstReferences, Statements
from ragstone.judges.text_counts import overlap
from ragstone.metrics import parse_metric
from ragstone.testing import contexts, known_contexts, rows, score_all, score_one

Frames = Callable[..., dict[str, pl.DataFrame]]

random_lists = pytest.mark.parametrize("seed", range(3))


def graded_lists(seed: int, count: int = 40) -> list[list[int]]:
    chance = Random(seed)
    return [
        [chance.choice((0, 0, 1, 2)) for _ in range(chance.randrange(2, 15))] for _ in range(count)
    ]


@random_lists
def test_ndcg_is_scikit_learns(seed: int) -> None:
    lists = graded_lists(seed)
    for k in (1, 3, 10):
        for gain, of in (("exponential", lambda w: 2.0**w - 1), ("linear", float)):
            got = score_all(
                parse_metric(f'list_ndcg(k={k}, gain="{gain}")'),
                [[contexts(weight=weights)] for weights in lists],
            )
            for score, weights in zip(got, lists, strict=True):
                gains = np.array([[of(weight) for weight in weights]])
                places = -np.arange(len(weights), dtype=float)[None, :]
                assert score == pytest.approx(ndcg_score(gains, places, k=k), abs=1e-12)


@random_lists
def test_context_precision_is_scikit_learns_average_precision(seed: int) -> None:
    for weights in graded_lists(seed):
        relevant = [weight > 0 for weight in weights]
        if any(relevant):
            expected = average_precision_score(relevant, -np.arange(len(relevant)))
            score = score_one(parse_metric("context_precision"), contexts(relevant=relevant))
            assert score == pytest.approx(expected, abs=1e-12)


@random_lists
def test_precision_and_recall_are_scikit_learns(seed: int) -> None:
    for weights in graded_lists(seed):
        k = min(3, len(weights))
        relevant = [weight > 0 for weight in weights]
        taken = [place < k for place in range(len(weights))]
        precision = score_one(parse_metric(f"precision(k={k})"), contexts(relevant=relevant))
        assert precision == pytest.approx(precision_score(relevant, taken), abs=1e-12)
        if any(relevant):
            known = known_contexts(grade=weights, rank=range(1, len(weights) + 1))
            recall = score_one(parse_metric(f"recall(k={k})"), known)
            assert recall == pytest.approx(recall_score(relevant, taken), abs=1e-12)


@random_lists
def test_the_f1_of_answer_correctness_is_scikit_learns(seed: int) -> None:
    chance = Random(seed)
    for _ in range(30):
        matching, extra, missing = (chance.randrange(4) for _ in range(3))
        if not matching:
            continue
        said = [1] * (matching + extra) + [0] * missing
        wanted = [1] * matching + [0] * extra + [1] * missing
        score = score_one(
            parse_metric("answer_correctness(factual=1)"),
            rows(
                ClaimsAgainstReferences,
                agreement=["matches"] * matching + ["extra"] * extra,
                reference=[0] * (matching + extra),
            ),
            rows(
                Statements,
                agreement=["full"] * matching + ["missing"] * missing,
                reference=[0] * (matching + missing),
            ),
        )
        assert score == pytest.approx(f1_score(wanted, said), abs=1e-12)


MEASURES = {
    "P_5": "precision(k=5)",
    "P_10": "precision(k=10)",
    "P_100": "precision(k=100)",
    "set_P": "precision",
    "recall_5": "recall(k=5)",
    "recall_100": "recall(k=100)",
    "set_recall": "recall",
    "success_1": "hit(k=1)",
    "success_5": "hit(k=5)",
    "map": "map",
    "map_cut_10": "map(k=10)",
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "ndcg_cut_5": "ndcg(k=5)",
    "ndcg_cut_10": "ndcg(k=10)",
}


def trec_eval_name(measure: str) -> str:
    name, _, cut = measure.rpartition("_")
    return f"{name}.{cut}" if cut.isdigit() else measure


@random_lists
@pytest.mark.parametrize("level", [1, 2])
def test_ranking_by_ids_is_trec_evals(seed: int, level: int, score_frames: Frames) -> None:
    chance = Random(seed)
    qrels, run, examples = {}, {}, []
    for number in range(40):
        topic = f"topic {number}"
        documents = [f"d{n}" for n in range(30)]
        judged = chance.sample(documents, chance.randrange(1, 25))
        qrels[topic] = {document: chance.choice((0, 0, 1, 2, 3)) for document in judged}
        ranked = chance.sample(documents, chance.randrange(1, 20))
        run[topic] = {document: 1 / rank for rank, document in enumerate(ranked, 1)}
        found = tuple(Context(document, None, rank) for rank, document in enumerate(ranked, 1))
        examples.append(Example(topic, topic, "s", contexts=found, reference_contexts=qrels[topic]))
    measures = {trec_eval_name(measure) for measure in MEASURES}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)
    names = {measure: at_level(name, level) for measure, name in MEASURES.items()}
    theirs = {
        measure: str(replace(parse_metric(name), **{"trec_eval": True}))
        for measure, name in names.items()
    }
    frames = score_frames(list(theirs.values()), examples)
    for measure, name in theirs.items():
        got = frames[name]["value"]
        for example, value in zip(examples, got, strict=True):
            assert value == pytest.approx(expected[example.id][measure], abs=1e-9), (measure, name)


def at_level(name: str, level: int) -> str:
    """The metric that calls a context relevant from a grade on; NDCG heeds every grade."""
    if level == 1 or name.startswith("ndcg"):
        return name
    return f"{name[:-1]}, level={level})" if name.endswith(")") else f"{name}(level={level})"


def metric_of(measure: str, level: int = 1) -> str | None:
    """Our metric for a measure of trec_eval; None for one that we do not have."""
    if measure in ("set_P", "set_recall", "map", "recip_rank", "ndcg"):
        return at_level(MEASURES[measure], level)
    kind, _, cut = measure.rpartition("_")
    names = {
        "P": "precision(k={})",
        "recall": "recall(k={})",
        "success": "hit(k={})",
        "map_cut": "map(k={})",
        "ndcg_cut": "ndcg(k={})",
    }
    if kind not in names or not cut.isdigit():
        return None
    return at_level(names[kind].format(cut), level)


def check(
    expected: dict[str, dict[str, float]],
    examples: Sequence[Example],
    score_frames: Frames,
    *,
    digits: int,
    level: int = 1,
) -> int:
    """Every measure of every topic, ``mean`` and ``all`` over the topics; how many there were."""
    measures = {name for values in expected.values() for name in values}
    ours = {one: name for one in sorted(measures) if (name := metric_of(one, level)) is not None}
    frames = score_frames(list(dict.fromkeys(ours.values())), examples)
    topics = {example.question_id: place for place, example in enumerate(examples)}
    checked = 0
    for topic, values in expected.items():
        for measure, value in values.items():
            if measure not in ours:
                continue
            got = frames[ours[measure]]["value"].fill_null(0.0)
            figure = got.mean() if topic in ("mean", "all") else got[topics[topic]]
            assert figure == pytest.approx(value, abs=0.5001 * 10**-digits), (topic, measure)
            checked += 1
    return checked


def lines(path: Path) -> dict[str, dict[str, float]]:
    """The output of trec_eval: measure, topic, value."""
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        measure, topic, value = line.split()
        if measure != "runid" and not value.startswith("'"):
            found.setdefault(topic, {})[measure] = float(value)
    return found


@pytest.mark.parametrize(
    ("output", "run", "qrels", "level", "figures"),
    [
        ("out.test", "results.test", "qrels.test", 1, 11),
        ("out.test.a", "results.test", "qrels.test", 1, 44),
        ("out.test.aq", "results.test", "qrels.test", 1, 4 * 44),
        ("out.test.aqc", "results.trunc", "qrels.test", 1, 4 * 44),
        ("out.test.aql", "results.test", "qrels.rel_level", 2, 4 * 44),
    ],
)
def test_the_reference_outputs_of_trec_eval_are_reproduced(
    shared: Path, score_frames: Frames, output: str, run: str, qrels: str, level: int, figures: int
) -> None:
    folder = shared / "data" / "retrieval_trec" / "adhoc"
    examples = list(read(folder / run, qrels=folder / qrels))
    assert len(examples) == 3
    expected = lines(folder / output)
    assert check(expected, examples, score_frames, digits=4, level=level) == figures


@pytest.mark.parametrize(
    ("name", "level", "figures"), [("expected", 1, 26), ("expected_rel_ge2", 2, 6)]
)
def test_topics_of_the_rag_track_score_as_in_trec_eval(
    shared: Path, score_frames: Frames, name: str, level: int, figures: int
) -> None:
    folder = shared / "data" / "retrieval_trec" / "rag24"
    expected = json.loads((folder / f"{name}.json").read_text())
    examples = list(read(folder / "run.txt", qrels=folder / "qrels.txt"))
    assert len(examples) == 18
    topics = {"mean": expected["mean"], **expected["per_topic"]}
    assert check(topics, examples, score_frames, digits=6, level=level) == 19 * figures


@pytest.mark.parametrize("run", ["bm25", "tfidf"])
def test_both_runs_over_claims_score_as_in_trec_eval(
    shared: Path, score_frames: Frames, run: str
) -> None:
    folder = shared / "data" / "retrieval_wice"
    expected = json.loads((folder / "expected.json").read_text())[run]
    examples = list(read(folder / f"run_{run}.txt.gz", qrels=folder / "qrels.txt"))
    assert len(examples) == 319
    topics = {"mean": expected["mean"], **expected["per_query"]}
    assert check(topics, examples, score_frames, digits=6) == 320 * 7


SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)

words = st.sampled_from(["the", "a", "Cat", "cat", "mat", "it's", "3.14", "co-op"])
texts = st.one_of(
    st.lists(words, max_size=12).map(" ".join),
    st.text(st.characters(codec="ascii"), max_size=30),
    st.text(alphabet=string.printable, max_size=40),
)


@settings(max_examples=300)
@given(texts, texts)
def test_overlap_is_that_of_rouge_score(answer: str, reference: str) -> None:
    counted, expected = overlap(answer, reference), SCORER.score(reference, answer)
    assert counted["token_f1"] == pytest.approx(expected["rouge1"].fmeasure, abs=1e-12)
    assert counted["rouge_2"] == pytest.approx(expected["rouge2"].fmeasure, abs=1e-12)
    assert counted["rouge_l"] == pytest.approx(expected["rougeL"].fmeasure, abs=1e-12)


def test_overlap_of_long_texts_is_that_of_rouge_score(shared: Path) -> None:
    path = shared / "data" / "rag_quality_mtrag" / "answers.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records: list[dict[str, Any]] = [json.loads(line) for line in islice(file, 40)]
    for record in records:
        answer, reference = (
            text.encode("ascii", "ignore").decode()
            for text in (record["answer"], as_text(record["reference"]))
        )
        counted, expected = overlap(answer, reference), SCORER.score(reference, answer)
        assert counted["rouge_l"] == pytest.approx(expected["rougeL"].fmeasure, abs=1e-12)
        assert counted["rouge_2"] == pytest.approx(expected["rouge2"].fmeasure, abs=1e-12)


def test_english_pairs_are_counted_as_rouge_score_and_squad_count_them(shared: Path) -> None:
    path = shared / "data" / "answer_correctness_evouna" / "verdicts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records: list[dict[str, Any]] = [json.loads(line) for line in islice(file, 1_200)]
    pairs = [(one["answer"], as_text(one["reference"])) for one in records]
    english = [pair for pair in pairs if "".join(pair).isascii()]
    assert len(english) > 1_000
    for answer, reference in english:
        counted, expected = overlap(answer, reference), SCORER.score(reference, answer)
        assert counted["token_f1"] == pytest.approx(expected["rouge1"].fmeasure, abs=1e-12)
        assert counted["rouge_l"] == pytest.approx(expected["rougeL"].fmeasure, abs=1e-12)
        assert counted["exact_match"] == (squad(answer) == squad(reference))


def squad(text: str) -> str:
    """SQuAD's normalisation, step by step."""
    text = "".join(char for char in text.lower() if char not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def as_text(reference: str | list[str]) -> str:
    return reference if isinstance(reference, str) else reference[0]


def test_ndcg_of_the_own_list_is_scikit_learns_for_grades_of_any_height() -> None:
    chance = Random(5)
    for _ in range(60):
        grades = [
            chance.choice((0, 0, 1, 2, 3, 4, 5, 7, 11)) for _ in range(chance.randrange(2, 12))
        ]
        k = chance.randrange(1, 12)
        given = contexts(weight=grades)
        for gain, worth in (("linear", grades), ("exponential", [2**g - 1 for g in grades])):
            places = [-place for place in range(len(grades))]
            expected = ndcg_score([worth], [places], k=k) if any(worth) else 0
            got = score_one(parse_metric(f'list_ndcg(k={k}, gain="{gain}")'), given)
            assert got == pytest.approx(expected, abs=1e-9)
