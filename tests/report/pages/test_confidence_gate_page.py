"""What a calibrated gate, its refusal and its check say to people."""

from pathlib import Path

import numpy as np
import pytest

from ragstone.core.errors import PromiseRefused
from ragstone.core.messages import in_shell
from ragstone.guard.confidence_gate.confidence_gate import calibrate_gate
from ragstone.guard.confidence_gate.gate_labels import LabelledScore
from ragstone.report.notebook import page_of
from ragstone.report.pages.confidence_gate_page import (
    gate_calibration_page,
    gate_check_page,
    gate_refusal_page,
)
from ragstone.report.render.documents import as_html, as_markdown
from ragstone.report.render.terminal import as_text


def rows(low: float, high: float, n: int, *, faithful: bool) -> list[LabelledScore]:
    return [LabelledScore(float(score), faithful) for score in np.linspace(low, high, n)]


LABELS = [*rows(0.1, 0.6, 45, faithful=False), *rows(0.5, 0.9, 5, faithful=True)]


def text(page: object) -> str:
    return " ".join(in_shell(as_text(page, 200)).split())  # type: ignore[arg-type]


def test_calibration_says_thresholds_promise_labels_and_judge() -> None:
    found = calibrate_gate([*LABELS, LabelledScore(None, True)], judge="mine")
    said = text(gate_calibration_page(found, "labels.csv"))
    assert "gate made.json" in text(gate_calibration_page(found, "", Path("made.json")))
    assert "gate made.json" not in said
    assert "pass from 0.700 on" in said
    assert "at most 5 % have one that passes 0 of 45 here, at most 5 % at 90 % confidence" in said
    assert "labels 51 answers, 1 without a score judge mine" in said
    assert "block below" not in said
    assert "block nothing is blocked without --max-false-block" in said


def test_calibration_says_where_answers_go_and_what_other_promises_would_bring() -> None:
    said = as_text(gate_calibration_page(calibrate_gate(LABELS), ""), 120)
    lines = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    assert lines["faithful"][2] == "60.0"
    assert lines["unfaithful"][2] == "0.0"
    assert "the labels cannot carry it" in said
    assert lines["at most 10 %"][-2:] == ["80.0", "10.0"]
    assert lines["100 %"][-1] == "90.0"


def test_blocking_stands_beside_passing() -> None:
    labels = [*rows(0, 0.4, 60, faithful=False), *rows(0.3, 1, 60, faithful=True)]
    said = text(gate_calibration_page(calibrate_gate(labels, max_false_block=0.05), ""))
    assert "block below 0." in said
    assert "at most 5 % have one that is blocked" in said


def test_refusal_says_why_and_the_tightest_promise_in_the_words_of_the_shell() -> None:
    with pytest.raises(PromiseRefused) as caught:
        calibrate_gate(LABELS[1:])
    page = gate_refusal_page(caught.value, "labels.csv")
    said = text(page)
    assert "NO PROMISE" in said
    assert "at most 5 % of unfaithful answers pass, at a confidence of 90 %" in said
    assert "tightest --max-false-pass 0.051 is what they can carry" in said
    assert "needed 45 independent unfaithful answers if none of them goes wrong, 77 if one" in said
    record = page.record()
    assert isinstance(record, dict)
    assert record == {
        "gate": None, "promise": "max_false_pass", "bound": 0.05, "confidence": 0.9,
        "why": "too_few", "answers": 44, "clusters": 44, "tightest": 0.051,
        "tightest_if_independent": 0.051, "needed": 45, "more": 1,
    }  # fmt: skip


def test_check_says_what_new_labels_show() -> None:
    gate = calibrate_gate(LABELS).gate
    holds = gate_check_page(gate.check(rows(0.1, 0.69, 45, faithful=False)), "new")
    assert "HOLDS 0 of 45 questions with an unfaithful answer have one that passes" in text(holds)
    assert "seen, % 80 % interval" in text(holds)
    assert "unfaithful that passes 5.0 0.0 0.0 – 5.0 0 of 45 holds" in text(holds)
    assert "labels 45 answers scores distributed as those" in text(holds)
    assert "pass 95 % interval" in text(holds)
    few = gate.check([*rows(0.1, 0.6, 30, faithful=False), LabelledScore(0.9, False)])
    told = text(gate_check_page(few, "new"))
    assert "1 of 31 questions with an unfaithful answer has one that passes; too few" in told
    assert "too few to tell: it takes 77 if no more go wrong; 5 % was promised." in told
    broken = gate.check(rows(0.5, 1, 60, faithful=False))
    assert "at 90 % confidence at least" in text(gate_check_page(broken, "new"))
    assert broken.standing.void
    assert "the scores of 60 answers are not distributed as" in text(gate_check_page(broken, "new"))


def test_answers_left_open_are_a_caution() -> None:
    left_open = [{"score": 0.95, "faithful": None}] * 5
    found = calibrate_gate([*LABELS, *left_open])
    said = text(gate_calibration_page(found))
    assert "caution people left 5 answers open. Of unfaithful answers 10 % pass if all" in said
    assert "caution people left 5 answers open" in text(
        gate_check_page(found.gate.check([*LABELS, *left_open]))
    )
    assert "caution" not in text(gate_calibration_page(calibrate_gate(LABELS)))


def test_check_of_labels_without_an_unfaithful_answer_cannot_tell() -> None:
    found = calibrate_gate(LABELS).gate.check(rows(0.7, 0.9, 3, faithful=True))
    assert "no unfaithful answer with a score" in text(gate_check_page(found, "new"))


def test_pages_are_shown_in_a_notebook_and_as_markdown() -> None:
    found = calibrate_gate(LABELS)
    check = found.gate.check(LABELS)
    for one in (found, check):
        page = page_of(one)
        assert "unfaithful" in as_html(page)
        assert "unfaithful" in as_markdown(page)
        assert "unfaithful" in str(one)
        assert "\n" not in repr(one)
    assert set(page_of(check).record()) >= {"state", "promises", "shares", "void", "drift"}
