"""Words: what a cell of a label file says."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.annotation import raw_rows as words
from ragstone.annotation.raw_rows import LabelValue, in_words, number_in_words, plain_value


@pytest.mark.parametrize(
    ("cell", "value", "number"),
    [
        (True, "true", 1),
        (False, "false", 0),
        ("TRUE", "true", 1),
        (" False ", "false", 0),
        (0, "0", 0),
        (1, "1", 1),
        (3.0, "3", 3),
        (-0.0, "0", 0),
        (0.25, "0.25", 0.25),
        ("3", "3", 3),
        ("3.0", "3", 3),
        ("+3.", "3", 3),
        (".5", "0.5", 0.5),
        ("-2e1", "-20", -20),
        ("1E-2", "0.01", 0.01),
        (2**53, "9007199254740992.0", 2**53),
        ("yes", "yes", None),
        (" a bit ", "a bit", None),
        ("", "", None),
        ("3 of 5", "3 of 5", None),
        ("1,5", "1,5", None),
        ("0x10", "0x10", None),
        ("1_000", "1_000", None),
        ("nan", "nan", None),
        ("inf", "inf", None),
        ("1e999", "1e999", None),
        (".", ".", None),
    ],
)
def test_a_cell_is_a_truth_value_a_number_or_a_word(
    cell: object, value: str, number: float | None
) -> None:
    assert in_words(cell) == LabelValue(value, number)


@pytest.mark.parametrize(
    "cell", [None, [], {}, ["yes"], {"a": 1}, b"yes", float("nan"), float("inf"), -(10**400)]
)
def test_a_cell_that_is_neither_is_no_label(cell: object) -> None:
    assert in_words(cell) is None


@pytest.mark.parametrize(
    ("value", "number", "plain"),
    [
        ("true", 1.0, True),
        ("false", 0.0, False),
        ("3", 3.0, 3),
        ("0.5", 0.5, 0.5),
        ("supported", None, "supported"),
        ("correct", 1.0, "correct"),
        ("3", None, "3"),
    ],
)
def test_a_label_goes_to_json_as_what_it_is(
    value: str, number: float | None, plain: object
) -> None:
    found = plain_value(value, number)
    assert (found, type(found)) == (plain, type(plain))


@given(st.one_of(st.booleans(), st.integers(-(10**15), 10**15), st.floats(allow_nan=False)))
def test_a_number_read_from_its_words_is_the_number(cell: float) -> None:
    said = in_words(cell)
    if said is None:
        assert cell in (float("inf"), float("-inf"))
        return
    assert said.number == cell
    assert in_words(said.value) == said
    assert plain_value(*said) == cell


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_a_whole_number_is_written_without_a_point(number: int) -> None:
    assert number_in_words(float(number)) == str(number)


def test_the_examples_in_its_documentation_are_true() -> None:
    assert doctest.testmod(words).failed == 0
