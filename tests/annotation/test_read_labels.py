"""Reading what people said: every kind of label, every kind of file, and every fault."""

import gzip
import json
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.annotation.label_names import NoLabel, label, named
from ragstone.annotation.label_table import SCHEMA, LabelTable
from ragstone.annotation.raw_rows import in_words
from ragstone.annotation.read_labels import labels_of, read_label_table
from ragstone.core.errors import DataError
from ragstone.core.messages import Reason
from ragstone.data import Context, Example, read
from ragstone.judgements import Claims
from ragstone.metrics import Range, metric, register
from ragstone.report.reason_words import explain


def jsonl(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def said(table: LabelTable) -> list[tuple[Any, ...]]:
    return table.used.select("kind", "column", "unit", "value", "number").rows()


def faults(path: Path, columns: Mapping[str, str] | None = None) -> Sequence[Any]:
    with pytest.raises(DataError) as caught:
        read_label_table(path, columns=columns)
    return caught.value.faults


def test_every_label_of_the_taxonomy_is_read_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,annotator,context,topically_relevant,evidence_sufficient,misleading,grade,"
        "support_present,helpful,response_type\n"
        "q1,ann,d7,1,0,,2,,,\n"
        "q1,ann,,,,,,true,0,abstain\n"
    )
    table = read_label_table(path)
    assert table.frame.schema == pl.Schema(SCHEMA)
    assert said(table) == [
        ("relevance", "relevant", "d7", "true", 1),
        ("relevance", "sufficient", "d7", "false", 0),
        ("relevance", "grade", "d7", "2", 2),
        ("grounding", "support_present", None, "true", 1),
        ("quality", "helpful", None, "false", 0),
        ("response", "response_type", None, "abstain", None),
    ]
    assert table.annotators == ("ann",)


def test_claims_and_statements_are_judged_one_by_one(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "q1", "claim": 1, "support": "supported", "agreement": "extra"},
        {"id": "q1", "statement": 2, "support": "absent", "agreement": "partial"},
    ]
    assert said(read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))) == [
        ("support", "verdict", "claim 1", "supported", None),
        ("agreement", "verdict", "claim 1", "extra", None),
        ("support", "verdict", "statement 2", "absent", None),
        ("agreement", "verdict", "statement 2", "partial", None),
    ]


def test_statements_alone_are_judged_too(tmp_path: Path) -> None:
    row = {"id": "q1", "statement": 1, "support": "absent", "agreement": "full"}
    assert said(read_label_table(jsonl(tmp_path / "labels.jsonl", row))) == [
        ("support", "verdict", "statement 1", "absent", None),
        ("agreement", "verdict", "statement 1", "full", None),
    ]


@pytest.mark.parametrize(
    ("kind", "column", "unit", "value"),
    [
        ("relevance", "misleading", "d7", "true"),
        ("grounding", "source_cited", None, "true"),
        ("quality", "helpful", None, "false"),
        ("response", "response_type", None, "refuse"),
        ("support", "verdict", "claim 1", "absent"),
        ("agreement", "verdict", "statement 1", "full"),
        ("rating", "tone", None, "4"),
        ("critique", "harm", None, "true"),
        ("preference", "rival", None, "loss"),
        ("metric", "faithfulness", None, "0.5"),
        ("own", "helpful", None, "a bit"),
    ],
)
def test_a_label_is_named_by_its_kind_and_column_in_rows_long_and_wide(
    tmp_path: Path, kind: str, column: str, unit: str | None, value: str
) -> None:
    where = {"id": "q1", "unit": unit}
    wide = jsonl(tmp_path / "wide.jsonl", {**where, f"{kind}.{column}": value})
    long = jsonl(tmp_path / "long.jsonl", {**where, "kind": kind, "column": column, "value": value})
    for path in (wide, long):
        assert [one[:4] for one in said(read_label_table(path))] == [(kind, column, unit, value)]


def test_a_long_row_without_a_value_is_read_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,kind,column,value,number\nq1,rating,tone,,4\n")
    assert said(read_label_table(path)) == [("rating", "tone", None, "4", 4)]


def test_a_unit_is_known_however_its_number_is_written(tmp_path: Path) -> None:
    rows = [{"id": "q1", "unit": "claim 01", "tone": 1}, {"id": "q1", "claim": "02", "tone": 1}]
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert table.used["unit"].to_list() == ["claim 1", "claim 2"]


