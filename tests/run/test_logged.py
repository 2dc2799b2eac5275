"""Scores in the log of the standard library: a line a run, and one for each single example."""

import logging
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate, evaluate_one, rescore

ROW: dict[str, Any] = {"question": "How long?", "reference": "It is 90 m."}
ROWS = [
    ROW | {"id": "1", "system": "a", "answer": "It is 90 m."},
    ROW | {"id": "2", "system": "b\nc", "answer": "Red."},
]


def test_a_finished_run_is_a_line_with_its_means_by_system(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="ragstone")
    given: dict[str, Any] = {"metrics": "exact_match", "out": tmp_path / "pier"}
    evaluate(ROWS, **given)
    evaluate(ROWS, **given)
    assert caplog.messages == ["pier: 2 examples; exact_match: a=1, b c=0"]
    rescore(tmp_path / "pier", metrics="token_f1")
    line = "pier: 2 examples; exact_match: a=1, b c=0; token_f1: a=1, b c=0"
    assert caplog.messages[1:] == [line]
    evaluate_one(**ROW, answer="It is 90 m.", metrics="exact_match")
    assert len(caplog.messages) == 2


def test_a_single_example_is_a_line_for_who_debugs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="ragstone")
    asked = ["exact_match", "context_recall"]
    evaluate_one(**ROW, answer="It is 90 m.", metrics=asked, judge="local:strings")
    assert caplog.messages == ["evaluate_one: exact_match: 1; context_recall: none"]


def test_no_handler_is_installed() -> None:
    assert logging.getLogger("ragstone").handlers == []
