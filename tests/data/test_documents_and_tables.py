"""JSON documents, CSV, Parquet, Arrow, pandas and Polars hold the same examples."""

import gzip
import io
import json
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, formats, read
from ragstone.data.file_formats.json_documents import WINDOW

ROWS: list[dict[str, Any]] = [
    {"question": "q", "answer": "a", "contexts": ["c", "d"]},
    {"question": "r", "answer": "b", "contexts": []},
]
EXPECTED = list(read(ROWS))


@pytest.mark.parametrize(
    "document",
    [
        ROWS,
        {"results": ROWS},
        {"version": {"a": [1]}, "data": ROWS, "note": "end"},
        {"examples": ROWS},
        {"questions": ROWS},
        {"test_cases": ROWS},
        {"testCases": ROWS},
        {"records": ROWS},
        {"rows": ROWS},
        {"question": ["q", "r"], "answer": ["a", "b"], "contexts": [["c", "d"], []]},
        {
            "question": {"0": "q", "1": "r"},
            "answer": {"0": "a", "1": "b"},
            "contexts": {"0": ["c", "d"], "1": []},
        },
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_may_be_wrapped(tmp_path: Path, document: Any, indent: int | None) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document, indent=indent))
    assert list(read(path)) == EXPECTED


@pytest.mark.parametrize(
    ("columns", "n"),
    [
        ({"question": ["q", "r"], "reference": ["a", "b"]}, 2),
        ({"Answer": ["a", "b"], "contexts": [["c"], []]}, 2),
        ({"question": "q", "answer": "a", "meta": {"x": 1}}, 1),
        ({"user_input": [{"role": "user", "content": "q"}], "reference": "a"}, 1),
    ],
)
def test_an_object_of_columns_has_a_question_or_an_answer_and_nothing_but_lists(
    columns: Any, n: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(columns))
    assert len(list(read(path))) == n


def test_one_record_and_records_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ROWS[0], indent=1))
    assert list(read(path)) == EXPECTED[:1]
    path.write_text("\n".join(json.dumps(row) for row in ROWS))
    assert list(read(path)) == EXPECTED
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ROWS, indent=1))
    assert list(read(path)) == EXPECTED


def test_results_by_type_take_the_question_type_from_it(tmp_path: Path) -> None:
    item = {"question": "q", "gold_answer": "g", "generated_answer": "a", "context": "c"}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"type1": [item], "type3": [item, item]}))
    examples = read(path)
    assert [e.facet("question_type") for e in examples] == ["type1", "type3", "type3"]
    assert examples.format == "graphrag-bench-results"
    assert next(iter(examples)).contexts == (Context("1", "c", 1),)


def test_only_results_by_type_take_a_type_from_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"results": [{"question": "q", "answer": "a", "evidence": ["e"]}]}))
    (example,) = read(path)
    assert (example.answer, example.facet("question_type")) == ("a", None)
    path.write_text(json.dumps({"type1": [ROWS[0], 7]}))
    examples = read(path, skip_bad=True)
    assert [one.facet("question_type") for one in examples] == ["type1"]
    assert [one.record for one in examples.rejected] == ["7"]


def test_lines_of_a_document_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"results": [\n{"answer": "a"},\n\n{"answer": {}}\n]}')
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert [(f.line, f.field) for f in caught.value.faults] == [(4, "answer")]
    path.write_text('\n[{"answer": {}},\n{"answer": true}]')
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert [(f.line, f.got) for f in caught.value.faults] == [
        (2, "an object with no fields, in element 1"),
        (3, "true (a truth value), in element 2"),
    ]


