"""Names: which judgement a column is, and which labels it may hold."""

import doctest
from collections.abc import Sequence

import pytest

from ragstone.annotation import label_names as names
from ragstone.annotation.label_names import (
    NOT_THE_METRIC,
    Name,
    NoLabel,
    is_about_contexts,
    is_known,
    known_labels,
    label,
    name_of,
    named,
)


@pytest.mark.parametrize(
    ("column", "cells", "units", "shown", "about"),
    [
        ("helpful", [1], [], "helpful", "answer"),
        ("Helpful", [1], [], "helpful", "answer"),
        ("topically relevant", [1], ["context"], "topically_relevant", "context"),
        ("relevance.misleading", [1], ["context"], "misleading", "context"),
        ("grade", [3], ["context"], "grade", "context"),
        ("grade", [3], [], "grade", "anything"),
        ("support", ["absent"], ["claim"], "support", "proposition"),
        ("support", ["absent"], [], "support", "anything"),
        ("critique.harmfulness", [1], [], "critique.harmfulness", "answer"),
        ("rating.tone", [3], [], "rating.tone", "answer"),
        ("own.helpful", [1], [], "helpful", "anything"),
        ("tone", ["kind"], [], "tone", "anything"),
        ("mrr", [0.5], [], "mrr", "answer"),
        ("hit(k = 5)", [1], [], "hit(k=5)", "answer"),
        ("em", [1], [], "exact_match", "answer"),
        ("refusal", [1], [], "refusal", "answer"),
        ("cost", [2.5], [], "cost", "anything"),
        ("is_correct", [1], [], "is_correct", "anything"),
    ],
)
def test_a_column_is_the_judgement_of_its_name_where_the_rows_can_be_about_it(
    column: str, cells: Sequence[object], units: Sequence[str], shown: str, about: str
) -> None:
    name, _ = name_of(column, cells, frozenset(units))
    assert (name.shown, name.about) == (shown, about)


@pytest.mark.parametrize(
    ("cells", "kind", "noted"),
    [
        ([0.1, 0.9, 5], "metric", False),
        ([0.1, 4, 5], "own", True),
        ([1, 3, 5], "own", True),
        ([0.1, "often"], "own", True),
        ([0.1], "metric", False),
    ],
)
def test_a_column_is_a_metric_if_more_than_half_of_its_cells_are_values_of_it(
    cells: Sequence[object], kind: str, noted: bool
) -> None:
    name, note = name_of("faithfulness", cells, frozenset())
    assert name.kind == kind
    assert (NOT_THE_METRIC in note) is noted


def test_a_column_that_is_meant_is_the_metric_whatever_it_holds() -> None:
    name, _ = name_of("faithfulness", [1, 3, 5], frozenset(), meant=True)
    assert (name.kind, name.column) == ("metric", "faithfulness")


RELEVANT = named("relevance", "misleading")
GRADE = named("relevance", "grade")
SUPPORT = named("support", "verdict")
AGREEMENT = named("agreement", "verdict")
RATING = named("rating", "tone")
OUTCOME = named("metric", "answer_outcome")


@pytest.mark.parametrize(
    ("name", "unit", "cell", "value", "number"),
    [
        (RELEVANT, "1", "yes", "true", 1),
        (RELEVANT, "1", " NO ", "false", 0),
        (RELEVANT, "1", 1.0, "true", 1),
        (RELEVANT, "1", "0", "false", 0),
        (RELEVANT, "1", True, "true", 1),
        (GRADE, "1", "3", "3", 3),
        (GRADE, "1", 0, "0", 0),
        (SUPPORT, "claim 1", " Supported", "supported", None),
        (AGREEMENT, "claim 1", "extra", "extra", None),
        (AGREEMENT, "statement 1", "full", "full", None),
        (RATING, None, "4.5", "4.5", 4.5),
        (named("metric", "mrr"), None, "yes", "1", 1),
        (named("metric", "mrr"), None, 0.5, "0.5", 0.5),
        (named("metric", "hit(k=5)"), None, "no", "false", 0),
        (named("metric", "answer_relevance"), None, -1, "-1", -1),
        (OUTCOME, None, "I don't know", "dont_know", 0),
        (OUTCOME, None, "incorrect", "wrong", 0),
        (OUTCOME, None, True, "correct", 1),
        (OUTCOME, None, 0.5, "partial", 0.5),
        (Name("own", "tone"), None, "kind", "kind", None),
        (Name("own", "tone"), None, "yes", "yes", None),
    ],
)
def test_a_cell_holds_the_label_of_its_column(
    name: Name, unit: str | None, cell: object, value: str, number: float | None
) -> None:
    assert label(name, cell, unit) == (value, number)


