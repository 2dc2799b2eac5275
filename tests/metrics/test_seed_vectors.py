"""The golden seed vectors: every one is either reproduced here or left out for a stated reason."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, majority, read, violations
from ragstone.data.record_labels import RULES
from ragstone.judgements import (
    AnswerSentences,
    ClaimsAgainstReferences,
    Probes,
    Ratings,
    References,
    Sentences,
    Statements,
    Votes,
)
from ragstone.judges import Block, Filled, Judge, RowBuilder
from ragstone.judges.judge import HumanJudge
from ragstone.judges.judge_names import JUDGES
from ragstone.judges.local.sentences import sentences
from ragstone.judges.rules import RulesJudge
from ragstone.judges.similarity import SimilarityJudge
from ragstone.judges.text_counts import overlap
from ragstone.metrics import SCORES, Missing, Score, Undefined, parse_metric
from ragstone.metrics.correctness import factual_accuracy, letter
from ragstone.run.estimates.estimates import Provenance, estimate_metric
from ragstone.stats import wilson
from ragstone.testing import (
    Rows,
    ScriptedEncoder,
    claims,
    contexts,
    known_contexts,
    rows,
    score_all,
    score_one,
)
from tests.stats.coefficients import cohen_kappa, krippendorff_alpha, percent_agreement

Vector = dict[str, Any]
Scored = Callable[..., dict[str, list[Score]]]
Frames = Callable[..., dict[str, pl.DataFrame]]

REPRODUCED = {
    "abstention.": 13,
    "aggregate.": 3,
    "answer_correctness.": 4,
    "bench.context_relevance_two_votes": 1,
    "classification.": 2,
    "composite.": 11,
    "context_precision.edge.missing_index": 1,
    "context_precision.edge.string_false": 1,
    "context_precision.graded_mean": 1,
    "context_precision.order.": 7,
    "context_precision.rerank_invariance": 1,
    "context_recall.": 5,
    "context_relevancy.sentences": 1,
    "cosine_rescale.": 3,
    "critique.majority.": 5,
    "critique.strictness_odd": 1,
    "embedding.context": 1,
    "embedding.hallucination": 1,
    "embedding.hallucination.edge.answer": 3,
    "embedding.hallucination.edge.no_contexts": 1,
    "embedding.hallucination.edge.punctuation_only": 1,
    "embedding.sentence_split": 1,
    "faithfulness.": 10,
    "geval.weighted.": 4,
    "grades.": 3,
    "groundedness.mean": 1,
    "iaa.": 3,
    "labels.": 2,
    "lexical.": 3,
    "likert.out_of_range": 1,
    "ndcg.graded.worked": 1,
    "ranking.ids.": 2,
    "registry.applicability": 1,
    "stats.wilson.": 8,
    "taxonomy.": 3,
}
"""How many vectors of each group the tests below take; a new one makes the count wrong."""

LEFT_OUT = {
    "anchor.": (14, "wants a judge with a model: tests/judges/llm/test_judge_targets.py"),
    "compare.": (2, "in tests/analysis/test_comparison.py"),
    "gate.": (14, "the gate at run time comes with a later version"),
    "likert.normalise.": (5, "points of a scale are read from a model's reply"),
    "parse.": (17, "replies of a model are read with the judges that have one"),
}
"""Vectors that are not about what is here yet, how many, and why."""

RENAMED = {
    **dict.fromkeys(
        (
            "context_precision.sixteen_two_relevant",
            "context_precision.top1",
            "context_precision.last",
            "context_precision.one_three",
            "context_precision.none",
            "context_precision.all",
            "context_precision.ranks_1_3_5",
        ),
        "context_precision.order.",
    ),
    **dict.fromkeys(
        (
            "embedding.hallucination.edge.empty_answer",
            "embedding.hallucination.edge.both_empty",
            "embedding.hallucination.edge.whitespace_only",
        ),
        "embedding.hallucination.edge.answer",
    ),
}
"""Groups that the ids do not show."""


def group_of(vector: Vector) -> str:
    """The longest group name that the id begins with."""
    if vector["id"] in RENAMED:
        return RENAMED[vector["id"]]
    fitting = [name for name in (*REPRODUCED, *LEFT_OUT) if vector["id"].startswith(name)]
    assert fitting, f"{vector['id']} stands in no group"
    return max(fitting, key=len)


@pytest.fixture(scope="module")
def vectors(shared: Path) -> dict[str, list[Vector]]:
    """The vectors by group."""
    found: dict[str, list[Vector]] = {name: [] for name in (*REPRODUCED, *LEFT_OUT)}
    for vector in json.loads((shared / "golden" / "seed_vectors.json").read_text())["vectors"]:
        found[group_of(vector)].append(vector)
    return found


@pytest.fixture(scope="module")
def by_id(vectors: dict[str, list[Vector]]) -> dict[str, Vector]:
    """The vectors by id."""
    return {vector["id"]: vector for group in vectors.values() for vector in group}


def close(vector: Vector, expected: float, *, least: float = 1e-6) -> Any:
    """Equal to the expected figure within the vector's own tolerance."""
    return pytest.approx(expected, abs=max(float(vector["tolerance"]), least))


