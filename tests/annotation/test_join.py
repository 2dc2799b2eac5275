"""What annotators say together, put into the examples it is about."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.read_labels import read_label_table
from ragstone.core.errors import DataError
from ragstone.core.messages import Reason
from ragstone.data import Context, Example
from ragstone.report.reason_words import explain

PAIR = Example("q1", "q1", "s", contexts=(Context("d7", "t", 1), Context("d9", "u", 2)))


def labels(tmp_path: Path, *rows: dict[str, Any]) -> LabelTable:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"id": "q1"} | row) + "\n" for row in rows))
    return read_label_table(path)


def test_the_majority_goes_into_the_example_and_ties_are_open(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,annotator,context,topically_relevant,misleading,helpful\n"
        "q1,ann,1,1,1,\n"
        "q1,ben,1,1,0,\n"
        "q1,cem,1,0,,\n"
        "q1,ann,d9,0,,\n"
        "q1,ann,,,,true\n"
    )
    table = read_label_table(path)
    assert [(tie.example_id, tie.unit, tie.name) for tie in table.ties()] == [
        ("q1", "1", "misleading")
    ]
    assert table.join(PAIR).labels == {
        "answer": {"helpful": True},
        "contexts": [
            {"topically_relevant": True, "misleading": None},
            {"topically_relevant": False},
        ],
    }


def test_a_context_by_id_and_by_rank_is_the_same_one(tmp_path: Path) -> None:
    rows = [
        {"annotator": name, "context": context, "misleading": value}
        for name, context, value in (("ann", "d7", 1), ("ben", 1, 1), ("cem", "1", 0))
    ]
    assert labels(tmp_path, *rows).join(PAIR).labels == {"contexts": [{"misleading": True}]}


def test_a_context_may_be_labelled_behind_those_that_the_record_labels(tmp_path: Path) -> None:
    example = replace(PAIR, labels={"contexts": [{"misleading": 0}]})
    joined = labels(tmp_path, {"context": 2, "misleading": 1}).join(example)
    assert joined.labels == {"contexts": [{"misleading": 0}, {"misleading": True}]}


def test_labels_go_before_those_of_the_record(tmp_path: Path) -> None:
    example = Example("x", "x", "s", labels={"answer": {"helpful": 0, "incomplete": 1}, "mine": 2})
    table = labels(tmp_path, {"id": "x", "helpful": 1, "response_type": "abstain", "tone": 3})
    assert table.join(example).labels == {
        "answer": {"helpful": True, "incomplete": 1},
        "mine": 2,
        "response_type": "abstain",
    }
    assert table.join(PAIR) is PAIR


def test_grades_and_verdicts_are_joined_in_their_own_form(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"context": 1, "grade": 2},
        {"claim": 2, "support": "supported", "agreement": "matches"},
        {"statement": 1, "agreement": "full"},
    ]
    assert labels(tmp_path, *rows).join(PAIR).labels == {
        "contexts": [{"grade": 2}],
        "claims": [
            {"text": "claim 1"},
            {"text": "claim 2", "support": "supported", "agreement": "matches"},
        ],
        "statements": [{"text": "statement 1", "agreement": "full"}],
    }


@pytest.mark.parametrize(("grade", "joined"), [(0, 0), ("3", 3), (2.0, 2)])
def test_a_grade_is_joined_as_a_whole_number(tmp_path: Path, grade: object, joined: int) -> None:
    found = labels(tmp_path, {"context": "d9", "grade": grade}).join(PAIR).labels["contexts"]
    assert found == [{}, {"grade": joined}]
    assert type(found[1]["grade"]) is int


def test_ratings_critiques_preferences_and_metrics_are_not_joined(tmp_path: Path) -> None:
    row = {"rating.tone": 3, "critique.harm": 1, "preference.b": "win", "faithfulness": 1, "x": 2}
    assert labels(tmp_path, row).join(PAIR) == PAIR


def test_a_tie_takes_what_the_record_says_of_its_label_away(tmp_path: Path) -> None:
    """It is open what people say, but for the kind of reply, where the record goes on to speak."""
    said = {"answer": {"helpful": 1, "incomplete": 0}, "response_type": "answer"}
    rows = [
        {"annotator": "ann", "helpful": 1, "response_type": "abstain"},
        {"annotator": "ben", "helpful": 0, "response_type": "refuse"},
    ]
    joined = labels(tmp_path, *rows).join(replace(PAIR, labels=said)).labels
    assert joined == {"answer": {"helpful": None, "incomplete": 0}, "response_type": "answer"}


def test_notes_say_how_many_labels_lack_an_example_and_how_many_a_context(tmp_path: Path) -> None:
    rows = [
        {"id": "z1", "helpful": 1, "incomplete": 0},
        {"id": "z2", "helpful": 1},
        {"context": "d0", "misleading": 1},
    ]
    found = [Reason.read(note) for note in labels(tmp_path, *rows).on([PAIR]).notes]
    assert [(one.code, one.facts["lacks"], one.facts["n"], one.facts["examples"].split())
            for one in found] == [
        ("labels_not_used", "example", "3", ["z1", "z2"]),
        ("labels_not_used", "context", "1", ["q1"]),
    ]  # fmt: skip


def test_verdicts_are_joined_to_the_claims_that_the_example_lists(tmp_path: Path) -> None:
    example = Example("q1", "q1", "s", labels={"claims": [{"text": "It rained."}]})
    joined = labels(tmp_path, {"claim": 1, "support": "absent"}).join(example)
    assert joined.labels == {"claims": [{"text": "It rained.", "support": "absent"}]}
    with pytest.raises(DataError, match="claim 1, the only one of 'q1'"):
        labels(tmp_path, {"claim": 2, "support": "absent"}).join(example)


def test_a_label_of_a_context_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    table = labels(tmp_path, {"helpful": 1}, {"context": 3, "misleading": 1})
    with pytest.raises(DataError, match="a position from 1 to 2") as caught:
        table.join(PAIR)
    assert caught.value.faults[0].line == 2
    bare = Example("q1", "q1", "s")
    with pytest.raises(DataError, match="has none"):
        table.join(bare)


def test_discarded_rows_are_not_joined(tmp_path: Path) -> None:
    table = labels(tmp_path, {"helpful": 1, "discard": "spam"}, {"incomplete": 1})
    assert table.join(PAIR).labels == {"answer": {"incomplete": True}}


def test_a_table_on_its_examples_knows_contexts_by_rank(tmp_path: Path) -> None:
    table = labels(
        tmp_path,
        {"context": "d9", "misleading": 1},
        {"context": "d0", "misleading": 1},
        {"id": "zzz", "helpful": 1},
        {"claim": 1, "support": "absent"},
    ).on([PAIR])
    assert table.used.select("example_id", "unit").rows() == [("q1", "2"), ("q1", "claim 1")]
    assert table.set_aside == {"no_context": 1, "no_example": 1}
    assert (table.n_set_aside, table.n_discarded) == (2, 0)
    assert [explain(note).replace(table.source, "it") for note in table.notes] == [
        "1 label of it is not used: no such example in the data (zzz).",
        "1 label of it is not used: no such context in the data (q1).",
    ]


@pytest.mark.parametrize(
    ("ids", "some"), [("abc", "a, b, c"), ("abcd", "a, b, c and 1 more"), ("aab", "a, b")]
)
def test_three_examples_that_are_not_there_are_named(tmp_path: Path, ids: str, some: str) -> None:
    rows = [{"id": id, "annotator": str(n), "helpful": 1} for n, id in enumerate(ids)]
    (note,) = labels(tmp_path, *rows).on([PAIR]).notes
    assert explain(note).endswith(f"no such example in the data ({some}).")