def test_whole_numbers_are_written_as_such_while_a_float_tells_them_apart() -> None:
    words = [str(said.value) for cell in (2**53 - 1, float(2**53)) if (said := in_words(cell))]
    assert words == ["9007199254740991", "9007199254740992.0"]


def test_ratings_critiques_and_preferences_name_their_column(tmp_path: Path) -> None:
    row = {"id": "q1", "rating.clarity": 4, "critique.harmfulness": "no", "preference": "win",
           "preference.rival": "tie"}  # fmt: skip
    assert said(read_label_table(jsonl(tmp_path / "labels.jsonl", row))) == [
        ("rating", "clarity", None, "4", 4),
        ("critique", "harmfulness", None, "false", 0),
        ("preference", "verdict", None, "win", None),
        ("preference", "rival", None, "tie", None),
    ]


def test_a_metric_is_known_by_its_name(tmp_path: Path) -> None:
    row = {"id": "q1", "faithfulness": 0.5, "ndcg(k=10)": 1, "answer_outcome": "don't know",
           "unsafe_content_": 1, "on_topic": "yes", "answer_relevancy": 0.25}  # fmt: skip
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", row))
    assert said(table)[:3] == [
        ("metric", "faithfulness", None, "0.5", 0.5),
        ("metric", "ndcg(k=10)", None, "1", 1),
        ("metric", "answer_outcome", None, "dont_know", 0),
    ]
    assert ("metric", "on_topic", None, "true", 1) in said(table)
    assert ("metric", "answer_relevance", None, "0.25", 0.25) in said(table)
    assert any("answer_relevancy is answer_relevance here" in explain(one) for one in table.notes)


@pytest.mark.parametrize(
    ("given", "word", "number"),
    [
        (True, "correct", 1),
        (False, "wrong", 0),
        (1, "correct", 1),
        (0, "wrong", 0),
        ("yes", "correct", 1),
        ("no", "wrong", 0),
        ("I don't know", "dont_know", 0),
        ("Correct", "correct", 1),
        ("partial", "partial", 0.5),
        (0.5, "partial", 0.5),
        ("incorrect", "wrong", 0),
        ("dont_know", "dont_know", 0),
    ],
)
def test_words_become_outcomes(tmp_path: Path, given: object, word: str, number: float) -> None:
    path = jsonl(tmp_path / "labels.jsonl", {"id": "q1", "correct": given})
    table = read_label_table(path, columns={"answer_outcome": "correct"})
    assert said(table) == [("metric", "answer_outcome", None, word, number)]


def test_values_beyond_a_metric_are_a_column_of_ones_own(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "labels.jsonl", {"id": "a", "faithfulness": 4}, {"id": "b"})
    table = read_label_table(path)
    assert said(table) == [("own", "faithfulness", None, "4", 4)]
    assert "faithfulness: values that the metric of this name cannot have" in explain(
        table.notes[0]
    )


def test_one_misspelt_cell_among_values_of_a_metric_is_a_fault(tmp_path: Path) -> None:
    words = ["correct", "partial", "wrong"] * 3
    rows = [{"id": str(n), "answer_outcome": word} for n, word in enumerate([*words, "corect"])]
    path = jsonl(tmp_path / "labels.jsonl", *rows)
    (fault,) = faults(path)
    assert (fault.line, fault.field, fault.got) == (10, "answer_outcome", "the text 'corect'")
    assert "correct, partial, wrong" in fault.expected.replace("one of ", "")
    with pytest.raises(DataError, match=r'columns={"own\.answer_outcome": COLUMN}'):
        read_label_table(path)
    own = read_label_table(path, columns={"own.answer_outcome": "answer_outcome"})
    assert own.columns == (("own", "answer_outcome"),)
    half = jsonl(tmp_path / "half.jsonl", *rows[:2], *({"id": "x", "answer_outcome": "?"},) * 2)
    assert read_label_table(half).columns == (("own", "answer_outcome"),)


def test_a_column_mapped_to_a_metric_has_its_values_or_faults(tmp_path: Path) -> None:
    ratings = [{"id": str(n), "faithfulness": n} for n in range(1, 5)]
    path = jsonl(tmp_path / "labels.jsonl", *ratings)
    found = faults(path, {"faithfulness": "faithfulness"})
    assert [str(fault).split("  ", 1)[1] for fault in found] == [
        f"faithfulness  expected a number from 0 to 1, got {n}" for n in (2, 3, 4)
    ]
    records = [{"id": "a", "labels": {"score": 3}}]
    with pytest.raises(DataError, match="from 0 to 1, got 3"):
        labels_of(records, columns={"faithfulness": "score"})


