"""The layouts of other tools are read without a word from the user."""

import json
from typing import Any

import pytest

from ragstone.core.errors import DataError, UnknownName
from ragstone.core.messages import in_shell
from ragstone.data import Context, Example, Turn, formats, read


def one(record: dict[str, Any], **options: Any) -> Example:
    (example,) = read([record], **options)
    return example


@pytest.mark.parametrize(
    "layout", [f for f in formats() if f.example[0].startswith('{"')], ids=lambda f: f.name
)
def test_the_printed_example_of_a_layout_is_recognised_as_that_layout(layout: Any) -> None:
    examples = read([json.loads(line) for line in layout.example])
    assert len(list(examples)) == 2
    assert examples.format == ("ragstone" if layout.name == "jsonl" else layout.name)


GRAPHRAG_BENCH = "question answer evidence question_type"
TOLD = {
    "ragstone": [
        "question answer contexts reference",
        "query response",
        "input answer",
        *(f"{GRAPHRAG_BENCH} {more}" for more in (
            "contexts", "context", "response", "generated_answer", "reference", "gold_answer")),
    ],
    "graphrag-bench-questions": [GRAPHRAG_BENCH, f"{GRAPHRAG_BENCH} id source"],
    "graphrag-bench-results": ["generated_answer gold_answer", "generated_answer ground_truth"],
    "ragchecker": ["query gt_answer", "query response retrieved_context"],
    "deepeval": ["actual_output", "answer retrieval_context", "input expected_output"],
    "trulens": ["query expected_response", "query answer expected_chunks"],
    "continuous-eval": [
        *("answer retrieved_context", "answer ground_truth_context"),
        *("answer ground_truth_contexts", "answer ground_truth_answers"),
    ],
    "giskard": ["question reference_answer reference_context"],
    "ragas": ["user_input response", "answer retrieved_contexts"],
    "ragas-0.1": ["question answer ground_truth", "question answer ground_truths"],
    "reference-answer": ["question reference_answer answer"],
    "mlflow": ["inputs outputs", "inputs expectations"],
    "llamaindex": ["query response passing"],
    "haystack": ["question predicted_answer answer", "predicted_answers contexts"],
    "promptfoo": [],
    "phoenix": ["context.span_id attributes.input.value", "context.span_id input reference",
                "context.trace_id attributes.retrieval.documents"],
}  # fmt: skip
"""The layouts, each with columns that tell it."""


@pytest.mark.parametrize(
    ("layout", "columns"), [(layout, one) for layout, found in TOLD.items() for one in found]
)
def test_columns_tell_the_layout(layout: str, columns: str) -> None:
    assert read([dict.fromkeys(columns.split(), "x")]).format == layout


@pytest.mark.parametrize("layout", TOLD)
def test_a_layout_may_be_named(layout: str) -> None:
    examples = read([{"question": "q", "output": "a"}], format=layout)
    assert [example.answer for example in examples] == ["a"]
    assert examples.format == layout


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ("answer response", None),
        ("answer actual_output", None),
        ("actual_output response", None),
        ("generated_answer response", None),
        ("generated_answer actual_output", None),
        ("generated_answer answer reference", None),
        ("generated_answer answer", "generated_answer"),
        ("predicted_answer response", None),
        ("generated_answer predicted_answer", None),
        ("predicted_answer answer", "predicted_answer"),
        ("answer output", "answer"),
        ("actual_output prediction", "actual_output"),
        ("response output", "response"),
    ],
)
def test_of_two_columns_that_may_be_the_answer_one_is_asked_for_or_known(
    names: str, wanted: str | None
) -> None:
    record = {name: name for name in names.split()}
    if wanted:
        assert one(record).answer == wanted
        return
    with pytest.raises(DataError) as caught:
        one(record)
    (fault,) = caught.value.faults
    assert (fault.field, fault.expected) == ("answer", "one column for it")


