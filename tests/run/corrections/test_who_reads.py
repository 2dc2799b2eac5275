"""Who reads corrections, and who must not because they were chosen by looking."""

from copy import deepcopy
from typing import Any

import pytest

from ragstone import calibrate, compare, evaluate, gate
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.scored_run import Scored
from ragstone.run import Run

LABELS = {"claims": [{"text": "It is 90 m long.", "support": "supported"}]}


def data(systems: tuple[str, ...] = ("old", "new")) -> list[dict[str, Any]]:
    """Twelve questions answered by two systems in the same words."""
    return [
        {
            "id": f"q{number}-{system}",
            "question_id": f"q{number}",
            "system": system,
            "question": f"How long is pier {number}?",
            "answer": "It is 90 m long.",
            "contexts": [{"id": "d1", "text": "The pier is 90 m long."}],
            "labels": deepcopy(LABELS),
        }
        for number in range(12)
        for system in systems
    ]


def corrected(run: Run, count: int = 12) -> Run:
    for number in range(count):
        run.correct(
            f"q{number}-old",
            "support/claim",
            {"verdict": "absent"},
            unit=1,
            author="Ann",
            reason="Looked.",
        )
    return run


@pytest.fixture(scope="module")
def run() -> Run:
    return corrected(evaluate(data(), metrics="faithfulness", judge="human"))


def test_the_gate_decides_with_and_without(run: Run) -> None:
    result = gate(run, "faithfulness >= 0.6", system="old")
    assert result.decision == "fail"
    assert result.without_corrections is not None
    assert result.without_corrections.decision == "pass"
    assert result.to_dict()["without_overrules"]["decision"] == "pass"
    assert gate(run.without_corrections(), "faithfulness >= 0.6").without_corrections is None


def test_a_baseline_whose_judgements_were_corrected_is_read_without_them_too(run: Run) -> None:
    other = evaluate(data(), metrics="faithfulness", judge="human")
    result = gate(other, no_worse_than=f"{run.path}:0.02", system="old")
    assert result.without_corrections is not None
    assert [one.value for one in result.requirements] == [1.0]
    assert [one.value for one in result.without_corrections.requirements] == [0.0]
    assert result.without_corrections.requirements[0].same


def test_systems_with_the_same_answers_differ_where_only_one_was_corrected(run: Run) -> None:
    (found,) = compare(run, baseline="old").comparisons
    assert found.difference == 1.0
    (alone,) = compare(run.without_corrections(), baseline="old").comparisons
    assert alone.difference == 0.0


def test_corrections_are_no_labels_and_labels_do_not_meet_them() -> None:
    answers = [{**one, "labels": {}} for one in data()]
    judged = evaluate(answers, metrics="faithfulness", judge="local")
    label = "\n".join(
        ["id,faithfulness", *(f"q{number}-{system},{number % 2}" for number in range(12)
                              for system in ("old", "new"))]
    )  # fmt: skip
    file = judged.path / "labels.csv"
    file.write_text(label + "\n")
    before = calibrate(judged, file).to_dict()
    decision = gate(judged, "faithfulness >= 0.3", labels=[file]).to_dict()
    corrected(judged, 6)
    assert judged.estimate_list != judged.without_corrections().estimate_list
    assert calibrate(judged, file).to_dict() == before
    after = gate(judged, "faithfulness >= 0.3", labels=[file]).to_dict()
    assert after["notes"][0] == "overrules_left_out?n=6"
    assert {**after, "notes": decision["notes"]} == decision


def test_a_draw_does_not_follow_corrections(run: Run) -> None:
    asked: dict[str, Any] = {"by": "near-threshold", "metric": "faithfulness", "seed": 3}
    with_them = draw_sample(Scored(run), 6, **asked)
    alone = draw_sample(Scored(run.without_corrections()), 6, **asked)
    assert with_them.rows.equals(alone.rows)
