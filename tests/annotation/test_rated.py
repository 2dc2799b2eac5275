"""Ratings on people's own scales become values of a metric, where values are asked for."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.read_labels import labels_of, read_label_table
from ragstone.core.errors import DataError, InputError
from ragstone.core.messages import in_shell
from ragstone.report.reason_words import explain, words


def rated(
    path: Path,
    *cells: object,
    column: str = "faithfulness",
    scales: Mapping[str, tuple[float, float]] | None = None,
    columns: Mapping[str, str] | None = None,
) -> LabelTable:
    rows = [{"id": f"q{at}", "annotator": "ann", column: cell} for at, cell in enumerate(cells)]
    file = path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_label_table(file, scales={} if scales is None else scales, columns=columns)


def numbers(table: LabelTable) -> list[float]:
    assert table.columns == (("metric", "faithfulness"),)
    return table.used["number"].to_list()


@pytest.mark.parametrize(
    ("cells", "values", "scale"),
    [
        ([4, 1, 2.5, "3"], [1, 0, 1 / 2, 2 / 3], "1 to 4"),
        ([1, 5, 2, 4], [0, 1, 1 / 4, 3 / 4], "1 to 5"),
        ([100, 0, 85, 20], [1, 0, 0.85, 0.2], "0 to 100"),
    ],
)
def test_a_usual_scale_is_guessed_and_told(
    tmp_path: Path, cells: Sequence[object], values: Sequence[float], scale: str
) -> None:
    table = rated(tmp_path, *cells)
    assert numbers(table) == pytest.approx(values)
    (note,) = table.notes
    assert f"from {scale}, brought to 0 to 1" in explain(note)
    assert 'scales={"faithfulness": (FIRST, LAST)}' in explain(note)
    assert "--scale faithfulness=FIRST:LAST" in in_shell(words(note))


def test_the_scale_that_is_named_goes_before_every_guess(tmp_path: Path) -> None:
    table = rated(tmp_path, 1, 4, 2, scales={"faithfulness": (1, 5)})
    assert numbers(table) == pytest.approx([0, 3 / 4, 1 / 4])
    assert table.notes == ("faithfulness: ratings?first=1&last=5&low=0&high=1",)
    grades = rated(tmp_path, 1, 6, 2, scales={"faithfulness": (6, 1)})
    assert numbers(grades) == pytest.approx([1, 0, 4 / 5])
    values = rated(tmp_path, 1, 0, 1, scales={"faithfulness": (0, 2)})
    assert numbers(values) == pytest.approx([1 / 2, 0, 1 / 2])


def test_a_column_of_another_name_can_be_mapped_and_rated(tmp_path: Path) -> None:
    table = rated(tmp_path, 1, 5, column="stars", columns={"faithfulness": "stars"})
    assert numbers(table) == [0, 1]


@pytest.mark.parametrize(
    "cells",
    [[1, 2, 3], [0, 7, 10], [-1, 4, 2], [1, 4, "good"], [4, 2, "true"], [4, 2, True], [2, 3, 101]],
)
def test_what_is_of_no_one_usual_scale_is_not_guessed(
    tmp_path: Path, cells: Sequence[object]
) -> None:
    table = rated(tmp_path, *cells)
    assert table.columns == (("own", "faithfulness"),)
    assert "scales=" in explain(table.notes[0])


def test_a_misspelt_value_is_a_fault_and_no_scale(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        rated(tmp_path, 1, 0, 0.5, 1, 4)
    (fault,) = caught.value.faults
    assert (fault.line, fault.expected) == (5, "a number from 0 to 1")


def test_a_rating_off_the_scale_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        rated(tmp_path, 1, 5, True, "high", "true", scales={"faithfulness": (1, 4)})
    faults = [(one.line, one.expected) for one in caught.value.faults]
    assert faults == [(line, "a rating from 1 to 4") for line in (2, 3, 4, 5)]


def test_agreement_keeps_ratings_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("id,annotator,faithfulness\nq1,ann,1\nq2,ann,5\n", encoding="utf-8")
    table = read_label_table(file)
    assert table.columns == (("own", "faithfulness"),)
    assert table.used["value"].to_list() == ["1", "5"]
    (note,) = table.notes
    assert explain(note).endswith("taken as a column of your own.")


def test_values_of_a_metric_by_another_name_are_asked_for_no_scale(tmp_path: Path) -> None:
    (note,) = rated(tmp_path, 0.25, 1, column="answer_relevancy").notes
    assert "answer_relevance" in note
    assert "scales=" not in explain(note)


def test_labels_in_data_are_rated_too() -> None:
    records = [
        {"id": "a", "labels": {"faithfulness": 2}},
        {"id": "b", "labels": {"faithfulness": 4}},
    ]
    assert numbers(labels_of(records, scales={})) == pytest.approx([1 / 3, 1])


def test_what_no_scale_can_be_of_is_one_fault_each(tmp_path: Path) -> None:
    wrong: dict[str, tuple[float, float]] = {
        "nothing": (1, 5), "unsupported_claim": (1, 5), "faithfulness": (3, 3), "precision": (1, 5),
    }  # fmt: skip
    with pytest.raises(InputError) as caught:
        rated(tmp_path, 1, 5, scales=wrong)
    told = str(caught.value)
    for said in ("nothing is no metric", "unsupported_claim is yes or no", "such as 1:5, got (3,",
                 "No column is of precision"):  # fmt: skip
        assert said in told


@pytest.mark.parametrize("word", ["yes", "YES", "1", "true", 1, True])
def test_yes_is_one_in_every_column_of_yes_or_no(tmp_path: Path, word: object) -> None:
    for column in ("unsupported_claim_present", "helpful", "unsupported_claim", "critique.harm"):
        table = rated(tmp_path, word, column=column)
        assert table.used.select("value", "number").rows() == [("true", 1)]


def test_no_is_nought_of_contexts_and_of_a_metric_from_0_to_1(tmp_path: Path) -> None:
    file = tmp_path / "contexts.csv"
    file.write_text("id,context,topically_relevant,misleading\nq1,1,yes,No\n", encoding="utf-8")
    assert read_label_table(file).used["number"].to_list() == [1, 0]
    assert numbers(rated(tmp_path, "no", "yes", 0.5)) == [0, 1, 0.5]
    assert rated(tmp_path, "yes", column="answer_outcome").used["value"].to_list() == ["correct"]


def test_another_word_for_yes_or_no_is_a_fault_that_says_what_is_read(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        rated(tmp_path, "yes", "perhaps", column="helpful")
    (fault,) = caught.value.faults
    assert (fault.line, fault.expected) == (2, "yes, no, 0, 1, true or false")