def test_evidence_is_cut_at_semicolons_in_graphrag_bench_alone() -> None:
    record = {"question": "q", "answer": "g", "question_type": "t", "evidence": "a; b"}
    assert one(record).evidence == ("a", "b")
    assert one(record | {"generated_answer": "a"}).evidence == ("a; b",)


def test_an_empty_list_of_reference_contexts_is_one_of_texts_in_ragas_alone() -> None:
    record = {"response": "a", "reference_contexts": []}
    assert one({"user_input": "q", **record}).reference_contexts is None
    assert one({"query": "q", **record}).reference_contexts == {}


def test_reference_contexts_beside_their_ids_are_evidence_unless_another_column_is_named() -> None:
    ids: dict[str, Any] = {"answer": "a", "reference_context_ids": ["x"]}
    both = {**ids, "reference_contexts": ["t"]}
    assert one(both).evidence == ("t",)
    assert one({**ids, "meta": {"evidence": ["e"]}}).evidence == ("e",)
    mapped = read([{"answer": "a", "mine": "e"}, both], columns={"evidence": "mine"})
    assert [example.evidence for example in mapped] == [("e",), ()]


@pytest.mark.parametrize(
    ("retrieved", "gold", "ids"),
    [
        (["doc-9", "doc-2"], ["doc-9"], ["doc-9"]),
        (["doc-9", "doc-2"], ["doc-7"], ["doc-7"]),  # nothing of it was retrieved
        (["doc-9", "doc-2"], ["doc-9", "doc-123"], ["doc-9", "doc-123"]),
        (["doc-9"], "doc-9", ["doc-9"]),
        (["doc-9"], "doc-9, doc-3", ["doc-9", "doc-3"]),  # in one cell
        (["doc-9"], "doc-7;doc-3;", ["doc-7", "doc-3"]),
        (["文書-1"], "文書-2|文書-1", ["文書-2", "文書-1"]),
        (["doc-9"], [" doc-9 "], ["doc-9"]),
        ([17, 230], ["17", "8"], ["17", "8"]),
        ([], ["doc-9"], ["doc-9"]),
        (["wiki/Bath.md#2"], ["wiki/Pier.md#14"], ["wiki/Pier.md#14"]),
        (["3f2b6a1e-aa31", "b7710c2d-0ab2"], ["90aa11ff-cdef"], ["90aa11ff-cdef"]),
        (["文書-1", "文書-2"], ["文書-7"], ["文書-7"]),
        (["Newlyn Pier", "Bath"], ["Bath", "Truro"], ["Bath", "Truro"]),
        # Texts, whatever the ids:
        (["doc-9", "doc-2"], ["The pier is 90 m long."], []),
        (["doc-9", "doc-2"], ["90 m"], []),
        (["doc-9", "doc-2"], ["9.5%"], []),
        (["doc-9"], ["Bath"], []),
        (["doc-9"], "Bath, Truro", []),
        (["doc-9"], "doc-3; the pier", []),
        (["a;1", "b;2"], "The pier; the mole", []),
        (["d1"], ["桟橋は1801年に建てられた"], []),
        (["文書1"], ["この桟橋は1801年に花崗岩で建てられた"], []),
        (["doc-9"], ["https://example.org/piers?year=1801"], []),
        (["Newlyn Pier", "Penzance"], ["Truro"], []),
        ([], ["Bath"], []),
        ([], ["It is 9 m"], []),
        (["doc 1"], ["It is 9 m"], []),
        (None, ["doc-9"], []),
        ("texts", ["2"], []),
        ("texts", ["doc-9"], []),
    ],
)
def test_gold_contexts_that_are_ids_are_ids(retrieved: Any, gold: Any, ids: list[str]) -> None:
    contexts = retrieved and [{"id": id, "text": f"Text of {id}."} for id in retrieved]
    contexts = ["One.", "Two."] if retrieved == "texts" else contexts
    record = {"question": "q", "contexts": contexts, "answer": "a"}
    for column in ("reference_contexts", "expected_chunks", "ground_truth_documents"):
        example = one({**record, column: gold})
        texts = tuple(text for text in ([gold] if isinstance(gold, str) else gold))
        assert example.reference_contexts == (dict.fromkeys(ids, 1) or None)
        assert example.evidence == (() if ids else texts)
    assert one({**record, "evidence": gold}).reference_contexts is None
    deepeval = {"input": "q", "retrieval_context": contexts, "actual_output": "a", "context": gold}
    assert one(deepeval).reference_contexts == (dict.fromkeys(ids, 1) or None)
    if isinstance(gold, str) and ids:
        listed = one({**record, "reference_context_ids": gold})
        assert listed.reference_contexts == dict.fromkeys(ids, 1)


