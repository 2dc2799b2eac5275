"""When the default suite keeps a metric, from counts made by hand."""

import polars as pl
import pytest

from ragstone.judgements import MISSING, UNDEFINED, VALUE
from ragstone.metrics import parse_metric
from ragstone.run.settings import DataFacts, candidates, choose

EVERYTHING = DataFacts(retrieved=True, labelled=True, by_ids=False, cited=True)
NOBODY = "not_judged?kind=claims&by=model"


def counts(metric: str, *outcomes: tuple[int, str | None, int]) -> pl.DataFrame:
    """Status, reason and how often."""
    rows = [(metric, status, reason, count) for status, reason, count in outcomes]
    return pl.DataFrame(
        rows,
        {"metric": pl.String, "status": pl.UInt8, "reason": pl.String, "len": pl.UInt32},
        orient="row",
    )


def kept(
    metric: str, *outcomes: tuple[int, str | None, int], facts: DataFacts = EVERYTHING
) -> bool:
    return choose([parse_metric(metric)], counts(metric, *outcomes), facts) != []


@pytest.mark.parametrize(
    ("outcomes", "there"),
    [
        ([(VALUE, None, 1)], True),
        ([(UNDEFINED, "no_claims", 9)], False),
        ([], False),
        ([(VALUE, None, 9), (MISSING, NOBODY, 1)], True),
        ([(VALUE, None, 9), (MISSING, NOBODY, 2)], False),
        ([(VALUE, None, 89), (MISSING, NOBODY, 9)], True),
        ([(VALUE, None, 89), (MISSING, NOBODY, 10)], False),
        ([(VALUE, None, 1), (MISSING, "local: no_context_text", 1)], False),
        ([(VALUE, None, 1), (MISSING, "m: timeout", 99)], True),
        ([(VALUE, None, 1), (MISSING, "m: not_judged", 99)], True),
        ([(VALUE, None, 9), (UNDEFINED, NOBODY, 99)], True),
    ],
)
def test_a_metric_stays_if_at_most_a_tenth_lack_what_nobody_can_judge(
    outcomes: list[tuple[int, str | None, int]], there: bool
) -> None:
    """A failure of a judge is reported and hides nothing."""
    assert kept("faithfulness", *outcomes) is there


def test_only_a_metrics_own_outcomes_count() -> None:
    both = pl.concat(
        [counts("faithfulness", (VALUE, None, 1)), counts("mrr", (MISSING, NOBODY, 9))]
    )
    offered = [parse_metric("mrr"), parse_metric("faithfulness")]
    assert [str(one) for one in choose(offered, both, EVERYTHING)] == ["faithfulness"]


@pytest.mark.parametrize(
    ("metric", "lacking"),
    [("faithfulness", "retrieved"), ("precision", "retrieved"), ("sufficiency_hit", "labelled"),
     ("misleading_rate", "labelled"), ("citation_presence", "cited"),
     ("citation_recall", "cited")],
)  # fmt: skip
def test_a_metric_goes_where_the_data_have_nothing_for_it(metric: str, lacking: str) -> None:
    value = (VALUE, None, 5)
    facts = {"retrieved": True, "labelled": True, "by_ids": False, "cited": True}
    assert kept(metric, value)
    assert not kept(metric, value, facts=DataFacts(**(facts | {lacking: False})))


def test_grades_by_ids_stand_in_place_of_those_of_a_judge() -> None:
    by_ids = DataFacts(retrieved=True, labelled=False, by_ids=True, cited=False)
    assert kept("list_ndcg", (VALUE, None, 5))
    assert not kept("list_ndcg", (VALUE, None, 5), facts=by_ids)
    assert kept("token_f1", (VALUE, None, 5), facts=by_ids)


def test_without_any_context_metrics_of_the_answer_stay() -> None:
    bare = DataFacts(retrieved=False, labelled=False, by_ids=False, cited=False)
    assert kept("exact_match", (VALUE, None, 5), facts=bare)
    assert len({str(one) for one in candidates()}) == len(candidates()), "each is offered once"
