"""A row of a label file taken apart: whose it is, of what, and what is no label in it."""

import re
from collections.abc import Mapping
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.annotation.raw_rows import GivenRow, header_of, row_of, unit_kind
from ragstone.data.json_text import Problem
from tests.project import ROOT

FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
FIELDS = FORMATS.partition("## Fields and their names")[2].partition("Three names")[0]
BIG = 10**400


def row(cells: Mapping[str, object], columns: Mapping[str, str] | None = None) -> GivenRow:
    found, problems = row_of({"id": "q1", **cells}, "labels.csv", 7, columns or {})
    assert problems == []
    return found


def problem(cells: Mapping[str, object]) -> Problem:
    _, (found,) = row_of({"id": "q1", **cells}, "labels.csv", 7, {})
    return found


def names_of(field: str) -> list[str]:
    """The names that the page about formats gives a field, its own first."""
    (line,) = re.findall(rf"^\| .*`{field}`[^|]* \| (?!what)(.*)\|$", FIELDS, re.MULTILINE)
    return [field, *re.findall("`([a-z_]+)`", line.partition(";")[0])]


# ---------------------------------------------------------------- whose labels, and of what


@pytest.mark.parametrize("name", [*names_of("id"), "ID", "Example-ID", "sample id"])
def test_an_example_is_named_in_a_column_of_any_name_that_data_have_for_it(name: str) -> None:
    found, problems = row_of({name: "q1", "tone": 1}, "labels.csv", 7, {})
    assert (problems, found.id, found.labels) == ([], "q1", {"tone": 1})


@pytest.mark.parametrize("name", names_of("system"))
def test_a_system_is_named_as_in_data(name: str) -> None:
    assert row({name: "bm25"}).system == "bm25"
    assert row({name: "bm25"}).labels == {}


@pytest.mark.parametrize("name", ["annotator", "Annotator", "annotator_id", "annotatorId"])
def test_whoever_labels_is_named_in_a_column_of_two_names(name: str) -> None:
    found = row({name: "ann", "tone": 1})
    assert (found.annotator, found.labels) == ("ann", {"tone": 1})


def test_an_annotator_without_a_name_has_an_empty_one() -> None:
    assert row({}).annotator == ""
    assert row({"annotator": ""}).annotator == ""


@pytest.mark.parametrize(
    ("id", "expected"), [("q1", "q1"), (7, "7"), (0, "0"), (" q", " q"), ("é", "é")]
)
def test_an_id_is_text_or_a_whole_number(id: object, expected: str) -> None:
    assert row({"id": id}).id == expected


@pytest.mark.parametrize("id", [True, 1.5, ["q1"]])
def test_another_id_is_one_fault(id: object) -> None:
    assert problem({"id": id})[:2] == ("id", "text or a whole number")


@pytest.mark.parametrize("id", [None, ""])
def test_no_id_is_one_fault(id: object) -> None:
    assert problem({"id": id})[:2] == ("id", "the id of an example")


def test_of_two_columns_for_one_thing_the_first_that_says_something_counts() -> None:
    assert row({"annotator": None, "annotator_id": "ann"}).annotator == "ann"
    assert row({"annotator": "ann", "annotator_id": "ben"}).annotator == "ann"
    assert row({"annotator_id": "ben", "annotator": "ann"}).annotator == "ben"


def test_where_a_row_stands_is_kept() -> None:
    found = row({})
    assert (found.file, found.line) == ("labels.csv", 7)


# ---------------------------------------------------------------- units


@pytest.mark.parametrize(
    ("cells", "unit", "about"),
    [
        ({}, None, "answer"),
        ({"context": ""}, None, "answer"),
        ({"context": None, "claim": None}, None, "answer"),
        ({"context": "d7"}, "d7", "context"),
        ({"context_id": "d7"}, "d7", "context"),
        ({"context": 2}, "2", "context"),
        ({"context": 0}, "0", "context"),
        ({"context": "claim"}, "claim", "context"),
        ({"context": "claim x"}, "claim x", "context"),
        ({"context": "claim 3 of 4"}, "claim 3 of 4", "context"),
        ({"claim": 1}, "claim 1", "claim"),
        ({"claim": "3"}, "claim 3", "claim"),
        ({"claim": "03"}, "claim 3", "claim"),
        ({"claim": 3.0}, "claim 3", "claim"),
        ({"claim": "claim 3"}, "claim 3", "claim"),
        ({"statement": 1}, "statement 1", "statement"),
        ({"statement": "statement 1"}, "statement 1", "statement"),
        ({"unit": "d7"}, "d7", "context"),
        ({"unit": "statement 02"}, "statement 2", "statement"),
        ({"unit": "claim 2"}, "claim 2", "claim"),
        ({"context": "d7", "claim": ""}, "d7", "context"),
    ],
)
def test_a_row_is_about_the_unit_that_it_names(
    cells: dict[str, Any], unit: str | None, about: str
) -> None:
    found = row(cells)
    assert (found.unit, found.about) == (unit, about)