def test_ids_beside_texts_are_told() -> None:
    record = {"question": "q", "answer": "a", "contexts": [{"id": "d9", "text": "t"}]}
    examples = read([{**record, "reference_contexts": ["d9", "A pier of granite."]}, record])
    first, _ = list(examples)
    assert (first.reference_contexts, first.evidence) == ({"d9": 1}, ("A pier of granite.",))
    assert examples.notes == ["ids_and_texts?columns=reference_contexts%3D1"]


def test_an_element_that_is_no_text_of_reference_contexts_is_a_fault_there() -> None:
    with pytest.raises(DataError) as caught:
        one({"answer": "a", "reference_contexts": ["t", {"title": "u"}]})
    assert [fault.field for fault in caught.value.faults] == ["reference_contexts[1]"]


def test_ragas_names() -> None:
    example = one(
        {
            "user_input": "How long?",
            "retrieved_contexts": ["a", "b"],
            "retrieved_context_ids": ["x", 7],
            "reference_contexts": ["gold text"],
            "reference_context_ids": ["x"],
            "response": "90 m",
            "reference": "90",
            "persona_name": "sailor",
            "rubrics": {"1": "bad"},
        }
    )
    assert example.question == "How long?"
    assert example.contexts == (Context("x", "a", 1), Context("7", "b", 2))
    assert example.evidence == ("gold text",)
    assert example.reference_contexts == {"x": 1}
    assert (example.answer, example.reference) == ("90 m", ("90",))
    assert example.slices == {"persona_name": "sailor"}
    assert example.meta == {"rubrics": {"1": "bad"}}


def test_early_ragas_names() -> None:
    example = one({"question": "q", "answer": "a", "contexts": ["c"], "ground_truths": ["g", "h"]})
    assert (example.answer, example.reference) == ("a", ("g", "h"))


def test_the_last_user_turn_is_the_question_and_the_turn_after_it_the_answer() -> None:
    example = one(
        {
            "user_input": [
                {"type": "human", "content": "How long?"},
                {"type": "ai", "content": "90 m."},
                {"type": "human", "content": "And wide?"},
                {"type": "tool", "content": "width: 4"},
                {"type": "ai", "content": "4 m."},
            ],
            "reference": "4 m",
        }
    )
    assert example.question == "And wide?"
    assert example.history == (Turn("user", "How long?"), Turn("assistant", "90 m."))
    assert example.answer == "4 m."


@pytest.mark.parametrize(
    ("content", "answer"), [("", ""), (None, None), ("b", "b"), ([{"text": "c"}], "c")]
)
def test_an_empty_message_is_an_empty_answer_and_the_call_of_a_tool_none(
    content: Any, answer: str | None
) -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": content}]
    assert one({"messages": messages, "reference": "r"}).answer == answer


def test_a_record_of_messages_alone_has_its_question_and_its_answer() -> None:
    question, reply = {"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}
    assert one({"messages": [question, reply]}).answer == "a"
    with pytest.raises(DataError, match="only messages"):
        one({"messages": [question]})


def test_a_response_goes_before_the_turn_after_the_question() -> None:
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "old"}]
    assert one({"user_input": messages, "response": "new"}).answer == "new"