@pytest.mark.parametrize("before", [0, 1, 200, WINDOW - 20, WINDOW, 3 * WINDOW])
def test_a_rejected_element_is_kept_as_it_stands_wherever_it_stands(
    before: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    bad = '["' + "x" * 300 + '"]'
    path.write_text('[{"answer": "' + "a" * before + '"},\n' + bad + ',\n{"answer": "b"}, 7]')
    examples = read(path, skip_bad=True)
    assert [len(example.answer or "") for example in examples] == [before, 1]
    assert [(one.line, one.record) for one in examples.rejected] == [(2, bad), (3, "7")]


def test_lists_in_cells_are_json_text_or_one_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    cells = ['["a", "b"]', "one text", "[1] a text", "[]", "", "['a', 'b']"]
    frame = pd.DataFrame({"answer": ["x"] * len(cells), "contexts": cells})
    frame.to_csv(path, index=False)
    found = [e.contexts for e in read(path)]
    texts = [None if contexts is None else [c.text for c in contexts] for contexts in found]
    assert texts == [["a", "b"], ["one text"], ["[1] a text"], [], None, ["a", "b"]]


def test_csv_with_semicolons_tabs_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id;answer\n1;"two\nlines, ""quoted"""\n2;b\n')
    assert [e.answer for e in read(path)] == ['two\nlines, "quoted"', "b"]
    path = tmp_path / "a.tsv"
    path.write_text("Query\tDocument\tAnswer\tContext_Relevance_Label\nq\td\ta\t1\n")
    (example,) = read(path)
    assert (example.question, example.answer) == ("q", "a")
    assert example.slices == {"Context_Relevance_Label": "1"}


def test_labels_in_columns_of_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("answer,labels.answer.helpful,labels.answer.incomplete\na,1,False\nb,yes,\n")
    with pytest.raises(DataError, match="helpful"):
        list(read(path))
    good = next(iter(read(path, skip_bad=True)))
    assert good.labels == {"answer": {"helpful": 1, "incomplete": False}}


def as_kind(kind: str) -> bytes:
    """The rows as a file of this kind."""
    frame = pl.DataFrame(
        [{**row, "contexts": json.dumps(row["contexts"])} if kind in ("csv", "tsv") else row
         for row in ROWS]
    )  # fmt: skip
    file = io.BytesIO()
    match kind:
        case "jsonl":
            return "".join(json.dumps(row) + "\n" for row in ROWS).encode()
        case "json":
            return json.dumps(ROWS, indent=1).encode()
        case "csv":
            frame.write_csv(file)
        case "tsv":
            frame.write_csv(file, separator="\t")
        case "parquet":
            frame.write_parquet(file)
        case "huggingface":
            frame.write_ipc_stream(file, compat_level=pl.CompatLevel.oldest())
    return file.getvalue()


LISTED = {
    "jsonl": ".jsonl .ndjson .jsonl.gz .ndjson.gz", "json": ".json .json.gz",
    "csv": ".csv .csv.gz", "tsv": ".tsv .tsv.gz", "parquet": ".parquet", "huggingface": "",
    "trec": ".txt .run .trec .txt.gz", "beir": "", "ragstone": "", "ragas": "", "ragas-0.1": "",
    "deepeval": "", "reference-answer": "", "graphrag-bench-questions": "",
    "graphrag-bench-results": "", "ragchecker": "", "trulens": "", "giskard": "",
    "continuous-eval": "", "mlflow": "", "llamaindex": "", "haystack": "", "promptfoo": "",
    "phoenix": "", "langsmith": "", "langfuse": "", "otlp": "", "chat": "",
    "inputs-and-outputs": "", "bedrock": "", "trulens-records": "", "retrievalqa": "",
    "autorag": "", "yourbench": "", "crag": "", "flowise": "", "braintrust": "", "vertex": "",
    "prompt-and-completion": "", "alpaca": "",
}  # fmt: skip
"""What `ragstone formats` names, each with the endings of its files."""


def test_the_list_of_formats_names_each_with_its_endings_and_two_lines() -> None:
    assert {one.name: " ".join(one.extensions) for one in formats()} == LISTED
    assert all(len(one.example) == 2 for one in formats())


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        *((kind, one) for kind in list(LISTED)[:5] for one in LISTED[kind].split()),
        ("huggingface", ".arrow"),
    ],
)
def test_a_file_is_known_by_its_ending_or_by_the_format_that_is_named(
    kind: str, ending: str, tmp_path: Path
) -> None:
    content = as_kind(kind)
    content = gzip.compress(content) if ending.endswith(".gz") else content
    for name in (f"data{ending}", f"DATA{ending}".upper().replace(".GZ", ".gz")):
        (tmp_path / name).write_bytes(content)
        assert list(read(tmp_path / name)) == EXPECTED
    (tmp_path / "data.bin").write_bytes(content)
    assert list(read(tmp_path / "data.bin", format=kind)) == EXPECTED


