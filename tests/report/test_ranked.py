"""The worst examples over all metrics: the order by hand, and what is told of each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from ragstone.data import Example
from ragstone.data.write import to_frame
from ragstone.judgements import KINDS
from ragstone.report.worst_examples import RankedExample, RankedExamples, ranked
from ragstone.run import Entry

from .conftest import HandMadeRun, make_estimate

Scores = Mapping[str, Mapping[str, float | None]]


@dataclass
class ScoredRun(HandMadeRun):
    """A run with scores and examples, and no judgements."""

    given: Scores | None = None

    def scores(self) -> pl.DataFrame:
        rows = [
            (name, "s", metric, "undefined" if value is None else "value", value, None, None)
            for metric, values in (self.given or {}).items()
            for name, value in values.items()
        ]
        columns = ["example_id", "system", "metric", "status", "value", "label", "reason"]
        texts = dict.fromkeys(columns, pl.String) | {"value": pl.Float64}
        return pl.DataFrame(rows, schema=texts, orient="row")

    def estimates(self) -> pl.DataFrame:
        return pl.DataFrame()

    def excerpt(self, examples: Collection[str], /) -> "ScoredRun":  # noqa: ARG002
        return self

    def examples(self, columns: Sequence[str] | None = None, /) -> pl.DataFrame:
        names = dict.fromkeys(name for values in (self.given or {}).values() for name in values)
        made = [
            Example(id=name, question_id=name, system="s", question="Q?", answer="A.")
            for name in names
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
    return ranked(ScoredRun(estimates, given=given), limit=limit)


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