@pytest.mark.parametrize(
    "names",
    [
        ("input", "actual_output", "expected_output", "retrieval_context"),
        ("input", "actualOutput", "expectedOutput", "retrievalContext"),
    ],
)
def test_deepeval_context_is_evidence_and_retrieval_context_is_what_was_retrieved(
    names: tuple[str, ...],
) -> None:
    values = ("q", "a", "g", ["plain", {"context": "with source", "source": "doc"}])
    example = one({**dict(zip(names, values, strict=True)), "context": ["gold"]})
    assert (example.question, example.answer, example.reference) == ("q", "a", ("g",))
    assert example.contexts is not None
    assert [c.text for c in example.contexts] == ["plain", "with source"]
    assert [c.id for c in example.contexts] == ["1", "doc"]
    assert example.evidence == ("gold",)


def test_a_source_that_several_passages_share_is_no_id_of_a_passage() -> None:
    contexts = [{"context": "a", "source": "doc"}, {"context": "b", "source": "doc"}]
    example = one({"input": "q", "actual_output": "a", "retrieval_context": contexts})
    assert example.contexts == (Context("1", "a", 1), Context("2", "b", 2))


def test_the_answer_of_a_graphrag_bench_question_is_the_gold_one() -> None:
    record = {
        "id": "Novel-1",
        "source": "Novel-30752",
        "question": "q",
        "answer": "gold",
        "question_type": "Fact Retrieval",
        "evidence": "First fact; second fact.",
    }
    example = one(record)
    assert (example.answer, example.reference) == (None, ("gold",))
    assert example.evidence == ("First fact", "second fact.")
    assert example.slices == {"source": "Novel-30752", "question_type": "Fact Retrieval"}


def test_beside_contexts_the_answer_is_the_generated_one() -> None:
    record = {"question": "q", "answer": "a", "question_type": "t", "evidence": ["e"]}
    assert one({**record, "contexts": ["c"]}).answer == "a"


def test_a_gold_answer_beside_the_generated_one() -> None:
    example = one({"question": "q", "answer": "gold", "evidence": ["e"], "generated_answer": "a"})
    assert (example.answer, example.reference) == ("a", ("gold",))


def test_two_columns_that_may_be_the_answer_need_a_word() -> None:
    record = {"question": "q", "answer": "a", "response": "b"}
    with pytest.raises(DataError, match=r'for example columns={"answer": "response"}\.'):
        one(record)
    assert one(record, columns={"answer": "response"}).answer == "b"


def test_ragchecker_claims_stay_in_meta() -> None:
    example = one(
        {
            "query_id": "7",
            "query": "q",
            "gt_answer": "g",
            "response": "a",
            "retrieved_context": [{"doc_id": "000", "text": "t"}],
            "response_claims": [["s", "p", "o"]],
        }
    )
    assert (example.id, example.question_id) == ("7", "7")
    assert example.contexts == (Context("000", "t", 1),)
    assert example.meta == {"response_claims": [["s", "p", "o"]]}


def test_a_query_id_that_systems_share_is_no_id() -> None:
    rows = [{"query_id": "7", "system": s, "query": "q", "response": "a"} for s in "ab"]
    assert [(e.id, e.question_id) for e in read(rows)] == [("1", "7"), ("2", "7")]


def test_other_layouts() -> None:
    trulens = one({"query": "q", "expected_response": "g", "expected_chunks": ["e"]})
    assert (trulens.reference, trulens.evidence) == (("g",), ("e",))
    giskard = one(
        {
            "id": "1",
            "question": "q",
            "reference_answer": "g",
            "reference_context": "e",
            "conversation_history": [{"role": "user", "content": "h"}],
            "metadata": {"question_type": "simple"},
        }
    )
    assert giskard.history == (Turn("user", "h"),)
    assert giskard.facet("question_type") == "simple"
    mlflow = one(
        {
            "inputs": {"question": "q"},
            "outputs": {"response": "a"},
            "expectations": {"expected_response": "g", "expected_facts": ["e"]},
        }
    )
    assert (mlflow.question, mlflow.answer) == ("q", "a")
    assert (mlflow.reference, mlflow.evidence) == (("g",), ("e",))
    continuous = one(
        {
            "question": "q",
            "retrieved_context": ["c"],
            "ground_truth_context": ["e"],
            "answer": "a",
            "ground_truth_answers": ["g"],
        }
    )
    assert continuous.evidence == ("e",)