@pytest.mark.parametrize(
    ("cells", "field"),
    [
        ({"claim": "It rained."}, "claim"),
        ({"claim": "statement 1"}, "claim"),
        ({"claim": -1}, "claim"),
        ({"claim": 0}, "claim"),
        ({"claim": 10_001}, "claim"),
        ({"claim": "9" * 5000}, "claim"),
        ({"unit": "statement 0"}, "unit"),
        ({"claim": 1.5}, "claim"),
        ({"claim": True}, "claim"),
        ({"claim": ["1"]}, "claim"),
        ({"statement": "x"}, "statement"),
        ({"context": 1.5}, "context"),
        ({"context": True}, "context"),
        ({"unit": ["d7"]}, "unit"),
    ],
)
def test_another_cell_for_a_unit_is_a_fault(cells: dict[str, Any], field: str) -> None:
    assert problem(cells).field == field


@pytest.mark.parametrize(
    ("cells", "both"),
    [
        ({"context": 1, "claim": 1}, "context and claim"),
        ({"claim": 1, "statement": 1}, "claim and statement"),
        ({"context": 1, "claim": 1, "statement": 1}, "context and claim and statement"),
        ({"unit": "d7", "context": 1}, "context and unit"),
    ],
)
def test_a_row_is_about_one_unit(cells: dict[str, Any], both: str) -> None:
    assert problem(cells)[1:] == ("one of context, claim, statement and criterion", both)


@given(st.integers(1, 10**4), st.sampled_from(["claim", "statement"]))
def test_a_unit_by_its_number_and_by_its_name_is_the_same_one(number: int, of: str) -> None:
    by_number, by_name = row({of: number}), row({"unit": f"{of} {number}"})
    assert by_number.unit == by_name.unit == f"{of} {number}"
    assert unit_kind(f"{of} {number}") == of
    assert unit_kind(f"{of}{number}") == unit_kind(f"{of} -{number}") == "context"


# ---------------------------------------------------------------- what is no label


REPEATED = [
    name
    for field in ("question_id", "question", "contexts", "context_ids", "answer", "reference",
                  "history", "policy", "evidence", "reference_contexts", "slices", "meta")
    for name in names_of(field)
    if name not in ("context", "query_id")
]  # fmt: skip


@pytest.mark.parametrize("name", [*REPEATED, "text", "rank", "stratum", "tie", "n_votes"])
def test_what_repeats_the_example_for_the_reader_is_no_label(name: str) -> None:
    assert row({name: "1", "tone": "dry"}).labels == {"tone": "dry"}
    assert row({name.replace("_", " ").title(): "1"}).labels == {}


@pytest.mark.parametrize("name", ["text", "rank", "answer", "question"])
def test_what_the_user_maps_is_a_label_whatever_its_column_is_called(name: str) -> None:
    assert row({name: "1"}, {"own.words": name}).labels == {"own.words": "1"}


def test_what_the_user_maps_is_a_part_of_the_row_too() -> None:
    found = row(
        {"who": "ann", "passage": "d7", "tone": 1}, {"annotator": "who", "context": "passage"}
    )
    assert (found.annotator, found.unit, found.labels) == ("ann", "d7", {"tone": 1})


@pytest.mark.parametrize("cell", [None, "", " ", "\t\n"])
def test_an_empty_cell_is_no_label(cell: object) -> None:
    found = row({"tone": cell, "ok": 0, "no": False, "blank": []})
    assert found.labels == {"ok": 0, "no": False, "blank": []}


# ---------------------------------------------------------------- chances, notes, rows set aside


