"""One label out of several: majorities, means of amounts, and ties named as ties."""

import pytest

from ragstone.annotation.adjudication import settle
from ragstone.annotation.label_names import Scale, scale_of
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.raw_rows import LabelValue
from ragstone.annotation.read_labels import labels_of


def table(**labels: object) -> LabelTable:
    return labels_of([{"id": "q1", "labels": labels}])


@pytest.mark.parametrize(
    ("votes", "scale", "expected"),
    [
        ([("true", 1.0), ("true", 1.0), ("false", 0.0)], "nominal", LabelValue("true", 1)),
        ([("true", 1.0), ("false", 0.0)], "nominal", None),
        ([("wrong", 0.0), ("dont_know", 0.0)], "nominal", None),
        ([("supported", None)], "nominal", LabelValue("supported", None)),
        ([("2", 2.0), ("2", 2.0), ("5", 5.0)], "ordinal", LabelValue("2", 2)),
        ([("1", 1.0), ("2", 2.0), ("5", 5.0)], "ordinal", None),
        ([("3", 3.0), ("4", 4.0)], "ordinal", None),
        ([("0.25", 0.25), ("0.75", 0.75), ("0.5", 0.5)], "interval", LabelValue("0.5", 0.5)),
        ([("4", 4.0), ("n/a", None), ("n/a", None)], "interval", LabelValue("n/a", None)),
    ],
)
def test_one_label_out_of_several(
    votes: list[tuple[str, float | None]], scale: Scale, expected: LabelValue | None
) -> None:
    assert settle(votes, scale) == expected
    assert settle(votes[::-1], scale) == expected


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


@pytest.mark.parametrize(("n", "scale"), [(10, "ordinal"), (11, "interval")])
def test_more_than_ten_whole_numbers_are_amounts(n: int, scale: Scale) -> None:
    assert list(table(score=list(range(n))).scales.values()) == [scale]


def test_the_table_of_what_they_say_together() -> None:
    labels = table(tone=[1, 2, 5], right=[0, 1], answer_relevance=[0.5, 1])
    columns = ("column", "value", "number", "n_votes", "tie")
    assert labels.adjudicated().select(columns).rows() == [
        ("tone", None, None, 3, True),
        ("right", None, None, 2, True),
        ("answer_relevance", "0.75", 0.75, 2, False),
    ]
    as_amounts = labels.adjudicated({"tone": "interval"}).select("column", "number").rows()
    assert as_amounts[0] == ("tone", pytest.approx(8 / 3))


def test_ties_say_who_said_what() -> None:
    (tie,) = table(right={"ann": False, "ben": True}).ties()
    assert (tie.example_id, tie.name, tie.unit) == ("q1", "own.right", None)
    assert dict(zip(tie.annotators, tie.votes, strict=True)) == {"ann": False, "ben": True}
