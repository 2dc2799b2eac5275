"""What the parts of a trace become, in each convention, in any order."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data import as_record, read
from ragstone.data.traces import (
    Corpus,
    FoldedTrace,
    TracedExample,
    TracePart,
    fold,
    read_examples,
)
from ragstone.data.traces.otlp import read_logs, read_traces
from tests.data.traces.sending import START, TRACE, logs, record, span, traces

Q, A = "How deep is the lake?", "It is 254 m deep."
LAKE = "Lake Constance is 254 m deep at its deepest point, which is called the Tiefer Schweb."
RHINE = "The Rhine flows through Lake Constance and leaves it at Stein am Rhein in the west."


def parts(*spans: Any, resource: Mapping[str, Any] | None = None) -> list[TracePart]:
    read = read_traces(traces(*spans, resource=resource))
    assert read.malformed == ()
    return list(read.parts)


def folded(*spans: Any, resource: Mapping[str, Any] | None = None, **more: Any) -> FoldedTrace:
    return fold(parts(*spans, resource=resource), **more)


def one_of(*spans: Any, **more: Any) -> TracedExample:
    (one,) = folded(*spans, **more).examples
    return one


def contexts(one: TracedExample) -> list[tuple[str, str | None, float | None]]:
    assert one.example.contexts is not None
    assert [each.rank for each in one.example.contexts] == [
        *range(1, len(one.example.contexts) + 1)
    ]
    return [(each.id, each.text, each.score) for each in one.example.contexts]


def documents(*texts: str, prefix: str = "retrieval.documents") -> dict[str, Any]:
    """As OpenInference flattens them."""
    return {
        f"{prefix}.{index}.document.{name}": value
        for index, text in enumerate(texts)
        for name, value in (("id", f"d{index}"), ("content", text), ("score", 0.5 - index / 10))
    }


def message(role: str, text: str, index: int = 0, way: str = "input") -> dict[str, str]:
    return {
        f"llm.{way}_messages.{index}.message.role": role,
        f"llm.{way}_messages.{index}.message.content": text,
    }


def openinference() -> list[Any]:
    return [
        span(1, 0, {"openinference.span.kind": "CHAIN", "input.value": json.dumps({"question": Q}),
                    "output.value": json.dumps({"answer": A}), "session.id": "s", "user.id": "u"},
             end=3),
        span(2, 1, {"openinference.span.kind": "RETRIEVER", "input.value": Q,
                    **documents(LAKE, RHINE)}, start=0.1, end=1),
        span(3, 1, {"openinference.span.kind": "LLM", "llm.model_name": "m-1",
                    **message("system", f"Use {LAKE} {RHINE}"), **message("user", Q, 1),
                    **message("assistant", A, way="output"), "llm.token_count.prompt": 30,
                    "llm.token_count.completion": 9}, start=1, end=2.5),
    ]  # fmt: skip


def genai(old: bool = False) -> list[Any]:
    prompt = f"{LAKE}\n{RHINE}\nQuestion: {Q}"
    found = [{"id": "d0", "content": LAKE, "score": 0.5}, {"content": RHINE, "score": None}]
    call: dict[str, Any] = (
        {"gen_ai.system": "x", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1",
         "gen_ai.prompt": json.dumps([{"role": "user", "content": prompt}]),
         "gen_ai.completion": json.dumps([{"role": "assistant", "content": A}]),
         "gen_ai.usage.prompt_tokens": 30, "gen_ai.usage.completion_tokens": 9,
         "gen_ai.usage.cache_creation.input_tokens": 4}
        if old
        else {"gen_ai.provider.name": "x", "gen_ai.operation.name": "chat",
              "gen_ai.request.model": "m", "gen_ai.response.model": "m-1",
              "gen_ai.input.messages": [
                  {"role": "user", "parts": [{"type": "text", "content": prompt}]}],
              "gen_ai.output.messages": [
                  {"role": "assistant", "parts": [{"type": "text", "content": A}]}],
              "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 9,
              "gen_ai.usage.cache_write.input_tokens": 4}
    )  # fmt: skip
    return [
        span(1, 0, {"gen_ai.conversation.id": "s", "enduser.id": "u"}, end=3),
        span(2, 1, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": Q,
                    "gen_ai.request.top_k" if old else "gen_ai.retrieval.top_k": 2,
                    "gen_ai.retrieval.documents": json.dumps(found)}, start=0.1, end=1),
        span(3, 1, {**call, "gen_ai.response.finish_reasons": ["stop"]}, start=1, end=2.5),
    ]  # fmt: skip


def langfuse() -> list[Any]:
    return [
        span(1, 0, {"langfuse.trace.input": Q, "langfuse.trace.output": A, "langfuse.user.id": "u",
                    "langfuse.session.id": "s", "langfuse.release": "r9",
                    "langfuse.environment": "live", "langfuse.trace.tags": ["a", "b"],
                    "langfuse.trace.metadata.plan": "pro"}, end=3),
        span(2, 1, {"langfuse.observation.type": "retriever", "langfuse.observation.input": Q,
                    "langfuse.observation.output": json.dumps([LAKE, RHINE])}, start=0.1, end=1),
        span(3, 1, {"langfuse.observation.type": "generation",
                    "langfuse.observation.model.name": "m-1",
                    "langfuse.observation.input": json.dumps([{"role": "user", "content": Q}]),
                    "langfuse.observation.output": json.dumps({"role": "assistant", "content": A}),
                    "langfuse.observation.usage_details": json.dumps({"input": 30, "output": 9})},
             start=1, end=2.5),
    ]  # fmt: skip


def mlflow() -> list[Any]:
    found = [{"page_content": LAKE, "metadata": {"doc_uri": "a.md"}, "id": "d0"},
             {"page_content": RHINE, "metadata": {"doc_uri": "b.md"}}]  # fmt: skip
    return [
        span(1, 0, {"mlflow.spanType": '"AGENT"', "mlflow.spanInputs": json.dumps({"question": Q}),
                    "mlflow.spanOutputs": json.dumps(A), "mlflow.trace.session": '"s"',
                    "mlflow.trace.user": '"u"'}, end=3),
        span(2, 1, {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": json.dumps(Q),
                    "mlflow.spanOutputs": json.dumps(found)}, start=0.1, end=1),
        span(3, 1, {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.llm.model": '"m-1"',
                    "mlflow.spanInputs": json.dumps(
                        {"messages": [{"role": "user", "content": Q}]}),
                    "mlflow.spanOutputs": json.dumps(
                        {"choices": [{"message": {"role": "assistant", "content": A}}]}),
                    "mlflow.chat.tokenUsage": json.dumps(
                        {"input_tokens": 30, "output_tokens": 9})}, start=1, end=2.5),
    ]  # fmt: skip


def trulens() -> list[Any]:
    return [
        span(1, 0, {"ai.observability.span_type": "record_root", "session.id": "s", "user.id": "u",
                    "ai.observability.record_root.input": Q,
                    "ai.observability.record_root.output": A,
                    "ai.observability.record_root.ground_truth_output": "254 m"}, end=3),
        span(2, 1, {"ai.observability.span_type": "retrieval",
                    "ai.observability.retrieval.query_text": Q,
                    "ai.observability.retrieval.retrieved_contexts": [LAKE, RHINE]},
             start=0.1, end=1),
        span(3, 1, {"ai.observability.span_type": "generation",
                    "ai.observability.cost.model": "m-1",
                    "ai.observability.cost.num_prompt_tokens": 30,
                    "ai.observability.cost.num_completion_tokens": 9}, start=1, end=2.5),
    ]  # fmt: skip


def vercel() -> list[Any]:
    return [
        span(1, 0, {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"prompt": Q}),
                    "ai.response.text": A, "ai.usage.promptTokens": 30,
                    "ai.telemetry.metadata.sessionId": "s", "ai.telemetry.metadata.userId": "u"},
             end=3),
        span(2, 1, {"ai.operationId": "ai.toolCall", "openinference.span.kind": "RETRIEVER",
                    "input.value": Q, **documents(LAKE, RHINE)}, start=0.1, end=1),
        span(3, 1, {"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m",
                    "ai.prompt.messages": json.dumps(
                        [{"role": "user", "content": [{"type": "text", "text": Q}]}]),
                    "ai.response.text": A, "ai.response.model": "m-1",
                    "ai.usage.promptTokens": 30, "ai.usage.completionTokens": 9},
             start=1, end=2.5),
    ]  # fmt: skip


CONVENTIONS = {
    "vercel": vercel(),
    "openinference": openinference(),
    "genai": genai(),
    "genai of old": genai(old=True),
    "langfuse": langfuse(),
    "mlflow": mlflow(),
    "trulens": trulens(),
}


@pytest.mark.parametrize("spans", CONVENTIONS.values(), ids=CONVENTIONS)
def test_each_convention_says_the_same(spans: Sequence[Any]) -> None:
    found = folded(*spans)
    (one,) = found.examples
    assert (found.rooted, found.content, found.spans, found.calls) == (True, "there", 3, 2)
    assert (one.id, one.trace, one.span) == (TRACE, TRACE, "0000000000000001")
    assert (one.example.question, one.example.answer) == (Q, A)
    assert [text for _, text, _ in contexts(one)] == [LAKE, RHINE]
    assert (one.session, one.user, one.model) == ("s", "u", "m-1")
    assert (one.input_tokens, one.output_tokens, one.latency) == (30, 9, 3.0)
    assert (one.at, one.ended) == (START / 1e9, START / 1e9 + 3)
    assert (one.system, one.error, one.example.history) == ("shop", None, ())


def test_what_only_one_convention_says() -> None:
    assert one_of(*langfuse()).version == "r9"
    assert one_of(*langfuse()).example.slices == {
        "session": "s", "environment": "live", "plan": "pro",
    }  # fmt: skip
    assert one_of(*langfuse()).example.meta["tags"] == ["a", "b"]
    assert one_of(*trulens()).example.reference == ("254 m",)
    assert contexts(one_of(*openinference())) == [("d0", LAKE, 0.5), ("d1", RHINE, 0.4)]
    assert contexts(one_of(*genai())) == [("d0", LAKE, 0.5), ("2", RHINE, None)]
    assert [id for id, *_ in contexts(one_of(*mlflow()))] == ["d0", "b.md"]
    for spans in (genai(), genai(old=True)):
        meta = one_of(*spans).example.meta
        assert (meta["top_k"], meta["cache_write_tokens"]) == (2, 4)
        assert meta["finish_reasons"] == ["stop"]


@pytest.mark.parametrize("spans", CONVENTIONS.values(), ids=CONVENTIONS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_order_of_spans_and_those_sent_twice_change_nothing(
    spans: Sequence[Any], data: st.DataObject
) -> None:
    sent = data.draw(st.permutations([*spans, *data.draw(st.lists(st.sampled_from(spans)))]))
    cut = data.draw(st.integers(0, len(sent)))
    several = [part for some in (sent[:cut], sent[cut:]) if some for part in parts(*some)]
    assert json.dumps(as_record(fold(several).examples[0].example)) == json.dumps(
        as_record(folded(*spans).examples[0].example)
    )
    assert fold(several) == folded(*spans)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            span,
            st.integers(1, 6),
            st.integers(0, 7),
            st.dictionaries(
                st.sampled_from(["openinference.span.kind", "input.value", "output.value",
                                 "retrieval.documents.0.document.content", "session.id"]),
                st.sampled_from(["CHAIN", "LLM", "RETRIEVER", "TOOL", Q, A, "", "[", '{"a": 1}']),
            ),
            start=st.integers(0, 3),
            end=st.integers(3, 5),
        ),
        max_size=8,
    ),
    st.randoms(),
)  # fmt: skip
def test_any_tree_even_one_in_circles_folds_to_the_same(spans: list[Any], random: Any) -> None:
    shuffled = [*spans, *spans[:3]]
    random.shuffle(shuffled)
    assert folded(*shuffled) == folded(*spans)


def test_an_example_is_read_back_as_it_was(tmp_path: Path) -> None:
    examples = [one_of(*spans).example for spans in CONVENTIONS.values()]
    for number, example in enumerate(examples):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps(as_record(example)))
        assert list(read(file)) == [example]


def test_a_trace_without_its_root_waits_and_with_it_is_whole() -> None:
    root, *others = openinference()
    before = folded(*others)
    assert before.rooted is False
    (one,) = before.examples
    assert (one.example.question, one.example.answer, one.latency) == (Q, A, None)
    assert folded(root, *others).rooted is True


def test_of_a_span_sent_twice_the_more_complete_holds() -> None:
    open_span = span(1, 0, {"input.value": Q}, end=0)
    done = span(1, 0, {"input.value": Q, "output.value": A}, end=2)
    assert folded(open_span, done) == folded(done, open_span) == folded(done)
    assert folded(done).examples[0].example.answer == A


def test_a_reranker_wins_over_a_retriever() -> None:
    reranked = span(
        4, 1,
        {"openinference.span.kind": "RERANKER", "reranker.query": Q,
         **documents(RHINE, prefix="reranker.output_documents"),
         **documents(LAKE, RHINE, prefix="reranker.input_documents")},
        start=1,
    )  # fmt: skip
    assert contexts(one_of(*openinference(), reranked)) == [("d0", RHINE, 0.5)]


def test_the_passages_of_several_retrievals_come_together_each_once() -> None:
    again = span(
        4, 1,
        {"openinference.span.kind": "RETRIEVER", "input.value": "Rhine",
         "retrieval.documents.0.document.id": "d1",
         "retrieval.documents.0.document.content": RHINE,
         "retrieval.documents.1.document.content": "A third."},
        start=1,
    )  # fmt: skip
    assert [text for _, text, _ in contexts(one_of(*openinference(), again))] == [
        LAKE, RHINE, "A third.",
    ]  # fmt: skip


def test_a_retriever_that_asks_others_gives_what_it_made_of_theirs() -> None:
    inner = span(
        4, 2, {"openinference.span.kind": "RETRIEVER", **documents("Not chosen.", LAKE)}, start=0.2
    )
    assert [text for _, text, _ in contexts(one_of(*openinference(), inner))] == [LAKE, RHINE]


def test_a_retrieval_that_found_nothing_is_told_from_none() -> None:
    root, _, call = openinference()
    empty = span(2, 1, {"openinference.span.kind": "RETRIEVER", "input.value": Q,
                        "output.value": '{"documents": []}'})  # fmt: skip
    hidden = span(2, 1, {"openinference.span.kind": "RETRIEVER"})
    assert one_of(root, empty, call).example.contexts == ()
    assert one_of(root, hidden, call).example.contexts is None
    assert one_of(root, call).example.contexts is None


def test_chunks_that_share_the_id_of_their_document_keep_ids_of_their_own() -> None:
    root, _, call = openinference()
    found = span(
        2, 1,
        {"openinference.span.kind": "RETRIEVER",
         "output.value": json.dumps([{"page_content": text, "metadata": {"source": "lake.pdf"}}
                                     for text in (LAKE, RHINE)])},
    )  # fmt: skip
    assert [id for id, *_ in contexts(one_of(root, found, call))] == ["lake.pdf", "lake.pdf#2"]


@pytest.mark.parametrize(
    "given",
    [
        [LAKE],
        [{"text": LAKE}],
        [{"page_content": LAKE, "metadata": {}}],
        [[{"page_content": LAKE}, 0.5]],
        [{"document": {"content": LAKE, "id": "x"}, "score": 0.5}],
        [{"node": {"text": LAKE, "id_": "x"}, "score": 0.5}],
        [{"node": {"text_resource": {"text": LAKE}}}],
        {"documents": [{"content": LAKE}]},
        {"source_nodes": [{"node": {"text": LAKE}}]},
        {"result": {"matches": [{"metadata": {"id": 5}, "text": LAKE}]}},
        [{"id": "x", "content": [{"type": "text", "text": LAKE}]}],
        [{"lc": 1, "type": "constructor", "id": ["langchain", "Document"],
          "kwargs": {"page_content": LAKE, "id": "x"}}],
        LAKE,
    ],
)  # fmt: skip
def test_retrieved_passages_come_in_many_shapes(given: Any) -> None:
    root, _, call = openinference()
    text = given if isinstance(given, str) else json.dumps(given)
    found = span(2, 1, {"openinference.span.kind": "RETRIEVER", "output.value": text})
    assert [text for _, text, _ in contexts(one_of(root, found, call))] == [LAKE]


@pytest.mark.parametrize(
    "given",
    [
        Q,
        {"question": Q, "context": [LAKE]},
        {"input": Q, "chat_history": []},
        {"messages": [{"role": "user", "content": Q}]},
        {"messages": [["user", Q]]},
        {"messages": [[{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"],
                        "kwargs": {"content": Q, "type": "human"}}]]},
        {"messages": [{"type": "human", "data": {"content": Q}}]},
        [{"role": "user", "content": [{"type": "text", "text": Q}, {"type": "image_url"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": Q}]}],
        [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": Q}],
        {"query_bundle": {"query_str": Q, "embedding": None}},
        {"inputs": {"question": Q}, "tags": [], "metadata": {}},
        {"args": [Q], "kwargs": {}},
        {"args": [], "kwargs": {"query": Q}},
        {"user_says": Q},
        json.dumps({"question": Q}),
        [Q],
    ],
)  # fmt: skip
def test_a_question_comes_in_many_shapes(given: Any) -> None:
    text = given if isinstance(given, str) else json.dumps(given)
    one = one_of(span(1, 0, {"input.value": text, "output.value": A}))
    assert one.example.question == Q


@pytest.mark.parametrize(
    "given",
    [
        A,
        {"answer": A, "source_documents": [LAKE]},
        {"response": A, "source_nodes": []},
        {"output": {"content": A}},
        {"messages": [{"role": "user", "content": Q}, {"role": "assistant", "content": A}]},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": A}}]},
        {"generations": [[{"text": A, "type": "ChatGeneration"}]]},
        {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"],
         "kwargs": {"content": A, "type": "ai"}},
        [{"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."},
                                         {"type": "text", "content": A}]}],
        {"anything": A},
    ],
)  # fmt: skip
def test_an_answer_comes_in_many_shapes(given: Any) -> None:
    text = given if isinstance(given, str) else json.dumps(given)
    one = one_of(span(1, 0, {"input.value": Q, "output.value": text}))
    assert one.example.answer == A


FOUND = '{"city": "Bath", "year": 1801}'


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (FOUND, FOUND),
        ('{"city":"Bath","year":1801}', '{"city":"Bath","year":1801}'),
        (f'{{"answer": {FOUND}, "sources": []}}', FOUND),
        (f'{{"data": {{"result": {FOUND}}}}}', FOUND),
        (f'{{"choices": [{{"message": {{"role": "assistant", "content": {json.dumps(FOUND)}}}}}]}}',
         FOUND),
        ('{"Stadt": "Köln", "Jahr": 50}', '{"Stadt": "Köln", "Jahr": 50}'),
        ('["Bath", "Wells"]', '["Bath", "Wells"]'),
        ('[{"city": "Bath"}, {"city": "Wells"}]', '[{"city": "Bath"}, {"city": "Wells"}]'),
        ('{"answer": ["都市", "村"]}', '["都市", "村"]'),
        ('[{"type": "text", "text": "In"}, {"type": "text", "text": "Bath."}]', "In\nBath."),
        ('[{"answer": "In Bath."}, {"answer": "In Wells."}]', "In Bath.\nIn Wells."),
        ('{"choices": [{"text": "In Bath."}, {"text": "In Wells."}]}', "In Bath."),
        ('{"value": 254, "unit": "m"}', '{"value": 254, "unit": "m"}'),
        ('{"answer": 42}', "42"),
        (1801, "1801"),
        (True, "true"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["output.value", "langfuse.observation.output",
                                  "langfuse.trace.output", "mlflow.spanOutputs"])  # fmt: skip
@pytest.mark.parametrize("calls", [False, True], ids=["no call", "a call"])
def test_a_structured_answer_is_read_as_its_json(
    given: Any, answer: str, name: str, calls: bool
) -> None:
    _, found, _ = openinference()
    call = span(3, 1, {"openinference.span.kind": "LLM", "input.value": Q, "output.value": given})
    root = span(1, 0, {"input.value": Q, name: given}, end=3)
    whole = folded(root, found, *([call] if calls else []))
    assert [one.example.answer for one in whole.examples] == [answer]
    assert whole.content == "there"


@pytest.mark.parametrize(
    "given",
    [
        '{"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}]}',
        '{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{}]}}]}',
        '{"question": "How deep?", "steps": 2}',
        '{"name": "search", "arguments": {"q": "lake"}}',
        '{"answer": null, "sources": []}',
        '{"error": "timeout", "code": 5}',
        '{"error": "timeout"}',
        '{"result": null}',
        "null",
    ],
)
def test_an_output_without_an_answer_counts_as_a_trace_without_texts(given: str) -> None:
    _, found, _ = openinference()
    whole = folded(span(1, 0, {"input.value": Q, "output.value": given}, end=3), found)
    assert [one.example.answer for one in whole.examples] == [None]
    assert whole.content == "none"
    searched = folded(span(1, 0, {"input.value": Q}, end=3), found)
    assert searched.content == "there"


def test_what_a_model_wrote_goes_before_a_record_that_does_not_hold_it() -> None:
    _, found, call = openinference()
    for output, answer in (
        ('{"status": "done", "code": 200}', A),
        ('{"depth": 254, "unit": "metres"}', '{"depth": 254, "unit": "metres"}'),
    ):
        root = span(1, 0, {"input.value": Q, "output.value": output}, end=3)
        assert one_of(root, found, call).example.answer == answer


def test_a_prompt_with_the_passages_is_not_the_question() -> None:
    prompt = f"Use only this:\n{LAKE}\n{RHINE}\n\nQuestion: {Q}\nAnswer:"
    _, found, _ = openinference()
    root = span(1, 0, end=3)
    call = span(3, 1, {"openinference.span.kind": "LLM", **message("user", prompt),
                       **message("assistant", A, way="output")}, start=1)  # fmt: skip
    assert one_of(root, found, call).example.question == Q
    bare = span(2, 1, {"openinference.span.kind": "RETRIEVER", **documents(LAKE, RHINE)})
    assert one_of(root, bare, call).example.question == Q
    assert one_of(root, call).example.question == prompt


def test_a_question_with_a_long_story_is_not_cut_to_what_was_searched_for() -> None:
    story = "I have been living by the lake for ten years, and my children swim there. " * 3 + Q
    _, found, call = openinference()
    root = span(1, 0, {"input.value": story, "output.value": A}, end=3)
    assert one_of(root, found, call).example.question == story


def test_an_agent_answers_the_user_with_its_last_words() -> None:
    def call(id: int, start: float, said: str, *messages: tuple[str, str]) -> Any:
        given = [{"role": role, "content": text} for role, text in messages]
        return span(
            id, 1,
            {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(given),
             "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": said}]),
             "gen_ai.usage.input_tokens": 10, "gen_ai.request.model": f"m-{id}"},
            start=start, end=start + 1,
        )  # fmt: skip

    begin = [("system", "Be kind."), ("user", "Hi"), ("assistant", "Hello."), ("user", Q)]
    one = one_of(
        span(1, 0, {"gen_ai.operation.name": "invoke_agent"}, end=9),
        call(2, 0, "I will search.", *begin),
        span(3, 1, {"gen_ai.operation.name": "execute_tool", "output.value": "tool says"}, start=2),
        span(4, 3, {"openinference.span.kind": "RETRIEVER", **documents(LAKE)}, start=2),
        span(5, 3, {"gen_ai.operation.name": "chat",
                    "gen_ai.output.messages": '[{"role": "assistant", "content": "inside"}]',
                    "gen_ai.usage.input_tokens": 3}, start=3, end=8.5),
        call(6, 4, A, *begin, ("assistant", "I will search."), ("tool", LAKE)),
    )  # fmt: skip
    assert (one.example.question, one.example.answer, one.model) == (Q, A, "m-6")
    assert [(turn.role, turn.text) for turn in one.example.history] == [
        ("user", "Hi"), ("assistant", "Hello."),
    ]  # fmt: skip
    assert [text for _, text, _ in contexts(one)] == [LAKE]
    assert one.input_tokens == 23


def test_history_comes_from_the_input_too() -> None:
    given = {"question": Q, "chat_history": [["Hi", "Hello."], ["And?", "Yes."]]}
    one = one_of(span(1, 0, {"input.value": json.dumps(given), "output.value": A}))
    assert [(turn.role, turn.text) for turn in one.example.history] == [
        ("user", "Hi"), ("assistant", "Hello."), ("user", "And?"), ("assistant", "Yes."),
    ]  # fmt: skip


def test_a_call_that_is_made_by_way_of_another_counts_its_tokens_once() -> None:
    root, found, call = openinference()
    inner = span(9, 3, {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 30,
                        "gen_ai.usage.output_tokens": 9}, start=1.1, end=2)  # fmt: skip
    one = one_of(root, found, call, inner)
    assert (one.input_tokens, one.output_tokens) == (30, 9)


def test_an_error_is_an_answer_of_nothing() -> None:
    root = span(1, 0, {"input.value": Q}, error="overloaded")
    one = one_of(root)
    assert (one.example.answer, one.error) == ("", "overloaded")
    late = ("exception", {"exception.type": "Timeout", "exception.message": "late"})
    inside = span(2, 1, {"openinference.span.kind": "LLM"}, error="", events=[late])
    assert one_of(span(1, 0, {"input.value": Q}), inside).error == "late"
    again = span(3, 1, {"openinference.span.kind": "LLM", "output.value": A}, start=1)
    assert one_of(span(1, 0, {"input.value": Q, "output.value": A}), inside, again).error is None


def test_an_empty_answer_is_told_from_one_that_was_left_out() -> None:
    asked = {"openinference.span.kind": "CHAIN", "input.value": Q}
    call = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    empty = json.dumps([{"role": "assistant", "content": ""}])
    tool = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "name": "search"}]}])
    assert one_of(span(1, 0, {**asked, "output.value": ""})).example.answer == ""
    said = span(2, 1, {**call, "gen_ai.output.messages": empty})
    assert one_of(span(1, 0, asked), said).example.answer == ""
    assert folded(span(1, 0, asked), span(2, 1, call)).content == "none"
    waiting = span(2, 1, {**call, "gen_ai.output.messages": tool})
    assert folded(span(1, 0, asked), waiting).examples == ()


def test_a_role_that_is_not_known_leaves_the_word_to_the_next_convention() -> None:
    call = {"langfuse.observation.type": "span", "gen_ai.operation.name": "chat"}
    assert folded(span(1, 0, call)).calls == 1


def turn(id: int, start: float, question: str, answer: str) -> list[Any]:
    return [
        span(id, 1, {"openinference.span.kind": "CHAIN", "input.value": question,
                     "output.value": answer}, start=start, end=start + 1),
        span(id + 1, id, {"openinference.span.kind": "RETRIEVER", **documents(LAKE)}, start=start),
        span(id + 2, id, {"openinference.span.kind": "LLM", "output.value": answer}, start=start),
    ]  # fmt: skip


def test_unrelated_turns_under_one_root_are_examples_of_their_own() -> None:
    root = span(1, 0, {"session.id": "s"}, end=99)
    found = folded(root, *turn(10, 1, Q, A), *turn(20, 5, "Where?", "There."))
    assert [(one.id, one.example.question, one.session) for one in found.examples] == [
        (f"{TRACE}:000000000000000a", Q, "s"), (f"{TRACE}:0000000000000014", "Where?", "s"),
    ]  # fmt: skip


def test_the_steps_of_one_pipeline_are_one_example() -> None:
    steps = [
        span(2, 1, {"openinference.span.kind": "CHAIN", "input.value": Q, "output.value": "depth"}),
        span(3, 1, {"openinference.span.kind": "RETRIEVER", **documents(LAKE)}, start=1),
        span(4, 1, {"openinference.span.kind": "CHAIN", "input.value": LAKE, "output.value": A},
             start=2, end=3),
    ]  # fmt: skip
    one = one_of(span(1, 0, end=9), *steps)
    assert (one.example.question, one.example.answer) == (Q, A)


def log_parts(*records: Any) -> list[TracePart]:
    return list(read_logs(logs(*records)).parts)


DETAILS = {
    "gen_ai.operation.name": "chat",
    "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": Q}]}],
    "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": A}]}],
}


@pytest.mark.parametrize(
    "records",
    [
        [record(2, "gen_ai.client.inference.operation.details", DETAILS)],
        [record(2, "gen_ai.client.inference.operation.details", body=DETAILS)],
        [record(2, "", {"event.name": "gen_ai.client.inference.operation.details", **DETAILS})],
        [record(2, "gen_ai.user.message", {"gen_ai.system": "x"}, body={"content": Q}),
         record(2, "gen_ai.choice", body={"index": 0, "message": {"content": A}}, at=0.9)],
    ],
)  # fmt: skip
def test_content_that_comes_as_log_events_joins_its_span_in_either_order(records: Any) -> None:
    spans = parts(
        span(1, 0, end=3),
        span(2, 1, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}),
    )
    assert fold(spans).content == "none"
    before, after = fold(log_parts(*records) + spans), fold(spans + log_parts(*records) * 2)
    assert before == after
    (one,) = before.examples
    assert (one.example.question, one.example.answer, one.model) == (Q, A, "m")
    assert before.spans == 2
    alone = fold(log_parts(*records))
    assert (alone.rooted, alone.examples[0].example.answer, alone.spans) == (False, A, 0)


def test_message_events_without_content_say_nothing() -> None:
    records = [
        record(2, "gen_ai.user.message", {"gen_ai.system": "x"}),
        record(2, "gen_ai.choice", body={"index": 0, "message": {"role": "assistant"}}),
    ]
    spans = parts(span(1, 0), span(2, 1, {"gen_ai.operation.name": "chat"}))
    assert fold(spans + log_parts(*records)).content == "none"


def test_content_in_events_of_the_span_is_read_too() -> None:
    events = [
        ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([{"role": "user", "content": Q}])}),
        ("gen_ai.content.completion", {"gen_ai.completion": A}),
    ]
    one = one_of(span(1, 0, {"gen_ai.operation.name": "chat"}, events=events))
    assert (one.example.question, one.example.answer) == (Q, A)


def test_passages_known_by_their_ids_get_their_texts_from_the_corpus(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(json.dumps({"_id": "d0", "title": "Lake", "text": LAKE}))
    root, _, call = openinference()
    ids = json.dumps([{"id": "d0", "score": 1}, {"id": "d9", "score": None}])
    found = span(2, 1, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": ids})
    assert folded(root, found, call).content == "ids_only"
    known = folded(root, found, call, corpus=Corpus(file))
    assert known.content == "there"
    assert contexts(known.examples[0]) == [("d0", f"Lake\n{LAKE}", 1.0), ("d9", None, None)]


def test_a_trace_about_something_else_lacks_nothing() -> None:
    found = folded(span(1, 0, {"http.method": "GET"}), span(2, 1, {"db.statement": "SELECT 1"}))
    assert (found.examples, found.calls, found.content) == ((), 0, "there")
    assert fold([]) == FoldedTrace(False, (), "there", 0, 0)


def test_a_service_without_a_name_is_none() -> None:
    resource = {"service.name": "unknown_service:python"}
    one = one_of(*openinference(), resource=resource)
    assert (one.system, one.example.system) == (None, "default")
    resource["ai.observability.app_name"] = "app"
    assert one_of(*openinference(), resource=resource).system == "app"


def sent(**given: Any) -> list[TracePart]:
    read = read_examples(json.dumps(given).encode(), now=START / 1e9)
    assert read.malformed == ()
    return list(read.parts)


def test_an_example_that_is_sent_for_a_trace_stands_for_its_answer() -> None:
    spans = parts(*openinference())
    given = sent(trace=TRACE, question=Q, answer="About 254 m.", user="ann")
    found = fold([*given, *spans])
    assert found == fold([*spans, *given])
    (one,) = found.examples
    assert (one.id, one.example.answer, one.user, one.session) == (
        TRACE,
        "About 254 m.",
        "ann",
        "s",
    )
    assert (one.model, one.latency, one.system) == ("m-1", 3.0, "shop")
    assert [text for _, text, _ in contexts(one)] == [LAKE, RHINE]


def test_lone_halves_and_nulls_in_texts_are_stored_nowhere() -> None:
    one = one_of(span(1, 0, {"input.value": json.dumps({"question": Q + "\ud800"}),
                             "output.value": "a\0b", "session.id": "s\0",
                             "metadata": json.dumps({"pl\0an": "p\0ro"})}))  # fmt: skip
    json.dumps(as_record(one.example)).encode()
    assert one.example.slices == {"session": "s", "plan": "pro"}
    assert one.example.question is not None
    one.example.question.encode()


def test_what_a_span_says_itself_stands_over_its_log_events() -> None:
    own = parts(span(1, 0, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "own"}))
    (one,) = fold(
        own + log_parts(record(1, "gen_ai.x", {**DETAILS, "gen_ai.request.model": "other"}))
    ).examples
    assert (one.model, one.example.answer) == ("own", A)


def test_of_log_events_that_say_the_same_fact_the_first_in_time_holds() -> None:
    late = record(1, "gen_ai.a", {**DETAILS, "gen_ai.request.model": "late"}, at=0.9)
    early = record(1, "gen_ai.b", {"gen_ai.request.model": "early"}, at=0.1)
    for records in ((late, early), (early, late)):
        assert fold(log_parts(*records)).examples[0].model == "early"


def test_what_a_tool_gives_is_no_answer_to_the_user() -> None:
    spans = [
        span(1, 0, {"openinference.span.kind": "CHAIN", "input.value": Q}, end=3),
        span(2, 1, {"openinference.span.kind": "LLM", "llm.model_name": "m"}),
        span(3, 1, {"openinference.span.kind": "TOOL", "output.value": "42"}, end=2),
    ]
    assert folded(*spans).examples == ()
