"""Inert: each door's function on what data may say."""

import csv
import io
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.escape import (
    cell,
    cell_read,
    csv_table,
    html,
    json_text,
    markdown,
    single_line,
    visible,
    xml,
)

TEXTS = st.text(st.sampled_from("'=+-@\t\r\n1.5eE ab＝\x00\x1b\u202e|<\\"), max_size=8)


def test_what_is_not_seen_has_a_sign_one_for_one() -> None:
    assert (
        visible("a\x00b\x1b[1mc\x7f\x9b\u202ed\ud800\n\te") == "a␀b␛[1mc␡\ufffd\ufffdd\ufffd\n\te"
    )


def test_joiners_accents_and_scripts_stay() -> None:
    kept = "می‌خواهم 👩‍🚀 é हिन्दी 日本語"
    assert visible(kept) == kept


def test_a_line_stays_a_line() -> None:
    assert single_line(" a\n\n PASS\r\nb\u2028c\x0bd ") == "a PASS b c d"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# head", "\\# head"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("[a](javascript:b)", "\\[a\\](javascript:b)"),
        ("a|b\nc", "a\\|b c"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("@all `x` ~~y~~", "&#64;all \\`x\\` \\~\\~y\\~\\~"),
        ("0.85", "0.85"),
    ],
)
def test_nothing_is_markdown(text: str, expected: str) -> None:
    assert markdown(text) == expected


def test_nothing_is_a_tag_nor_ends_an_attribute() -> None:
    assert html("<a b='\"'>\x1b") == "&lt;a b=&#x27;&quot;&#x27;&gt;␛"
    assert xml("a\ufffe\x0c<") == "a\ufffd␌<"


@given(st.recursive(st.none() | st.text(), st.lists))
def test_json_is_the_same_value(value: object) -> None:
    text = json_text(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert visible(text) == text


@pytest.mark.parametrize("number", ["-1", "+2.5", "-.5", "-1e-9", "3."])
def test_a_number_stays_one(number: str) -> None:
    assert cell(number) == number


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@a", "\tx", "\rx", "-1+cmd()", "＝1", "'=1"])
def test_a_formula_is_made_inert(text: str) -> None:
    assert cell(text) == f"'{text}"


@given(TEXTS)
def test_a_cell_reads_back_as_it_was(text: str) -> None:
    assert cell_read(cell(text)) == text


def test_a_table_is_inert_and_its_numbers_are_numbers() -> None:
    table = pl.DataFrame({"=a": ["=1", None, "b"], "n": [-1.5, 2.0, None]})
    rows = list(csv.reader(io.StringIO(csv_table(table).write_csv())))
    assert rows == [["'=a", "n"], ["'=1", "-1.5"], ["", "2.0"], ["b", ""]]