def test_the_common_record_takes_what_it_needs_from_meta() -> None:
    example = one(
        {
            "id": "1",
            "question": "q",
            "answer": "a",
            "contexts": ["t"],
            "reference": [],
            "labels": {"correct": True},
            "meta": {
                "system": "gpt",
                "history": [{"role": "user", "text": "h"}],
                "context_ids": ["d1"],
                "evidence": ["e"],
            },
        }
    )
    assert example.system == "gpt"
    assert example.history == (Turn("user", "h"),)
    assert example.contexts == (Context("d1", "t", 1),)
    assert example.evidence == ("e",)
    assert example.labels == {"correct": True}


def test_a_named_layout_settles_what_context_means() -> None:
    record = {"input": "q", "output": "a", "context": ["c"]}
    assert one(record).contexts == (Context("1", "c", 1),)
    assert one(record, format="deepeval").evidence == ("c",)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean jsonl"):
        read([], format="jsonlines")
    with pytest.raises(UnknownName, match="answer"):
        read([], columns={"answers": "x"})


def test_mapped_columns_go_before_recognised_ones() -> None:
    example = one(
        {"question": "q", "answer": "gold", "mine": "a"},
        columns={"answer": "mine", "reference": "answer"},
    )
    assert (example.answer, example.reference) == ("a", ("gold",))


def test_a_mapped_column_that_does_not_exist_is_one_fault_with_the_columns() -> None:
    with pytest.raises(DataError) as caught:
        list(read([{"q": 1, "text": "x"}] * 3, columns={"answer": "my_answer"}))
    (fault,) = caught.value.faults
    assert (fault.field, fault.expected) == ("answer", "a column called 'my_answer'")
    assert fault.got == "only the columns q, text"


@pytest.mark.parametrize(
    ("columns", "got"),
    [
        (list("abcdefghijkl"), "the columns a, b, c, d, e, f, g, h, i, j, k, l"),
        (list("abcdefghijklm"), "the columns a, b, c, d, e, f, g, h, i, j, k, l and 1 more"),
        (["query", "a"], "the columns query, a; recognised only question"),
        ([], "the columns none"),
    ],
)
def test_columns_that_are_no_field_are_told_up_to_twelve(columns: list[str], got: str) -> None:
    with pytest.raises(DataError) as caught:
        one(dict.fromkeys(columns, "x"))
    assert [fault.got for fault in caught.value.faults] == [got]


def test_unrecognised_columns_are_said_once_with_a_way_out() -> None:
    rows = [{"q": "x", "text": "y"}] * 3
    with pytest.raises(DataError) as caught:
        list(read(rows))
    assert caught.value.total == 1
    assert "the columns q, text" in str(caught.value)
    assert 'columns={"answer": MY_COLUMN}' in str(caught.value)
    assert "--map answer=MY_COLUMN" in in_shell(caught.value.text)


def test_answers_of_crag_are_references_and_the_snippets_of_its_pages_contexts() -> None:
    page = {"page_url": "https://p.example", "page_snippet": "It is 90 m.", "page_result": "<html>"}
    row = {"query": "How long?", "answer": "90 m", "alt_ans": ["ninety"], "search_results": [page]}
    example = one(row)
    assert (example.answer, example.reference) == (None, ("90 m", "ninety"))
    assert example.contexts == (Context("https://p.example", "It is 90 m.", 1),)
    assert one({**row, "alt_ans": None}).reference == ("90 m",)
    assert one({"query": "How long?", "answer": "90 m", "alt_ans": []}).contexts is None
