"""What is written reads back as it was."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.annotation.label_export import Layout, write_adjudicated, write_labels
from ragstone.annotation.label_names import NoLabel, label, named
from ragstone.annotation.label_table import SCHEMA, LabelTable
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import InputError, UnknownName

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
UNITS = st.sampled_from(["1", "d7", "claim 1", "claim 3", "statement 1"])
NAMES = st.one_of(
    st.sampled_from(
        [
            ("relevance", "relevant"),
            ("relevance", "grade"),
            ("grounding", "source_cited"),
            ("quality", "helpful"),
            ("response", "response_type"),
            ("support", "verdict"),
            ("agreement", "verdict"),
            ("preference", "verdict"),
            ("preference", "rival"),
            ("critique", "rude"),
            ("rating", "tone"),
            ("metric", "faithfulness"),
            ("metric", "answer_outcome"),
            ("metric", "on_topic"),
            ("own", "helpful"),
            ("own", "note"),
            ("own", "grade"),
            ("own", "faithfulness"),
        ]
    ),
    st.tuples(st.just("own"), TEXT),
)
CELLS = st.one_of(
    st.booleans(),
    st.integers(-2, 5),
    st.floats(0, 1),
    st.sampled_from(["win", "tie", "supported", "absent", "matches", "partial", "abstain", "2"]),
    TEXT,
)


@st.composite
def tables(draw: st.DrawFn) -> LabelTable:
    """Labels as reading makes them: no two of an annotator on one unit."""
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    chances: dict[Any, float | None] = {}
    for _ in range(draw(st.integers(1, 6))):
        kind, column = draw(NAMES)
        name = named(kind, column)
        unit = draw(UNITS) if name.about == "anything" and draw(st.booleans()) else None
        if name.about == "context":
            unit = draw(st.sampled_from(["1", "d7"]))
        if name.about == "proposition":
            unit = draw(st.sampled_from(["claim 1", "statement 2"]))
        try:
            said = label(name, draw(CELLS), unit)
        except NoLabel:
            continue
        if said is None:
            continue
        id, annotator = (
            draw(st.sampled_from(["q1", "q 2", "é"])),
            draw(st.sampled_from(["", "ann"])),
        )
        chance = chances.setdefault((id, unit), draw(st.sampled_from([None, 0.5, 1.0])))
        note = draw(st.sampled_from([None, "a, b", 'he said "no"\nand left']))
        reason = draw(st.sampled_from([None, None, "unclear"]))
        key = (id, annotator, unit, name.kind, name.column, reason)
        rows[key] = (id, name.kind, name.column, unit, annotator, *said, chance, note, reason)
    return LabelTable("drawn", pl.DataFrame(list(rows.values()), schema=SCHEMA, orient="row"))


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_a_table_reads_back(tmp_path: Path, ending: str, layout: Layout, table: LabelTable) -> None:
    if table.frame.is_empty():
        return
    path = tmp_path / f"labels{ending}"
    write_labels(table, path, layout=layout)
    back = read_label_table(path).frame
    order = list(SCHEMA)
    assert back.sort(order).rows() == table.frame.sort(order).rows()


def test_an_example_that_was_set_aside_reads_back(tmp_path: Path) -> None:
    row = ("q1", None, None, None, "ann", None, None, None, None, "unclear")
    kept = ("q1", "quality", "helpful", None, "ben", "true", 1.0, None, None, None)
    table = LabelTable("", pl.DataFrame([row, kept], schema=SCHEMA, orient="row"))
    for layout in ("wide", "long"):
        write_labels(table, tmp_path / "labels.csv", layout=layout)
        assert read_label_table(tmp_path / "labels.csv").frame.rows() == [row, kept]


def test_a_wide_file_is_one_a_person_could_have_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,context,misleading,tone\nq1,ann,1,0,dry\nq1,ann,,,wet\n")
    write_labels(read_label_table(path), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text().splitlines() == [
        "id,annotator,context,claim,statement,misleading,tone,inclusion_probability,note,discard",
        "q1,ann,1,,,false,dry,,,",
        "q1,ann,,,,,wet,,,",
    ]


def test_a_column_of_ones_own_that_mostly_looks_like_a_metric_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,own.faithfulness\na,ann,1\nb,ann,0.5\nc,ann,4\n")
    table = read_label_table(path)
    write_labels(table, tmp_path / "again.csv")
    assert "own.faithfulness" in (tmp_path / "again.csv").read_text()
    assert read_label_table(tmp_path / "again.csv").frame.rows() == table.frame.rows()


def test_what_annotators_say_together_reads_back_as_one_annotator(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,helpful\na,ann,1\na,ben,1\nb,ann,1\nb,ben,0\n")
    out = tmp_path / "together.csv"
    write_adjudicated(read_label_table(path), out)
    assert "b,quality,helpful,,,,,2,true" in out.read_text()
    table = read_label_table(out)
    assert table.annotators == ("adjudicated",)
    assert table.used.select("example_id", "value").rows() == [("a", "true")]


@pytest.mark.parametrize(
    ("column", "plain"),
    [("support", True), ("grade", True), ("preference", True), ("helpful", False), ("mrr", False)],
)
def test_a_column_of_ones_own_keeps_its_name_where_it_is_taken_for_no_judgement(
    tmp_path: Path, column: str, plain: bool
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"id,annotator,own.{column}\nq1,ann,1\nq2,ann,0\n")
    table = read_label_table(path)
    write_labels(table, tmp_path / "again.csv")
    names = (tmp_path / "again.csv").read_text().splitlines()[0].split(",")
    assert (column in names, f"own.{column}" in names) == (plain, not plain)
    assert read_label_table(tmp_path / "again.csv").frame.rows() == table.frame.rows()


def test_a_long_file_has_a_row_for_each_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,context,misleading,tone\nq1,ann,1,0,dry\n")
    write_labels(read_label_table(path), tmp_path / "long.csv", layout="long")
    assert (tmp_path / "long.csv").read_text().splitlines() == [
        "example_id,kind,column,unit,annotator,value,number,inclusion_probability,note,discarded",
        "q1,relevance,misleading,1,ann,false,0.0,,,",
        "q1,own,tone,1,ann,dry,,,,",
    ]


def test_free_text_that_was_meant_as_labels_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    reasons = "".join(f"q{at},ann,for reason {at}\n" for at in range(30))
    path.write_text(f"id,annotator,own.why\n{reasons}")
    table = read_label_table(path)
    assert len(table.of("own", "why")) == 30
    write_labels(table, tmp_path / "again.csv")
    assert read_label_table(tmp_path / "again.csv").frame.rows() == table.frame.rows()


@pytest.mark.parametrize(
    ("discarded", "kept"), [("", [None, None]), ("spam", ["spam", None]), ("=1+1", ["=1+1", None])]
)
def test_a_label_that_somebody_gives_twice_in_two_rows_stands_in_two(
    tmp_path: Path, discarded: str, kept: list[str | None]
) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [
        {"id": "q1", "annotator": "ann", "tone": "dry", "discard": discarded},
        {"id": "q1", "annotator": "ann", "helpful": 1},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_labels(read_label_table(path), tmp_path / "again.csv")
    back = read_label_table(tmp_path / "again.csv").frame
    assert back["discarded"].to_list() == kept
    assert back["column"].to_list() == ["tone", "helpful"]


@pytest.mark.parametrize("name", ["labels", "labels.tone"])
def test_a_column_called_as_the_field_of_data_reads_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,verdict\na,ann,good\n")
    table = read_label_table(path, columns={f"own.{name}": "verdict"})
    assert table.columns == (("own", name),)
    write_labels(table, tmp_path / "again.csv")
    assert read_label_table(tmp_path / "again.csv").frame.rows() == table.frame.rows()


def test_a_column_of_a_table_has_the_type_of_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,annotator,stars,weight,ok,tone,mixed,liked\n"
        "a,ann,1,1,true,dry,1,true\n"
        "b,ann,2,0.5,false,warm,many,3\n"
        "c,ann,,,,,true,\n"
    )
    write_labels(read_label_table(path), tmp_path / "again.parquet")
    frame = pl.read_parquet(tmp_path / "again.parquet")
    labels = frame.select("stars", "weight", "ok", "tone", "mixed", "liked")
    assert labels.dtypes == [pl.Int64, pl.Float64, pl.Boolean, *[pl.String] * 3]
    assert labels.rows() == [
        (1, 1.0, True, "dry", "1", "true"),
        (2, 0.5, False, "warm", "many", "3"),
        (None, None, None, None, "true", None),
    ]


def test_another_layout_is_refused(tmp_path: Path) -> None:
    table = LabelTable("", pl.DataFrame(schema=SCHEMA))
    with pytest.raises(UnknownName, match="wide"):
        write_labels(table, tmp_path / "a.csv", layout="wided")  # type: ignore[arg-type]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    table = LabelTable("", pl.DataFrame(schema=SCHEMA))
    with pytest.raises(InputError, match=r"\.jsonl"):
        write_labels(table, tmp_path / "labels.xlsx")


@pytest.mark.parametrize("name", ["x.csv", "x.JSONL", "x.parquet", "x.json", "there"])
def test_several_files_are_not_put_into_a_folder_called_like_a_file(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "there").write_text("mine")
    (tmp_path / "labels.csv").write_text("id,annotator,helpful\n1,ann,1\n")
    table = read_label_table(tmp_path / "labels.csv")
    with pytest.raises(InputError, match=f"{name} is the name of a file. Name a folder"):
        write_labels(table, tmp_path / name, layout="per_task")
    assert {one.name for one in tmp_path.iterdir()} == {"there", "labels.csv"}
    write_labels(table, tmp_path / "v1.2", layout="per_task")
    assert (tmp_path / "v1.2" / "answers.csv").is_file()
