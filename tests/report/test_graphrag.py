"""The table of a GraphRAG report, from scores made by hand."""

from pathlib import Path

import polars as pl
import pytest

from ragstone.examples import Example, to_frame
from ragstone.metrics import SUITES, parse_metric
from ragstone.report.graphrag import graphrag_table

FORMS = {parse_metric(name).name: str(parse_metric(name)) for name in SUITES["graphrag"].names}
Row = tuple[str, str, float | None, str | None]
"""Example, metric, value and label; no value is a missing one."""


class Scores:
    """A run of three questions, two of them of a type, by system a; one by b."""

    path = Path("runs/a")

    def __init__(self, *rows: Row) -> None:
        self.rows = rows

    def examples(self) -> pl.DataFrame:
        types = {"1": "Fact", "2": "Reason", "3": None, "4": "Fact"}
        return to_frame([
            Example(id, f"q{id}", "b" if id == "4" else "a",
                    slices={"question_type": kind} if kind else {})
            for id, kind in types.items()
        ])  # fmt: skip

    def scores(self) -> pl.DataFrame:
        found = [
            (id, "b" if id == "4" else "a", FORMS.get(metric, metric), value, label,
             "missing" if value is None else "value")
            for id, metric, value, label in self.rows
        ]  # fmt: skip
        columns = ["example_id", "system", "metric", "value", "label", "status"]
        return pl.DataFrame(found, columns, orient="row").with_columns(pl.col("value").cast(float))


def table(*rows: Row) -> dict[tuple[str, str], dict[str, object]]:
    found = graphrag_table(Scores(*rows))  # type: ignore[arg-type]
    return {(row["method"], row["question_type"]): row for row in found.to_dicts()}


@pytest.mark.parametrize(
    ("mean", "letter"),
    [(1.0, "A"), (0.8, "A"), (0.799, "B"), (0.6, "B"), (0.59, "C"), (0.4, "C"), (0.39, "D"),
     (0.2, "D"), (0.19, "E"), (0.0, "E")],
)  # fmt: skip
def test_the_grade_is_the_letter_of_the_mean_accuracy(mean: float, letter: str) -> None:
    row = table(("1", "factual_accuracy", mean, None), ("1", "faithfulness", 0.5, None))
    assert row["a", "all"]["factual_accuracy_grade"] == letter
    assert row["a", "all"]["factual_accuracy_percent"] == round(100 * mean, 2)


def test_means_are_over_what_has_a_value_in_percent_with_two_decimals() -> None:
    """Of 1, 0 and 1 two thirds; a missing score is no zero."""
    rows = table(
        ("1", "faithfulness", 1.0, None), ("2", "faithfulness", 0.0, None),
        ("3", "faithfulness", 1.0, None), ("1", "precision", None, None),
    )  # fmt: skip
    assert rows["a", "all"]["faithfulness"] == 66.67
    assert rows["a", "Fact"]["faithfulness"] == 100.0
    assert rows["a", "all"]["context_precision"] is None
    assert rows["a", "all"]["factual_accuracy_grade"] is None


def test_types_stand_in_the_order_of_the_data_and_all_behind_them() -> None:
    """A question without a type counts among all alone."""
    rows = table(*(("4321"[at], "faithfulness", 1.0, None) for at in range(4)))
    assert list(rows) == [("b", "Fact"), ("b", "all"), ("a", "Reason"), ("a", "Fact"), ("a", "all")]


def test_outcomes_are_counted_where_there_are_any() -> None:
    words = {"1": "correct", "2": "wrong", "3": "correct", "4": "dont_know"}
    rows = table(
        *((id, "answer_outcome", 0.0, word) for id, word in words.items()),
        ("1", "faithfulness", 1.0, None),
    )
    counts = ("correct_count", "partial_count", "wrong_count", "dont_know_count")
    assert [rows["a", "all"][name] for name in counts] == [2, 0, 1, 0]
    assert [rows["b", "all"][name] for name in counts] == [0, 0, 0, 1]
    none = table(("1", "faithfulness", 1.0, None))["a", "all"]
    assert [none[name] for name in counts] == [None] * 4


def test_scores_of_other_metrics_are_left_out() -> None:
    rows = table(("1", "faithfulness", 1.0, None), ("4", "mrr", 1.0, None))
    assert list(rows) == [("a", "Fact"), ("a", "all")]
