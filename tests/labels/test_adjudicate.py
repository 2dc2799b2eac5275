"""One label out of several: majorities, medians, means, and ties named as ties."""

import pytest

from ragstone.labels.adjudicate import Settled, settle
from ragstone.labels.read import labels_of
from ragstone.labels.scale import Scale, scale_of
from ragstone.labels.table import LabelTable


def table(**labels: object) -> LabelTable:
    return labels_of([{"id": "q1", "labels": labels}])


@pytest.mark.parametrize(
    ("votes", "scale", "whole", "expected"),
    [
        ([("true", 1.0), ("true", 1.0), ("false", 0.0)], "nominal", False, Settled("true", 1)),
        ([("true", 1.0), ("false", 0.0)], "nominal", False, Settled(None, None)),
        ([("wrong", 0.0), ("dont_know", 0.0)], "nominal", False, Settled(None, None)),
        ([("supported", None)], "nominal", False, Settled("supported", None)),
        ([("1", 1.0), ("2", 2.0), ("5", 5.0)], "ordinal", False, Settled("2", 2)),
        ([("3", 3.0), ("4", 4.0)], "ordinal", False, Settled("3.5", 3.5)),
        ([("3", 3.0), ("2", 2.0)], "ordinal", True, Settled(None, None)),
        ([("3", 3.0), ("1", 1.0)], "ordinal", True, Settled("2", 2)),
        ([("0.25", 0.25), ("0.75", 0.75), ("0.5", 0.5)], "interval", False, Settled("0.5", 0.5)),
        ([("4", 4.0), ("n/a", None), ("n/a", None)], "ordinal", False, Settled("n/a", None)),
    ],
)
def test_one_label_out_of_several(
    votes: list[tuple[str, float | None]], scale: Scale, whole: bool, expected: Settled
) -> None:
    assert settle(votes, scale, whole=whole) == expected
    assert settle(votes[::-1], scale, whole=whole) == expected


def test_the_scale_follows_from_the_labels() -> None:
    labels = table(
        tone=[1, 2, 5], right=[0, 1, 1], weight=[0.5, 2.25, 1], word=["a", "b", 3],
        faithfulness=[0, 1, 0], answer_relevance=[0.5, 0, 1], answer_outcome=[True, False, 0.5],
    )  # fmt: skip
    assert {column: scale for (_, column), scale in labels.scales.items()} == {
        "tone": "ordinal", "right": "nominal", "weight": "interval", "word": "nominal",
        "faithfulness": "nominal", "answer_relevance": "interval", "answer_outcome": "nominal",
    }  # fmt: skip
    assert scale_of("relevance", "grade", labels.frame["number"]) == "ordinal"
    assert scale_of("quality", "helpful", labels.frame["number"]) == "nominal"


def test_the_table_of_what_they_say_together() -> None:
    labels = table(tone=[1, 2, 5], right=[0, 1], answer_relevance=[0.5, 1])
    columns = ("column", "value", "number", "n_votes", "tie")
    assert labels.adjudicated().select(columns).rows() == [
        ("tone", "2", 2, 3, False),
        ("right", None, None, 2, True),
        ("answer_relevance", "0.75", 0.75, 2, False),
    ]
    by_majority = labels.adjudicated({"tone": "nominal"}).select("column", "tie").rows()
    assert by_majority[0] == ("tone", True)


def test_ties_say_who_said_what() -> None:
    (tie,) = table(right={"ann": False, "ben": True}).ties()
    assert (tie.example_id, tie.name, tie.unit) == ("q1", "own.right", None)
    assert dict(zip(tie.annotators, tie.votes, strict=True)) == {"ann": False, "ben": True}