@pytest.mark.parametrize("ending", LISTED["trec"].split())
def test_a_run_is_known_by_its_first_line_whatever_its_ending(ending: str, tmp_path: Path) -> None:
    content = b"q1 Q0 doc7 1 12.5 bm25\n"
    path = tmp_path / f"data{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    for examples in (read(path), read(path, format="trec")):
        assert [(one.id, one.system) for one in examples] == [("q1", "bm25")]


@pytest.mark.parametrize("name", ["jsonl", "json", "csv", "tsv"])
def test_the_printed_lines_of_a_kind_of_file_are_such_a_file(name: str, tmp_path: Path) -> None:
    (lines,) = [one.example for one in formats() if one.name == name]
    path = tmp_path / f"data.{name}"
    path.write_text("\n".join(lines))
    first = next(iter(read(path)))
    assert (first.question, first.answer) == ("How long is the pier?", "90 m.")


def test_a_folders_format_is_none_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_bytes(as_kind("jsonl"))
    with pytest.raises(DataError, match="expected a folder, as BEIR's are, got a file"):
        read(tmp_path / "data.jsonl", format="beir")


@pytest.mark.parametrize(
    ("head", "known"),
    [
        ("question,answer\nq,a\n", True),
        ("question;answer\nq;a\n", True),
        ("question\tanswer\nq\ta\n", True),
        ("some words\nquestion,answer\nq,a\n", False),
        ("answer\na\n", False),
        ("name,colour\nann,red\n", False),
        ('{"question": "q",\n"answer": "a"}\n', True),
        ('{"question": "q", "answer": "a"}\n{"question": "r", "answer": "b"}', True),
        ('{"question": "q", "answer": "a"} \r\n\n', True),
        ('[{"question": "q", "answer": "a"}]', True),
    ],
)
def test_a_file_without_an_ending_is_known_by_its_first_line(
    head: str, known: bool, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    path.write_text(head)
    if known:
        first = next(iter(read(path)))
        assert (first.question, first.answer) == ("q", "a")
        return
    with pytest.raises(DataError, match="expected a file that ends in"):
        read(path)


def save_as_hugging_face(folder: Path, table: pa.Table, rows: int = 1) -> None:
    folder.mkdir(parents=True)
    with pa.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def test_a_hugging_face_dataset_on_disk(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS * 5)
    save_as_hugging_face(tmp_path / "data", table, rows=3)
    examples = read(tmp_path / "data")
    assert [e.answer for e in examples] == ["a", "b"] * 5
    assert next(iter(examples)).contexts == EXPECTED[0].contexts


def test_a_hugging_face_column_of_dictionary_codes(tmp_path: Path) -> None:
    codes = pa.array(["x", "y", "x"]).dictionary_encode()
    save_as_hugging_face(tmp_path / "data", pa.table({"answer": ["1", "2", "3"], "kind": codes}))
    assert [e.facet("kind") for e in read(tmp_path / "data")] == ["x", "y", "x"]


def test_of_several_splits_one_is_named(tmp_path: Path) -> None:
    for split in ("test", "train"):
        save_as_hugging_face(tmp_path / "data" / split, pa.Table.from_pylist(ROWS))
    (tmp_path / "data" / "dataset_dict.json").write_text('{"splits": ["test", "train"]}')
    with pytest.raises(DataError, match="test, train") as caught:
        read(tmp_path / "data")
    assert "data/test" in caught.value.hint
    assert list(read(tmp_path / "data" / "test")) == EXPECTED


def test_a_cut_off_arrow_file_and_a_missing_one(tmp_path: Path) -> None:
    save_as_hugging_face(tmp_path / "data", pa.Table.from_pylist(ROWS * 50))
    file = tmp_path / "data" / "data-00000-of-00001.arrow"
    file.write_bytes(file.read_bytes()[:-300])
    with pytest.raises(DataError, match="cut off"):
        list(read(tmp_path / "data"))
    file.unlink()
    with pytest.raises(DataError, match=r"data-00000-of-00001\.arrow"):
        read(tmp_path / "data")


def tables(rows: list[dict[str, Any]] = ROWS) -> dict[str, Any]:
    arrow = pa.Table.from_pylist(rows)
    return {
        "pandas": pd.DataFrame(rows),
        "polars": pl.DataFrame(rows),
        "polars lazy": pl.DataFrame(rows).lazy(),
        "arrow": arrow,
        "arrow batch": arrow.to_batches()[0],
        "generator": (row for row in rows),
        "pandas records": pd.DataFrame(rows).to_dict("records"),
    }


@pytest.mark.parametrize("kind", list(tables()))
def test_tables_in_memory_are_read_as_files_are(kind: str) -> None:
    assert list(read(tables()[kind])) == EXPECTED


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy", "arrow", "arrow batch"])
def test_a_fault_of_a_table_in_memory_names_the_table_and_the_row(kind: str) -> None:
    rows = [{"answer": "a", "id": "x"}, {"answer": "b", "id": ""}, {"answer": "c", "id": "x"}]
    with pytest.raises(DataError) as caught:
        list(read(tables(rows)[kind]))
    name = {"polars": "Polars", "arrow": "pyarrow"}.get(kind.split()[0], kind)
    assert [(fault.file, fault.line, fault.got) for fault in caught.value.faults] == [
        (f"the {name} table", 2, "an empty text"),
        (f"the {name} table", 3, "'x', as in row 1"),
    ]


def test_progress_through_a_parquet_file_is_by_rows(tmp_path: Path) -> None:
    pl.DataFrame({"answer": ["a"] * 25_000}).write_parquet(tmp_path / "a.parquet")
    examples = read(tmp_path / "a.parquet")
    for number, _ in enumerate(examples, 1):
        if number in (10_001, 20_001):
            done, size = examples.progress() or (0, 0)
            assert done == pytest.approx((number - 1) / 25_000 * size, abs=1)


def test_a_fault_of_a_parquet_file_or_dataset_names_its_row(tmp_path: Path) -> None:
    rows = [{"answer": "a", "id": "x"}, {"answer": "b", "id": ""}]
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    save_as_hugging_face(tmp_path / "data", pa.Table.from_pylist(rows))
    for name in ("a.parquet", "data"):
        with pytest.raises(DataError) as caught:
            list(read(tmp_path / name))
        assert [(fault.line, fault.got) for fault in caught.value.faults] == [(2, "an empty text")]


def test_a_parquet_file(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    examples = read(tmp_path / "a.parquet")
    assert list(examples) == EXPECTED
    done, size = examples.progress() or (0, 1)
    assert done == size


def test_a_struct_of_lists_is_a_list_of_objects() -> None:
    contexts = {"id": ["x", "y"], "text": ["a", "b"]}
    (example,) = read(pl.DataFrame({"answer": ["a"], "contexts": [contexts]}))
    assert example.contexts == (Context("x", "a", 1), Context("y", "b", 2))


def test_an_open_label_in_a_column_of_pandas_is_no_number() -> None:
    frame = pd.DataFrame({"answer": ["a", "b"], "labels.answer.helpful": [1, None]})
    assert [dict(one.labels) for one in read(frame)] == [{"answer": {"helpful": 1.0}}, {}]


def test_missing_values_of_pandas_are_missing() -> None:
    frame = pd.DataFrame({"answer": ["a", None], "reference": ["r", "s"], "n": [1.0, float("nan")]})
    first, second = read(frame)
    assert (first.answer, second.answer) == ("a", None)
    assert (first.slices, second.slices) == ({"n": 1.0}, {})


def test_values_of_other_libraries_become_plain_ones() -> None:
    day = pd.Timestamp("2026-11-20")
    (example,) = read([{"answer": "a", "day": day, "vector": pd.Series([1, 2]).to_numpy()}])
    assert example.slices == {"day": "2026-11-20T00:00:00"}
    assert example.meta == {"vector": [1, 2]}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (b"caf\xc3\xa9 caf\xe9", "café caf\\xe9"),
        (date(2026, 11, 20), "2026-11-20"),
        (timedelta(minutes=1.5), 90.0),
        (Decimal("0.25"), 0.25),
        (Fraction(1, 2), "1/2"),
        (HTTPStatus.OK, 200),
        (Decimal("NaN"), None),
    ],
)
def test_a_value_that_json_does_not_know_becomes_one_that_it_does(
    value: object, plain: object
) -> None:
    (example,) = read([{"answer": "a", "x": value}])
    assert example.facet("x") == (None if plain is None else str(plain))
    assert example.slices.get("x") == plain