def test_a_sheet_returned_empty_says_that_no_cell_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,question,answer_outcome\na,ann,Why?,\nb,ann,Who?,\n")
    (fault,) = faults(path)
    assert fault.got == "only empty cells in answer_outcome"
    path.write_text("id,topic,answer_outcome\na,rivers,\n")
    assert read_label_table(path).notes == ("no_cell_filled?columns=answer_outcome",)
    path.write_text("id,kind,column,value\na,quality,helpful,\n")
    (fault,) = faults(path)
    assert fault.got == "only empty cells in value"
    path.write_text("id,verdict\na,\n")
    (fault,) = faults(path, {"answer_outcome": "verdict"})
    assert fault.got == "only empty cells in answer_outcome"


@pytest.mark.parametrize(
    ("column", "label"),
    [
        ("helpfull", "helpful"),
        ("Helpfull", "helpful"),
        ("topically relevent", "topically_relevant"),
        ("unsuported_claim_present", "unsupported_claim_present"),
        ("respons_type", "response_type"),
        ("tone", ""),
        ("helps", ""),
        ("supported", ""),
        ("support", ""),
        ("own.helpfull", ""),
    ],
)
def test_a_column_with_nearly_the_name_of_a_label_is_noted(
    tmp_path: Path, column: str, label: str
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"id,annotator,{column},clear\nq1,ann,1,1\nq1,ben,1,0\n")
    table = read_label_table(path)
    assert {kind for kind, _ in table.columns} == {"own"}
    said = [explain(note) for note in table.notes]
    told = f"{column}: taken as a column of your own. If it is the label {label}: "
    assert said == ([f'{told}columns={{"{label}": "{column}"}}.'] if label else [])


def test_a_column_that_is_mapped_to_the_label_it_resembles_is_that_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,helpfull\nq1,ann,1\n")
    for asked, kind in (("helpful", "quality"), ("own.helpfull", "own")):
        table = read_label_table(path, columns={asked: "helpfull"})
        assert [kind for kind, _ in table.columns] == [kind]
        assert table.notes == ()


def test_free_text_is_left_out_with_a_note(tmp_path: Path) -> None:
    rows = [{"id": str(n), "tone": "warm", "why": f"for reason {n}"} for n in range(30)]
    rows.append({"id": "x", "tone": "x" * 30, "why": "no"})
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert {column for _, column in table.columns} == {"tone"}
    assert "why: left out" in explain(table.notes[0])


def test_columns_that_repeat_the_example_are_no_labels(tmp_path: Path) -> None:
    row = {"id": "a", "question": "Why?", "answer": "So.", "system": "s", "stratum": "x",
           "tone": "dry"}  # fmt: skip
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", row))
    assert table.columns == (("own", "tone"),)
    assert not table.notes


def test_grade_and_support_are_ones_own_where_no_part_is_named(tmp_path: Path) -> None:
    table = read_label_table(
        jsonl(tmp_path / "labels.jsonl", {"id": "a", "grade": "B", "support": 1})
    )
    assert table.columns == (("own", "grade"), ("own", "support"))


def test_preference_is_ones_own_where_no_cell_is_a_win_loss_or_tie(tmp_path: Path) -> None:
    rows = [{"id": "a", "preference": "tea"}, {"id": "b", "preference": "milk"}]
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert table.columns == (("own", "preference"),)


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, inf, "a number from 0 on"),
        (-1, 4, "a number from -1 to 4"),
        (-inf, inf, "a number"),
        (-inf, 0, "a number up to 0"),
    ],
)
def test_a_word_for_a_value_of_ones_own_metric_is_told_its_range(
    low: float, high: float, expected: str
) -> None:
    def words_between() -> pl.Expr:
        """As wide as the range says."""
        return Claims.probability.mean()

    words_between.__name__ = f"between_{low}_{high}".replace("-", "minus_")
    own = register(metric(over=Claims, range=Range(low, high))(words_between))
    with pytest.raises(NoLabel) as caught:
        label(named("metric", own.name), "many", None)
    assert caught.value.expected == expected


