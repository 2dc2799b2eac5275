"""Files as LlamaIndex, Haystack, promptfoo and Phoenix write them, in ``exports/``."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, read

EXPORTS = Path(__file__).parent / "exports"
LONG, BUILT = "The pier is 90 m long.", "It was built in 1887."


def of(name: str, layout: str, *notes: str) -> list[Example]:
    examples = read(EXPORTS / name)
    found = list(examples)
    assert examples.format == layout
    assert read(EXPORTS / name).format == layout
    assert tuple(examples.notes) == notes
    return found


def texts(example: Example) -> list[str | None] | None:
    return None if example.contexts is None else [one.text for one in example.contexts]


def test_a_batch_of_llama_index_evaluators_is_one_example_a_question() -> None:
    long, built = of("llamaindex_batch.json", "llamaindex")
    assert (long.question, long.answer) == ("How long is the pier?", LONG)
    assert (texts(long), texts(built)) == ([LONG, BUILT], [BUILT])
    assert long.slices == {"faithfulness": 1.0, "correctness": 5.0}
    assert built.slices == {"faithfulness": 0.0, "correctness": 1.5}
    assert built.meta["correctness"]["feedback"] == "The answer has no basis."


def test_results_of_one_llama_index_evaluator() -> None:
    batch = json.loads((EXPORTS / "llamaindex_batch.json").read_text())
    examples = read(batch["faithfulness"])
    assert [one.answer for one in examples] == [LONG, "Ann Lee built it."]
    assert examples.format == "llamaindex"
    first = next(iter(examples))
    assert first.slices == {"passing": True, "score": 1.0}
    assert first.meta == {"feedback": "YES"}


def test_responses_of_llama_index_with_their_nodes() -> None:
    long, built = of("llamaindex_responses.jsonl", "llamaindex")
    assert (long.question, long.answer) == ("How long is the pier?", LONG)
    assert long.contexts == (Context("8f2c", LONG, 1, 0.83), Context("9a11", BUILT, 2))
    assert (built.contexts, built.answer) == ((), "I do not know.")


def test_a_response_of_llama_index_inside_a_record_and_nodes_that_are_mapped() -> None:
    row = json.loads((EXPORTS / "llamaindex_responses.jsonl").read_text().splitlines()[0])
    inside = {"question": row.pop("query"), "response": row, "ground_truth": "90 m"}
    (example,) = read([inside])
    assert (example.answer, example.reference) == (LONG, ("90 m",))
    assert texts(example) == [LONG, BUILT]
    (mapped,) = read([{"answer": "a", "n": row["source_nodes"]}], columns={"contexts": "n"})
    assert texts(mapped) == [LONG, BUILT]


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("haystack_run.json", ()),
        ("haystack_detailed_report.csv", ("lists_spelled?fields=contexts%3D2",)),
    ],
)
def test_an_evaluation_run_of_haystack_has_the_gold_answer_beside_the_predicted_one(
    name: str, notes: tuple[str, ...]
) -> None:
    long, built = of(name, "haystack", *notes)
    assert (long.question, long.answer) == ("How long is the pier?", "It is 90 m long.")
    assert (long.reference, built.reference) == (("90 m",), ("Ann Lee",))
    assert (texts(long), texts(built)) == ([LONG, BUILT], [BUILT])
    assert long.system == built.system == ("bm25_top_3" if name.endswith("json") else "default")
    assert {str(score) for score in built.slices.values()} == {"0.0", "0.1"}


def test_inputs_of_haystack_by_the_names_of_its_evaluators(tmp_path: Path) -> None:
    inputs = {"questions": ["q"], "predicted_answers": ["a"], "ground_truth_answers": ["g"],
              "contexts": [["c"]]}  # fmt: skip
    for number, content in enumerate((inputs, {"inputs": inputs, "results": {}})):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(content))
        examples = read(path)
        (example,) = examples
        assert (example.question, example.answer, example.reference) == ("q", "a", ("g",))
        assert texts(example) == ["c"]
        assert examples.format == "haystack"


def test_an_evaluation_run_of_haystack_with_uneven_columns_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    inputs = {"question": ["q", "r"], "answer": ["a", "b"]}
    scores = {"sas": {"score": 1, "individual_scores": [1.0]}}
    path.write_text(json.dumps({"inputs": inputs, "results": scores}))
    with pytest.raises(DataError, match="columns of one length"):
        list(read(path))


def test_outputs_of_haystack_pipelines() -> None:
    built, chosen, chat, flat = of("haystack_pipeline.jsonl", "haystack")
    assert (built.question, built.answer) == ("How long is the pier?", "It is 90 m long.")
    assert built.contexts == (Context("3f5c", LONG, 1, 3.2),)
    assert (chosen.question, chosen.answer) == ("Who built it?", "I do not know.")
    assert chosen.contexts == (Context("77aa", BUILT, 1, 0.9),)
    assert (chat.answer, chat.contexts) == ("It is 4 m wide.", ())
    assert (flat.question, flat.answer, texts(flat)) == (
        "Is it open?", "Yes.", ["The pier is open."],
    )  # fmt: skip
    models = [one.system for one in (built, chosen, chat, flat)]
    assert models == ["gpt-4o-mini"] * 3 + ["default"]


def test_results_of_promptfoo_have_the_provider_and_prompt_as_system() -> None:
    short, quoting, llama = of("promptfoo.json", "promptfoo")
    assert [one.system for one in (short, quoting, llama)] == [
        "openai:gpt-4o-mini, short", "openai:gpt-4o-mini, quoting", "local llama",
    ]  # fmt: skip
    assert {one.question_id for one in (short, quoting, llama)} == {short.question_id}
    assert [one.answer for one in (short, quoting, llama)] == [
        "It is 90 m long.", "90 m", "It is long.",
    ]  # fmt: skip
    assert [texts(one) for one in (short, quoting, llama)] == [
        [LONG], [LONG, BUILT], ["The pier is long."],
    ]  # fmt: skip
    assert [one.reference for one in (short, quoting, llama)] == [("90 m",), (LONG,), ("90 m",)]
    assert short.id == "0d1f0b0e-1111-4444-8888-000000000001"
    assert short.facet("topic") == "piers"
    assert llama.facet("success") == "false"
    assert llama.meta["gradingResult"]["reason"].startswith("Expected output")


def promptfoo(**other: Any) -> dict[str, Any]:
    row = {"promptIdx": 0, "testIdx": 3, "provider": "echo", "prompt": {"raw": "p", "label": "p"},
           "vars": {"topic": "piers"}, "response": {"output": "a"}}  # fmt: skip
    return {**row, **other}


@pytest.mark.parametrize(
    ("other", "answer"),
    [
        ({"response": ""}, ""),
        ({"response": {"output": ""}}, ""),
        ({"response": None, "output": ""}, ""),
        ({"response": None}, None),
        ({"response": {}}, None),
        ({"response": {"output": "", "error": "429"}}, None),
        ({"response": {"output": ""}, "failureReason": 2}, None),
        ({"response": {"output": ""}, "failureReason": 1}, ""),
        ({"response": {"output": "In part", "error": "cut off"}}, "In part"),
    ],
)
def test_a_test_of_promptfoo_that_failed_is_a_row_without_an_answer(
    other: dict[str, Any], answer: str | None
) -> None:
    """Even if nothing else of it is known; an empty output is an answer."""
    (example,) = read([promptfoo(error="API error: 500", **other)])
    assert example.answer == answer


def test_a_question_of_promptfoo_with_another_name_is_mapped() -> None:
    (example,) = read([promptfoo()], columns={"question": "topic"})
    assert (example.id, example.question, example.system) == ("3-0", "piers", "echo")
    (unmapped,) = read([promptfoo()])
    assert (unmapped.question, unmapped.question_id) == (None, "3")


@pytest.mark.parametrize(
    ("other", "answer"),
    [
        ({"response": {"output": 42}}, "42"),
        ({"response": {"output": {"steps": ["x"]}}}, '{"steps": ["x"]}'),
        ({"response": {"output": ["x"]}}, '["x"]'),
        ({"response": None, "output": "b"}, "b"),
        ({"vars": {"query": "q", "output": "theirs", "system": "You are kind."}}, "a"),
    ],
)
def test_the_answer_of_promptfoo_is_its_output(other: dict[str, Any], answer: str) -> None:
    (example,) = read([promptfoo(**other)])
    assert (example.answer, example.system) == (answer, "echo")


def test_prompts_of_promptfoo_without_a_label_are_told_apart_by_their_ids() -> None:
    raw = "Answer the question that stands below by the context: {{question}}"
    rows = [promptfoo(promptIdx=n, promptId=id, prompt={"raw": raw, "label": raw})
            for n, id in enumerate(("3f2a91c0", "77aa00bb"))]  # fmt: skip
    rows.append(promptfoo(promptIdx=2, prompt={}))
    assert [one.system for one in read(rows)] == [
        "echo, Answer the question that stands below b… (3f2a91)",
        "echo, Answer the question that stands below b… (77aa00)",
        "echo, prompt 2",
    ]


def spans() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((EXPORTS / "phoenix_spans.json").read_text())
    return found


def test_spans_of_phoenix_are_one_example_a_trace() -> None:
    long, built = of("phoenix_spans.json", "phoenix")
    assert (long.id, built.id) == ("s1-root", "s2-root")
    assert (long.question, long.answer) == ("How long is the pier?", "It is 90 m long.")
    assert long.contexts == (Context("8f2c", LONG, 1, 0.83), Context("9a11", BUILT, 2, 0.41))
    assert (built.question, built.answer) == ("Who built it?", "I do not know.")
    assert built.contexts == ()
    assert (long.system, built.system) == ("gpt-4o-mini", "default")
    assert long.facet("context.trace_id") == "t1"


@pytest.mark.parametrize("door", ["frame", "index", "parquet", "csv", "jsonl"])
def test_spans_of_phoenix_at_every_door(door: str, tmp_path: Path) -> None:
    table = pd.DataFrame(spans())
    source: Any = table
    if door == "index":
        source = table.set_index("context.span_id")
    elif door == "parquet":
        table.to_parquet(source := tmp_path / "spans.parquet")
    elif door == "csv":
        table.to_csv(source := tmp_path / "spans.csv", index=False)
    elif door == "jsonl":
        table.to_json(source := tmp_path / "spans.jsonl", orient="records", lines=True)
    long, built = read(source)
    assert (long.question, long.answer, texts(long)) == (
        "How long is the pier?", "It is 90 m long.", [LONG, BUILT],
    )  # fmt: skip
    assert (built.answer, built.contexts) == ("I do not know.", ())


def test_spans_of_the_rest_interface_of_phoenix() -> None:
    def nested(span: dict[str, Any]) -> dict[str, Any]:
        parts: dict[str, Any] = {"context": {}, "attributes": {}}
        for name, value in span.items():
            place, _, rest = name.partition(".")
            if name == "attributes.retrieval.documents":
                for n, document in enumerate(value or ()):
                    for key, one in document.items():
                        parts["attributes"][f"retrieval.documents.{n}.{key}"] = one
            elif place in parts:
                parts[place][rest] = value
            else:
                parts[name] = value
        return parts

    long, built = read(map(nested, spans()))
    assert (long.id, long.answer, texts(long)) == ("s1-root", "It is 90 m long.", [LONG, BUILT])
    assert (built.answer, built.contexts) == ("I do not know.", None)


def test_what_was_reranked_goes_before_what_was_retrieved() -> None:
    rows = spans()[:3]
    document = rows[2]["attributes.retrieval.documents"][1]
    reranked = {**rows[2], "context.span_id": "s1-rank", "span_kind": "RERANKER",
                "attributes.retrieval.documents": None,
                "attributes.reranker.output_documents": [document]}  # fmt: skip
    (example,) = read([*rows, reranked])
    assert texts(example) == [BUILT]


def test_a_root_without_words_has_those_of_its_model_and_retriever() -> None:
    root, llm, retriever = spans()[:3]
    root.update({"attributes.input.value": None, "attributes.output.value": None})
    (example,) = read([llm, root, retriever])
    assert (example.question, example.answer) == ("How long is the pier?", "It is 90 m long.")
    (alone,) = read([retriever])
    assert (alone.id, alone.answer, texts(alone)) == ("s1-ret", None, [LONG, BUILT])


def test_the_reference_of_a_table_of_phoenix_is_what_was_retrieved() -> None:
    (answered,) = of("phoenix_qa_with_reference.csv", "phoenix")
    assert (answered.id, answered.answer) == ("s1-root", "It is 90 m long.")
    assert (texts(answered), answered.reference) == ([f"{LONG}\n\n{BUILT}"], ())
    long, built = of("phoenix_retrieved_documents.csv", "phoenix")
    assert (long.id, long.question) == ("s1-ret", "How long is the pier?")
    assert [(one.text, one.score) for one in long.contexts or ()] == [(LONG, 0.83), (BUILT, 0.41)]
    assert (built.id, texts(built), built.reference) == ("s2-ret", [BUILT], ())
