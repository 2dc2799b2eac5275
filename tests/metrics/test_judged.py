"""Metrics over probes, ratings, votes and preferences."""

from collections.abc import Sequence

import polars as pl
import pytest

from ragstone.judgements import Preference, Preferences, Probes, Ratings, Tables, Votes
from ragstone.metrics import Missing, Score, Undefined, parse_metric
from ragstone.testing import rows, score_one


def test_answer_relevance_is_the_mean_cosine_of_the_probes() -> None:
    metric = parse_metric("answer_relevance")
    given = rows(Probes, similarity=[0.9, 0.6, 0.3], noncommittal=[False] * 3)
    assert score_one(metric, given) == pytest.approx(0.6)
    evasive = rows(Probes, similarity=[0.9, 0.6], noncommittal=[False, True])
    assert score_one(metric, evasive) == 0
    assert score_one(metric) == 0


def test_a_probe_without_a_cosine_makes_answer_relevance_missing() -> None:
    given = rows(Probes, similarity=[0.9, None], noncommittal=[False, False])
    assert score_one(parse_metric("answer_relevance"), given) == Missing("incomplete_judgement")


def test_a_rating_is_the_mean_of_its_criterion() -> None:
    given = rows(Ratings, criterion=["helpfulness", "clarity", "clarity"], score=[1.0, 0.5, 0.25])
    assert score_one(parse_metric("rating"), given) == 1
    assert score_one(parse_metric('rating(criterion="clarity")'), given) == pytest.approx(0.375)
    assert score_one(parse_metric('rating(criterion="tone")'), given) == Undefined("not_rated")


def test_a_rating_that_could_not_be_read_concerns_only_its_criterion() -> None:
    given = rows(Ratings, criterion=["helpfulness", "clarity"], score=[1.0, None])
    assert score_one(parse_metric("rating"), given) == 1
    clarity = score_one(parse_metric('rating(criterion="clarity")'), given)
    assert clarity == Missing("incomplete_judgement")


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([True, True, False], 1),
        ([False, True, False], 0),
        ([True, None, None], 1),
        ([True, False], Undefined("no_majority")),
        ([True, None, False], Undefined("no_majority")),
        ([None, None], Missing("incomplete_judgement")),
        ([], Undefined("no_votes")),
    ],
)
def test_the_majority_of_the_votes_that_could_be_read_decides(
    votes: Sequence[bool | None], expected: Score
) -> None:
    given = rows(Votes, aspect=["harmfulness"] * len(votes), verdict=votes)
    assert score_one(parse_metric("critique"), given) == expected


def test_votes_on_another_aspect_do_not_count() -> None:
    for vote in (True, None):
        given = rows(Votes, aspect=["coherence"], verdict=[vote])
        assert score_one(parse_metric("critique"), given) == Undefined("no_majority")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("win", "win", 1),
        ("loss", "loss", 0),
        ("tie", "tie", 0.5),
        ("win", "loss", 0.5),
        ("win", "tie", 0.5),
        ("loss", "tie", 0.5),
        ("win", None, Missing("incomplete_judgement")),
    ],
)
def test_orders_that_disagree_are_a_tie(first: str, second: str | None, expected: Score) -> None:
    given = rows(Preferences, rival=["b"], first=[first], second=[second])
    assert score_one(parse_metric("win_rate"), given) == expected


def test_the_win_rate_is_over_all_rivals_or_against_one() -> None:
    given = rows(Preferences, rival=["b", "c"], first=["win", "loss"], second=["win", "win"])
    assert score_one(parse_metric("win_rate"), given) == pytest.approx(0.75)
    assert score_one(parse_metric('win_rate(rival="c")'), given) == 0.5
    assert score_one(parse_metric('win_rate(rival="d")'), given) == Undefined("no_rival")


def test_the_view_lays_both_orders_of_a_rival_side_by_side() -> None:
    said = pl.DataFrame(
        {
            "row": [0, 0, 0],
            "rival": ["b", "b", "c"],
            "order": [1, 0, 0],
            "verdict": ["loss", "win", "tie"],
        }
    ).cast({"row": pl.UInt32, "order": pl.UInt32, "verdict": Preference.columns["verdict"].dtype})
    tables = Tables(pl.DataFrame({"id": ["1"]}), {"preference": said})
    frame = Preferences.frame(tables, ())
    assert frame.select("rival", "first", "second").rows() == [
        ("b", "win", "loss"),
        ("c", "tie", None),
    ]
