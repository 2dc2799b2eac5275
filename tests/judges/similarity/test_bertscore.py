"""BERTScore by hand, and what must always hold."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.core.errors import InputError, ModelError
from ragstone.judges.similarity import (
    Baseline,
    BertScores,
    bertscore,
    bertscore_grid,
    count_documents,
)
from ragstone.testing import ScriptedEncoder

START, END = "\0", "\1"

PLANE = ScriptedEncoder(
    {
        START: (0, 0, 1, 0),
        END: (0, 0, 0, 1),
        "east": (1, 0, 0, 0),
        "north": (0, 2, 0, 0),
        "northeast": (3, 3, 0, 0),
        "marker": (0, 0, 5, 0),
    },
    dimensions=4,
)
"""Words that point somewhere; special tokens that point elsewhere."""

WORDS = st.lists(st.sampled_from(["the", "old", "bridge", "opened", "in", "1932"]), max_size=6)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=5)
few = settings(max_examples=40)


def of(candidate: str, reference: str) -> tuple[float, float, float]:
    scores = bertscore(PLANE, [candidate], [reference])
    return scores.precision[0], scores.recall[0], scores.f1[0]


def test_each_token_is_matched_with_its_best() -> None:
    precision, recall, f1 = of("east north", "northeast")
    assert precision == pytest.approx(1 / sqrt(2))
    assert recall == pytest.approx(1 / sqrt(2))
    assert f1 == pytest.approx(1 / sqrt(2))
    precision, recall, f1 = of("east north", "east")
    assert precision == pytest.approx(1 / 2)
    assert recall == pytest.approx(1)
    assert f1 == pytest.approx(2 / 3)


def test_special_tokens_weigh_nothing_but_may_be_matched() -> None:
    assert of("marker", "east")[0] == pytest.approx(1), "the start of the reference matches it"
    assert of("marker", "east")[1] == pytest.approx(0)


def test_a_rare_token_weighs_more_than_a_common_one() -> None:
    references = ["east north", "east", "east", "east northeast"]
    idf = count_documents(PLANE, references)
    assert idf.documents == 4
    scores = bertscore(PLANE, ["east"], ["east north"], idf=idf)
    east, north = log(5 / 5), log(5 / 2)
    assert scores.recall[0] == pytest.approx((east * 1 + north * 0) / (east + north))
    idf = count_documents(PLANE, ["north", "east", "east north"])
    scores = bertscore(PLANE, ["north unseen"], ["north east"], idf=idf)
    north, unseen = log(4 / 3), log(4 / 1)
    best = PLANE.tokens(["unseen"])[0].vectors[1]
    reach = max(best / np.linalg.norm(best))
    assert scores.precision[0] == pytest.approx((north + unseen * reach) / (north + unseen))


def test_where_every_token_of_a_text_is_in_every_reference_they_weigh_the_same() -> None:
    idf = count_documents(PLANE, ["east north"])
    scores = bertscore(PLANE, ["east"], ["east north"], idf=idf)
    plain = bertscore(PLANE, ["east"], ["east north"])
    assert scores.precision == plain.precision == [1]
    assert scores.recall == plain.recall == [0.5]


@pytest.mark.parametrize(("one", "other"), [("", "east"), ("east", " \n"), ("", "")])
@pytest.mark.parametrize("baseline", [None, (0.5, 0.5, 0.5)])
def test_an_empty_side_has_0(one: str, other: str, baseline: Baseline | None) -> None:
    scores = bertscore(PLANE, [one], [other], baseline=baseline)
    grid = bertscore_grid(PLANE, [one, "north"], [other, "north"], baseline=baseline)
    for found in (scores.precision, scores.recall, scores.f1):
        assert found.tolist() == [0]
    for found in (grid.precision, grid.recall, grid.f1):
        assert found[0, 0] == 0
        assert found[1, 1] == pytest.approx(1)


def test_rescaling_puts_the_baseline_at_0_and_leaves_1_at_1() -> None:
    baseline = (0.5, 0.2, 0.4)
    scores = bertscore(PLANE, ["east", "east north"], ["east", "east"], baseline=baseline)
    assert scores.precision == pytest.approx([1, 0])
    assert scores.recall == pytest.approx([1, 1])
    assert scores.f1 == pytest.approx([1, (2 / 3 - 0.4) / 0.6])


def test_white_space_at_the_ends_is_cut_off() -> None:
    assert of("  east\n", "east\t") == (1, 1, 1)


def test_what_is_longer_than_the_model_can_read_is_cut_and_counted() -> None:
    short = ScriptedEncoder(PLANE.vectors, dimensions=4, longest=4)
    scores = bertscore(short, ["east north east", "east"], ["east north", "east"])
    assert scores.cut.tolist() == [True, False]
    assert scores.precision[0] == pytest.approx(1)


def test_layers_differ_and_one_that_is_not_there_is_refused() -> None:
    encoder = ScriptedEncoder(layers=2)
    by_layer = {
        layer: bertscore(encoder, ["the old bridge"], ["a red bridge"], layer=layer).f1[0]
        for layer in (None, 0, 1, 2)
    }
    assert by_layer[None] == by_layer[2]
    assert len(set(by_layer.values())) == 3
    with pytest.raises(ModelError, match="layers 0 to 2"):
        bertscore(encoder, ["a"], ["b"], layer=3)
    with pytest.raises(ModelError, match="whole texts only"):
        bertscore(ScriptedEncoder(layers=0, longest=0), ["a"], ["b"])


def test_pairs_must_pair() -> None:
    with pytest.raises(InputError, match="2 candidates"):
        bertscore(PLANE, ["a", "b"], ["c"])


def test_no_pair_has_no_score() -> None:
    assert bertscore(PLANE, [], []).f1.shape == (0,)
    assert bertscore_grid(PLANE, [], ["a", "b"]).f1.shape == (0, 2)


def columns(scores: BertScores) -> list[NDArray[np.float64]]:
    return [scores.precision, scores.recall, scores.f1]


@few
@given(TEXTS, TEXTS)
def test_a_grid_is_all_its_pairs(ones: list[str], others: list[str]) -> None:
    encoder = ScriptedEncoder()
    grid = bertscore_grid(encoder, ones, others)
    flat = bertscore(
        encoder, [one for one in ones for _ in others], [two for _ in ones for two in others]
    )
    for of_grid, of_pairs in zip(columns(grid), columns(flat), strict=True):
        assert of_grid.ravel() == pytest.approx(of_pairs, abs=1e-6)


@few
@given(TEXTS, TEXTS)
def test_precision_of_one_side_is_recall_of_the_other(ones: list[str], others: list[str]) -> None:
    encoder = ScriptedEncoder()
    grid, swapped = bertscore_grid(encoder, ones, others), bertscore_grid(encoder, others, ones)
    assert grid.precision == pytest.approx(swapped.recall.T, abs=1e-6)
    assert grid.f1 == pytest.approx(swapped.f1.T, abs=1e-6)


@few
@given(TEXTS)
def test_a_text_matches_itself(texts: list[str]) -> None:
    scores = bertscore(ScriptedEncoder(), texts, texts)
    expected = [1.0 if text else 0.0 for text in texts]
    for found in columns(scores):
        assert found == pytest.approx(expected, abs=1e-6)


@few
@given(st.data())
def test_the_order_of_pairs_does_not_matter(data: st.DataObject) -> None:
    text = WORDS.map(" ".join)
    pairs = data.draw(st.lists(st.tuples(text, text), min_size=1, max_size=5))
    order = data.draw(st.permutations(range(len(pairs))))
    encoder = ScriptedEncoder()
    these = bertscore(encoder, *map(list, zip(*pairs, strict=True)))
    those = bertscore(encoder, *map(list, zip(*(pairs[at] for at in order), strict=True)))
    for one, other in zip(columns(these), columns(those), strict=True):
        assert one[order].tolist() == other.tolist()


def test_a_pair_scores_the_same_whatever_is_held_in_memory_beside_it() -> None:
    ones = ["east", "north east", "", "northeast", "east"]
    others = ["north", "east", "east", "northeast east", "north"]
    huge = ScriptedEncoder(PLANE.vectors, dimensions=2**26)
    for one, other in zip(
        columns(bertscore(huge, ones, others)), columns(bertscore(PLANE, ones, others)), strict=True
    ):
        assert one.tolist() == other.tolist()


def test_a_large_grid_is_made_in_parts() -> None:
    chance = np.random.default_rng(1)
    texts = [" ".join(chance.choice(["east", "north", "northeast"], 100)) for _ in range(80)]
    grid = bertscore_grid(PLANE, texts, texts[::-1])
    pairs = bertscore(PLANE, texts, texts[::-1])
    for of_grid, of_pairs in zip(columns(grid), columns(pairs), strict=True):
        assert np.diagonal(of_grid) == pytest.approx(of_pairs, abs=1e-6)
