"""Examples that are sent as such: what they may look like, and what becomes of them."""

import json
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ragstone.core.messages import worded
from ragstone.data import as_record
from ragstone.data.traces import (
    ReceivedBody,
    Redaction,
    SpanLimits,
    TracedExample,
    UnreadableBody,
    fold,
    read_examples,
)
from ragstone.data.traces.otlp import read_traces

NOW = 1_790_000_000.0
ONE = {"question": "How deep?", "answer": "254 m.", "contexts": ["It is 254 m deep."]}


def body(*given: Any) -> ReceivedBody:
    return read_examples("\n".join(map(json.dumps, given)).encode(), now=NOW)


def one_of(*given: Any) -> TracedExample:
    read = body(*given)
    assert read.malformed == ()
    assert len({part.trace for part in read.parts}) == 1
    folded = fold(read.parts)
    assert folded.rooted
    (one,) = folded.examples
    return one


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ONE),
        json.dumps(ONE, indent=2),
        json.dumps([ONE]),
        json.dumps(ONE) + "\n",
        "\ufeff" + json.dumps(ONE) + "\r\n\r\n",
    ],
)
def test_an_object_a_list_and_lines_are_read_alike(text: str) -> None:
    (part,) = read_examples(text.encode(), now=NOW).parts
    (one,) = fold([part]).examples
    assert (one.example.question, one.example.answer) == ("How deep?", "254 m.")
    assert one.example.contexts is not None
    assert [context.text for context in one.example.contexts] == ["It is 254 m deep."]
    assert (one.at, one.ended, one.latency, one.span) == (NOW, NOW, None, "")


def test_what_is_known_about_an_example_is_kept() -> None:
    one = one_of(
        {**ONE, "session": "s", "user": 7, "version": "2", "model": "m", "at": NOW - 60,
         "latency": 1.5, "input_tokens": 10, "output_tokens": 3, "system": "shop", "plan": "pro"}
    )  # fmt: skip
    assert (one.session, one.user, one.version, one.model) == ("s", "7", "2", "m")
    assert (one.at, one.ended, one.latency) == (NOW - 60, NOW - 58.5, 1.5)
    assert (one.input_tokens, one.output_tokens, one.system) == (10, 3, "shop")
    assert one.example.slices == {"plan": "pro", "session": "s"}
    assert one.example.meta == {"trace": one.trace, "version": "2", "model": "m"}


@pytest.mark.parametrize(
    "at",
    [NOW, NOW * 1e3, NOW * 1e6, NOW * 1e9, "2026-09-21T14:13:20Z", "2026-09-21T16:13:20+02:00",
     "2026-09-21 14:13:20"],
)  # fmt: skip
def test_a_time_is_given_in_any_usual_way(at: Any) -> None:
    assert one_of({**ONE, "at": at}).at == pytest.approx(NOW)


def test_the_same_example_sent_again_is_the_same_and_a_changed_one_replaces_it() -> None:
    assert body(ONE).parts[0].trace == body(ONE).parts[0].trace
    assert body(ONE).parts[0].trace != body({**ONE, "answer": "No."}).parts[0].trace
    later = {**ONE, "id": "q1", "answer": "It is 254 m.", "at": NOW + 5}
    one = one_of({**ONE, "id": "q1"}, later, {**ONE, "id": "q1"})
    assert (one.id, one.trace, one.example.id) == ("q1", "q1", "q1")
    assert one.example.answer == "It is 254 m."


def test_several_examples_of_one_trace_are_told_apart() -> None:
    read = body({**ONE, "trace": "t", "id": "a"}, {**ONE, "trace": "t", "span": "s1"})
    assert [one.id for one in fold(read.parts).examples] == ["t:a", "t:s1"]
    assert fold(read.parts) == fold(read.parts[::-1])


@pytest.mark.parametrize("trace", ["0af7651916cd43dd8448eb211c80319c",
                                   "0AF76519-16CD-43DD-8448-EB211C80319C"])  # fmt: skip
def test_the_id_of_a_trace_is_written_as_in_its_spans(trace: str) -> None:
    assert one_of({**ONE, "trace": trace}).trace == "0af7651916cd43dd8448eb211c80319c"


def test_null_characters_are_left_out_for_no_database_takes_them() -> None:
    given = {"id": "a\0b", "answer": "a\0", "user": "u\0", "slices": {"k\0": "v\0"}}
    one = one_of(given)
    assert (one.id, one.example.answer, one.user) == ("ab", "a", "u")
    assert one.example.slices == {"k": "v"}


def test_records_of_other_tools_are_read_as_everywhere() -> None:
    ragas = {"user_input": "How deep?", "response": "254 m.", "retrieved_contexts": ["x"]}
    assert as_record(one_of(ragas).example)["question"] == "How deep?"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"question": "only"}, ""),
        ({**ONE, "answer": ["a"]}, "answer"),
        ({**ONE, "at": "yesterday"}, "at"),
        ({**ONE, "at": 12}, "at"),
        ({**ONE, "latency": -1}, "latency"),
        ({**ONE, "session": {}}, "session"),
    ],
)
def test_a_faulty_example_is_put_aside_with_its_field(given: Any, field: str) -> None:
    read = body(ONE, given, {**ONE, "id": "b"})
    (aside,) = read.malformed
    assert aside[0].startswith("faulty_example?")
    assert (f"field={field}&" in aside[0]) == bool(field)
    assert json.loads(aside[1]) == given
    assert read.spans == 2


