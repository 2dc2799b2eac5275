"""``ragstone labels``: what files hold, how complete it is, and other layouts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from ragstone.annotation import read_label_table
from ragstone.annotation.label_export import LAYOUTS
from ragstone.cli.labels import LayoutOption

SHEET = """id,annotator,context,topically_relevant,helpful,note,discard
q1,ann,1,1,,,
q1,ann,2,0,,,
q1,ann,,,1,,
q1,ben,1,1,,,
q1,ben,2,,,,
q2,ben,,,,,not English
"""


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(SHEET)
    return path


def test_every_layout_can_be_written() -> None:
    assert list(get_args(LayoutOption)) == list(LAYOUTS)


@pytest.mark.parametrize("name", ["labels.jsonl", "long.csv", "argilla.json", "label_studio.json"])
def test_labels_are_the_same_in_another_layout(
    name: str, sheet: Path, tmp_path: Path, ragstone: Callable[..., Any]
) -> None:
    layout = Path(name).stem if Path(name).stem != "labels" else "wide"
    out = tmp_path / name
    assert ragstone("labels", sheet, "--as", layout, "--out", out).status == 0
    columns = ["example_id", "annotator", "unit", "kind", "column", "value"]
    first, second = read_label_table(sheet), read_label_table(out)
    assert set(second.used.select(columns).rows()) == set(first.used.select(columns).rows())
    assert len(second.used) == 4


def test_it_says_who_left_what_open(sheet: Path, ragstone: Callable[..., Any]) -> None:
    shown = ragstone("labels", sheet).out
    assert [line.split()[:5] for line in shown.splitlines() if "%" in line] == [
        ["ann", "3", "3", "100", "%"],
        ["ben", "1", "2", "50", "%"],
    ]
    assert "topically_relevant  ben           1   2" in shown
    told = json.loads(ragstone("labels", sheet, "--json").out)
    assert told["n_labels"] == 4
    assert told["discarded"] == {"not English": 1}
    assert told["completeness"][-1] == {
        "annotator": "ben", "label": "topically_relevant", "given": 1, "asked": 2,
    }  # fmt: skip


def test_all_but_one_of_a_thousand_is_not_all(tmp_path: Path, ragstone: Callable[..., Any]) -> None:
    rows = [f"q{at},ann,{'' if at == 7 else 1}" for at in range(1000)]
    sheet = tmp_path / "labels.csv"
    sheet.write_text("\n".join(["id,annotator,helpful", *rows]))
    assert "999  1,000  99 %" in ragstone("labels", sheet).out


def test_labels_that_are_there_are_kept(sheet: Path, ragstone: Callable[..., Any]) -> None:
    outcome = ragstone("labels", sheet, "--out", sheet)
    assert (outcome.status, sheet.read_text()) == (2, SHEET)
    assert "already exists and may hold labels" in outcome.err
    outcome = ragstone("labels", sheet, "--as", "argilla")
    assert outcome.status == 2
    assert "--out FILE" in outcome.err
