"""Weights fitted to what people said of a handful of answers, worked out by hand."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ragstone.analysis.composite_weights.fit_weights import fit_weights
from ragstone.analysis.composite_weights.preferences import (
    Opinion,
    Opinions,
    Pair,
    Sort,
    concordance,
    weighable,
)
from ragstone.analysis.scored_run import Scored
from tests.analysis.conftest import MadeRun, Make, Score

N = 30
DRAWN = random.Random(5)
F1 = [DRAWN.random() for _ in range(N)]
ROUGE = [DRAWN.random() for _ in range(N)]


@pytest.fixture
def scored(tmp_path: Path) -> Scored:
    return Scored(MadeRun(tmp_path, {"a": {"token_f1": F1, "rouge_l": ROUGE}}))


def rated(scores: Sequence[float], annotators: Sequence[str] = ("ann",)) -> Opinions:
    rows = [
        Opinion(None, who, score, id=f"q{at}-a")
        for at, score in enumerate(scores)
        for who in annotators
    ]
    return Opinions("people", Sort.RATING, tuple(rows))


@pytest.mark.parametrize(
    ("placed", "said", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 1),
        ([3, 2, 1], [1, 2, 3], 0),
        ([1, 3, 2], [1, 2, 3], 2 / 3),
        ([1, 2, 2], [1, 2, 3], 2.5 / 3),
        ([1, 2, 3], [1, 2, 2], 1),
        ([1, 2, 3], [2, 2, 2], None),
    ],
)
def test_ratings_are_in_order_by_the_share_of_their_pairs(
    placed: Sequence[float], said: Sequence[float], expected: float | None
) -> None:
    rng = np.random.default_rng(0)
    found = concordance(Sort.RATING, np.array(placed), np.array(said), np.arange(3), 0.95, rng)
    assert found[0] == (None if expected is None else pytest.approx(expected))


def test_weights_that_are_nearly_equal_are_written_as_they_are_the_heavier_first(
    scored: Scored,
) -> None:
    people = rated([0.46 * one + 0.54 * other for one, other in zip(F1, ROUGE, strict=True)])
    found = fit_weights(scored, people, metrics=["token_f1", "rouge_l"])
    assert found.fitted.composite == 'composite(weights="rouge_l:0.54 token_f1:0.46")'
    assert [(one.metric, round(one.fitted, 6)) for one in found.weights] == [
        ("rouge_l", 0.54), ("token_f1", 0.46),
    ]  # fmt: skip


def test_weights_that_are_equal_are_written_as_one(scored: Scored) -> None:
    people = rated([one + other for one, other in zip(F1, ROUGE, strict=True)])
    found = fit_weights(scored, people, metrics=["token_f1", "rouge_l"])
    assert found.fitted.composite == 'composite(weights="token_f1:1 rouge_l:1")'


def test_where_people_want_the_opposite_no_weight_is_fitted(scored: Scored) -> None:
    people = rated([-one - other for one, other in zip(F1, ROUGE, strict=True)])
    found = fit_weights(scored, people, metrics=["token_f1", "rouge_l"])
    assert [(one.start, one.fitted, one.least, one.most) for one in found.weights] == [
        (0.5, 0, 0, 0), (0.5, 0, 0, 0),
    ]  # fmt: skip
    assert (found.kept, found.fitted.composite) == ("start", None)


def test_the_record_has_the_weights_the_gain_and_who_spoke(scored: Scored) -> None:
    people = rated([one + 2 * other for one, other in zip(F1, ROUGE, strict=True)], ("ann", "ben"))
    found = fit_weights(scored, people, metrics=["token_f1", "rouge_l"])
    record = found.to_dict()
    assert record["weights"][0] == {
        "metric": "rouge_l", "start": 0.5, "fitted": pytest.approx(2 / 3),
        "least": pytest.approx(2 / 3), "most": pytest.approx(2 / 3),
    }  # fmt: skip
    assert record["gain"] == {
        "value": found.gain, "low": found.gain_low, "high": found.gain_high, "level": 0.95,
    }  # fmt: skip
    counts = {"n": N, "n_questions": N, "n_annotators": 2, "n_ties": 0, "n_left_out": 0}
    assert {name: record[name] for name in counts} == counts


def test_a_metric_with_few_scores_is_weighed_where_it_is_named(run: Make) -> None:
    few: list[Score] = [0.5, None, None, 0.25]
    scored = Scored(run(token_f1=[0.5, 0.25, 0.5, 1.0], rouge_l=few))
    judged: list[Pair] = [((), (at,)) for at in range(4)]
    names, excluded, _ = weighable(scored, ["token_f1", "rouge_l"], None, judged)
    assert (names, excluded) == (["token_f1", "rouge_l"], {})
    names, excluded, _ = weighable(scored, [], None, judged)
    assert names == ["token_f1"]
    assert excluded == {"rouge_l": "few_scores?share=0.50"}