def test_every_vector_is_reproduced_or_left_out_for_a_reason(
    vectors: dict[str, list[Vector]],
) -> None:
    counts = {name: len(group) for name, group in vectors.items()}
    expected = {**REPRODUCED, **{name: count for name, (count, _) in LEFT_OUT.items()}}
    assert counts == expected
    assert sum(counts.values()) == 162


def rating(name: str) -> str:
    return f'rating(criterion="{name}")'


def ratings(scores: dict[str, float | None], scale: float = 1) -> Rows:
    """One rating a component; an undefined component was not rated."""
    given = {name: value / scale for name, value in scores.items() if value is not None}
    return rows(Ratings, criterion=list(given), score=list(given.values()))


def composite(weights: dict[str, float], **parameters: str) -> Any:
    terms = " ".join(f"{rating(name)}:{weight}" for name, weight in weights.items())
    given = "".join(f', {name}="{value}"' for name, value in parameters.items())
    return parse_metric(f"composite(weights={terms!r}{given})")


def test_composites_divide_by_the_weight_that_is_present(by_id: dict[str, Vector]) -> None:
    for name in ("local_search", "basic_search", "llm_with_context"):
        vector = by_id[f"composite.weighted_renorm.{name}"]
        scores, weights = vector["input"]["scores"], vector["input"]["weights"]
        expected = vector["expected"]
        given = [ratings(scores, 100)]
        weighted = score_one(composite(weights, missing="renormalise"), *given)
        plain = score_one(composite(dict.fromkeys(weights, 1), missing="renormalise"), *given)
        assert weighted == pytest.approx(expected["value"] / 100, abs=5e-5)
        assert plain == pytest.approx(expected["plain_mean"] / 100, abs=5e-5)
    worked = by_id["composite.seed_worked_line"]["expected"]
    given = [ratings(by_id["composite.weighted_renorm.local_search"]["input"]["scores"], 100)]
    assert score_one(composite(weights, missing="renormalise"), *given) == pytest.approx(
        worked["value"] / 100, abs=1e-4
    )


def test_a_composite_says_how_much_of_its_weight_was_present(
    by_id: dict[str, Vector], score_frames: Frames
) -> None:
    example = Example(
        "1", "q", "s", question="?", answer="It rained.", contexts=(Context("1", "x", 1),),
        reference=("It rained.",),
        labels={"claims": [{"text": "It rained.", "support": "supported"}], "statements": []},
    )  # fmt: skip
    name = 'composite(weights="faithfulness:0.8 context_recall:0.2", missing="renormalise")'
    line = score_frames([name], [example])[name].row(0, named=True)
    assert line["value"] == 1
    assert line["reason"] == "components=1/2,weight_coverage=0.8"
    assert by_id["composite.weighted_renorm.local_search"]["expected"]["weight_coverage"] == 0.8


def test_a_composite_is_undefined_where_a_part_is_unless_told_otherwise(
    by_id: dict[str, Vector],
) -> None:
    strict, nothing = by_id["composite.strict.local_search"], by_id["composite.all_missing"]
    score = score_one(
        composite(strict["input"]["weights"]), ratings(strict["input"]["scores"], 100)
    )
    assert isinstance(score, Undefined)
    lenient = composite(nothing["input"]["weights"], missing="renormalise")
    assert score_one(lenient, ratings(nothing["input"]["scores"])) == Undefined(
        "no_component_defined"
    )


def test_harmonic_composites_match_and_are_zero_at_a_zero(by_id: dict[str, Vector]) -> None:
    vector = by_id["composite.harmonic.docstring"]
    scores = vector["input"]["scores"]
    metric = composite(dict.fromkeys(scores, 1), kind="harmonic")
    assert score_one(metric, ratings(scores)) == pytest.approx(0.859788, abs=1e-6)
    assert vector["expected"]["value"] == 0.859788
    zero = by_id["composite.harmonic.zero"]
    scores = dict(zip("abc", zero["input"]["scores"], strict=True))
    metric = composite(dict.fromkeys(scores, 1), kind="harmonic")
    assert score_one(metric, ratings(scores)) == zero["expected"]["value"] == 0


def test_overall_scores_of_the_rubric_follow_from_their_weights(by_id: dict[str, Vector]) -> None:
    example = by_id["composite.overall7.console_example"]
    report = by_id["composite.overall7.report"]
    cases = [(example["input"]["scores"], "", example["expected"])]
    cases += [(report["input"][side], f"{side}_", report["expected"]) for side in ("a", "b")]
    for scores, prefix, expected in cases:
        given = ratings({n.replace("relevancy", "relevance"): v for n, v in scores.items()})
        for kind in ("weighted", "simple"):
            score = score_one(parse_metric(f"overall_{kind}"), given)
            assert score == pytest.approx(expected[f"{prefix}{kind}"], abs=1e-6)
    mixed = by_id["composite.overall_simple.contamination"]
    scores, weights = mixed["input"]["scores"], mixed["input"]["weights"]
    weighted = score_one(composite(weights), ratings(scores))
    simple = score_one(composite(dict.fromkeys(weights, 1)), ratings(scores))
    assert weighted == close(mixed, mixed["expected"]["weighted"])
    assert simple == close(mixed, mixed["expected"]["simple"])