@pytest.mark.parametrize(
    ("name", "unit", "cell", "expected"),
    [
        (RELEVANT, "1", "maybe", "yes, no, 0, 1, true or false"),
        (RELEVANT, "1", 2, "yes, no, 0, 1, true or false"),
        (GRADE, "1", 4, "a grade: 0, 1, 2 or 3"),
        (GRADE, "1", 1.5, "a grade: 0, 1, 2 or 3"),
        (GRADE, "1", True, "a grade: 0, 1, 2 or 3"),
        (SUPPORT, "claim 1", "maybe", "one of supported, contradicted, absent"),
        (AGREEMENT, "claim 1", "full", "one of matches, contradicts, extra"),
        (AGREEMENT, "statement 1", "extra", "one of full, partial, missing, contradicted"),
        (RATING, None, "good", "a number"),
        (RATING, None, True, "a number"),
        (RATING, None, "true", "a number"),
        (RATING, None, " FALSE ", "a number"),
        (named("metric", "mrr"), None, 1.5, "a number from 0 to 1"),
        (named("metric", "mrr"), None, "often", "a number from 0 to 1"),
        (named("metric", "answer_relevance"), None, "yes", "a number from -1 to 1"),
        (named("metric", "hit(k=5)"), None, 0.5, "yes, no, 0, 1, true or false"),
        (Name("own", "tone"), None, ["kind"], "a word, a number, true or false"),
        (named("metric", "mrr"), None, [1], "a value of the metric"),
        (named("metric", "hit(k=5)"), None, {"a": 1}, "a value of the metric"),
        (named("metric", "nothing of ours"), None, "often", "a value of the metric"),
        (named("metric", "nothing of ours"), None, ["1"], "a value of the metric"),
        (OUTCOME, None, "mostly", "one of correct, partial, wrong, dont_know, true or false"),
    ],
)
def test_what_is_no_label_is_told_what_would_be(
    name: Name, unit: str | None, cell: object, expected: str
) -> None:
    with pytest.raises(NoLabel) as caught:
        label(name, cell, unit)
    assert caught.value.expected == expected


@pytest.mark.parametrize("name", [RELEVANT, GRADE, SUPPORT, RATING, OUTCOME, Name("own", "tone")])
@pytest.mark.parametrize("cell", ["", "  ", "\n"])
def test_an_empty_cell_holds_no_label(name: Name, cell: str) -> None:
    assert label(name, cell, None) is None


@pytest.mark.parametrize(
    ("name", "known"),
    [
        (RELEVANT, True),
        (RATING, True),
        (named("rating", " "), False),
        (named("relevance", "colour"), False),
        (named("own", "colour"), True),
    ],
)
def test_a_judgement_is_known_by_kind_and_column(name: Name, known: bool) -> None:
    assert is_known(name) is known


@pytest.mark.parametrize(
    ("kind", "unit", "context"),
    [
        ("relevance", "anything", True),
        ("own", "3", True),
        ("own", "claim 3", False),
        ("support", "claim 1", False),
        ("support", "statement 1", False),
        (None, "d7", True),
    ],
)
def test_a_unit_is_a_context_unless_it_is_a_claim_or_statement(
    kind: str | None, unit: str, context: bool
) -> None:
    assert is_about_contexts(kind, unit) is context


def test_a_metric_that_is_not_there_has_any_number() -> None:
    """As after an own metric was left out of a call."""
    assert label(named("metric", "nothing of ours"), "3.50", None) == ("3.5", 3.5)


def test_every_known_label_is_the_name_of_its_judgement() -> None:
    found = known_labels()
    assert {"helpful", "misleading", "support", "topically_relevant"} <= set(found)
    assert all(str(named(*key)) == word for word, key in found.items())


def test_the_examples_in_its_documentation_are_true() -> None:
    assert doctest.testmod(names).failed == 0
