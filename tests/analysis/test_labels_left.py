"""How many labels a mean still needs, planned from those so far."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.analysis.sample_sizes.question_sizes import LabelsLeft, labels_left
from ragstone.annotation import LabelTable, read_label_table
from ragstone.report.reason_words import explain
from ragstone.stats.planning.sample_size import mean_sample_size, pilot, rate_sample_size
from ragstone.stats.weights_and_groups import kish_size


def table_of(folder: Path, label: str, said: list[Any], **more: list[Any]) -> LabelTable:
    """A label of each example by one person."""
    rows = [
        {
            "id": f"e{at}",
            "annotator": "ann",
            label: one,
            **{name: m[at] for name, m in more.items()},
        }
        for at, one in enumerate(said)
    ]
    file = folder / "labels.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_label_table(file)


def only(found: tuple[LabelsLeft, ...]) -> LabelsLeft:
    (one,) = found
    return one


def test_a_rate_needs_what_wilsons_interval_does(tmp_path: Path) -> None:
    table = table_of(tmp_path, "helpful", [True] * 24 + [False] * 36)
    one = only(labels_left(table, half_width=0.03))
    assert (one.label, one.so_far, one.needed) == ("helpful", 60, rate_sample_size(0.4, 0.03))
    enough = only(labels_left(table, half_width=0.2))
    assert enough.needed == rate_sample_size(0.4, 0.2) < 60


def test_of_several_labels_the_share_nearest_to_a_half_decides(tmp_path: Path) -> None:
    table = table_of(tmp_path, "mood", ["glad"] * 5 + ["sad"] * 20 + ["cross"] * 15)
    assert only(labels_left(table, half_width=0.05)).needed == rate_sample_size(0.5, 0.05)


def test_ratings_are_planned_as_a_share_of_their_range_where_it_is_known(tmp_path: Path) -> None:
    said = [1, 2, 4, 5, 5, 3] * 5
    table = table_of(tmp_path, "rating.tone", said)
    assert labels_left(table, half_width=0.03) == ()
    one = only(labels_left(table, half_width=0.03, ends={"rating.tone": (1, 5)}))
    first = pilot(said, list(range(30)))
    size = mean_sample_size(first, 0.12, rate=False, low=1, high=5)
    assert size is not None
    assert one.half_width == pytest.approx(0.12)
    assert one.needed == size.rows


def test_answers_to_one_question_are_worth_less(tmp_path: Path) -> None:
    said = ([True] * 3 + [False] * 3) * 10
    table = table_of(tmp_path, "helpful", said)
    questions = [at // 3 for at in range(60)]
    one = only(labels_left(table, half_width=0.05, clusters=dict(
        zip((f"e{at}" for at in range(60)), questions, strict=True)
    )))  # fmt: skip
    size = mean_sample_size(pilot(list(map(float, said)), questions), 0.05, rate=True)
    assert size is not None
    assert one.needed == size.rows > 2.5 * rate_sample_size(0.5, 0.05)


def test_labels_that_were_likelier_than_others_are_worth_less(tmp_path: Path) -> None:
    chances = [1.0] * 20 + [0.1] * 40
    table = table_of(tmp_path, "helpful", [True, False] * 30, inclusion_probability=chances)
    one = only(labels_left(table, half_width=0.05))
    worth = kish_size([1 / chance for chance in chances]) / 60
    assert one.needed == pytest.approx(rate_sample_size(0.5, 0.05) / worth, abs=0.5)


def test_from_too_few_labels_nothing_is_planned(tmp_path: Path) -> None:
    one = only(labels_left(table_of(tmp_path, "helpful", [True, False] * 4), half_width=0.03))
    assert one.needed is None
    assert explain(one.why or "") == "8 labels so far; planning takes 10"