OUTCOMES = {
    "correct": ("answer", "full", "matches"),
    "wrong": ("answer", "missing", "extra"),
    "dont_know": ("abstain", "missing", None),
}


def with_outcome(id: str, group: str, outcome: str) -> Example:
    """An example that people judged so."""
    response, statement, claim = OUTCOMES[outcome]
    made = [] if claim is None else [{"text": "a claim", "agreement": claim}]
    return Example(
        id, id, group, question="?", answer="an answer", reference=("a reference",),
        labels={
            "response_type": response,
            "statements": [{"text": "a statement", "agreement": statement}],
            "claims": made,
        },
    )  # fmt: skip


def test_outcomes_are_counted_by_method_and_by_type(
    vectors: dict[str, list[Vector]], score_frames: Frames
) -> None:
    for vector in vectors["classification."]:
        names = vector["input"]["columns"][1:]
        examples = [
            with_outcome(f"{group}-{name}-{number}", group, name)
            for group, *counts in vector["input"]["rows"]
            for name, count in zip(names, counts, strict=True)
            for number in range(count)
        ]
        judges = (HumanJudge(), RulesJudge())
        scores = score_frames(["answer_outcome"], examples, judges)["answer_outcome"]
        found = estimated("answer_outcome", scores, [one.system for one in examples])
        assert found[0].total == vector["expected"]["total"]
        for group, *counts in vector["input"]["rows"]:
            estimate = next(one for one in found if one.group == {"system": group})
            assert [estimate.labels.get(name, 0) for name in names] == counts
        whole = found[0].labels
        for name in names:
            assert whole[name] == vector["expected"][name]
            if share := vector["expected"].get("share"):
                assert whole[name] / found[0].total == close(vector, share[name])


def estimated(metric: str, scores: pl.DataFrame, systems: Sequence[str]) -> Any:
    facets = pl.DataFrame({"system": systems, "cluster": range(len(systems))})
    provenance = Provenance("0", "data", {}, "question_id")
    return estimate_metric(parse_metric(metric), scores, facets, (), provenance, components={})


def test_wilson_intervals_match(vectors: dict[str, list[Vector]]) -> None:
    for vector in vectors["stats.wilson."]:
        given, expected = vector["input"], vector["expected"]
        got = wilson(given["successes"], given["n"], level=given["level"])
        if expected["lower"] is None:
            assert got is None
        else:
            assert got is not None
            assert got.low == close(vector, expected["lower"])
            assert got.high == close(vector, expected["upper"])


def letters(scores: Sequence[float | None], least: Sequence[float]) -> list[str | None]:
    given = pl.DataFrame({"value": pl.Series(scores, dtype=pl.Float64)})
    return given.select(letter(pl.col("value"), least)).to_series().to_list()


def least_values(thresholds: dict[str, float]) -> list[float]:
    return [thresholds[name] / 100 for name in "ABCD"]


def test_letters_begin_at_their_least_value(by_id: dict[str, Vector]) -> None:
    vector = by_id["grades.thresholds"]
    scores = [score / 100 for score in vector["input"]["scores"]]
    for kind in ("default", "alternative"):
        least = least_values(vector["input"][f"{kind}_thresholds"])
        assert letters(scores, least) == vector["expected"][kind]
    assert parse_metric("factual_accuracy(letters=(0.9, 0.75, 0.5, 0.25))")


def test_a_failed_judge_gets_no_letter(by_id: dict[str, Vector]) -> None:
    assert by_id["grades.judge_failure"]["expected"]["grade"] is None
    assert letters([None], (0.8, 0.6, 0.4, 0.2)) == [None]
    score = score_one(
        parse_metric("factual_accuracy"),
        rows(ClaimsAgainstReferences, agreement=[None]),
        rows(Statements, agreement=["full"]),
    )
    assert score == Missing("incomplete_judgement")


def test_shares_of_letters_match(by_id: dict[str, Vector]) -> None:
    vector = by_id["grades.distribution"]
    values = {"A": 0.9, "B": 0.7, "C": 0.5, "D": 0.3, "E": 0.1}
    scores = [values[name] for name, count in vector["input"].items() for _ in range(count)]
    named = letters(scores, (0.8, 0.6, 0.4, 0.2))
    frame = pl.DataFrame(
        {"value": scores, "label": named, "status": [0] * len(scores), "reason": [None] * 24},
        schema=SCORES,
    )
    whole = estimated("factual_accuracy", frame, ["one"] * len(scores))[0]
    assert whole.total == vector["expected"]["total"]
    for name, share in vector["expected"]["share"].items():
        assert whole.labels[name] / whole.total == close(vector, share)