def test_discarded_rows_are_kept_and_counted_and_not_used(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "annotator": "ann", "helpful": 1},
        {"id": "b", "annotator": "ann", "helpful": 1, "discard": "not English"},
        {"id": "c", "annotator": "ann", "discard": True},
        {"id": "d", "annotator": "ann", "helpful": 0, "discard": False},
        {"id": "b", "annotator": "ann", "helpful": 0},
    ]
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert table.frame.height == 5
    assert table.used["example_id"].to_list() == ["a", "d", "b"]
    assert table.discarded == {"not English": 1, "discarded": 1}
    assert table.n_discarded == 2


def test_notes_and_inclusion_probabilities_are_kept(tmp_path: Path) -> None:
    row = {"id": "a", "helpful": 1, "note": "borderline", "inclusion_probability": 0.25}
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", row))
    assert table.frame.select("note", "inclusion_probability").row(0) == ("borderline", 0.25)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    one = jsonl(tmp_path / "ann.jsonl", {"id": "a", "annotator": "ann", "helpful": 1})
    two = tmp_path / "ben.csv.gz"
    two.write_bytes(gzip.compress(b"id;annotator;helpful\na;ben;0\n"))
    three = tmp_path / "cem.parquet"
    pl.DataFrame({"id": ["a"], "annotator": ["cem"], "helpful": [True]}).write_parquet(three)
    table = read_label_table([one, two, three])
    assert table.annotators == ("ann", "ben", "cem")
    assert table.used["number"].to_list() == [1, 0, 1]


def test_a_sheet_that_is_half_filled_in_says_so(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,helpful\na,ann,1\nb,ann,\n")
    table = read_label_table(path)
    assert table.used.height == 1
    assert table.notes == ("rows_without_label?n=1&rows=2",)


@pytest.mark.parametrize(
    ("row", "field", "got"),
    [
        ({"annotator": "a", "helpful": 1}, "id", "null"),
        ({"id": "", "helpful": 1}, "id", "the text ''"),
        ({"id": True, "helpful": 1}, "id", "true"),
        ({"id": "x", "helpful": "quite"}, "helpful", "the text 'quite'"),
        ({"id": "x", "misleading": 1}, "misleading", "none"),
        ({"id": "x", "context": 1, "helpful": 1}, "helpful", "1"),
        ({"id": "x", "context": 1, "grade": 4}, "grade", "4"),
        ({"id": "x", "claim": 1, "support": "full"}, "support", "the text 'full'"),
        ({"id": "x", "claim": "It rained.", "support": "absent"}, "claim", "It rained."),
        ({"id": "x", "claim": 1, "context": 1, "tone": 1}, "context", "context and claim"),
        ({"id": "x", "annotator": 1.5, "helpful": 1}, "annotator", "1.5"),
        ({"id": "x", "annotator": "a"}, "", "the columns id, annotator"),
        ({"id": "x", "response_type": "shrug"}, "response_type", "the text 'shrug'"),
        ({"id": "x", "preference.b": "wim"}, "preference.b", "the text 'wim'"),
        ({"id": "x", "rating.tone": "good"}, "rating.tone", "the text 'good'"),
        ({"id": "x", "critique.rude": "perhaps"}, "critique.rude", "the text 'perhaps'"),
        ({"id": "x", "relevance.colour": 1}, "relevance.colour", "'colour'"),
        ({"id": "x", "kind": "verdict", "column": "c", "value": 1}, "kind", "'verdict'"),
        ({"id": "x", "helpful": 1, "inclusion_probability": 0}, "inclusion_probability", "0"),
        ({"id": "x", "helpful": 1, "inclusion_probability": 1.5}, "inclusion_probability", "1.5"),
        ({"id": "x", "helpful": 1, "note": 1.5}, "note", "1.5"),
        ({"id": "x", "context": 1.5, "tone": 1}, "context", "1.5"),
    ],
)
def test_a_wrong_row_is_a_fault(tmp_path: Path, row: dict[str, Any], field: str, got: str) -> None:
    (fault, *_) = faults(jsonl(tmp_path / "labels.jsonl", row))
    assert fault.line in (1, None)
    assert fault.field == field
    assert got in fault.got


def test_every_fault_of_every_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "a", "helpful": 2}\n[]\n{\n{"id": "", "helpful": 1}\n')
    assert [fault.line for fault in faults(path)] == [2, 3, 4, 1]


def test_two_labels_of_one_annotator_on_one_unit_are_set_aside_and_told(tmp_path: Path) -> None:
    row = {"id": "x", "annotator": "a", "helpful": 1}
    rows = [row, {**row, "helpful": 0, "incomplete": 0}, {**row, "id": "y"}, {**row, "id": "y"}]
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert table.used.select("example_id", "column", "value").rows() == [
        ("x", "incomplete", "false"), ("y", "helpful", "true"),
    ]  # fmt: skip
    assert table.set_aside == {"two_labels": 2, "same_twice": 1}
    assert (table.discarded, table.n_discarded, table.n_set_aside) == ({}, 0, 3)
    (note,) = map(explain, table.notes)
    assert "helpful of x by a" in note
    assert "labels.jsonl:1 and 2" in note
    apart = jsonl(tmp_path / "b.jsonl", row, {"id": "x", "annotator": "a", "incomplete": 0})
    assert read_label_table(apart).used.height == 2


@pytest.mark.parametrize(("n", "more"), [(3, ""), (5, " and 2 more")])
def test_three_labels_that_differ_are_named(tmp_path: Path, n: int, more: str) -> None:
    rows = [{"id": f"q{at}", "tone": tone} for at in range(n) for tone in ("dry", "warm")]
    (note,) = map(explain, read_label_table(jsonl(tmp_path / "labels.jsonl", *rows)).notes)
    assert [f"tone of q{at} by" in note for at in range(n)] == [at < 3 for at in range(n)]
    assert note.endswith(f"labels.jsonl:5 and 6){more}.")


def test_a_sample_holds_an_example_with_one_probability(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "x", "annotator": name, "helpful": 1, "inclusion_probability": p}
        for name, p in (("a", 0.5), ("b", 0.25))
    ]
    rows[1]["incomplete"] = rows[0]["incomplete"] = 0
    (fault,) = faults(jsonl(tmp_path / "labels.jsonl", *rows))
    assert (fault.line, fault.field) == (2, "inclusion_probability")