@pytest.mark.parametrize(
    ("given", "bounds"),
    [
        ({"at": 0}, "a time from 2000 to 2099, in seconds since 1970 or ISO 8601"),
        ({"latency": 1e300}, "a number from 0, below 1e+12"),
    ],
)
def test_a_number_out_of_bounds_is_put_aside_with_the_bounds(given: Any, bounds: str) -> None:
    (aside,) = body({**ONE, **given}, ONE).malformed
    assert bounds in worded(aside[0])


def test_a_line_that_is_no_json_is_put_aside() -> None:
    text = json.dumps(ONE) + "\n{half\n" + json.dumps({**ONE, "id": "b"}) + '\n"text"\n'
    read = read_examples(text.encode(), now=NOW)
    assert read.spans == 2
    assert list(read.malformed) == [
        ("body_not_json", b"{half"), ("body_not_json", b"text"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", [b"", b"\xff", b"hello", b"{half", b"[" * 100_000, b'"a"\n5'])
def test_what_holds_no_example_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableBody, match="body"):
        read_examples(text)


def test_limits_hold_for_examples_too() -> None:
    limits = SpanLimits(attribute_length=5, span_length=200)
    given = [{"answer": "a" * 20}, {"answer": "a" * 300}, {"answer": "b", "contexts": ["b" * 300]}]
    read = read_examples(json.dumps(given).encode(), limits=limits)
    assert [why for why, _ in read.malformed] == ["span_too_long"] * 2
    assert fold(read.parts).examples[0].example.answer == "aaaaa… [cut]"


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ([ONE] * 3, SpanLimits(examples=5)),
        ([{**ONE, "contexts": ["a", {"text": "b"}, "c", "d"]}], SpanLimits(examples=4)),
        ([{**ONE, "outputs": {"found": ["a"] * 9}}], SpanLimits(examples=9)),
        ([{**ONE, **{f"f{n}": 1 for n in range(200)}}], SpanLimits(examples=20)),
        ([1, 2, 3], SpanLimits(examples=2)),
        ([{**ONE, "embedding": [0.5] * 100}], SpanLimits(values=100)),
    ],
)
def test_a_body_with_too_much_in_it_is_refused_as_a_whole(given: Any, limits: SpanLimits) -> None:
    listed = json.dumps(given).encode()
    lines = "\n".join(map(json.dumps, given)).encode()
    for text in (listed, lines):
        if isinstance(given[0], dict):
            assert read_examples(text).spans == len(given)
            with pytest.raises(UnreadableBody, match="Send smaller batches"):
                read_examples(text, limits=limits)


def test_numbers_and_commas_in_texts_are_not_many_things() -> None:
    given = {**ONE, "embedding": [0.5] * 100, "contexts": ['a, "b", [c], {d}, ' * 100]}
    limits = SpanLimits(examples=10, values=120)
    assert read_examples(json.dumps(given).encode(), limits=limits).spans == 1


def test_the_reason_of_a_faulty_example_keeps_no_secret() -> None:
    body = json.dumps({"question": "q", "contexts": "ann@example.org", "history": 7, "answer": 5})
    read = read_examples(body.encode(), redaction=Redaction(), limits=SpanLimits(), now=0.0)
    (aside,) = read.malformed
    assert aside[0].startswith("faulty_example?")
    body = json.dumps({"question": "q", "answer": "a", "contexts": [{"id": ["ann@example.org"]}]})
    read = read_examples(body.encode(), redaction=Redaction(), limits=SpanLimits(), now=0.0)
    assert [one for one in read.malformed if "ann" in one[0] or b"ann" in one[1]] == []
    assert len(read.malformed) == 1


def test_half_a_surrogate_pair_costs_neither_its_example_nor_the_others() -> None:
    half = {**ONE, "id": "half", "question": "How\ud800 deep?", "answer": "254 m \ud83d\ude00."}
    for text in (json.dumps([ONE, half]), f"{json.dumps(ONE)}\n{json.dumps(half)}"):
        read = read_examples(text.encode(), now=NOW)
        assert read.malformed == ()
        said = [one.example for part in read.parts for one in fold([part]).examples]
        assert [one.question for one in said] == ["How deep?", "How\ufffd deep?"]
        assert said[1].answer == "254 m \U0001f600."


def test_half_a_surrogate_pair_in_what_is_no_json_is_no_json() -> None:
    with pytest.raises(UnreadableBody, match="neither a JSON object"):
        read_examples(rb'[{"question": "\ud800"', now=NOW)


EMOJI = "\N{SLICE OF PIZZA}"
SPAN = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"a","value":%s}]}]}]}]}'


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (read_examples, '{"answer":"%s"}'),
        (read_examples, '[{"answer":"a","contexts":["%s"]}]'),
        (read_examples, '{"answer":"a"}\n{"answer":"%s"}'),
        (partial(read_traces, json=True), SPAN % '{"stringValue":"%s"}'),
    ],
)
@pytest.mark.parametrize("wide", [EMOJI, "\\ud83c\\udf55"])
def test_one_emoji_does_not_take_four_bytes_a_character_twice(
    read: Callable[[bytes], ReceivedBody], body: str, wide: str
) -> None:
    sent = (body % (wide + "x" * 20_000_000)).encode()
    tracemalloc.start()
    try:
        assert len(read(sent).malformed) == 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 7 * len(sent)