def test_factual_accuracy_weighs_its_three_criteria(vectors: dict[str, list[Vector]]) -> None:
    for vector in vectors["geval.weighted."]:
        given = {
            name: [vector["input"][name] / 100]
            for name in ("correctness", "completeness", "consistency")
        }
        value = pl.DataFrame(given).select(factual_accuracy(*map(pl.col, given))).item()
        assert value == pytest.approx(vector["expected"]["score"] / 100, abs=1e-9)
        assert letters([value], (0.8, 0.6, 0.4, 0.2)) == [vector["expected"]["grade_default"]]
        assert letters([value], (0.9, 0.75, 0.5, 0.25)) == [vector["expected"]["grade_alternative"]]


def verdicts(given: Sequence[int | None]) -> list[str | None]:
    return [None if one is None else ("absent", "supported")[one] for one in given]


def test_faithfulness_is_the_share_of_supported_claims(by_id: dict[str, Vector]) -> None:
    for name in ("all", "none", "two_of_three"):
        vector = by_id[f"faithfulness.{name}"]
        score = score_one(
            parse_metric("faithfulness"), claims(support=verdicts(vector["input"]["verdicts"]))
        )
        assert score == close(vector, vector["expected"]["value"])


def test_unjudged_claims_make_faithfulness_missing_unless_they_are_dropped_by_name(
    by_id: dict[str, Vector],
) -> None:
    vector = by_id["faithfulness.unjudged_dropped"]
    given = claims(support=verdicts(vector["input"]["verdicts"]))
    assert score_one(parse_metric("faithfulness"), given) == Missing("incomplete_judgement")
    dropped = score_one(parse_metric('faithfulness(unjudged="drop")'), given)
    assert dropped == close(vector, vector["expected"]["value"])
    partial = by_id["faithfulness.edge.partial_verdicts"]
    asked, judged = partial["input"]["claims"], verdicts(partial["input"]["verdicts"])
    given = claims(support=[*judged, *[None] * (len(asked) - len(judged))])
    reason = partial["expected"]["reason"]
    assert score_one(parse_metric("faithfulness"), given) == Missing(reason)
    dropped = score_one(parse_metric('faithfulness(unjudged="drop")'), given)
    assert dropped == partial["expected"]["partial_value"]


@dataclass(frozen=True)
class FailingJudge:
    """A judge that fails at everything it is asked."""

    asks: frozenset[str]
    name: str = "failing"
    about: str = "fails"

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        sheet = RowBuilder(ask, self.name)
        for row in rows:
            sheet.done(row, str(row), "failed", "judge_error")
        return sheet.filled()


def answered(vector: Vector) -> Example:
    """The example that an edge vector describes, its claims as a person would label them."""
    given = vector["input"]
    found = given.get("contexts")
    made = given.get("claims")
    return Example(
        "1", "q", "s", question="?", answer=given["answer"],
        contexts=tuple(Context(str(n), text, n) for n, text in enumerate(found, 1)),
        labels={} if made is None else {"claims": [{"text": text} for text in made]},
    )  # fmt: skip


def test_faithfulness_at_its_edges(by_id: dict[str, Vector], scored: Scored) -> None:
    def outcome(name: str, *judges: Any, metric: str = "faithfulness") -> Score:
        example = answered(by_id[f"faithfulness.edge.{name}"])
        return scored([metric], [example], judges or JUDGES)[metric][0]

    assert outcome("empty_answer") == Undefined("empty_answer")
    assert outcome("no_claims") == Undefined("no_claims")
    assert outcome("no_claims", metric="faithfulness(no_claims=1.0)") == 1
    assert outcome("no_contexts") == 0
    no_claims = FailingJudge(frozenset({"claims"}))
    assert outcome("extraction_failed", no_claims, RulesJudge()) == Missing("judge_error")
    no_verdicts = FailingJudge(frozenset({"support/claim"}))
    failed = outcome("verification_failed", HumanJudge(), no_verdicts, RulesJudge())
    assert failed == Missing("judge_error")
    for name in ("empty_answer", "no_claims", "no_contexts"):
        expected = by_id[f"faithfulness.edge.{name}"]["expected"]
        assert expected["value"] in (None, 0)


def test_context_recall_is_the_share_of_supported_statements(
    vectors: dict[str, list[Vector]], by_id: dict[str, Vector], scored: Scored
) -> None:
    for vector in vectors["context_recall."]:
        if "attributed" in vector["input"]:
            total, found = (
                vector["input"]["reference_statements"], vector["input"]["attributed"]
            )  # fmt: skip
            given = rows(
                Statements,
                support=["supported"] * found + ["absent"] * (total - found),
                reference=[0] * total,
            )
            assert score_one(parse_metric("context_recall"), given) == vector["expected"]["value"]
    [example] = read([{"question": "?", "contexts": ["x"], "reference": "", "answer": "x"}])
    assert scored(["context_recall"], [example])["context_recall"] == [Undefined("no_reference")]
    assert by_id["context_recall.edge.no_reference"]["expected"]["reason"] == "no_reference"
    nothing = Example("1", "q", "s", question="?", contexts=(), reference=("x",))
    assert scored(["context_recall"], [nothing])["context_recall"] == [0]
    assert by_id["context_recall.edge.no_contexts"]["expected"]["value"] == 0


def relevant(given: Sequence[int | None]) -> Rows:
    return contexts(relevant=[None if one is None else bool(one) for one in given])