def test_files_that_hold_no_labels_are_faults(tmp_path: Path) -> None:
    (missing,) = faults(tmp_path / "no.csv")
    assert "none of this name" in missing.got
    (tmp_path / "empty.csv").write_text("")
    (empty,) = faults(tmp_path / "empty.csv")
    assert "at least one row" in empty.expected
    mapped = faults(jsonl(tmp_path / "a.jsonl", {"id": "x", "helpful": 1}), {"grade": "mark"})
    assert mapped[0].got == "the columns id, helpful"
    bare = tmp_path / "bare.csv"
    bare.write_text("id,annotator\nx,ann\n")
    (fault,) = faults(bare)
    assert (fault.line, fault.got) == (2, "the columns id, annotator")
    with pytest.raises(DataError) as caught:
        labels_of([{"id": "x", "labels": {}}])
    assert [(one.line, one.got) for one in caught.value.faults] == [(None, "none")]


JSON = json.dumps({"id": "q1", "helpful": 1})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels.tsv", "id\thelpful\nq1\t1\n"),
        ("labels.txt", "id\thelpful\tnote\nq1\t1\ta, b\n"),
        ("labels.txt", "id,helpful,note\nq1,1,a\tb\n"),
        ("labels", f"[{JSON}]"),
        ("labels", JSON),
        ("labels.json", f"[{JSON}]"),
    ],
)
def test_a_file_is_known_by_its_ending_or_by_how_it_begins(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    assert said(read_label_table(tmp_path / name)) == [("quality", "helpful", None, "true", 1)]


def test_a_parquet_file_of_any_name_is_read(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["q1"], "helpful": [True]}).write_parquet(tmp_path / "labels.pq")
    assert said(read_label_table(tmp_path / "labels.pq"))[0][1] == "helpful"


