"""How far each annotator got with each label."""

from pathlib import Path

from ragstone.annotation import labels_of, read_label_table
from ragstone.annotation.label_table import Completeness


def completeness(tmp_path: Path, text: str) -> list[tuple[str, str, int, int]]:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    found = read_label_table(path).completeness
    return [(one.annotator, one.label, one.given, one.asked) for one in found]


def test_a_label_is_asked_of_each_unit_of_the_sorts_that_have_it(tmp_path: Path) -> None:
    text = (
        "id,annotator,context,topically_relevant,misleading,helpful\n"
        "q1,ann,1,1,0,\n"
        "q1,ann,2,1,,\n"
        "q1,ann,,,,1\n"
        "q1,ben,1,,,\n"
        "q2,ben,,,,\n"
    )
    assert completeness(tmp_path, text) == [
        ("ann", "topically_relevant", 2, 2),
        ("ann", "misleading", 1, 2),
        ("ann", "helpful", 1, 1),
        ("ben", "topically_relevant", 0, 1),
        ("ben", "misleading", 0, 1),
        ("ben", "helpful", 0, 1),
    ]


def test_nothing_is_asked_of_a_discarded_row(tmp_path: Path) -> None:
    text = "id,annotator,helpful,discard\nq1,ann,1,\nq2,ann,,broken\nq3,ann,0,late\n"
    assert completeness(tmp_path, text) == [("ann", "helpful", 1, 1)]


def test_rows_about_one_unit_are_one(tmp_path: Path) -> None:
    text = (
        "id,annotator,kind,column,unit,value\n"
        "q1,ann,quality,helpful,,true\n"
        "q1,ann,quality,incomplete,,true\n"
        "q2,ann,quality,helpful,,true\n"
    )
    assert completeness(tmp_path, text) == [("ann", "helpful", 2, 2), ("ann", "incomplete", 1, 2)]
    labels = {"fluency": {"ann": 4, "ben": 3}, "tone": {"ann": 2}}
    assert labels_of([{"id": "q1", "labels": labels}]).completeness == (
        Completeness("ann", "fluency", 1, 1),
        Completeness("ann", "tone", 1, 1),
        Completeness("ben", "fluency", 1, 1),
        Completeness("ben", "tone", 0, 1),
    )