def test_context_precision_heeds_the_retrievers_order(vectors: dict[str, list[Vector]]) -> None:
    names = {
        "average_precision": "context_precision",
        "precision_at_k": "precision",
        "reciprocal_rank": "mrr",
    }
    for vector in vectors["context_precision.order."]:
        for key, name in names.items():
            score = score_one(parse_metric(name), relevant(vector["input"]["relevant"]))
            assert score == close(vector, vector["expected"][key])


def test_context_precision_is_not_reordered_by_the_judge(by_id: dict[str, Vector]) -> None:
    vector = by_id["context_precision.rerank_invariance"]
    given = relevant(vector["input"]["relevant_retrieved_order"])
    assert score_one(parse_metric("context_precision"), given) == close(
        vector, vector["expected"]["value"]
    )


def test_contexts_without_a_verdict_make_context_precision_missing(
    by_id: dict[str, Vector],
) -> None:
    vector = by_id["context_precision.edge.missing_index"]
    said = vector["input"]["verdicts_by_index"]
    ranks = range(1, vector["input"]["n_contexts"] + 1)
    given = contexts(relevant=[said.get(str(rank)) for rank in ranks])
    expected = Missing(vector["expected"]["reason"])
    assert score_one(parse_metric("context_precision"), given) == expected


def test_the_word_false_is_not_read_as_true(by_id: dict[str, Vector]) -> None:
    word = by_id["context_precision.edge.string_false"]["input"]["is_relevant"]
    labels = {"contexts": [{"topically_relevant": word}]}
    with pytest.raises(DataError):
        list(read([{"question": "?", "contexts": ["x"], "labels": labels}]))


def test_graded_relevance_is_the_mean_share_of_the_best_grade(by_id: dict[str, Vector]) -> None:
    metric = parse_metric("graded_relevance(max_grade=2)")
    levels = by_id["context_precision.graded_mean"]
    weights = [int(2 * grade) for grade in levels["input"]["grades"]]
    assert score_one(metric, contexts(weight=weights)) == levels["expected"]["value"]
    votes = by_id["bench.context_relevance_two_votes"]
    given = contexts(weight=votes["input"]["ratings"])
    assert score_one(metric, given) == votes["expected"]["value"]


def test_ranking_by_ids_matches(vectors: dict[str, list[Vector]]) -> None:
    for vector in vectors["ranking.ids."]:
        hits, k = vector["input"]["hits"], vector["input"]["k"]
        ranks: list[int | None] = [rank for rank, hit in enumerate(hits, 1) if hit]
        unfound = vector["input"]["n_relevant"] - len(ranks)
        known = known_contexts(grade=[1] * (len(ranks) + unfound), rank=ranks + [None] * unfound)
        names = {
            "map": f"map(k={k})",
            "recall": f"recall(k={k})",
            "ndcg": f'ndcg(k={k}, gain="exponential")',
        }
        for key, name in names.items():
            assert score_one(parse_metric(name), known) == close(vector, vector["expected"][key])
        first = score_one(parse_metric(f"mrr(k={k})"), relevant(hits))
        assert first == close(vector, vector["expected"]["mrr"])


def labelled(id: str, given: dict[str, list[int]]) -> Example:
    """A list of contexts, labelled by people."""
    names = {"t": "topically_relevant", "s": "evidence_sufficient", "m": "misleading"}
    size = len(given["t"])
    labels = [{names[key]: given[key][n] for key in given} for n in range(size)]
    found = tuple(Context(str(n + 1), "x", n + 1) for n in range(size))
    return Example(id, id, "s", question="?", contexts=found, labels={"contexts": labels})


def test_ndcg_of_the_worked_example(by_id: dict[str, Vector], scored: Scored) -> None:
    vector = by_id["ndcg.graded.worked"]
    given = {
        "t": vector["input"]["topically_relevant"],
        "s": vector["input"]["evidence_sufficient"],
    }
    score = scored(["list_ndcg"], [labelled("1", given)])["list_ndcg"][0]
    assert score == close(vector, vector["expected"]["value"])


def test_the_six_retrieval_metrics_of_the_taxonomy(
    by_id: dict[str, Vector], score_frames: Frames
) -> None:
    vector = by_id["taxonomy.retrieval.three_queries"]
    examples = [labelled(str(n), query) for n, query in enumerate(vector["input"]["queries"])]
    names = {
        "topical_precision": "precision",
        "sufficiency_hit": "sufficiency_hit",
        "sufficiency_rate": "sufficiency_rate",
        "misleading_context_rate": "misleading_rate",
        "mrr": "mrr",
        "ndcg_undefined_as_zero": "list_ndcg",
    }
    frames = score_frames(list(names.values()), examples)
    for key, name in names.items():
        assert frames[name]["value"].mean() == close(vector, vector["expected"][key])
    ndcg = frames["list_ndcg"]
    flagged = ndcg["reason"].eq_missing("ideal_dcg_zero")
    assert flagged.to_list() == [one is None for one in vector["expected"]["ndcg_per_query"]]
    kept = ndcg.filter(~flagged)["value"]
    assert kept.mean() == close(vector, vector["expected"]["ndcg_undefined_excluded"])


