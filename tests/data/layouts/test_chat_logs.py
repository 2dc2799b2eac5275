"""Logs of chat models: question, answer, model, tokens, and what tools gave back."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Example, read
from ragstone.report.reason_words import explain

ASKED = {"role": "user", "content": "When?"}
PASSAGES = [{"id": "d1", "text": "At 9."}, {"id": "d2", "text": "Daily."}]


def only(record: dict[str, Any]) -> Example:
    (example,) = read([record])
    return example


def contexts(example: Example) -> list[str | None] | None:
    return None if example.contexts is None else [context.text for context in example.contexts]


GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "When?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "search", "response": {"results": PASSAGES}}}]},
    ],
    "candidates": [{"content": {"role": "model", "parts": [{"text": "At 9."}]}}],
    "modelVersion": "gemini",
    "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2},
}  # fmt: skip
GROUNDED = {
    "request": {"contents": [{"role": "user", "parts": [{"text": "When?"}]}]},
    "response": {"candidates": [{
        "content": {"parts": [{"text": "At 9."}]},
        "groundingMetadata": {"groundingChunks": [
            {"retrievedContext": {"uri": "gs://d1", "text": "At 9."}},
            {"retrievedContext": {"uri": "gs://d2", "text": "Daily."}}]},
    }]},
}  # fmt: skip
CONVERSE = {
    "messages": [
        {"role": "user", "content": [{"text": "When?"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "kb"}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "1", "content": [{"json": PASSAGES}]}}]},
        {"role": "assistant", "content": [{"text": "At 9."}]},
    ]
}  # fmt: skip
AZURE = {
    "request": {"messages": [ASKED]},
    "response": {
        "model": "gpt",
        "choices": [{"message": {
            "role": "assistant", "content": "At 9.",
            "context": {"citations": [{"content": "At 9.", "chunk_id": "0"},
                                      {"content": "Daily.", "chunk_id": "1"}]}}}],
    },
}  # fmt: skip
COHERE = {"message": "When?", "chat_history": [{"role": "USER", "message": "Hi"}],
          "documents": PASSAGES, "response": {"text": "At 9."}}  # fmt: skip
VERCEL = {
    "messages": [
        {"role": "user", "parts": [{"type": "text", "text": "When?"}]},
        {"role": "assistant", "parts": [
            {"type": "tool-search", "state": "output-available", "output": PASSAGES},
            {"type": "text", "text": "At 9."}]},
    ]
}  # fmt: skip
LANGCHAIN = {
    "messages": [
        {"type": "human", "content": "When?"},
        {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "search"}]},
        {"type": "tool", "tool_call_id": "1", "content": "At 9.\nDaily.",
         "artifact": [{"page_content": "At 9."}, {"page_content": "Daily."}]},
        {"type": "ai", "content": "At 9."},
    ]
}  # fmt: skip
RETRIEVE_AND_GENERATE = {
    "input": {"text": "When?"},
    "output": {"text": "At 9."},
    "citations": [{"retrievedReferences": [{"content": {"text": "At 9."}}]},
                  {"retrievedReferences": [{"content": {"text": "Daily."}}]}],
}  # fmt: skip
RESPONSES = {
    "request": {"input": [ASKED]},
    "response": {"output": [
        {"type": "function_call", "call_id": "1", "name": "lookup", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": '["At 9.", "Daily."]'},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "At 9."}]}]},
}  # fmt: skip
WITH_PASSAGES: dict[str, dict[str, Any]] = {
    "gemini": GEMINI, "grounded": GROUNDED, "converse": CONVERSE, "azure": AZURE,
    "cohere": COHERE, "vercel": VERCEL, "langchain": LANGCHAIN,
    "retrieve-and-generate": RETRIEVE_AND_GENERATE, "responses": RESPONSES,
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_PASSAGES)
def test_passages_of_a_log_are_its_contexts(name: str) -> None:
    example = only(WITH_PASSAGES[name])
    assert (example.question, example.answer) == ("When?", "At 9.")
    assert contexts(example) == ["At 9.", "Daily."]


def test_the_model_that_answered_is_the_system_and_its_tokens_are_facts() -> None:
    example = only(GEMINI)
    assert example.system == "gemini"
    assert example.meta == {"input_tokens": 5, "output_tokens": 2}


REPLY = {"role": "assistant", "content": "At 9."}


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [ASKED], "message": REPLY, "model": "llama"},
        {"kwargs": {"messages": [ASKED]}, "response": {"choices": [{"message": REPLY}]}},
        {"conversations": [{"from": "human", "value": "When?"}, {"from": "gpt", "value": "At 9."}]},
        {"prompt": "When?", "completion": "At 9."},
        {"input": '{"question": "When?"}', "output": '{"answer": "At 9."}'},
        {"input": {"kwargs": {"question": "When?"}}, "output": "At 9."},
        {"question": "When?", "response": {"choices": [{"text": "At 9."}]}},
        {"inputs": {"messages": [[{"type": "human", "content": "When?"}]]},
         "outputs": {"generations": [[{"text": "At 9."}]]}},
        {"modelId": "m", "input": {"inputBodyJson": {"messages": [ASKED]}},
         "output": {"outputBodyJson": {"output": {"message": REPLY}}}},
    ],
)  # fmt: skip
def test_question_and_answer_of_a_log_are_found(record: dict[str, Any]) -> None:
    example = only(record)
    assert (example.question, example.answer, example.contexts) == ("When?", "At 9.", None)


def test_contexts_beside_the_messages_of_a_request_are_read() -> None:
    inputs = {"messages": [ASKED], "context": ["Daily."], "ground_truth": "9", "temperature": 0}
    example = only({"inputs": inputs, "outputs": {"messages": [REPLY]}})
    assert (contexts(example), example.reference) == (["Daily."], ("9",))
    assert (example.question, example.answer) == ("When?", "At 9.")
    whole = messages_with(("search", "At 9."))
    example = only({"inputs": {"messages": [ASKED]}, "outputs": whole})
    assert (contexts(example), example.history) == (["At 9."], ())


def messages_with(*tools: tuple[str, str]) -> dict[str, Any]:
    results = [{"role": "tool", "name": name, "content": text} for name, text in tools]
    return {"messages": [ASKED, *results, REPLY]}


def test_of_several_tools_those_that_search_give_the_contexts() -> None:
    assert contexts(only(messages_with(("weather", "Rain."), ("search", "At 9.")))) == ["At 9."]
    assert contexts(only(messages_with(("weather", "Rain."), ("clock", "7:00")))) == [
        "Rain.", "7:00"]  # fmt: skip


def test_a_result_before_the_last_question_is_no_context_of_its_answer() -> None:
    earlier = messages_with(("search", "Old."))["messages"]
    assert only({"messages": [*earlier, ASKED, REPLY]}).contexts is None


def test_where_contexts_came_from_is_said() -> None:
    examples = read([messages_with(("search", "At 9.")), {"messages": [ASKED, REPLY]}])
    assert len(list(examples)) == 2
    tools, prompts = map(explain, examples.notes)
    assert tools == "The results of these tools were read as contexts: search (1 record)."
    assert prompts.startswith("1 conversation has no contexts, so retrieval is not measured")


@pytest.mark.parametrize("question", [{"a": "x", "b": 1}, '{"a": "x", "b": 1}', '[{"a": "x"}]'])
def test_a_question_that_is_an_object_of_no_layout_is_a_fault(question: Any) -> None:
    with pytest.raises(DataError, match="question  expected text"):
        only({"input": question, "answer": "a"})


def test_an_answer_that_is_an_object_stays_and_its_paths_are_named() -> None:
    examples = read([{"inputs": {"question": "q"}, "outputs": {"summary": "s", "n": 3}}])
    (example,) = examples
    assert example.answer == '{"summary": "s", "n": 3}'
    (note,) = map(explain, examples.notes)
    assert "$.outputs.summary, $.outputs.n" in note


def test_each_epoch_of_a_sample_in_a_log_of_inspect_is_an_answer(tmp_path: Path) -> None:
    sample = {"id": "s", "input": "When?", "target": "9", "metadata": {"contexts": ["At 9."]}}
    messages = messages_with(("search", "Daily."))["messages"]
    epochs = [
        {**sample, "epoch": 1, "output": {"completion": "At 9."}},
        {**sample, "epoch": 2, "output": {"completion": "At 8."}, "messages": messages},
    ]
    epochs[1]["metadata"] = {}
    file = tmp_path / "log.json"
    file.write_text(json.dumps({"version": 2, "eval": {"model": "m"}, "samples": epochs}))
    first, second = read(file)
    assert (first.id, first.question_id, first.system) == ("s.1", "s", "m")
    assert (first.question, first.answer, first.reference) == ("When?", "At 9.", ("9",))
    assert (contexts(first), contexts(second)) == (["At 9."], ["Daily."])
    assert (second.question, second.answer) == ("When?", "At 8.")


ANSWERED = {"role": "assistant", "content": "At 9."}
CITED = [{"chunk_id": "0", "content": "At 9."}, {"chunk_id": "0", "content": "Daily."}]
DATA = [{"id": "d1", "data": {"text": "At 9."}}, {"id": "d2", "data": {"text": "Daily."}}]
BLOCKS = [
    {"type": "document", "source": {"type": "text", "data": text}} for text in ("At 9.", "Daily.")
]
CALLED = {"toolName": "search", "toolCallId": "c", "input": {}, "args": {}}


@pytest.mark.parametrize(
    "record",
    [
        {"conversation": {"messages": [ASKED, {**ANSWERED, "context": {"citations": CITED}}]}},
        {"conversation": {"messages": [ASKED, ANSWERED], "context": CITED}},
        {"messages": [ASKED],
         "choices": [{"message": {**ANSWERED, "context": {"citations": CITED}}}]},
        {"request": {"messages": [ASKED], "documents": DATA}, "response": {"message": ANSWERED}},
        {"messages": [ASKED], "choices": [{"message": ANSWERED}], "search_results": PASSAGES},
        {"messages": [{"role": "user", "content": [*BLOCKS, {"type": "text", "text": "When?"}]},
                      ANSWERED]},
        {"messages": [ASKED, {"role": "assistant", "parts": [
            {"type": "dynamic-tool", **CALLED, "output": PASSAGES},
            {"type": "text", "text": "At 9."}]}]},
        {"messages": [ASKED, {**ANSWERED, "toolInvocations": [
            {"state": "result", **CALLED, "result": PASSAGES}]}]},
        {"conversations": [
            {"from": "human", "value": "When?"},
            {"from": "observation", "value": json.dumps(PASSAGES)},
            {"from": "gpt", "value": "At 9."}]},
        {"input": {"text": "When?"}, "output": {"text": "At 9."}, "citations": [
            {"retrievedReferences": [{"content": {"text": passage["text"], "type": "TEXT"}}
                                     for passage in PASSAGES]}]},
        {"question": "When?", "text": "At 9.", "chatId": "c", "sourceDocuments": PASSAGES},
        {"data": "At 9.", "query": "When?", "documents": PASSAGES, "meta": {}},
    ],
)  # fmt: skip
def test_passages_beside_messages_and_in_blocks_are_contexts(record: dict[str, Any]) -> None:
    example = only(record)
    assert (example.question, example.answer) == ("When?", "At 9.")
    assert contexts(example) == ["At 9.", "Daily."]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("request_body", "response_body"), ("full_request", "full_response")],
)
def test_bodies_of_a_gateway_are_request_and_reply(asked: str, answered: str) -> None:
    record = {asked: {"messages": [ASKED]}, answered: {"choices": [{"message": ANSWERED}]}}
    example = only({name: json.dumps(value) for name, value in record.items()})
    assert (example.question, example.answer) == ("When?", "At 9.")


def test_who_sent_a_message_of_a_chat_is_its_role() -> None:
    turns = [{"sender": "human", "text": "When?"}, {"sender": "assistant", "text": "At 9."}]
    example = only({"uuid": "u", "chat_messages": turns})
    assert (example.question, example.answer) == ("When?", "At 9.")