def test_a_data_set_is_read_by_what_its_records_carry(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "question": "?", "answer_a": "x", "labels": {"tone": {"ann": 4, "ben": 3}}},
        {"id": "b", "labels": {"tone": [2, None, 1], "tokens": ["w"] * 30}},
        {"id": "c", "labels": {}},
        {"id": "d", "labels": {"contexts": [{"misleading": 1}, None], "answer": {"helpful": 1},
                               "claims": [{"text": "c", "support": "absent"}],
                               "response_type": "answer"}},
    ]  # fmt: skip
    table = read_label_table(jsonl(tmp_path / "data.jsonl", *rows))
    assert table.used.select("example_id", "annotator", "column", "unit", "value").rows() == [
        ("a", "ann", "tone", None, "4"),
        ("a", "ben", "tone", None, "3"),
        ("b", "1", "tone", None, "2"),
        ("b", "3", "tone", None, "1"),
        ("d", "human", "misleading", "1", "true"),
        ("d", "human", "helpful", None, "true"),
        ("d", "human", "response_type", None, "answer"),
        ("d", "human", "verdict", "claim 1", "absent"),
    ]
    assert "tokens: no_single_values" in table.notes


def test_every_label_of_a_part_is_read_from_data() -> None:
    labels = {
        "contexts": [{"topically_relevant": 1, "evidence_sufficient": 0, "grade": 2}],
        "claims": [{"text": "c", "support": "absent", "agreement": "extra"}],
        "statements": [{"text": "s"}, {"text": "t", "support": "absent", "agreement": "full"}],
    }
    assert said(labels_of([{"id": "a", "labels": labels}])) == [
        ("relevance", "relevant", "1", "true", 1),
        ("relevance", "sufficient", "1", "false", 0),
        ("relevance", "grade", "1", "2", 2),
        ("support", "verdict", "claim 1", "absent", None),
        ("agreement", "verdict", "claim 1", "extra", None),
        ("support", "verdict", "statement 2", "absent", None),
        ("agreement", "verdict", "statement 2", "full", None),
    ]


def test_a_list_of_objects_by_a_name_of_ones_own_holds_no_labels() -> None:
    labels = {"tone": 3, "spans": [{"support": "absent"}, {"support": "absent"}]}
    table = labels_of([{"id": "a", "labels": labels}])
    assert table.columns == (("own", "tone"),)
    assert table.notes == ("spans: no_single_values",)


@pytest.mark.parametrize(("n", "votes"), [(20, 20), (21, 0)])
def test_a_list_of_more_than_twenty_values_holds_no_votes(n: int, votes: int) -> None:
    table = labels_of([{"id": "a", "labels": {"ok": 1, "tokens": [1] * n}}])
    assert table.of("own", "tokens").height == votes


def test_votes_on_something_that_is_called_answer_are_a_column_of_ones_own() -> None:
    table = labels_of([{"id": "a", "labels": {"answer": {"ann": 4, "ben": 3}}}])
    assert table.used.select("annotator", "kind", "column", "number").rows() == [
        ("ann", "own", "answer", 4),
        ("ben", "own", "answer", 3),
    ]


def test_an_example_made_by_hand_may_call_votes_as_it_likes() -> None:
    table = labels_of([Example("a", "a", "s", labels={"claims": [4, 3]})])
    assert table.used.select("annotator", "column", "number").rows() == [
        ("1", "claims", 4), ("2", "claims", 3),
    ]  # fmt: skip


def test_an_example_made_by_hand_may_hold_what_is_no_label() -> None:
    labels = {"tone": 3, "claims": [{"text": "x"}, 4], "contexts": "none"}
    table = labels_of([Example("a", "a", "s", labels=labels)])
    assert said(table) == [("own", "tone", None, "3", 3), ("own", "contexts", None, "none", None)]


def test_a_preference_is_one_as_soon_as_a_cell_is_a_win_loss_or_tie(tmp_path: Path) -> None:
    rows = [{"id": "a", "preference": "win"}, {"id": "b", "preference": "tea"}]
    (fault,) = faults(jsonl(tmp_path / "labels.jsonl", *rows))
    assert (fault.line, fault.field, fault.expected) == (2, "preference", "one of win, loss, tie")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("relevance.colour",
         "a column of relevance (grade, relevant, sufficient, misleading)"),
        ("support.colour", "a column of support (verdict)"),
        ("response.colour", "a column of response (response_type)"),
        ("rating. ", "a column of rating (any name)"),
        ("critique. ", "a column of critique (any name)"),
        ("own. ", "a column of own (any name)"),
    ],
)  # fmt: skip
def test_behind_a_kind_stands_a_column_of_its_table_or_any_name(
    tmp_path: Path, column: str, expected: str
) -> None:
    row = {"id": "a", "context": "d7", column: 1}
    (fault,) = faults(jsonl(tmp_path / "labels.jsonl", row))
    assert (fault.field, fault.expected) == (column, expected)


