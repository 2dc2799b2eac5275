"""Values: ids, texts, turns, contexts and grades of a record, each form and its limit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, Turn, read
from ragstone.data.conversation import read_conversation, read_turns
from ragstone.data.example import (
    are_texts,
    parse_cell,
    read_id,
    read_texts,
    spelled_out,
)
from ragstone.data.fields import could_be
from ragstone.data.json_text import Problem, shown


def one(record: dict[str, Any]) -> Example:
    (example,) = read([record])
    return example


def fields_at_fault(record: dict[str, Any]) -> list[str]:
    with pytest.raises(DataError) as caught:
        list(read([record]))
    return [fault.field for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("given_id", "id", "faults"),
    [
        (None, None, 0),
        ("x", "x", 0),
        (" ", " ", 0),
        (0, "0", 0),
        (-7, "-7", 0),
        (2**128 - 1, str(2**128 - 1), 0),
        (2**128, None, 1),
        (1.0, "1", 0),
        (2.0**60, None, 1),
        (1.5, None, 1),
        (float("nan"), None, 1),
        (float("inf"), None, 1),
        (True, None, 1),
        ("", None, 1),
        ([], None, 1),
    ],
)
def test_an_id_is_text_or_a_whole_number(given_id: object, id: str | None, faults: int) -> None:
    problems: list[Problem] = []
    assert read_id(given_id, "id", problems) == id
    assert [one.field for one in problems] == ["id"] * faults


@pytest.mark.parametrize(
    ("value", "field", "texts", "faults"),
    [
        (None, "evidence", (), []),
        ("", "evidence", (), []),
        ("a", "evidence", ("a",), []),
        (["a", "", "b"], "evidence", ("a", "b"), []),
        ([{"text": "a"}, {"content": "b"}, {"page_content": "c"}], "evidence", ("a", "b", "c"), []),
        ([{"content": "b", "text": "a"}], "evidence", ("a",), []),
        ([{"text": "a"}], "reference", (), ["reference[0]"]),
        ([{"title": "a"}], "evidence", (), ["evidence[0]"]),
        (["a", 1, None], "evidence", ("a",), ["evidence[1]", "evidence[2]"]),
        ({"text": "a"}, "evidence", (), ["evidence"]),
        (3, "evidence", (), ["evidence"]),
    ],
)
def test_texts_are_one_or_several_and_empty_ones_are_dropped(
    value: object, field: str, texts: tuple[str, ...], faults: list[str]
) -> None:
    problems: list[Problem] = []
    assert read_texts(value, field, problems) == texts
    assert [problem.field for problem in problems] == faults


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("a", True),
        ([], True),
        (["a", {"text": "b"}], True),
        ([{"id": "d"}], False),
        ([{"text": "b", "grade": 1}], False),
        (["a", 1], False),
        ({"d": 1}, False),
    ],
)
def test_a_list_with_ids_or_grades_is_none_of_texts(value: object, texts: bool) -> None:
    assert are_texts(value) is texts


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("plain", "plain"),
        (' ["a", "b"] ', ["a", "b"]),
        ('{"a": 1}', {"a": 1}),
        ("['a', \"b's\"]", ["a", "b's"]),
        ("[1] as one says", "[1] as one says"),
        ("{curly} words", "{curly} words"),
        ('["a"', None),
        ("[{'a': 1}", None),
        ("[a, b]", "[a, b]"),
        ("", ""),
        (" spaced ", " spaced "),
    ],
)
def test_a_cell_is_the_list_that_it_spells_or_the_text_it_is(cell: str, value: object) -> None:
    problems: list[Problem] = []
    assert parse_cell(cell, "contexts", problems) == value
    assert len(problems) == (value is None)


@given(st.lists(st.text(alphabet="ab'\"\\ é\n", max_size=5), min_size=1, max_size=4))
def test_a_list_as_python_writes_it_is_read_back(texts: list[str]) -> None:
    problems: list[Problem] = []
    assert parse_cell(repr(texts), "contexts", problems) == texts
    assert problems == []


@pytest.mark.parametrize(
    ("value", "turns"),
    [
        ("a", [("user", "a")]),
        (["a", "b", "c"], [("user", "a"), ("assistant", "b"), ("user", "c")]),
        ([["a", "b"], ["c", "d"]],
         [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]),
        ([{"type": "human", "content": "a"}, {"type": "ai", "content": None}],
         [("user", "a"), ("assistant", "")]),
        ([{"role": "assistant", "text": "a"}, "b"], [("assistant", "a"), ("assistant", "b")]),
        ([{"role": "user", "content": [{"text": "a"}, "b", {"image": 1}]}], [("user", "a\nb")]),
        ([{"role": "system", "text": "a"}], [("system", "a")]),
        ([], []),
    ],
)  # fmt: skip
def test_turns_are_the_users_and_the_assistants_in_turn(
    value: object, turns: list[tuple[str, str]]
) -> None:
    problems: list[Problem] = []
    assert read_turns(value, problems) == tuple(Turn(*turn) for turn in turns)
    assert problems == []


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({}, "history"),
        ([1], "history[0]"),
        (["a", ["b", "c", "d"]], "history[1]"),
        ([{"role": "user"}], "history[0]"),
        ([{"text": "a"}], "history[0]"),
        ([["a", 2]], "history[0]"),
    ],
)
def test_what_is_no_turn_is_a_fault_at_its_place(value: object, field: str) -> None:
    problems: list[Problem] = []
    read_turns(value, problems)
    assert [problem.field for problem in problems] == [field]


def said(*turns: str) -> list[dict[str, str]]:
    """Turns such as ``user: q``."""
    pairs = [turn.split(": ") for turn in turns]
    return [{"role": role, "content": text} for role, text in pairs]


@pytest.mark.parametrize(
    ("messages", "question", "before", "answer"),
    [
        (said("user: q"), "q", 0, None),
        (said("user: q", "assistant: a"), "q", 0, "a"),
        (said("user: p", "assistant: a", "user: q"), "q", 2, None),
        (said("user: q", "assistant: a", "assistant: b"), "q", 0, "b"),
        (said("user: q", "assistant: a", "tool: t"), "q", 0, "a"),
        (said("system: s", "user: q", "assistant: a"), "q", 1, "a"),
    ],
)
def test_the_last_turn_of_the_user_is_the_question(
    messages: list[Any], question: str, before: int, answer: str | None
) -> None:
    problems: list[Problem] = []
    asked, history, told = read_conversation(messages, "messages", problems)
    assert (asked, len(history), told, problems) == (question, before, answer, [])


@pytest.mark.parametrize(
    ("messages", "field"),
    [([], "messages"), (said("assistant: a"), "messages"), ([1], "messages[0]")],
)
def test_a_conversation_without_the_user_is_a_fault(messages: list[Any], field: str) -> None:
    problems: list[Problem] = []
    assert read_conversation(messages, "messages", problems) == (None, (), None)
    assert [problem.field for problem in problems] == [field]


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        ([{"content": "a", "chunk_id": "x"}], [("x", "a")]),
        ([{"text": "a", "id": 3}, {"text": "b", "id": 4}], [("3", "a"), ("4", "b")]),
        ([{"text": "a", "doc_id": "d", "id": "x"}], [("x", "a")]),
        ([{"text": "a", "doc_id": "d"}, {"text": "b", "doc_id": "e"}], [("d", "a"), ("e", "b")]),
        ([{"text": "a", "doc_id": "d"}, {"text": "b", "doc_id": "d"}], [("1", "a"), ("2", "b")]),
        ([{"text": "a", "id": "x"}, "b"], [("x", "a"), ("2", "b")]),
        ([{"text": "a", "id": None}], [("1", "a")]),
        ([{"id": "x"}, {"id": "y"}], [("x", None), ("y", None)]),
        ({"text": ["a", "b"], "id": ["x", "y"]}, [("x", "a"), ("y", "b")]),
        ([{"text": "b", "rank": 2.0}, {"text": "a", "rank": 1}], [("1", "a"), ("2", "b")]),
        ([{"TEXT": "a", "Chunk Id": "x"}], [("x", "a")]),
        ([], []),
    ],
)
def test_a_context_has_its_own_id_or_its_position(
    contexts: Any, expected: list[tuple[str, str | None]]
) -> None:
    found = one({"contexts": contexts}).contexts
    assert found == tuple(
        Context(id, text, rank) for rank, (id, text) in enumerate(expected, start=1)
    )


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        ({"contexts": [{"text": "a", "id": "2"}, "b"]}, ["contexts"]),
        ({"contexts": [{"text": "a", "id": ""}]}, ["contexts[0].id"]),
        ({"contexts": ["a", "b"], "context_ids": ["x", "x"]}, ["context_ids[1]"]),
        ({"contexts": ["a", "b"], "context_ids": ["x"]}, ["context_ids"]),
        ({"contexts": ["a"], "context_ids": [None]}, ["context_ids[0]"]),
        ({"contexts": ["a"], "context_ids": 5}, ["context_ids"]),
        ({"contexts": {"text": ["a"], "id": ["x", "y"]}}, ["contexts"]),
        ({"contexts": [{"text": "a", "score": True}]}, ["contexts[0].score"]),
        ({"contexts": [{"text": "a", "score": 10**400}]}, ["contexts[0].score"]),
        (
            {
                "contexts": [{"text": "a", "doc_id": "d"}, {"text": "b", "doc_id": "d"}],
                "reference_contexts": ["d"],
            },
            ["contexts[1]"],
        ),
        ({"answer": "a", "reference_contexts": [None]}, ["reference_contexts[0]"]),
        ({"answer": "a", "reference_contexts": {"d": 1.5}}, ["reference_contexts[0]"]),
        ({"answer": "a", "reference_contexts": {"d": 1_000_001}}, ["reference_contexts[0]"]),
        ({"answer": "a", "reference_contexts": {"d": True}}, ["reference_contexts[0]"]),
    ],
)
def test_contexts_that_cannot_be_told_apart_are_a_fault(
    record: dict[str, Any], fields: list[str]
) -> None:
    assert fields_at_fault(record) == fields


def test_labels_of_fewer_contexts_follow_the_ranks_too() -> None:
    contexts = [{"text": text, "rank": rank} for text, rank in (("c", 3), ("a", 1), ("b", 2))]
    marks = {"contexts": [{"misleading": 1}, {"misleading": 0}]}
    example = one({"contexts": contexts, "labels": marks})
    assert [context.text for context in example.contexts or ()] == ["a", "b", "c"]
    assert example.labels["contexts"] == [{"misleading": 0}, None, {"misleading": 1}]


@pytest.mark.parametrize(
    ("field", "value", "meant"),
    [
        ("contexts", ["a"], True),
        ("contexts", [], False),
        ("contexts", 3, False),
        ("context_ids", "a", False),
        ("context_ids", ["a"], True),
        ("answer", "", True),
        ("answer", ["a"], False),
        ("answer", 3, False),
        ("system", 3, True),
        ("system", True, False),
        ("question_id", 3, True),
    ],
)
def test_only_a_value_of_its_kind_can_be_meant_for_a_field(
    field: str, value: object, meant: bool
) -> None:
    assert could_be(field, value) is meant


def test_an_example_is_grouped_by_its_own_fields_then_by_slices_meta_and_labels() -> None:
    own: dict[str, Any] = {name: f"my {name}" for name in
           ("id", "question_id", "system", "question", "answer", "policy")}  # fmt: skip
    example = Example(
        **own,
        slices={"a": True, "id": "other"},
        meta={"a": "m", "b": ["x", 1]},
        labels={"a": "l", "b": "l", "c": None},
    )
    for name, value in own.items():
        assert example.facet(name) == value
    facets = {"a": "true", "b": "x, 1", "c": None, "d": None}
    assert {name: example.facet(name) for name in facets} == facets


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (2**200 - 1, f"{2**200 - 1} (a number)"),
        (2**200, "a number of more than 60 digits"),
        (dict.fromkeys("abcde", 1), "an object with a, b, c, d, e"),
        (dict.fromkeys("abcdef", 1), "an object with a, b, c, d, e, …"),
        ((1, 2), "a list of 2"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (b"", "a bytes"),
        ("x" * 60, f"the text '{'x' * 60}'"),
        ("x" * 61, f"the text '{'x' * 59}…'"),
        ("\ud800", "the text '\\\\ud800'"),
    ],
)
def test_a_value_is_shown_short_and_with_its_kind(value: object, got: str) -> None:
    assert shown(value) == got


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (-7, "-7"),
        (0, "0"),
        (2**200 - 1, str(2**200 - 1)),
        (3.5, "3.5"),
        (0.1, "0.1"),
        (42.0, "42"),
        (-0.0, "0"),
        (2.0**53, "9007199254740992.0"),
        (1e-7, "1e-07"),
    ],
)
def test_a_number_is_spelled_as_a_text(value: object, text: object) -> None:
    assert spelled_out(value) == text


@pytest.mark.parametrize("value", [True, None, "42", 2**200, float("nan"), float("-inf"), {}, [1]])
def test_what_is_no_number_is_not_spelled(value: object) -> None:
    assert spelled_out(value) is value
