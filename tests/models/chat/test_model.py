"""What is read from replies as small models write them."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.models.chat.model import MalformedReply, Unclosed, drafts, json_objects

READ = {"p01": {"reason": "It's there.", "verdict": "supported"}}


@pytest.mark.parametrize(
    "text",
    [
        '{"p01": {"reason": "It\'s there.", "verdict": "supported"}}',
        '\ufeff \n{"p01": {"reason": "It\'s there.", "verdict": "supported"}}\n',
        '```json\n{"p01": {"reason": "It\'s there.", "verdict": "supported"}}\n```',
        '~~~\n{"p01": {"reason": "It\'s there.", "verdict": "supported"}}\n~~~',
        'Here it is:\n{"p01": {"reason": "It\'s there.", "verdict": "supported"}}\nMore?',
        '<think>Let {me} see.</think>{"p01": {"reason": "It\'s there.", "verdict": "supported"}}',
        '\n<THINKING>{"a": 1}</thinking>{"p01":{"reason":"It\'s there.","verdict":"supported"}}',
        'Let me see.\n</think>\n{"p01": {"reason": "It\'s there.", "verdict": "supported"}}',
        'The set {x} is {open}. {"p01": {"reason": "It\'s there.", "verdict": "supported"}}',
        '{"p01": {"reason": "It\'s there.", "verdict": "supported",},}',
        '{"p01": {"reason": "It\'s there.", "verdict": "supported" , } , /* end */ }',
        '{"p01": // first\n {"reason": "It\'s there.", # why\n "verdict": "supported"}}',
        "{'p01': {'reason': \"It's there.\", 'verdict': 'supported'}}",
        r"{'p01': {'reason': 'It\'s there.', 'verdict': 'supported'}}",
        "{“p01”: {“reason”: “It's there.”, “verdict”: “supported”}}",
        '{"p01": {"reason": "It\'s there.", "verdict": "supported"}, }  and {}',
        f'So {{"p01": {{"verdict": "absent"}}}} no.\n</think>\n{json.dumps(READ)}',
        f'I write {{"items": [...]}}. </THINKING>```json\n{json.dumps(READ)}\n```',
        f"<think> or </think> {{x}}</reasoning>Here: {json.dumps(READ)}",
        json.dumps(json.dumps(READ)),
        json.dumps(f"```json\n{json.dumps(READ)}\n```"),
        f"Ja.</think>\n{json.dumps(json.dumps(READ))}",
        json.dumps([[json.dumps(READ)]]),
    ],
)
def test_a_reply_is_read_whatever_surrounds_it(text: str) -> None:
    assert json_objects(text) == [READ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": True, "b": False, "c": None,}', {"a": True, "b": False, "c": None}),
        ('{"a": NaN, "b": -Infinity, "c": 1e999}', {"a": None, "b": None, "c": None}),
        ('{"a": NaN, "b": -Infinity, "c": Infinity,}', {"a": None, "b": None, "c": None}),
        ('{"a": nan, "b": inf, "c": undefined, "d": -Infinity,}', dict.fromkeys("abcd")),
        ('{"a": -1.5e2, "b": 7,}', {"a": -150.0, "b": 7}),
        ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}),
        ('{"a": "one\ntwo",}', {"a": "one\ntwo"}),
        (r'{"a": "50\% of \(x\)"}', {"a": r"50\% of \(x\)"}),
        (r'{"a": "C:\users"}', {"a": r"C:\users"}),
        ("{'a': 'say \"yes\"'}", {"a": 'say "yes"'}),
        ('{"a": "a // b # c /* d */",}', {"a": "a // b # c /* d */"}),
        ('{"a": "“curly”",}', {"a": "“curly”"}),
        ('{"a": "{not} [a, b,]",}', {"a": "{not} [a, b,]"}),
        (r'{"a": "\ud83d\ude00 \ud83d \\ud83d \ude00"}', {"a": "😀 \ufffd \\ud83d \ufffd"}),
        ('{"a": "\ud800"}', {"a": "\ufffd"}),
        ('[{"id": "p01"}, {"id": "p02"}]', {"items": [{"id": "p01"}, {"id": "p02"}]}),
        ('So: [{"id": "p01"}, {"id": "p02"},]', {"items": [{"id": "p01"}, {"id": "p02"}]}),
        ("{}", {}),
    ],
)
def test_values_are_read_as_they_were_meant(text: str, expected: dict[str, Any]) -> None:
    assert json_objects(text) == [expected]


def test_a_number_of_5000_digits_is_no_number() -> None:
    assert json_objects('{"a": ' + "9" * 5000 + "}") == [{"a": None}]


def test_objects_side_by_side_are_given_in_order() -> None:
    assert json_objects('{"a": 1} then {"b": 2}') == [{"a": 1}, {"b": 2}]


def test_objects_within_a_leading_think_tag_are_drafts() -> None:
    text = '<think>{"a": 1} or {"a": ...} or {"a": 3}</think>{"a": 2}'
    assert json_objects(text) == [{"a": 2}]
    assert drafts(text) == [{"a": 1}, {"a": 3}]
    assert drafts('{"a": "<think>{}</think>"}') == []
    assert drafts('{"a": 1} or {"a": ...}</think>{"a": 2}') == [{"a": 1}]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1} He says </think> {"a": 2} and {"a": 3}',
        """{'a': 'he says </think> {"a": 2}'}""",
        '{"a": 1}</think>{"b": 2}", "c": 3}',
    ],
)
def test_a_closing_tag_in_quoted_text_ends_no_thoughts(text: str) -> None:
    assert drafts(text) == []
    assert json_objects(text)[0]["a"] in (1, 'he says </think> {"a": 2}')


WHOLE = json.dumps({"p01": {"reason": "a \\ \u00e9", "grade": -2, "evidence": ["c01", {}]}})


@pytest.mark.parametrize("end", range(1, len(WHOLE)))
def test_a_reply_that_is_cut_off_anywhere_is_unclosed(end: int) -> None:
    for before in ("", "Here: ", "```json\n", "<think>so</think>", '{"p00": {}} '):
        with pytest.raises(Unclosed):
            json_objects(before + WHOLE[:end])


@pytest.mark.parametrize(
    "text",
    ["{'a': 'b", "{“a”: “b", "{'a': 1, // more", '{"a": 1, /* more', "<think>so", '{"a": tru', "{"],
)
def test_a_mended_reply_is_never_closed(text: str) -> None:
    with pytest.raises(Unclosed):
        json_objects(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Supported.",
        "null",
        "3",
        '"supported"',
        "[1, 2]",
        "[]",
        '{"a": "said "yes" to it"}',
        '{"a": 1 "b": 2}',
        '{"a" 1}',
        '{"a": [1, 2}',
        '{"a": {"b": 1}} {"c": oops}',
        '{"a": "x", "a": "y"}',
        '{"a": "x", "a": "x"}',
        '{"a": "x", "a": "y",}',
        '{"p01": {"verdict": "absent", "verdict": "supported"}}',
    ],
)
def test_what_is_no_object_is_malformed_and_not_cut_off(text: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        json_objects(text)
    assert not isinstance(caught.value, Unclosed)


def test_nothing_is_taken_from_inside_an_object_that_cannot_be_read() -> None:
    with pytest.raises(MalformedReply):
        json_objects('{"p01": {"reason": "he wrote "{"p01": {"verdict": "supported"}}""}}')


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        '{"a":' * 200_000,
        '{"a":{"b":' * 100 + "1" + "}}" * 100 + ",",
        '{"' + "\\" * 1_000_000,
        '{"' + "x" * 1_000_000,
        "{" + " " * 1_000_000,
        "{ " * 500_000 + "x",
        "{/*" * 300_000,
        '{"a": 1' + "," * 300_000 + "}",
        '{"a": 1}' * 100_000,
        "{'" * 500_000,
        '{"a": ' + "9" * 1_000_000 + "x",
        "<think>" + '{"a": {' * 100_000 + "</think>{}" + "x" * 100_000,
        "<" * 1_000_000,
        '"' * 1_000_001,
    ],
    ids=range(15),
)
def test_hostile_replies_are_refused_within_a_second(text: str) -> None:
    begun = time.process_time()
    for read in (json_objects, drafts):
        with suppress(MalformedReply):
            read(text)
    assert time.process_time() - begun < 1


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=3))
def test_json_and_python_notation_are_read_back(made: dict[str, Any]) -> None:
    for text in (json.dumps(made), json.dumps(made, indent=1, ensure_ascii=False)):
        assert json_objects(text) == [made]
        assert json_objects(f"So:\n```json\n{text}\n```") == [made]
