"""The table of a run reads as the first screen: metrics by systems, each mean with its interval."""

from pathlib import Path

import ragstone

ROWS = [
    {"question": question, "answer": answer, "contexts": ["The pier is 90 m long."]}
    for question, answer in (
        ("How long is the pier?", "The pier is 90 m long."),
        ("How wide is the mole?", "I do not know."),
    )
]


def test_systems_are_columns_and_slices_are_left_out(tmp_path: Path) -> None:
    rows = [row | {"system": system, "topic": "sea"} for row in ROWS for system in ("a", "b")]
    run = ragstone.evaluate(rows, metrics=["abstention"], by=["topic"], out=tmp_path / "run")
    assert run.table().columns == ["metric", "a", "b"]
    assert run.table().rows() == [("abstention", "0.50 [0.09, 0.91]", "0.50 [0.09, 0.91]")]
    assert ragstone.open(tmp_path / "run").table().equals(run.table())


def test_a_system_may_be_called_as_the_column_of_metrics() -> None:
    run = ragstone.evaluate([row | {"system": "metric"} for row in ROWS], metrics=["abstention"])
    assert run.table().columns == ["metric", "metric (system)"]


def test_undefined_and_missing_are_two_things() -> None:
    metrics = ["abstention", "faithfulness", "helpfulness"]
    run = ragstone.evaluate(ROWS[1:], metrics=metrics)
    assert dict(run.table().iter_rows()) == {
        "abstention": "1.00 [0.21, 1.00]", "faithfulness": "undefined", "helpfulness": "missing",
    }  # fmt: skip
    assert run.table().columns == ["metric", "default"]