ONE, FEW = UUID("3f2b6a1e-8c4d-4e5f-9a7b-0c1d2e3f4a5b"), UUID(int=5)
OF_UUIDS = [
    {"id": id, "answer": "a", "contexts": ["c"], "context_ids": [id], "qrels": [id]}
    for id in (ONE, FEW)
]


def arrow_of_uuids() -> pa.Table:
    ids = pa.array([ONE.bytes, FEW.bytes], pa.uuid())
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2]), ids)
    answers, contexts = pa.array(["a", "a"]), pa.array([["c"], ["c"]])
    return pa.table(
        {"id": ids, "answer": answers, "contexts": contexts, "context_ids": lists, "qrels": lists}
    )


@pytest.mark.parametrize("door", ["records", "pandas", "polars", "arrow", "parquet", "objects"])
def test_uuids_are_ids_at_every_door(door: str, tmp_path: Path) -> None:
    pq.write_table(arrow_of_uuids(), tmp_path / "a.parquet")
    pandas = pd.DataFrame(OF_UUIDS)
    table = {
        "records": OF_UUIDS,
        "pandas": pandas,
        "polars": pl.DataFrame(OF_UUIDS, schema=dict.fromkeys(OF_UUIDS[0], pl.Object)),
        "arrow": arrow_of_uuids(),
        "parquet": tmp_path / "a.parquet",
        "objects": pandas.assign(contexts=[[{"id": id, "text": "c"}] for id in (ONE, FEW)],
                                 qrels=[{id: 1} for id in (ONE, FEW)])[["id", "contexts", "qrels"]],
    }[door]  # fmt: skip
    for example, id in zip(read(table), (ONE, FEW), strict=True):
        assert (example.id, example.contexts) == (str(id), (Context(str(id), "c", 1),))
        assert example.reference_contexts == {str(id): 1}