def test_fabrication_is_a_ratio_of_sums_over_answers_that_cite(
    by_id: dict[str, Vector], scored: Scored
) -> None:
    for name in ("conditional_fabrication", "conditional_fabrication.none"):
        vector = by_id[f"taxonomy.{name}"]
        pairs = zip(
            vector["input"]["source_cited"], vector["input"]["fabricated_source"], strict=True
        )
        examples = [
            Example(str(n), str(n), "s", answer="x",
                    labels={"answer": {"source_cited": z, "fabricated_source": f}})
            for n, (z, f) in enumerate(pairs)
        ]  # fmt: skip
        scores = scored(["citation_fabrication"], examples)["citation_fabrication"]
        values = [one for one in scores if isinstance(one, float)]
        assert len(values) == vector["expected"]["n"]
        if values:
            assert sum(values) / len(values) == close(vector, vector["expected"]["value"])
        else:
            assert set(scores) == {Undefined("no_answer_cites_a_source")}


def test_labels_that_contradict_each_other_are_found(by_id: dict[str, Vector]) -> None:
    vector = by_id["labels.constraints"]
    for given, expected in zip(
        vector["input"]["rows"], vector["expected"]["violations"], strict=True
    ):
        row = {name: value for name, value in given.items() if name != "task"}
        labels = {"contexts": [row]} if given["task"] == "retrieval" else {"answer": row}
        assert sorted(one.rule for one in violations(labels)) == sorted(expected)
    assert vector["expected"]["severity"] == {name: rule.severity for name, rule in RULES.items()}


def test_the_majority_of_labels_leaves_ties_open(by_id: dict[str, Vector]) -> None:
    vector = by_id["labels.majority"]
    merged = [majority(votes) for votes in vector["input"]["votes"]]
    assert merged == vector["expected"]["labels"]
    assert [n for n, label in enumerate(merged) if label is None] == vector["expected"]["ties"]


def test_agreement_of_annotators_matches(by_id: dict[str, Vector]) -> None:
    own = by_id["iaa.krippendorff.own"]
    alpha = krippendorff_alpha(own["input"]["ratings"]).value
    assert alpha == close(own, own["expected"]["value"])
    two = by_id["iaa.cohen_kappa.own"]
    kappa = cohen_kappa(two["input"]["a"], two["input"]["b"]).value
    assert kappa == close(two, two["expected"]["value"])
    same = by_id["iaa.degenerate"]
    ratings = same["input"]["ratings"]
    for agreement in (krippendorff_alpha(ratings), cohen_kappa(*ratings)):
        assert (agreement.value, agreement.reason) == (None, same["expected"]["reason"])
    assert percent_agreement(ratings).value == same["expected"]["percent_agreement"]


def by_vectors(**vectors: Sequence[float]) -> tuple[Judge, ...]:
    """An encoder that gives texts these vectors, behind its judge."""
    return (SimilarityJudge(ScriptedEncoder(vectors, dimensions=2)),)


def passages(texts: Iterable[str]) -> tuple[Context, ...]:
    return tuple(Context(str(rank), text, rank) for rank, text in enumerate(texts, 1))


def test_an_encoder_s_vectors_give_the_metrics_over_contexts(
    by_id: dict[str, Vector], scored: Scored
) -> None:
    vector = by_id["embedding.context"]
    texts = {f"context {n}": one for n, one in enumerate(vector["input"]["contexts"])}
    example = Example("1", "q", "s", question="query", contexts=passages(texts))
    relevance = "embedding_context_relevance"
    sufficiency = f"embedding_context_sufficiency(threshold={vector['input']['threshold']})"
    judges = by_vectors(query=vector["input"]["query"], **texts)
    scores = scored([relevance, sufficiency], [example], judges)
    assert scores[relevance] == [close(vector, vector["expected"]["relevance"])]
    assert scores[sufficiency] == [close(vector, vector["expected"]["sufficiency"])]


def test_an_encoder_s_vectors_give_the_share_of_sentences_that_resemble_nothing(
    by_id: dict[str, Vector], scored: Scored
) -> None:
    vector = by_id["embedding.hallucination"]
    sentences = [f"It was {word}." for word in ("red", "blue", "old", "new")]
    said = dict(zip(sentences, vector["input"]["sentences"], strict=True))
    texts = {f"context {n}": one for n, one in enumerate(vector["input"]["contexts"])}
    example = Example("1", "q", "s", answer=" ".join(said), contexts=passages(texts))
    name = f"embedding_hallucination(threshold={vector['input']['threshold']})"
    scores = scored([name], [example], by_vectors(**said, **texts))
    assert scores[name] == [close(vector, vector["expected"]["value"])]


def test_where_nothing_was_retrieved_every_sentence_resembles_nothing(
    by_id: dict[str, Vector], scored: Scored
) -> None:
    vector = by_id["embedding.hallucination.edge.no_contexts"]
    example = Example("1", "q", "s", answer=vector["input"]["answer"], contexts=())
    scores = scored(["embedding_hallucination"], [example], by_vectors())
    assert scores["embedding_hallucination"] == [vector["expected"]["value"]]


