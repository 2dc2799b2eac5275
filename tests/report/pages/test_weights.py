"""The page of fitted weights: what its cells hold."""

from typing import Any

import pytest

from ragstone.analysis.composite_weights.fit_weights import Fit, FittedWeights, Weight
from ragstone.report.page import Bar, IntervalCell, Mark, Number, Row, RowName, Scale, quiet
from ragstone.report.pages.comparison_page import weights_page
from ragstone.report.render.terminal import as_text


def fitted(**known: Any) -> FittedWeights:
    facts: dict[str, Any] = {
        "sort": "preference", "run": "runs/a", "source": "people.csv", "start_name": "equal",
        "weights": (Weight("hit", 0.5, 0.75, 0.5, 1.0), Weight("mrr", 0.5, 0.0, 0.0, 0.25)),
        "start": Fit("equal()", 0.5, 0.75, 0.5, 0.875),
        "fitted": Fit("composite(x)", 0.25, 0.875, 0.75, 1.0), "gain": 0.25, "gain_low": 0.125,
        "gain_high": 0.375, "kept": "fitted", "why": "the gain is above 0", "n": 40,
        "n_questions": 20, "n_annotators": 1, "n_ties": 0, "left_out": {}, "n_left_out": 0,
        "excluded": {}, "folds": 5, "seed": 0, "level": 0.95,
    }  # fmt: skip
    return FittedWeights(**(facts | known))


def rows(found: FittedWeights, table: int) -> list[Row]:
    return weights_page(found).tables[table].rows


def said(found: FittedWeights) -> str:
    return " ".join(as_text(weights_page(found), 400).split())


def test_a_weight_stands_beside_what_it_was_and_how_far_it_goes() -> None:
    hit, mrr = rows(fitted(), 0)
    assert hit.cells[:4] == (
        RowName("hit"), Number(0.5, 2, tone="quiet"), Number(0.75, 2, strong=True),
        quiet("0.50 – 1.00"),
    )  # fmt: skip
    bar = hit.cells[4]
    assert isinstance(bar, Bar)
    assert ([part.size for part in bar.parts], bar.whole) == ([0.5, 0.25, 0.25], 1.0)
    assert mrr.cells[2] == Number(0.0, 2, tone="quiet")


def test_without_a_fit_there_are_no_weights() -> None:
    (hit, _) = rows(fitted(fitted=Fit(None, 0.5, None, None, None)), 0)
    assert hit.cells[2:4] == (Number(None, 2, strong=True), quiet("–"))


def test_concordance_is_drawn_from_chance_where_it_is_above() -> None:
    start, found, gain = rows(fitted(), 1)
    assert start.cells[2] == IntervalCell(0.75, 0.5, 0.875, Scale(0.5, 1), strong=False)
    assert found.cells[1] == IntervalCell(0.25, None, None, strong=False)
    assert gain.cells[1] == IntervalCell(0.25, 0.125, 0.375)
    below = fitted(start=Fit("equal()", 0.5, 0.75, 0.25, 0.875))
    drawn = rows(below, 1)[0].cells[2]
    assert isinstance(drawn, IntervalCell)
    assert drawn.scale == Scale(0, 1, (Mark(0.5, "chance"),))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "keep the fitted weights: the gain is above 0."),
        ({"kept": "start"}, "keep the starting weights"),
        ({}, "use ragstone score runs/a --metric 'composite(x)'"),
        ({"n_ties": 2}, "people 40 pairs on 20 questions, by 1 annotator; 2 ties"),
        ({"sort": "rating", "n": 1}, "people 1 rating on 20 questions"),
        ({"left_out": {"hit": 3}, "n_left_out": 3}, "3 pairs without a score: hit 3"),
        ({"excluded": {"words": "no range"}}, "excluded words: no range"),
        ({}, "folds 5 of whole questions, seed 0"),
    ],
)
def test_what_is_said_beside_the_tables(known: dict[str, Any], words: str) -> None:
    assert words in said(fitted(**known))


def test_the_starting_weights_are_named_where_there_is_room() -> None:
    page = weights_page(fitted(start_name="ragas_score"))
    assert page.tables[0].columns[1].head == "ragas_score"
    long = weights_page(fitted(start_name='composite(weights="hit:1")'))
    assert long.tables[0].columns[1].head == "start"
    assert "squared error" in said(fitted(sort="rating"))


def heads(found: FittedWeights, table: int) -> list[str]:
    return [column.head for column in weights_page(found).tables[table].columns]


def test_each_figure_of_a_fit_stands_under_its_head() -> None:
    assert heads(fitted(), 0) == ["metric", "equal", "fitted", "across folds", ""]
    scores = ["on held-out\nquestions", "log loss", "concordance"]
    assert heads(fitted(), 1) == scores
    assert heads(fitted(sort="rating"), 1) == [scores[0], "squared error", scores[2]]
    levels = [column.level for column in weights_page(fitted(level=0.9)).tables[1].columns]
    assert levels == [None, 0.9, 0.9]


@pytest.mark.parametrize(
    ("name", "head"), [("a" * 15, "a" * 15), ("a" * 16, "start"), ("ragas_score", "ragas_score")]
)
def test_a_name_of_the_starting_weights_heads_its_column_where_it_is_short(
    name: str, head: str
) -> None:
    assert heads(fitted(start_name=name), 0)[1] == head


def test_equal_weights_are_called_so_and_others_what_one_starts_from() -> None:
    names = [row.names for row in rows(fitted(), 1)]
    assert names == [["equal weights"], ["fitted weights"], ["gain"]]
    assert rows(fitted(start_name="ragas_score"), 1)[0].names == ["starting weights"]


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        (Weight("hit", 0.5, 0.75, 0.5, 1.0), [0.5, 0.25, 0.25]),
        (Weight("hit", 0.5, 0.25, 0.5, 0.75), [0.25, 0.0, 0.5]),
        (Weight("hit", 0.5, 0.5, 0.0, 0.25), [0.0, 0.5, 0.0]),
    ],
)
def test_a_bar_has_what_all_folds_agree_on_what_the_fit_adds_and_what_some_fold_adds(
    weight: Weight, parts: list[float]
) -> None:
    """The weight of the fit on all need not lie among those of the folds."""
    bar = rows(fitted(weights=(weight,)), 0)[0].cells[4]
    assert isinstance(bar, Bar)
    assert [part.size for part in bar.parts] == parts
    assert [part.level for part in bar.parts] == [0, 1, 5]


@pytest.mark.parametrize(
    ("start", "end", "above"),
    [(0.5, 0.5, True), (0.49, 0.6, False), (0.6, 0.49, False), (None, None, True)],
)
def test_the_scale_begins_at_chance_unless_anything_lies_below_it(
    start: float | None, end: float | None, above: bool
) -> None:
    found = fitted(start=Fit("equal()", 0.5, 0.75, start, 0.9), fitted=Fit("x", 0.5, 0.8, end, 1))
    for row in rows(found, 1)[:2]:
        drawn = row.cells[2]
        assert isinstance(drawn, IntervalCell)
        assert drawn.scale == (Scale(0.5, 1) if above else Scale(0, 1, (Mark(0.5, "chance"),)))


def test_nothing_left_out_is_not_told() -> None:
    assert "left out" not in said(fitted())
    assert "1 rating without a score: hit 1,000" in said(
        fitted(sort="rating", left_out={"hit": 1000}, n_left_out=1)
    )
    assert "tie" not in said(fitted(n_annotators=2))
    assert "by 2 annotators" in said(fitted(n_annotators=2))