def test_a_column_of_pandas_may_have_ids_of_several_types_and_gaps() -> None:
    table = pd.DataFrame(
        {"id": [1, "b", 3.0], "answer": ["x", None, "z"], "reference": ["r", "s", float("nan")],
         "day": [pd.NaT, pd.Timestamp("2026-11-20"), pd.NaT], "context_ids": [[1.0], [2], ["c"]]}
    )  # fmt: skip
    first, second, third = read(table)
    assert [first.id, second.id, third.id] == ["1", "b", "3"]
    assert [one.contexts[0].id for one in (first, second, third) if one.contexts] == ["1", "2", "c"]
    assert (second.answer, third.reference, dict(first.slices)) == (None, (), {})


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_an_id_graded_twice_in_an_object_of_json_is_a_fault(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    text = '{"contexts": ["c"], "qrels": {"A": %s, "A": 0}}'
    path.write_text("[%s]" % (text % 2) if ending == "json" else text % 2)
    with pytest.raises(DataError, match="one grade for each id"):
        list(read(path))
    path.write_text("[%s]" % (text % 0) if ending == "json" else text % 0)
    assert [one.reference_contexts for one in read(path)] == [{"A": 0}]


def test_not_a_number_is_a_missing_cell_in_every_format(tmp_path: Path) -> None:
    record = {"id": 1.0, "answer": float("nan"), "reference": "r"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    for door in ([record], pd.DataFrame([record]), tmp_path / "a.jsonl"):
        (example,) = read(door)
        assert (example.id, example.answer, example.reference) == ("1", None, ("r",))


def test_examples_of_another_reading_are_read_again() -> None:
    assert list(read(iter(EXPECTED))) == EXPECTED
    assert isinstance(EXPECTED[0], Example)


def test_the_named_index_of_a_pandas_table_is_a_column() -> None:
    table = pd.DataFrame({"id": ["x", "y"], "answer": ["a", "b"]})
    assert [one.id for one in read(table.set_index("id"))] == ["x", "y"]
    assert [one.id for one in read(table.set_index("id", drop=False))] == ["x", "y"]
    assert [one.id for one in read(table[["answer"]])] == ["1", "2"]
    both = table.assign(part=[1, 2]).set_index(["id", "part"])
    assert [(one.id, one.slices["part"]) for one in read(both)] == [("x", 1), ("y", 2)]