@pytest.mark.parametrize(
    ("kind", "column", "field", "expected"),
    [
        ("qualty", "helpful", "kind", "one of response, relevance, support, "
         "conversation_support, agreement, importance, grounding, quality, criteria, rating, "
         "critique, preference, metric, own"),
        ("own", None, "column", "the name of a column"),
    ],
)  # fmt: skip
def test_a_long_row_is_told_which_kinds_there_are(
    tmp_path: Path, kind: str, column: str | None, field: str, expected: str
) -> None:
    row = {"id": "a", "kind": kind, "column": column, "value": 1}
    (fault, *_) = faults(jsonl(tmp_path / "labels.jsonl", row))
    assert (fault.field, fault.expected) == (field, expected)


@pytest.mark.parametrize(("words", "kept"), [(20, True), (21, False)])
def test_a_column_of_ones_own_has_twenty_words_at_most(
    tmp_path: Path, words: int, kept: bool
) -> None:
    rows = [{"id": str(at), "tone": 1, "mood": f"mood {at % words}"} for at in range(2 * words)]
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert (("own", "mood") in table.columns) is kept
    assert bool(table.notes) is not kept


@pytest.mark.parametrize(("letters", "kept"), [(40, True), (41, False)])
def test_a_word_of_ones_own_has_forty_characters_at_most(
    tmp_path: Path, letters: int, kept: bool
) -> None:
    row = {"id": "a", "tone": 1, "mood": "x" * letters}
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", row))
    assert (("own", "mood") in table.columns) is kept


def test_numbers_of_ones_own_may_be_as_many_as_they_like(tmp_path: Path) -> None:
    rows = [{"id": str(at), "weight": at / 7} for at in range(50)]
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    assert len(table.of("own", "weight")) == 50


