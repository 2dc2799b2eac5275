"""The page of fitted weights: what its cells hold."""

from typing import Any

import pytest

from ragstone.decisions.weighing.weights import Fit, FittedWeights, Weight
from ragstone.report.page import Bar, IntervalCell, Mark, Number, Row, RowName, Scale, quiet
from ragstone.report.pages.weights import weights_page
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
        ({"left_out": {"hit": 3}, "n_left_out": 3}, "3 pairs for want of a score: hit 3"),
        ({"excluded": {"words": "no range"}}, "no part words: no range"),
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
