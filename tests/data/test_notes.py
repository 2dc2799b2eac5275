"""What is read in another way than it looks is told, the same for every door."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ragstone import evaluate
from ragstone.core.errors import DataError
from ragstone.core.messages import in_shell
from ragstone.data import Example, cornwall, read
from ragstone.report.reason_words import explain, words

Record = Mapping[str, Any]
Door = Callable[[Record, Path], Any]


def as_csv(record: Record, folder: Path) -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(record))
    writer.writeheader()
    writer.writerow(record)
    (folder / "data.csv").write_text(text.getvalue(), "utf-8")
    return folder / "data.csv"


def as_file(ending: str, text: Callable[[Record], str]) -> Door:
    def door(record: Record, folder: Path) -> Path:
        (folder / f"data{ending}").write_text(text(record), "utf-8")
        return folder / f"data{ending}"

    return door


def as_parquet(record: Record, folder: Path) -> Path:
    pl.DataFrame([record]).write_parquet(folder / "data.parquet")
    return folder / "data.parquet"


DOORS: dict[str, Door] = {
    "csv": as_csv,
    "jsonl": as_file(".jsonl", json.dumps),
    "json": as_file(".json", lambda record: json.dumps([record])),
    "columns": as_file(".json", lambda record: json.dumps({k: [v] for k, v in record.items()})),
    "parquet": as_parquet,
    "dicts": lambda record, _: [record],
    "pandas": lambda record, _: pd.DataFrame([record]),
    "polars": lambda record, _: pl.DataFrame([record]),
    "arrow": lambda record, _: pa.Table.from_pylist([dict(record)]),
}


def through(door: str, record: Record, folder: Path) -> tuple[Example, list[str]]:
    examples = read(DOORS[door](record, folder))
    (example,) = examples
    return example, [explain(note) for note in examples.notes]


@pytest.mark.parametrize("door", DOORS)
def test_json_text_is_the_list_that_it_spells_at_every_door(door: str, tmp_path: Path) -> None:
    record = {
        "question": "Who?",
        "answer": "[1] Ann, as the first source says.",
        "contexts": '["Ann built it.", {"id": "d7", "text": "Ben did not."}]',
        "reference": "['Ann', 'Ann Lee']",
        "evidence": '["It was Ann."]',
        "history": '[["Hello", "Hi"]]',
    }
    example, notes = through(door, record, tmp_path)
    assert example.answer == record["answer"]
    assert [one.text for one in example.contexts or ()] == ["Ann built it.", "Ben did not."]
    assert example.reference == ("Ann", "Ann Lee")
    assert example.evidence == ("It was Ann.",)
    assert [turn.text for turn in example.history] == ["Hello", "Hi"]
    (note,) = notes
    assert note.startswith("Text that spells a list was read as that list: ")
    assert all(f"{name} (1 record)" in note for name in ("contexts", "reference", "history"))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("text", ["[2, 3, 5]", '{"a": 1}', "{not JSON", "[1] As it says", "Ann"])
def test_a_reference_that_spells_no_texts_is_the_text_it_is(
    door: str, text: str, tmp_path: Path
) -> None:
    record = {"question": "Which?", "answer": "2", "reference": text, "contexts": "[1] As it says"}
    example, notes = through(door, record, tmp_path)
    assert example.reference == (text,)
    assert [one.text for one in example.contexts or ()] == ["[1] As it says"]
    assert notes == []


@pytest.mark.parametrize("door", DOORS)
def test_a_list_that_breaks_off_is_a_fault_at_every_door(door: str, tmp_path: Path) -> None:
    record = {"question": "Who?", "answer": "Ann", "contexts": '["Ann built it.", "Ben'}
    with pytest.raises(DataError, match=r"contexts  expected JSON; to mean this as text"):
        through(door, record, tmp_path)
    alone = {"question": "Who?", "answer": "Ann", "contexts": json.dumps([record["contexts"]])}
    example, _ = through(door, alone, tmp_path)
    assert [one.text for one in example.contexts or ()] == [record["contexts"]]


MEANT = {
    "question": """the_question all_questions search_query user_queries raw_input my_prompt
        userPrompt given_instruction original_prompt full_prompt prompt_string prompt_str inupt""",
    "contexts": """retrieved_contxts contxets retrieved_ctx ctx ctxs used_context chunk_text
        rag_chunk passage_text top_passages document_content source_docs doc_texts
        top_k_docs node_contents source_nodes sourceNodes chunk_sources snippet relevant_snippets
        paragraph paragraphs excerpt all_excerpts retrieved retrieval search_results search_hits
        knowledge chunks_json chunk_list""",
    "answer": """model_answer anwser final_response llm_responses LLM-output generated_anwser
        bot_reply raw_llm_prediction llm_predictions candidate_completion generation
        assistant_reply ai_reply predicted_reply generated_reply""",
    "reference": """answers gold golden_reply correct_answer expected_reply ideal_reply right_reply
        true_reply truth ground_truht target_reply gt reference_text""",
    "evidence": "supporting_passages goldContexts ground_snippets evidance",
    "history": "chat_histroy",
    "context_ids": "retrieved_context_idss",
    "reference_contexts": "qrlels qrles",
    "system": "systm",
    "question_id": "question_idd",
    "": """staet question_type response_time doc_title source answerable difficulty text
        answer_length retrieved_ctxx_of_some_sort""",
}
"""What people call a column that is meant for a field; last such that are meant for none."""


@pytest.mark.parametrize(
    ("column", "field"),
    [(column, field) for field, columns in MEANT.items() for column in columns.split()]
    + [("snippets".ljust(60, "_"), "contexts"), ("snippets".ljust(61, "_"), ""), ("", "")],
)
def test_a_column_that_resembles_a_field_is_asked_about(column: str, field: str) -> None:
    lists = field in ("context_ids", "reference_contexts")
    beside: dict[str, Any] = {"contexts": ["a"]} if field == "answer" else {"answer": "a"}
    examples = read([beside | {column: ["x"] if lists else "x"}])
    list(examples)
    asked = [explain(note).partition("did you mean ")[2].split("?")[0] for note in examples.notes]
    assert asked == ([field] if field else [])


def test_faults_that_follow_from_a_misspelt_column_name_it() -> None:
    record = {"answer": "Ann", "contxts": ["a"], "labels": {"contexts": [{}]}}
    with pytest.raises(DataError) as caught:
        list(read([record, {"answer": "Ben", "contxts": ["b"]}]))
    assert in_shell(caught.value.text).endswith(
        "Is contxts meant for contexts? Then say --map contexts=contxts. "
        "With --skip-bad the one good record is read."
    )


@pytest.mark.parametrize(
    "column", ["retrieved_contxts", "retrieved_ctx", "source_nodes", "snippets"]
)
@pytest.mark.parametrize("value", [["a", "b"], [{"text": "a"}], "a text"])
def test_a_column_that_resembles_an_absent_field_is_named(column: str, value: object) -> None:
    record = {"question": "Who?", "answer": "Ann", column: value}
    examples = read([record, {**record, "contexts": None}, {**record, "contexts": ["c"]}])
    assert [one.contexts is None for one in examples] == [True, True, False]
    (note,) = examples.notes
    assert explain(note) == (
        f"The column {column} is no field, and 2 records with it have no contexts: did you mean "
        f'contexts? columns={{"contexts": "{column}"}}'
    )
    assert in_shell(words(note)).endswith(f"contexts? --map contexts={column}")
    mapped = read([record], columns={"contexts": column})
    assert [one.contexts is None for one in mapped] == [False]
    assert mapped.notes == []


def test_a_column_of_numbers_is_not_taken_for_texts() -> None:
    examples = read([{"question": "Who?", "answer": "Ann", "snippets": 5, "gold": True}])
    assert [dict(one.slices) for one in examples] == [{"snippets": 5, "gold": True}]
    assert examples.notes == []


def test_the_error_about_columns_proposes_the_one_that_resembles_a_field() -> None:
    with pytest.raises(DataError, match=r'columns={"contexts": "snippets"}\.'):
        list(read([{"question": "Who?", "snippets": ["a"]}]))


@pytest.mark.parametrize("door", [door for door in DOORS if door != "csv"])
def test_numbers_are_read_as_texts_with_a_note_at_every_door(door: str, tmp_path: Path) -> None:
    record = {"query": 7, "answer": 42, "ground_truth": 3.5}
    example, notes = through(door, record, tmp_path)
    assert (example.question, example.answer, example.reference) == ("7", "42", ("3.5",))
    assert notes == [
        "Numbers were read as texts: query (1 record), answer (1 record), ground_truth (1 record)."
    ]


def test_the_note_of_numbers_counts_records_and_names_the_column_in_the_data() -> None:
    rows = [{"q": 1, "mine": 5}, {"q": "Who?", "mine": 6.0}, {"q": "Who?", "mine": "Ann"}]
    examples = read(rows, columns={"question": "q", "answer": "mine"})
    assert [one.answer for one in examples] == ["5", "6", "Ann"]
    (note,) = examples.notes
    assert explain(note) == "Numbers were read as texts: q (1 record), mine (2 records)."


def test_references_may_be_numbers_beside_texts() -> None:
    examples = read([{"answer": "a", "gold\nanswer": [42, "forty-two"]}, {"answer": "b"}],
                    columns={"reference": "gold\nanswer"})  # fmt: skip
    assert [one.reference for one in examples] == [("42", "forty-two"), ()]
    assert list(map(explain, examples.notes)) == [
        "Numbers were read as texts: gold answer (1 record)."
    ]


def test_whole_numbers_of_a_table_with_a_gap_are_whole_texts() -> None:
    table = pd.DataFrame({"contexts": [["a"], ["b"]], "answer": [42, None]})
    assert [one.answer for one in read(table)] == ["42", None]


def test_what_was_read_otherwise_is_told_where_a_limit_ends_the_reading() -> None:
    examples = read([{"answer": n} for n in range(3)], limit=2)
    assert [one.answer for one in examples] == ["0", "1"]
    assert list(map(explain, examples.notes)) == ["Numbers were read as texts: answer (2 records)."]


def test_known_columns_need_no_note() -> None:
    examples = read(cornwall())
    assert len(list(examples)) == 24
    assert examples.notes == []


def test_a_run_tells_the_notes_of_its_data(tmp_path: Path) -> None:
    record = {"question": "Who?", "answer": "Ann", "reference": '["Ann"]', "snippets": ["Ann."]}
    run = evaluate([record], metrics=["token_f1"], out=tmp_path / "run")
    told = "\n".join(map(explain, run.manifest["remarks"]))
    assert "reference (1 record)" in told
    assert "did you mean contexts?" in told


@pytest.mark.parametrize(
    ("text", "is_joined"),
    [
        ("The pier is 312 m long. | It opened in 1869.", True),
        ("Пирс длинный.;Он открыт.", True),
        ("The pier is 312 m long|||It opened in 1869", True),
        ("It is long.\n---\nIt opened in 1869.", True),
        ("| Pier | Length |\n|---|---|\n| Clevedon | 312 m |", False),
        ("It is long; it opened in 1869. See a|b.", False),
        ("It is long.\n\nIt opened in 1869.", False),
    ],
)
def test_a_context_that_looks_like_several_is_read_as_one_and_noted(
    text: str, is_joined: bool
) -> None:
    examples = read([{"question": "How long?", "answer": "312 m", "retrieved_contexts": text}])
    (example,) = examples
    assert example.contexts is not None
    assert [context.text for context in example.contexts] == [text]
    notes = [note for note in map(explain, examples.notes) if "was read as one" in note]
    assert len(notes) == is_joined
    assert all("retrieved_contexts (1 record)" in note for note in notes)


def test_answers_that_are_objects_are_counted_whatever_their_keys() -> None:
    examples = read([{"question": "How long?", "answer": f'{{"{key}": 90}}'} for key in "abba"])
    assert len(list(examples)) == 4
    (note,) = map(explain, examples.notes)
    assert note.startswith("4 answers are JSON objects and are judged as JSON.")
    assert note.endswith("Possible paths: $.answer.a.")


def test_an_answer_that_is_a_json_list_is_noted_and_one_that_is_a_number_is_not() -> None:
    rows = [
        {"question": "Who keeps the key?", "answer": answer}
        for answer in ('["The harbour master."]', "7", "[1] says so.")
    ]
    examples = read(rows)
    assert [example.answer for example in examples] == [row["answer"] for row in rows]
    assert [words(note) for note in examples.notes if "answers_are_json" in note] == [
        "1 answer is JSON, such as an object or a number, and is judged as written."
    ]


def test_a_conversation_that_was_written_as_json_twice_is_read() -> None:
    turns = [{"role": "user", "content": "Who keeps the key?"},
             {"role": "assistant", "content": "The harbour master."}]  # fmt: skip
    (example,) = read([{"messages": json.dumps(json.dumps(turns))}])
    assert (example.question, example.answer) == ("Who keeps the key?", "The harbour master.")


def test_answers_with_keys_of_their_own_are_one_count() -> None:
    examples = read([{"question": "When?", "answer": json.dumps({f"k{n}": n})} for n in range(50)])
    list(examples)
    assert len(examples.facts.counts["answers_structured"]) == 1
    assert [note for note in examples.notes if "n=50" in note]


@pytest.mark.parametrize(
    "text", ['{"content": {"type": "object"}}', '{"data": {"port": 8080}}', '{"text": ["a", "b"]}']
)
def test_a_context_that_is_json_without_a_text_is_read_as_it_stands(text: str) -> None:
    (example,) = read([{"question": "Which port?", "answer": "8080.", "contexts": [text]}])
    assert [context.text for context in example.contexts or ()] == [text]
