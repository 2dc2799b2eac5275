"""What a record says itself, in its parts and in what it expects is not taken for one another."""

from collections.abc import Mapping
from typing import Any

import pytest

from ragstone.data import Example, read

ASKED = {"inputs": {"question": "When does the ferry leave?"}}
ANSWERED = {"outputs": {"answer": "At 9.", "contexts": ["It leaves at 9."]}}
EXPECTED = "It leaves at 9:40."


def one(record: Mapping[str, Any]) -> Example:
    (example,) = read([dict(record)])
    return example


@pytest.mark.parametrize(
    "expected",
    [
        {"messages": [{"role": "user", "content": "When?"},
                      {"role": "assistant", "content": EXPECTED}]},
        [{"role": "assistant", "content": EXPECTED}],
        {"role": "assistant", "content": EXPECTED, "name": "a"},
        {"answer": EXPECTED, "contexts": ["Gold."], "question": "Another?"},
        {"reference": EXPECTED, "messages": "none"},
        EXPECTED,
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["reference_outputs", "expectations"])
def test_what_is_expected_is_the_reference_and_nothing_else(expected: Any, name: str) -> None:
    example = one({**ASKED, **ANSWERED, name: expected})
    assert (example.question, example.answer) == ("When does the ferry leave?", "At 9.")
    assert [context.text for context in example.contexts or ()] == ["It leaves at 9."]
    assert example.reference == (EXPECTED,)


def test_a_record_keeps_its_own_columns_beside_those_of_its_parts() -> None:
    inputs = {**ASKED["inputs"], "id": "other", "system": "You are a clerk."}
    outputs = {**ANSWERED["outputs"], "id": "third"}
    example = one({"id": "1", "system": "s", "inputs": inputs, "outputs": outputs})
    assert (example.id, example.system, example.answer) == ("1", "s", "At 9.")


@pytest.mark.parametrize("metadata", ["a text", '{"team": "x"}', {"team": "x"}, None])
def test_what_is_known_of_a_reply_takes_no_place_of_what_is_said_of_the_record(
    metadata: Any,
) -> None:
    reply = {"choices": [{"message": {"role": "assistant", "content": "At 9."}}],
             "usage": {"prompt_tokens": 7, "completion_tokens": 2}}  # fmt: skip
    example = one({"messages": [{"role": "user", "content": "When?"}], "response": reply,
                   "metadata": metadata, "meta": {"line": 3}})  # fmt: skip
    assert example.meta["input_tokens"] == 7
    assert example.meta["line"] == 3
    if metadata == "a text":
        assert example.slices["metadata"] == metadata
    elif metadata is not None:
        assert example.meta["team"] == "x"


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "Answer by the passages: …", "response": "At 9."},
        {"prompt": "Answer by the passages: …", "completion": "At 9.", "answer": "At 9."},
        {"input": "Answer by the passages: …", "output": "At 9.", "expected": "At 9:40.",
         "answer": "At 9."},
    ],
)  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_a_field_by_its_own_name_comes_before_that_of_a_layout(
    other: Mapping[str, Any], first: bool
) -> None:
    own = {"question": "When does the ferry leave?"}
    example = one({**own, **other} if first else {**other, **own})
    assert (example.question, example.answer) == ("When does the ferry leave?", "At 9.")


def test_a_path_to_an_empty_list_gives_no_contexts_and_takes_no_others() -> None:
    rows = [{"q": "When?", "a": "At 9.", "docs": docs, "contexts": ["other"]}
            for docs in ([{"text": "It leaves at 9."}], [])]  # fmt: skip
    examples = read(rows, columns={"question": "q", "answer": "a", "contexts": "$.docs[*].text"})
    texts = [[context.text for context in example.contexts or ()] for example in examples]
    assert texts == [["It leaves at 9."], []]
    assert [example.contexts is None for example in examples] == [False, False]