def test_only_a_file_that_has_nothing_but_ones_own_is_told_of_labels_left_empty(
    tmp_path: Path,
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,topic,mood,helpful,incomplete\na,rivers,,,\n")
    (note,) = map(Reason.read, read_label_table(path).notes)
    assert (note.code, note.facts["columns"].split()) == (
        "no_cell_filled", ["helpful", "incomplete"],
    )  # fmt: skip
    path.write_text("id,topic,mood,helpful,incomplete\na,rivers,,1,\n")
    assert read_label_table(path).notes == ()


def test_the_place_of_each_label_is_its_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,helpful,tone\na,1,3\nb,,\nc,0,\n")
    places = read_label_table(path).places
    assert places is not None
    assert places.rows() == [(str(path), 2), (str(path), 2), (str(path), 4)]
    records = [{"id": "a", "labels": {}}, {"id": "b", "labels": {"tone": [1, 2]}}]
    places = labels_of(records, source="mine").places
    assert places is not None
    assert places.rows() == [("mine", 2), ("mine", 2)]


def test_the_id_of_a_record_may_be_mapped() -> None:
    records = [{"id": 1, "key": "a", "labels": {"tone": 3}}, {"id": 2, "labels": {"tone": 4}}]
    table = labels_of(records, columns={"id": "key"})
    assert table.used["example_id"].to_list() == ["a", "2"]


@pytest.mark.parametrize("id", [True, 1.5, "", ["a"]])
def test_the_id_of_a_record_is_text_or_a_whole_number(id: object) -> None:
    with pytest.raises(DataError) as caught:
        labels_of([{"id": id, "labels": {"tone": 3}}])
    (fault,) = caught.value.faults
    assert fault.field == "id"


@pytest.mark.parametrize("id", [7, 7.0, "7"])
def test_whole_numbers_are_the_ids_of_label_files_too(tmp_path: Path, id: object) -> None:
    rows = [{"id": id, "labels.tone": 3}]
    pl.DataFrame(rows).write_parquet(tmp_path / "labels.parquet")
    for table in (read_label_table(tmp_path / "labels.parquet"), labels_of(rows)):
        assert table.used["example_id"].to_list() == ["7"]


def test_labels_of_data_stand_in_a_cell_or_in_columns_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('id,labels\na,"{""tone"": {""ann"": 4}}"\n')
    assert said(read_label_table(path)) == [("own", "tone", None, "4", 4)]
    path.write_text("id,labels.tone.ann,labels.tone.ben\na,4,3\n")
    assert read_label_table(path).used.select("annotator", "number").rows() == [
        ("ann", 4), ("ben", 3),
    ]  # fmt: skip
    for cell in ('"[4, 3]"', '"{""tone"": 4"'):
        path.write_text(f"id,labels\na,{cell}\n")
        assert faults(path)[0].field == "labels"


@pytest.mark.parametrize(
    ("columns", "cells"),
    [
        ("labels.answer.helpful,labels.response_type", "1,abstain"),
        ("labels.answer.helpful,labels.answer.incomplete", "true,FALSE"),
        ("contexts,labels.contexts", '"[""c""]","[{""misleading"": 1, ""grade"": 2}]"'),
        ("labels.tone.ann,labels.tone.ben", "4,dry"),
        ("labels.tone", '"[4, 3]"'),
        ("labels,labels.answer.helpful", '"{""answer"": {""incomplete"": 0}}",1'),
        ("labels.tone,labels.mood", "4,"),
    ],
)
def test_labels_in_columns_of_a_data_set_are_those_that_its_examples_carry(
    tmp_path: Path, columns: str, cells: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"id,answer,{columns}\na,A,{cells}\n")
    of_file = read_label_table(path)
    assert said(of_file)
    assert said(of_file) == said(labels_of(read(path)))


@pytest.mark.parametrize(
    ("columns", "cells", "field"),
    [
        ("labels.tone,labels.tone.ann", "3,4", "labels.tone.ann"),
        ("labels.answer.helpful", "maybe", "labels.answer.helpful"),
        ("labels.answer,labels.answer.helpful", "good,1", "labels.answer.helpful"),
    ],
)
def test_a_label_that_has_no_place_in_a_record_is_a_fault(
    tmp_path: Path, columns: str, cells: str, field: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"id,answer,{columns}\na,A,{cells}\n")
    assert faults(path)[0].field == field


def test_a_record_is_not_changed_by_reading_its_labels() -> None:
    record = {"id": "a", "labels": {"tone": {"ann": 4}}, "labels.tone.ben": 3, "labels.": 1}
    before = json.dumps(record)
    assert labels_of([record]).annotators == ("ann", "ben")
    assert json.dumps(record) == before


def test_examples_and_records_in_memory_are_read_alike() -> None:
    labels = {"correct": True, "contexts": [{"misleading": 1}]}
    example = Example("a", "a", "s", contexts=(Context("d", "t", 1),), labels=labels)
    columns = {"answer_outcome": "correct"}
    of_example = labels_of([example], columns=columns)
    of_record = labels_of([{"id": "a", "labels": labels}], columns=columns)
    assert of_example.frame.equals(of_record.frame)
    assert ("metric", "answer_outcome", None, "correct", 1) in said(of_example)


def test_wrong_labels_in_a_data_set_are_faults(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"id": "a", "labels": {"answer": {"helpful": "yes"}}})
    (fault, *_) = faults(path)
    assert fault.field == "labels.answer.helpful"


def test_rules_between_labels_are_flagged_and_never_mended(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "annotator": "ann", "context": 1, "topically_relevant": 0,
         "evidence_sufficient": 1},
        {"id": "a", "annotator": "ben", "context": 1, "topically_relevant": 1},
        {"id": "a", "annotator": "ann", "source_cited": 0, "fabricated_source": 1},
    ]  # fmt: skip
    table = read_label_table(jsonl(tmp_path / "labels.jsonl", *rows))
    broken = table.broken_rules()
    assert [(one.rule, one.severity, one.unit, one.annotator) for one in broken] == [
        ("evidence_requires_relevance", "block", "1", "ann"),
        ("fabricated_requires_cited", "block", None, "ann"),
    ]
    assert table.used["number"].to_list() == [0, 1, 1, 0, 1]


def test_the_shared_data_is_read_without_a_word(shared: Path) -> None:
    rated = read_label_table(shared / "data/rag_quality_mtrag/answers.jsonl.gz")
    assert rated.used["example_id"].n_unique() == 249
    assert {"a1", "a7"} <= set(rated.annotators)
    paired = read_label_table(shared / "data/pairwise_ragchecker/pairs.jsonl.gz")
    assert paired.annotators == ("1", "2")
    assert paired.used.height == 3 * 2 * 158