@pytest.mark.parametrize(
    ("cell", "chance"),
    [(None, None), ("", None), (0.25, 0.25), ("0.25", 0.25), (1, 1), ("1.0", 1), (1e-9, 1e-9)],
)
def test_a_sample_holds_an_example_with_a_chance_above_nought(
    cell: object, chance: float | None
) -> None:
    assert row({"inclusion_probability": cell}).inclusion_probability == chance


@pytest.mark.parametrize(
    "cell", [0, -0.5, 1.0000001, "half", True, "true", nan, inf, [0.5], BIG, " "]
)
def test_another_chance_is_a_fault(cell: object) -> None:
    found = problem({"inclusion_probability": cell})
    assert found[:2] == ("inclusion_probability", "a probability above 0, at most 1")


@pytest.mark.parametrize(("cell", "note"), [("so so", "so so"), ("", None), (None, None), (3, "3")])
def test_a_note_is_kept_and_is_no_label(cell: object, note: str | None) -> None:
    found = row({"note": cell})
    assert (found.note, found.labels) == (note, {})


@pytest.mark.parametrize("name", ["discard", "Discarded"])
@pytest.mark.parametrize("cell", [True, 1, 1.0, "1", "true", "TRUE", "yes", " Yes "])
def test_a_row_that_is_discarded_without_a_reason_is_discarded(name: str, cell: object) -> None:
    assert row({name: cell}).discarded == "discarded"


@pytest.mark.parametrize(
    "cell", [None, "", " ", False, 0, 0.0, "0", "false", "no", "No", "NO ", nan, [], {"a": 1}]
)
def test_a_row_that_is_not_discarded_counts(cell: object) -> None:
    assert row({"discard": cell}).discarded is None


@pytest.mark.parametrize(
    ("cell", "reason"), [(" not English ", "not English"), ("none of it", "none of it"), (2, "2")]
)
def test_a_row_may_be_discarded_for_a_reason(cell: object, reason: str) -> None:
    assert row({"discard": cell}).discarded == reason


# ---------------------------------------------------------------- long rows and data


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        ({"kind": "quality", "column": "helpful", "value": 1}, {"quality.helpful": 1}),
        ({"Kind": "own", "COLUMN": 3, "Value": "dry"}, {"own.3": "dry"}),
        ({"kind": "rating", "column": "tone", "value": None, "number": 4}, {"rating.tone": 4}),
        ({"kind": "rating", "column": "tone", "value": None}, {}),
        ({"kind": None, "column": None, "value": 1}, {}),
        ({"kind": "own", "column": "tone", "value": 0, "helpful": 1}, {"own.tone": 0}),
    ],
)
def test_a_long_row_is_one_label(cells: dict[str, Any], labels: dict[str, Any]) -> None:
    assert row(cells).labels == labels


@pytest.mark.parametrize(
    ("kind", "column", "field"),
    [
        ("qualty", "helpful", "kind"),
        (None, "helpful", "kind"),
        ("quality", None, "column"),
        ("quality", 1.5, "column"),
        ("citations", "context", "kind"),
        ("claims", "text", "kind"),
        (["own"], "tone", "kind"),
    ],
)
def test_a_long_row_names_a_kind_that_people_label_and_a_column(
    kind: object, column: object, field: str
) -> None:
    assert problem({"kind": kind, "column": column, "value": 1}).field == field


@pytest.mark.parametrize(
    ("names", "is_long", "is_data"),
    [
        (["id", "kind", "column", "value"], True, False),
        (["id", "Kind", "Column ", "VALUE", "note"], True, False),
        (["id", "kind", "value"], False, False),
        (["id", "kind", "column"], False, False),
        (["id", "column", "value"], False, False),
        (["id", "labels"], False, True),
        (["id", "labels.tone.ann"], False, True),
        (["id", "label", "my labels"], False, False),
        (["id", "Labels"], False, False),
    ],
)
def test_the_columns_say_what_sort_of_file_it_is(
    names: list[str], is_long: bool, is_data: bool
) -> None:
    header = header_of(dict.fromkeys(names), {})
    assert (header.is_long, header.is_data) == (is_long, is_data)


@pytest.mark.parametrize(
    ("cell", "system"),
    [("bm25", "bm25"), (2, "2"), (0, "0"), ("", None), (True, None), (1.5, None), (None, None)],
)
def test_a_system_is_text_or_a_whole_number(cell: object, system: str | None) -> None:
    row, _ = row_of({"id": "q1", "system": cell}, "labels.csv", 1, {})
    assert row.system == system
