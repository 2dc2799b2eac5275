"""The rules that hold for every format."""

from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Context, Example, Turn, question_hash, read


def one(record: dict[str, Any]) -> Example:
    (example,) = read([record])
    return example


def faults(*records: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(DataError) as caught:
        list(read(list(records)))
    return [(fault.line, fault.field, fault.got) for fault in caught.value.faults]


def test_a_record_without_id_is_named_by_its_row() -> None:
    assert [e.id for e in read([{"answer": "a"}, {"answer": "b"}])] == ["1", "2"]


def test_whole_numbers_become_text_in_ids() -> None:
    assert one({"id": 7, "question_id": 8, "answer": "a"}).id == "7"


def test_a_duplicate_id_is_a_fault_and_a_duplicate_question_and_system_is_not() -> None:
    same = {"question": "q", "system": "s", "answer": "a"}
    assert len(list(read([same, same]))) == 2
    assert faults({"id": "x", **same}, {"id": "x", **same}) == [(2, "id", "'x', as in row 1")]


def test_an_id_that_is_another_records_row_number_is_a_fault() -> None:
    assert faults({"id": "2", "answer": "a"}, {"answer": "b"})[0][:2] == (2, "id")


def test_question_id_is_a_hash_of_question_and_history() -> None:
    plain = one({"question": "q", "answer": "a"})
    again = one({"question": "q", "answer": "b"})
    later = one({"question": "q", "history": ["h"], "answer": "a"})
    assert plain.question_id == again.question_id == question_hash("q")
    assert len(plain.question_id) == 16
    assert later.question_id != plain.question_id


def test_without_a_question_the_question_id_is_the_id() -> None:
    assert one({"id": "x", "answer": "a"}).question_id == "x"


def test_null_contexts_retrieve_not_and_empty_ones_retrieved_nothing() -> None:
    assert one({"answer": "a"}).contexts is None
    assert one({"answer": "a", "contexts": None}).contexts is None
    assert one({"answer": "a", "contexts": []}).contexts == ()
    assert one({"contexts": []}).contexts == ()


def test_one_text_is_one_context_and_its_position_is_its_id() -> None:
    assert one({"contexts": "c"}).contexts == (Context("1", "c", 1),)


def test_contexts_stand_in_rank_order_and_their_labels_with_them() -> None:
    example = one(
        {
            "contexts": [{"text": "b", "rank": 2}, {"text": "a", "rank": 1, "score": 3}],
            "labels": {"contexts": [{"misleading": 1}, {"misleading": 0}]},
        }
    )
    assert example.contexts == (Context("1", "a", 1, 3.0), Context("2", "b", 2))
    assert example.labels["contexts"] == [{"misleading": 0}, {"misleading": 1}]


@pytest.mark.parametrize(
    ("ranks", "got"),
    [
        ([1, 1], "1 twice"),
        ([1, 3], "3, which leaves a gap"),
        ([-1, 1], "the negative -1"),
        ([0, 1], "0 to 1; ranks start at 1"),
        ([0], "0; ranks start at 1"),
        ([1, None], "null"),
        ([1, 1.5], "1.5 (a number)"),
        ([1, True], "true (a truth value)"),
    ],
)
def test_ranks_are_one_to_n_each_once(ranks: list[Any], got: str) -> None:
    record = {"contexts": [{"text": "t", "rank": rank} for rank in ranks]}
    assert got in [g for _, _, g in faults(record)]


@pytest.mark.parametrize(
    ("record", "field", "got"),
    [
        ({"answer": True}, "answer", "true (a truth value)"),
        ({"answer": float("inf")}, "answer", "Infinity"),
        (
            {"contexts": ["a"], "qrels": [{"id": "A", "grade": 2}, {"id": "A", "grade": 0}]},
            "reference_contexts[1]",
            "the text 'A' graded 2 and 0",
        ),
        (
            {"contexts": ["a"], "qrels": {1: 1, "1": -1}},
            "reference_contexts[1]",
            "the text '1' graded 1 and -1",
        ),
        ({"answer": "a", "question": {}}, "question", "an object with no fields"),
        ({"contexts": 5}, "contexts", "5 (a number)"),
        ({"contexts": [5]}, "contexts[0]", "5 (a number)"),
        ({"contexts": ["a", None]}, "contexts[1]", "null"),
        ({"contexts": [{"rank": 1}]}, "contexts[0]", "an object with rank"),
        ({"contexts": [{"text": 3}]}, "contexts[0].text", "3 (a number)"),
        ({"contexts": [{"text": "t", "score": float("inf")}]}, "contexts[0].score", "Infinity"),
        ({"contexts": [{"text": "t", "score": "9"}]}, "contexts[0].score", "the text '9'"),
        ({"answer": "a", "reference": [1, True]}, "reference[1]", "true (a truth value)"),
        ({"answer": "a", "reference": [[1]]}, "reference[0]", "a list of 1"),
        ({"answer": 2**200}, "answer", "a number of more than 60 digits"),
        ({"question": float("inf"), "answer": "a"}, "question", "Infinity"),
        ({"answer": "a", "reference": {}}, "reference", "an object with no fields"),
        ({"answer": "a", "reference": '["Ann", true]'}, "reference[1]", "true (a truth value)"),
        ({"answer": "a", "history": 3}, "history", "3 (a number)"),
        ({"answer": "a", "history": [{"role": "user"}]}, "history[0]", "an object with role"),
        ({"answer": "a", "labels": []}, "labels", "a list of 0"),
        ({"answer": "a", "meta": "x"}, "meta", "the text 'x'"),
        ({"answer": "a", "slices": 1}, "slices", "1 (a number)"),
        ({"answer": "a", "id": 1.5}, "id", "1.5 (a number)"),
        ({"answer": "a", "id": True}, "id", "true (a truth value)"),
        ({"answer": "a", "id": ""}, "id", "an empty text"),
        ({"answer": "a", "system": []}, "system", "a list of 0"),
        ({"answer": "a", "policy": 1}, "policy", "1 (a number)"),
        ({"answer": "a", "reference_contexts": 2.5}, "reference_contexts", "2.5 (a number)"),
        (
            {"answer": "a", "reference_contexts": {"d": "high"}},
            "reference_contexts[0]",
            "the text 'high'",
        ),
        ({"contexts": ["a"], "retrieved_context_ids": []}, "context_ids", "0 ids"),
        ({"question": "q", "contexts": None}, "", "only question"),
        ({"id": "e", "answer": None}, "", "only id"),
        ({"answer": "\ud800"}, "answer", "half a surrogate pair (U+D800)"),
        ({"contexts": [{"id": "d", "text": "a"}, {"id": "d", "text": "b"}]}, "contexts[1]",
         "the text 'd' again"),
        (
            {"contexts": ["a"], "labels": {"contexts": [{}, {}]}},
            "labels.contexts",
            "labels of 2",
        ),
        (
            {"contexts": ["a"], "labels": {"contexts": [{"misleading": "yes"}]}},
            "labels.contexts[0].misleading",
            "the text 'yes'",
        ),
        ({"answer": "a", "labels": {"answer": {"helpful": 3}}}, "labels.answer.helpful",
         "3 (a number)"),
        ({"answer": "a", "labels": {"response_type": "shrug"}}, "labels.response_type",
         "the text 'shrug'"),
        (
            {"answer": "a", "labels": {"claims": [{"text": "t", "support": "maybe"}]}},
            "labels.claims[0].support",
            "the text 'maybe'",
        ),
    ],
)  # fmt: skip
def test_a_wrong_field_is_a_fault_with_its_place(
    record: dict[str, Any], field: str, got: str
) -> None:
    assert (1, field, got) in faults(record)


def test_every_fault_of_a_record_is_told() -> None:
    assert len(faults({"answer": {}, "question": True, "reference": [None]})) == 3


def test_something_that_is_no_record_is_a_fault() -> None:
    assert faults({"answer": "a"}, "x", None)[0][0] == 2


def test_nesting_without_end_is_a_fault() -> None:
    cycle: dict[str, Any] = {"answer": "a"}
    cycle["meta"] = cycle
    assert faults(cycle) == [(1, "", "deeper nesting")]


def test_references_are_alternatives_and_empty_ones_are_dropped() -> None:
    assert one({"reference": "a"}).reference == ("a",)
    assert one({"reference": ["a", "", "b"]}).reference == ("a", "b")


def test_unknown_scalars_are_slices_and_win_and_all_else_is_meta() -> None:
    example = one(
        {"answer": "a", "kind": "x", "slices": {"kind": "y", "z": 1}, "list": [1], "meta": {"m": 2}}
    )
    assert example.slices == {"kind": "x", "z": 1}
    assert example.meta == {"m": 2, "list": [1]}


def test_a_missing_number_in_an_unused_column_is_no_fault() -> None:
    assert one({"answer": "a", "faithfulness": float("nan")}).slices == {}


@pytest.mark.parametrize(
    ("record", "system"),
    [
        ({"system": "a", "slices": {"system": "b"}}, "a"),
        ({"method": "m"}, "m"),
        ({"slices": {"system": "b"}, "meta": {"system": "c"}}, "b"),
        ({"meta": {"system": "c"}, "labels": {"system": "d"}}, "c"),
        ({"labels": {"system": "d"}}, "d"),
        ({}, "default"),
    ],
)
def test_the_system_is_looked_for_at_the_top_then_in_slices_meta_labels(
    record: dict[str, Any], system: str
) -> None:
    assert one({"answer": "a", **record}).system == system


@pytest.mark.parametrize(
    "history",
    [
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}],
        ["a", "b"],
        [["a", "b"]],
    ],
)
def test_history_comes_in_several_forms(history: list[Any]) -> None:
    turns = (Turn("user", "a"), Turn("assistant", "b"))
    assert one({"answer": "x", "history": history}).history == turns


