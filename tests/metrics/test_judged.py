"""Metrics over probes, ratings, votes and preferences."""

from collections.abc import Sequence

import polars as pl
import pytest

from ragstone.core.errors import InputError
from ragstone.judgements import Preference, Preferences, Probes, Ratings, Tables, Topic, Votes
from ragstone.metrics import Missing, Score, Undefined, parse_metric, wanted_topics
from ragstone.testing import Rows, rows, score_frame, score_one


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
        ([True, True, None], 1),
        ([False, None, False, False, None], 0),
        ([True, None, None], Missing("incomplete_judgement")),
        ([True, None], Missing("incomplete_judgement")),
        ([True, False], Undefined("no_majority")),
        ([True, None, False], Missing("incomplete_judgement")),
        ([None, None], Missing("incomplete_judgement")),
        ([], Undefined("no_votes")),
    ],
)
def test_the_majority_decides_where_votes_that_could_not_be_read_cannot_change_it(
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


@pytest.mark.parametrize(
    ("votes", "said", "expected"),
    [
        (1, [True, False, False], 1),
        (3, [True, False, False], 0),
        (3, [True, None, True, False], 1),
        (3, [True, None, False], Missing("incomplete_judgement")),
        (3, [True, None], Missing("incomplete_judgement")),
        (3, [True, True, None], 1),
        (5, [True, True, None, None, True], 1),
        (5, [True, True, None, None, False], Missing("incomplete_judgement")),
        (3, [True], Undefined("no_majority")),
        (1, [None, True, True], Missing("incomplete_judgement")),
        (3, [], Undefined("no_votes")),
    ],
)
def test_only_the_first_votes_count_where_their_number_is_given(
    votes: int, said: Sequence[bool | None], expected: Score
) -> None:
    aspects = ["harmfulness"] * len(said)
    given = rows(Votes, aspect=aspects, index=list(range(len(said))), verdict=said)
    assert score_one(parse_metric(f"critique(votes={votes})"), given) == expected


def test_which_end_of_a_critique_is_better_is_known_of_five_aspects() -> None:
    better = {"harmfulness": "-", "maliciousness": "-", "coherence": "+", "correctness": "+",
              "conciseness": "+", "irony": "0"}  # fmt: skip
    for aspect, end in better.items():
        metric = parse_metric(f'critique(aspect="{aspect}")')
        assert (metric.range.better, metric.range.rate) == (end, True)


@pytest.mark.parametrize("wrong", ["votes=2", "votes=0", "votes=-1", 'aspect=" "'])
def test_an_even_number_of_votes_and_an_aspect_without_a_name_are_refused(wrong: str) -> None:
    with pytest.raises(InputError):
        parse_metric(f"critique({wrong})")


FACTUAL = ("factual_correctness", "factual_completeness", "factual_consistency")


def factual(*scores: float | None) -> Rows:
    return rows(Ratings, criterion=list(FACTUAL[: len(scores)]), score=list(scores))


def test_factual_accuracy_rated_weighs_three_criteria_and_has_a_letter() -> None:
    metric = parse_metric("factual_accuracy_rated")
    frame = score_frame(metric, [[factual(1.0, 0.5, 0.75)], [factual(0.0, 0.25, 0.5)]])
    assert frame["value"].to_list() == pytest.approx([0.8, 0.175])
    assert frame["label"].to_list() == ["A", "E"]
    strict = parse_metric("factual_accuracy_rated(letters=(0.9, 0.7, 0.5, 0.1))")
    assert score_frame(strict, [[factual(1.0, 0.5, 0.75)]])["label"].item() == "B"


def test_factual_accuracy_rated_is_missing_where_a_criterion_is_and_undefined_unrated() -> None:
    metric = parse_metric("factual_accuracy_rated")
    for said in ((1.0, None, 1.0), (None, None, None)):
        assert score_one(metric, factual(*said)) == Missing("incomplete_judgement")
    assert score_one(metric, factual(1.0, 1.0)) == Undefined("not_rated")
    assert score_one(metric) == Undefined("not_rated")


def test_metrics_say_what_they_want_judged_each_topic_once() -> None:
    names = (
        "faithfulness",
        'rating(criterion="tone")',
        "factual_accuracy_rated",
        "overall_simple",
        "overall_weighted",
        'critique(aspect="irony", definition="ANSWER is ironic.", votes=3)',
        "critique",
        "critique(votes=1)",
        "win_rate",
        'win_rate(rival="b")',
    )
    seven = ("faithfulness", "answer_relevance", "context_precision", "context_recall",
             "answer_correctness", "response_completeness", "source_attribution")  # fmt: skip
    assert wanted_topics(map(parse_metric, names)) == (
        Topic("critique", "harmfulness"),
        Topic("critique", "irony", "ANSWER is ironic.", 3),
        Topic("preference", ""),
        Topic("preference", "b"),
        *(Topic("rating", name) for name in sorted((*seven, *FACTUAL, "tone"))),
    )


def test_a_composite_wants_what_its_components_want() -> None:
    metric = parse_metric('composite(weights="critique(votes=3) win_rate:2 mrr")')
    assert metric.topics == {Topic("critique", "harmfulness", "", 3), Topic("preference", "")}
