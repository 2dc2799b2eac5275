"""Where adjudicators said something, what they said is the combined label."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.analysis.calibration.judge_identity import fingerprint_of_labels
from ragstone.analysis.calibration.people_scores import people_scores, weights_of
from ragstone.annotation import LabelTable, agreement_of, read_label_table, write_labels
from ragstone.annotation.adjudication import Adjudication
from ragstone.annotation.label_export import Layout, write_adjudicated
from ragstone.data import Context, Example
from ragstone.metrics import parse_metric


def person(name: str) -> dict[str, Any]:
    return {"annotator": name}


ANN, BEN, CEM = map(person, ("ann", "ben", "cem"))
CLEO, DORA, EVE = map(person, ("adjudicator:cleo", "adjudicator:dora", "adjudicator:eve"))
EXAMPLE = Example("q1", "q1", "s", contexts=(Context("d7", "t", 1), Context("d9", "u", 2)))


def read(folder: Path, *rows: dict[str, Any]) -> LabelTable:
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps({"id": "q1"} | row) + "\n" for row in rows))
    return read_label_table(path)


def test_an_adjudicator_goes_before_the_majority_and_breaks_a_tie(tmp_path: Path) -> None:
    table = read(
        tmp_path,
        ANN | {"helpful": 1, "tone": 1, "clear": 1},
        BEN | {"helpful": 1, "tone": 2, "clear": 1},
        CEM | {"helpful": 1, "clear": 0},
        CLEO | {"helpful": 0, "tone": 2},
    )
    columns = ("column", "value", "n_votes", "tie", "adjudicated")
    assert table.adjudicated().select(columns).rows() == [
        ("helpful", "false", 1, False, True),
        ("tone", "2", 1, False, True),
        ("clear", "1", 3, False, False),
    ]
    assert table.ties() == []
    assert table.join(EXAMPLE).labels == {"answer": {"helpful": False}}


@pytest.mark.parametrize(
    ("said", "expected"),
    [((1, 1, 0), "true"), ((0, 0, 1), "false"), ((1, 0), None), ((0,), "false")],
)
def test_of_several_adjudicators_the_majority_decides_or_it_is_a_tie(
    tmp_path: Path, said: tuple[int, ...], expected: str | None
) -> None:
    decided = [
        who | {"helpful": value} for who, value in zip((CLEO, DORA, EVE), said, strict=False)
    ]
    table = read(tmp_path, *(who | {"helpful": 1} for who in (ANN, BEN, CEM)), *decided)
    assert table.adjudicated()["value"].to_list() == [expected]
    assert [tie.annotators for tie in table.ties()] == (
        [("adjudicator:cleo", "adjudicator:dora")] if expected is None else []
    )


def test_a_context_may_be_decided_by_its_rank_and_labelled_by_its_id(tmp_path: Path) -> None:
    about = [ANN | {"context": "d9"}, BEN | {"context": "d9"}, CLEO | {"context": 2}]
    rows = [one | {"misleading": said} for one, said in zip(about, (1, 1, 0), strict=True)]
    table = read(tmp_path, *rows)
    assert table.join(EXAMPLE).labels == {"contexts": [{}, {"misleading": False}]}
    assert table.on([EXAMPLE]).adjudicated()["value"].to_list() == ["false"]


def test_of_a_unit_that_an_adjudicator_discards_no_label_counts(tmp_path: Path) -> None:
    table = read(
        tmp_path,
        ANN | {"helpful": 1},
        BEN | {"helpful": 0},
        ANN | {"context": "d7", "misleading": 1},
        CLEO | {"discard": "not English"},
        ANN | {"id": "q2", "helpful": 1},
    )
    assert table.adjudicated().select("example_id", "unit", "value").rows() == [
        ("q1", "d7", "true"), ("q2", None, "true")
    ]  # fmt: skip
    assert table.join(EXAMPLE).labels == {"contexts": [{"misleading": True}]}
    assert table.discarded == {"not English": 1}


def test_what_annotators_discard_an_adjudicator_can_label(tmp_path: Path) -> None:
    table = read(tmp_path, ANN | {"discard": "odd"}, BEN | {"helpful": 0}, CLEO | {"helpful": 1})
    assert table.adjudicated()["value"].to_list() == ["true"]


def test_an_adjudicator_of_two_minds_decides_nothing(tmp_path: Path) -> None:
    table = read(tmp_path, ANN | {"helpful": 1}, CLEO | {"helpful": 1}, CLEO | {"helpful": 0})
    assert table.adjudicated().select("value", "adjudicated").rows() == [("true", False)]


def test_agreement_is_the_same_whatever_was_decided(tmp_path: Path) -> None:
    rows = [
        who | {"id": f"q{n}", "helpful": (n + at) % 3 > 0, "tone": 1 + (n + at) % 2}
        for n in range(9)
        for at, who in enumerate((ANN, BEN, CEM))
    ]
    before = agreement_of(read(tmp_path, *rows))
    decisions = [
        CLEO | {"id": f"q{n}", "helpful": 1, "tone": 1.5, "own.other": 3} for n in range(4)
    ]
    after = agreement_of(read(tmp_path, *rows, *decisions))
    assert [one.name for one in after] == ["helpful", "tone"]
    for one, same in zip(before, after, strict=True):
        data, other = one.to_dict(), same.to_dict()
        for found in (data, other):
            found.pop("ties"), found.pop("n_ties")
            for item in found["dividing"]:
                item.pop("decided")
        assert data == other
    assert {one.example_id: one.decided for one in after[0].dividing} == {
        f"q{n}": "true" if n < 4 else None for n in range(9)
    }


def test_it_is_counted_how_often_the_majority_was_followed(tmp_path: Path) -> None:
    table = read(
        tmp_path,
        *(who | {"helpful": said} for who, said in ((ANN, 1), (BEN, 1), (CEM, 0), (CLEO, 1))),
        *(who | {"id": "q2", "helpful": said} for who, said in ((ANN, 1), (CLEO, 0))),
        *(who | {"id": "q3", "helpful": said} for who, said in ((ANN, 1), (BEN, 0), (CLEO, 0))),
        *(who | {"id": "q4", "helpful": said} for who, said in ((ANN, 1), (CLEO, 1), (DORA, 0))),
        CLEO | {"id": "q5", "helpful": 1},
        *(who | {"id": "q6", "own.score": said} for who, said in ((ANN, 0.5), (BEN, 7), (CLEO, 1))),
    )
    assert table.adjudication == Adjudication(n=5, compared=2, as_majority=1)
    assert (table.annotators, table.adjudicators) == (("ann", "ben", "cem"), ("cleo", "dora"))


def test_nothing_more_is_asked_of_who_decides(tmp_path: Path) -> None:
    table = read(tmp_path, ANN | {"helpful": 1, "clear": 1}, BEN | {"helpful": 0}, CLEO | {
        "helpful": 1
    }, CLEO | {"id": "q2"})  # fmt: skip
    assert {one.annotator for one in table.completeness} == {"ann", "ben"}


def test_contradictions_of_who_decides_are_reported_as_theirs(tmp_path: Path) -> None:
    rows = (ANN | {"source_cited": 0}, CLEO | {"source_cited": 0, "fabricated_source": 1})
    (one,) = read(tmp_path, *rows).broken_rules()
    assert one.annotator == "adjudicator:cleo"


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("wide", "again.csv"), ("wide", "again.parquet"), ("long", "again.jsonl"),
        ("per_task", "again"), ("argilla", "again.json"), ("label_studio", "again.json"),
    ],
)  # fmt: skip
def test_decisions_are_written_and_read_back(tmp_path: Path, layout: Layout, name: str) -> None:
    table = read(
        tmp_path,
        ANN | {"helpful": 1, "source_cited": 1},
        BEN | {"helpful": 0},
        CLEO | {"helpful": 0},
        CLEO | {"id": "q2", "discard": "spam"},
        ANN | {"id": "q2", "helpful": 1},
    )
    out = tmp_path / name
    write_labels(table, out, layout=layout)
    files = sorted(out.iterdir()) if out.is_dir() else [out]
    again = read_label_table(files)
    columns = ["example_id", "column", "value", "adjudicated"]
    expected = table.adjudicated().select(columns).sort(columns)
    assert again.adjudicated().select(columns).sort(columns).equals(expected)


def test_combined_labels_read_back_with_what_was_decided(tmp_path: Path) -> None:
    table = read(tmp_path, ANN | {"helpful": 1}, BEN | {"helpful": 1}, CLEO | {"helpful": 0})
    write_adjudicated(table, tmp_path / "together.csv")
    assert read_label_table(tmp_path / "together.csv").used["value"].to_list() == ["false"]


def test_the_mean_of_people_is_that_of_who_decided(tmp_path: Path) -> None:
    metric = parse_metric("answer_relevance")
    table = read(
        tmp_path,
        ANN | {"answer_relevance": 0.2, "inclusion_probability": 0.5},
        BEN | {"answer_relevance": 0.4, "inclusion_probability": 0.5},
        CLEO | {"answer_relevance": 0.9, "inclusion_probability": 0.5},
    )
    assert people_scores([EXAMPLE], table, [metric])["value"].to_list() == [0.9]
    assert weights_of(table).rows() == [("q1", 2.0)]


def test_labels_with_another_decision_are_other_labels(tmp_path: Path) -> None:
    votes = (ANN | {"helpful": 1}, BEN | {"helpful": 0})
    prints = {
        fingerprint_of_labels(read(tmp_path, *votes, *more))
        for more in (
            (),
            (CLEO | {"helpful": 1},),
            (CLEO | {"helpful": 0},),
            (CLEO | {"discard": 1},),
        )
    }
    assert len(prints) == 4