def test_cosines_are_clamped_or_shifted_by_name(
    vectors: dict[str, list[Vector]], scored: Scored
) -> None:
    for vector in vectors["cosine_rescale."]:
        cosine = vector["input"]["cosine"]
        beside = (cosine, sqrt(1 - cosine**2))
        example = Example("1", "q", "s", answer="an answer", reference=("a reference",))
        judges = by_vectors(**{"an answer": (1, 0), "a reference": beside})
        for scale in ("clamped", "shifted"):
            name = f'semantic_similarity(scale="{scale}")'
            (score,) = scored([name], [example], judges)[name]
            assert isinstance(score, float)
            assert 100 * score == close(vector, vector["expected"][scale])


def test_embedding_metrics_over_given_cosines(by_id: dict[str, Vector]) -> None:
    vector = by_id["embedding.context"]
    given = contexts(question_similarity=vector["expected"]["similarities"])
    mean = score_one(parse_metric("embedding_context_relevance"), given)
    assert mean == close(vector, vector["expected"]["relevance"])
    threshold = vector["input"]["threshold"]
    share = score_one(parse_metric(f"embedding_context_sufficiency(threshold={threshold})"), given)
    assert share == close(vector, vector["expected"]["sufficiency"])
    vector = by_id["embedding.hallucination"]
    given = rows(AnswerSentences, similarity=vector["expected"]["max_similarity"])
    threshold = vector["input"]["threshold"]
    share = score_one(parse_metric(f"embedding_hallucination(threshold={threshold})"), given)
    assert share == close(vector, vector["expected"]["value"])


def test_embedding_hallucination_of_an_answer_without_sentences_is_undefined(
    vectors: dict[str, list[Vector]], by_id: dict[str, Vector], scored: Scored
) -> None:
    for vector in vectors["embedding.hallucination.edge.answer"]:
        found = tuple(Context(str(n), "x", n) for n in range(1, vector["input"]["n_contexts"] + 1))
        example = Example(
            "1", "q", "s", question="?", answer=vector["input"]["answer"], contexts=found
        )
        scores = scored(["embedding_hallucination"], [example])["embedding_hallucination"]
        assert scores == [Undefined(vector["expected"]["reason"])]
    dots = by_id["embedding.hallucination.edge.punctuation_only"]
    example = Example("1", "q", "s", answer=dots["input"]["answer"], contexts=passages("x"))
    of_dots = scored(["embedding_hallucination"], [example], by_vectors(x=(1, 0)))
    assert of_dots["embedding_hallucination"] == [Undefined(dots["expected"]["reason"])]


def test_sentences_are_not_split_inside_numbers_and_abbreviations(by_id: dict[str, Vector]) -> None:
    vector = by_id["embedding.sentence_split"]
    found = [sentence.text for sentence in sentences(vector["input"]["text"])]
    assert found == vector["expected"]["sentences"]


def test_abstention_by_stock_phrases_counts_as_published_reports_do(
    vectors: dict[str, list[Vector]], scored: Scored
) -> None:
    group = vectors["abstention."]
    examples = [Example(one["id"], one["id"], "s", answer=one["input"]["answer"]) for one in group]
    for size in (8, 12):
        name = f'abstention(by="phrases_{size}")'
        expected = [float(one["source_value"][f"phrases{size}"]) for one in group]
        assert scored([name], examples)[name] == expected
    judged = scored(["abstention"], examples)["abstention"]
    assert judged == [float(one["expected"]["abstained"]) for one in group]


def test_answer_correctness_weighs_f1_and_similarity(vectors: dict[str, list[Vector]]) -> None:
    for vector in vectors["answer_correctness."]:
        given, expected = vector["input"], vector["expected"]
        judged = (
            rows(
                ClaimsAgainstReferences,
                agreement=["matches"] * given["tp"] + ["extra"] * given["fp"],
                reference=[0] * (given["tp"] + given["fp"]),
            ),
            rows(
                Statements,
                agreement=["full"] * given["tp"] + ["missing"] * given["fn"],
                reference=[0] * (given["tp"] + given["fn"]),
            ),
            rows(References, similarity=[given.get("similarity")], reference=[0]),
        )
        f1 = score_one(parse_metric("answer_correctness(factual=1)"), *judged)
        if expected["f1"] is None:
            assert f1 == Undefined("no_claims_and_no_statements")
            continue
        assert f1 == close(vector, expected["f1"])
        default = score_one(parse_metric("answer_correctness"), *judged)
        assert default == close(vector, expected["weighted_75_25"])
        precision = parse_metric("answer_correctness(factual=0.5, beta=1e-6)")
        assert score_one(precision, *judged) == close(vector, expected["ragas_0_0_19_form"])


def votes(given: Sequence[int | None]) -> Rows:
    verdicts = [None if one is None else bool(one) for one in given]
    return rows(Votes, aspect=["harmfulness"] * len(given), verdict=verdicts)


def test_critiques_go_by_the_majority(vectors: dict[str, list[Vector]]) -> None:
    for vector in vectors["critique.majority."]:
        score = score_one(parse_metric("critique"), votes(vector["input"]["votes"]))
        if vector["expected"]["value"] is None:
            assert isinstance(score, Undefined | Missing)
        else:
            assert score == vector["expected"]["value"]