@pytest.mark.parametrize(
    ("given", "grades"),
    [
        ({"d1": 2, "d2": 0, "d3": -1}, {"d1": 2, "d2": 0}),
        ([{"id": "d1", "grade": 2}, {"id": "d2"}], {"d1": 2, "d2": 1}),
        ({"d1": 2.0}, {"d1": 2}),
        ({}, {}),
        (None, None),
    ],
)
def test_judged_contexts_by_grade(given: Any, grades: Any) -> None:
    assert one({"answer": "a", "reference_contexts": given}).reference_contexts == grades


def test_ids_alone_are_contexts_without_text() -> None:
    example = one({"answer": "a", "retrieved_context_ids": ["d1", 2]})
    assert example.contexts == (Context("d1", None, 1), Context("2", None, 2))


def test_dotted_columns_reach_into_labels() -> None:
    example = one({"answer": "a", "labels.answer.helpful": 1, "meta.x": 2, "slices.y": "z"})
    assert example.labels == {"answer": {"helpful": 1}}
    assert (example.meta, example.slices) == ({"x": 2}, {"y": "z"})


def test_examples_pass_through_with_their_ids_checked() -> None:
    given = Example("x", "q", "s", answer="a")
    assert list(read([given])) == [given]
    assert faults(given, given)[0][:2] == (2, "id")


def test_labels_that_break_a_rule_are_kept_flagged_and_counted() -> None:
    marks = {"contexts": [{"topically_relevant": 0, "evidence_sufficient": 1}]}
    examples = read([{"id": "x", "contexts": ["c"], "labels": marks}])
    (example,) = examples
    assert example.labels == marks
    (broken,) = examples.label_violations
    assert (broken.id, broken.rule) == ("x", "evidence_requires_relevance")
    assert (broken.severity, broken.where) == ("block", "contexts[0]")
    assert examples.n_label_violations == {"evidence_requires_relevance": 1}
