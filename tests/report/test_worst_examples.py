"""Worst examples: the lowest scores over all metrics, and the reasons for each."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.data import Example
from ragstone.data.write_examples import to_frame
from ragstone.judgements import KINDS
from ragstone.report.worst_examples import RankedExample, RankedExamples, ranked, why
from ragstone.run import Entry

from .conftest import HandMadeRun, make_estimate
from .conftest import dossier_of as found

Scores = Mapping[str, Mapping[str, float | None]]


@dataclass
class ScoredRun(HandMadeRun):
    """A run with scores and examples in two shards, and no judgements."""

    path: Path = Path("runs/cornwall")
    given: Scores | None = None
    shards = (0, 1)

    def names(self, shards: Collection[int] | None) -> list[str]:
        """The ids of the first half of the examples, or of the second, or all."""
        names = [*dict.fromkeys(name for values in (self.given or {}).values() for name in values)]
        half = len(names) // 2
        parts = (names[:half], names[half:])
        return [name for shard in self.shards if shards is None or shard in shards
                for name in parts[shard]]  # fmt: skip

    def scores(
        self, metrics: Collection[str] | None = None, columns: Sequence[str] | None = None,
        shards: Collection[int] | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        names = self.names(shards)
        rows = [
            (name, "s", metric, "undefined" if value is None else "value", value, None, None)
            for metric, values in (self.given or {}).items()
            for name, value in values.items()
            if name in names and (metrics is None or metric in metrics)
        ]
        every = ["example_id", "system", "metric", "status", "value", "label", "reason"]
        texts = dict.fromkeys(every, pl.String) | {"value": pl.Float64}
        return pl.DataFrame(rows, schema=texts, orient="row").select(columns or every)

    def estimates(self) -> pl.DataFrame:
        return pl.DataFrame()

    def excerpt(self, examples: Collection[str], /) -> "ScoredRun":  # noqa: ARG002
        return self

    def examples(
        self, columns: Sequence[str | pl.Expr] | None = None, /, *,
        shards: Collection[int] | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        made = [
            Example(id=name, question_id=name, system="s", question="Q?", answer="A.")
            for name in self.names(shards)
        ]
        found = to_frame(made)
        return found if columns is None else found.select(columns)

    def judgements(self, kind: str, /) -> pl.DataFrame:
        empty = KINDS[kind].empty()
        return empty.select(pl.lit(None, pl.String).alias("example_id"), pl.all())

    def calls(self, example: str, /) -> list[Entry]:  # noqa: ARG002
        return []


def ranking(given: Scores, limit: int = 5) -> RankedExamples:
    estimates = tuple(make_estimate(metric, 0.5) for metric in given)
    run: Any = ScoredRun(estimates, given=given)
    return ranked(run, limit=limit)


def order(given: Scores) -> list[tuple[str, float]]:
    return [(one.example_id, one.shortfall) for one in ranking(given).examples]


def test_the_mean_distance_from_the_best_ranks_and_undefined_counts_as_the_others() -> None:
    """Faithfulness: 0, .5 and for c their mean .25. Unsupported, where less is better: 0, 1, 1."""
    assert order(
        {
            "faithfulness": {"a": 1.0, "b": 0.5, "c": None},
            "unsupported_claim": {"a": 0.0, "b": 1.0, "c": 1.0},
        }
    ) == [("b", 0.75), ("c", 0.625)], "a could not be better"


def test_wording_and_retrieval_do_not_rank_beside_judged_metrics_of_the_answer() -> None:
    wording = {"token_f1": {"a": 0.0, "b": 0.9}, "exact_match": {"a": 0.0, "b": 1.0}}
    retrieval = {"precision": {"a": 0.0, "b": 1.0}}
    judged = {"faithfulness": {"a": 0.9, "b": 0.8}}
    assert [name for name, _ in order(wording | retrieval | judged)] == ["b", "a"]
    assert ranking(wording | retrieval | judged).metrics == ("faithfulness",)
    assert ranking(wording | retrieval).metrics == ("token_f1", "exact_match")
    assert ranking(retrieval).metrics == ("precision",)


def test_scores_that_are_lower_than_usual_are_named_the_furthest_first() -> None:
    given = {
        "faithfulness": {"a": 0.4, "b": 0.6},
        "answer_coverage": {"a": 0.0, "b": 1.0},
        "contradiction": {"a": 0.0, "b": 0.0},
    }
    worst = ranking(given).examples[0]
    assert worst.example_id == "a"
    assert [(low.metric, low.value) for low in worst.low] == [
        ("answer_coverage", 0.0),
        ("faithfulness", 0.4),
    ]


def test_of_many_low_scores_the_first_three_are_named() -> None:
    better = {name: {"a": 0.0, "b": 1.0} for name in ("faithfulness", "answer_coverage")}
    worse = {name: {"a": 1.0, "b": 0.0} for name in ("contradiction", "unsupported_claim")}
    assert len(ranking(better | worse).examples[0].low) == 3


def test_equal_examples_stand_in_the_order_of_the_data_and_are_cut_at_the_limit() -> None:
    given = {"faithfulness": {"d": 0.5, "b": 0.5, "c": 0.5}}
    assert [one.example_id for one in ranking(given, limit=2).examples] == ["d", "b"]


def test_a_single_example_is_listed_if_it_could_be_better() -> None:
    assert order({"faithfulness": {"a": 0.25}}) == [("a", 0.75)]
    assert order({"faithfulness": {"a": 1.0}}) == []


def test_no_metric_with_a_better_direction_lists_nothing() -> None:
    assert ranking({"abstention": {"a": 1.0}}) == RankedExamples((), ())


def test_the_texts_are_told() -> None:
    (one,) = ranking({"faithfulness": {"a": 0.0}}).examples
    assert one == RankedExample("a", "s", 1.0, (), "Q?", "A.", ())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from ragstone import evaluate
    from ragstone.data import cornwall

    out = tmp_path_factory.mktemp("runs") / "demo"
    evaluate(cornwall(), judge="local:strings", out=out)
    return out


def test_the_planted_faults_of_the_demo_come_first_with_the_words_that_are_wrong(
    demo: Path,
) -> None:
    """An invented dinner, a wrong year, a denial of the source and two answers wrong throughout."""
    from ragstone.run import Run

    found = ranked(Run.open(demo)).examples
    assert {one.example_id for one in found} == {
        "tintagel-postcard-basic_search",
        "saltash-bridge-basic_search",
        "lands-end-basic_search",
        "saltash-bridge-llm_with_context",
        "bodmin-moor-llm_with_context",
    }
    told = {one.example_id: " ".join(one.reasons) for one in found}
    assert "He built the castle himself in 1066." in told["tintagel-postcard-basic_search"]
    assert "does not stand out at sea" in told["lands-end-basic_search"]


def judged(verdict: str | None, reason: str | None = None) -> dict[str, Any]:
    return {"verdict": verdict, "reason": reason}


def claim(text: str, support: Any = None, *agreement: Any) -> dict[str, Any]:
    return {"text": text, "support": support, "agreement": list(agreement)}


def test_claims_that_are_not_supported_are_told_the_contradicted_first() -> None:
    claims = [
        claim("It is 90 m.", judged("supported")),
        claim("It is old.", judged("absent", "nothing says so")),
        claim("It is red.", judged("contradicted")),
        claim("It is wet.", judged(None)),
        claim("It is long."),
    ]
    assert why(found(claims=claims), "faithfulness") == [
        "claim 1 contradicted: It is red.",
        "claim 1 absent: It is old. (nothing says so)",
    ]


def test_only_what_the_metric_rests_on_is_told() -> None:
    claims = [claim("It is red.", judged("absent"), judged("contradicts"))]
    assert why(found(claims=claims), "faithfulness") == ["claim 1 absent: It is red."]
    assert why(found(claims=claims), "precision") == []
    assert why(found(claims=claims), "unsupported_claim") == ["claim 1 absent: It is red."]


def test_statements_are_held_against_the_answer_and_against_the_contexts() -> None:
    statement = {"text": "90 m.", "agreement": judged("missing"), "support": judged("absent")}
    known = found(statements=[statement])
    assert why(known, "answer_coverage") == ["statement missing: 90 m."]
    assert why(known, "context_recall") == ["statement absent: 90 m."]


def test_evidence_that_was_not_retrieved_is_told() -> None:
    evidence = [{"text": "90 m.", "support": judged("absent")}, {"text": "x", "support": None}]
    assert why(found(gold_evidence=evidence), "evidence_recall") == ["evidence 1 absent: 90 m."]


def test_contexts_that_are_not_relevant_are_told_by_rank() -> None:
    contexts = [
        {"rank": 1, "relevance": {"relevant": True, "reason": None}},
        {"rank": 2, "relevance": {"relevant": False, "reason": "of gulls"}},
        {"rank": 3, "relevance": None},
    ]
    assert why(found(contexts=contexts), "precision") == ["context 2 not relevant (of gulls)"]
    assert why(found(), "precision") == [], "it does not retrieve"


def test_other_judgements_are_told_with_their_reason_where_they_have_one() -> None:
    rows = [
        {"response_type": "abstain", "reason": "it says so", "judge": "m", "probability": 0.5},
        {"response_type": "answer", "reason": None, "judge": "m", "probability": 0.5},
    ]
    assert why(found(judgements={"response": rows}), "abstention") == [
        "response type: abstain (it says so)"
    ]


def test_that_a_reply_is_an_answer_is_no_reason_for_a_low_score() -> None:
    rows = [{"response_type": "answer", "reason": "no sign of inability", "judge": "m"}]
    assert why(found(judgements={"response": rows}), "answer_outcome") == []


def test_what_follows_from_claims_is_not_told_again() -> None:
    rows = [{"unsupported_claim_present": True, "reason": "support/claim", "judge": "rules"}]
    known = found(claims=[claim("It is red.", judged("absent"))], judgements={"grounding": rows})
    assert why(known, "unsupported_claim") == ["claim 1 absent: It is red."]


def test_the_first_few_are_told_and_the_rest_counted() -> None:
    claims = [claim(f"Claim {at}.", judged("absent")) for at in range(5)]
    assert why(found(claims=claims), "faithfulness", most=2) == [
        "claim 1 absent: Claim 0.", "claim 1 absent: Claim 1.", "and 3 more",
    ]  # fmt: skip
    assert len(why(found(claims=claims[:2]), "faithfulness", most=2)) == 2
    assert why(found(claims=claims), "faithfulness")[2:] == [
        "claim 1 absent: Claim 2.",
        "and 2 more",
    ]


def test_long_texts_are_cut_and_equal_lines_told_once() -> None:
    claims = [claim("word " * 100, judged("absent"))] * 2
    (line,) = why(found(claims=claims), "faithfulness")
    assert line.endswith("…")
    assert len(line) == len("claim 1 absent: ") + 160
    (long,) = why(found(claims=[claim("x" * 400, judged("absent"))]), "faithfulness")
    assert long == f"claim 1 absent: {'x' * 159}…"
    reasons = [claim("y", judged("absent", "z" * 400))]
    assert len(why(found(claims=reasons), "faithfulness")[0]) == 320


def test_of_a_metric_that_is_not_loaded_everything_is_told() -> None:
    claims = [claim("It is red.", judged("absent"), judged("contradicts"))]
    assert why(found(claims=claims), "somebodys_own") == ["claim 1 contradicts, absent: It is red."]


def test_of_several_metrics_a_unit_is_told_once_with_every_verdict_and_reason() -> None:
    claims = [claim("It is red.", judged("absent", "no red"), judged("extra", "not said"))]
    known = found(claims=claims)
    (line,) = why(known, "faithfulness", "factual_accuracy")
    assert set(re.findall(r"absent|extra|no red|not said", line)) == {
        "absent", "extra", "no red", "not said",
    }  # fmt: skip
    assert line.count("It is red.") == 1