def test_an_even_number_of_votes_is_taken_as_it_is(by_id: dict[str, Vector]) -> None:
    vector = by_id["critique.strictness_odd"]
    assert vector["input"]["requested"] == vector["expected"]["ours_votes"]
    assert score_one(parse_metric("critique"), votes([1, 1])) == 1
    assert score_one(parse_metric("critique"), votes([1, 0])) == Undefined("no_majority")


def test_a_rating_outside_of_its_scale_is_missing(by_id: dict[str, Vector]) -> None:
    vector = by_id["likert.out_of_range"]
    given = vector["input"]
    score = (given["raw"] - given["min"]) / (given["max"] - given["min"])
    out = score_one(parse_metric(rating("a")), ratings({"a": score}))
    assert isinstance(out, Missing)
    assert out.reason.startswith(vector["expected"]["reason"])


def test_groundedness_is_the_mean_over_the_sentences(by_id: dict[str, Vector]) -> None:
    vector = by_id["groundedness.mean"]
    best = vector["input"]["max"]
    given = rows(Sentences, supported=[point == best for point in vector["input"]["raw"]])
    assert score_one(parse_metric("groundedness"), given) == vector["expected"]["value"]


def test_relevant_sentences_are_counted_over_all_contexts(by_id: dict[str, Vector]) -> None:
    vector = by_id["context_relevancy.sentences"]
    total, found = vector["input"]["total_sentences"], vector["input"]["relevant_sentences"]
    given = contexts(sentences=[total - 1, 1], relevant_sentences=[list(range(found)), []])
    score = score_one(parse_metric("context_relevancy"), given)
    assert score == close(vector, vector["expected"]["value"])


def test_lexical_overlap_matches(vectors: dict[str, list[Vector]]) -> None:
    for vector in vectors["lexical."]:
        counted = overlap(vector["input"]["answer"], vector["input"]["reference"])
        expected = vector["expected"]
        got = {
            "rouge1_f": counted["token_f1"],
            "rouge2_f": counted["rouge_2"],
            "rougeL_f": counted["rouge_l"],
            "token_f1_multiset": counted["token_f1"],
            "token_f1_set": counted["token_f1_set"],
            "exact_match": counted["exact_match"],
        }
        assert got.keys() == expected.keys()
        for name, value in got.items():
            assert value == close(vector, expected[name])


def test_a_system_without_retrieval_has_no_retrieval_metrics(
    by_id: dict[str, Vector], scored: Scored
) -> None:
    expected = by_id["registry.applicability"]["expected"]
    assert expected["method_to_architecture"]["llm_with_context"] == "direct_llm"
    example = Example(
        "1", "q", "llm_with_context", question="Who wrote Emma?", answer="Jane Austen wrote Emma.",
        reference=("Jane Austen wrote Emma.",),
    )  # fmt: skip
    needs_retrieval = expected["needs_retrieval"]
    scores = scored(needs_retrieval, [example])
    assert scores == {name: [Undefined("no_retrieval")] for name in needs_retrieval}
    everywhere = [name for name in expected["all_architectures"] if name != "ragas_score"]
    for name, [score] in scored(everywhere, [example]).items():
        assert score != Undefined("no_retrieval"), name


def test_a_mean_skips_what_has_no_value_and_counts_it(by_id: dict[str, Vector]) -> None:
    for name in ("empty_is_undefined", "nan_skip"):
        vector = by_id[f"aggregate.{name}"]
        values = vector["input"]["values"]
        frame = pl.DataFrame(
            {
                "value": values,
                "label": [None] * len(values),
                "status": [0 if value is not None else 2 for value in values],
                "reason": [None if value is not None else "judge_error" for value in values],
            },
            schema=SCORES,
        )
        whole = estimated("faithfulness", frame, ["one"] * len(values))[0]
        assert whole.value == vector["expected"]["mean"]
        assert (whole.n, whole.n_missing) == (
            vector["expected"]["n"], vector["expected"]["n_missing"]
        )  # fmt: skip


def test_an_estimate_without_a_value_is_null_with_its_reason(by_id: dict[str, Vector]) -> None:
    assert by_id["aggregate.json_nan"]["expected"]["json"] == "null plus a reason field"
    frame = pl.DataFrame(
        {"value": [None], "label": [None], "status": [2], "reason": ["judge_error"]}, schema=SCORES
    )
    record = estimated("faithfulness", frame, ["one"])[0].to_dict()
    read_back = json.loads(json.dumps(record, allow_nan=False))
    assert read_back["value"] is None
    assert read_back["reasons"] == {"judge_error": 1}


def test_a_score_that_is_no_number_is_never_kept(by_id: dict[str, Vector]) -> None:
    assert by_id["aggregate.json_nan"]["source_value"] == "NaN literal"
    given = [[rows(Probes, similarity=[float("nan")], noncommittal=[False])]]
    [score] = score_all(parse_metric("answer_relevance"), given)
    assert isinstance(score, Undefined | Missing)
