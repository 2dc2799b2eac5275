"""Arguments of a wrong type are refused before anything is done, all of them in one error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragstone
from ragstone.core.errors import InputError

ROWS = [
    {"question": "How long?", "answer": "90 m", "reference": "90 m", "system": name}
    for name in "ab"
]


@pytest.fixture(scope="module")
def run() -> ragstone.Run:
    return ragstone.evaluate(ROWS, metrics=["rouge_l"])


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ({"metrics": [3]}, ["metrics[0]: expected text or a Metric, got 3 (a number)"]),
        ({"metrics": 3}, ["metrics: expected text, a Metric or a list of these, got 3 (a number)"]),
        (
            {"judge": ["human", 3, ["local", None]], "metrics": ["mrr", None], "limit": "2"},
            [
                "metrics[1]: expected text or a Metric, got null",
                "judge[1]: expected text, a ChatModel, a function or a list of these, got 3 (a nu",
                "judge[2][1]: expected text, a ChatModel or a function, got null",
                "limit: expected a whole number or None, got the text '2'",
            ],
        ),
        ({"judge": object()}, ["judge: expected text, a ChatModel, a function or a list of these"]),
        ({"suites": [3]}, ["suites[0]: expected text, got 3"]),
        ({"by": 3}, ["by: expected text or a list of these, got 3"]),
        ({"out": 3}, ["out: expected text, a path or None, got 3"]),
        ({"cluster": 3}, ["cluster: expected text or None, got 3"]),
        ({"columns": {3: "a"}}, ["a name in columns: expected text, got 3"]),
        ({"columns": {"answer": 4}}, ["columns['answer']: expected text, got 4"]),
        ({"columns": "answer=a"}, ["columns: expected a mapping or None, got the text"]),
        ({"embedder": 3}, ["embedder: expected text, an Encoder or None, got 3"]),
        ({"citations": 3}, ["citations: expected text, got 3"]),
        ({"skip_bad": "no"}, ["skip_bad: expected True or False, got the text 'no'"]),
        ({"limits": 5}, ["limits: expected a Limits, got 5"]),
        ({"debug": "x"}, ["debug: expected a function or None, got the text 'x'"]),
    ],
)
def test_each_argument_of_a_wrong_type_is_told(
    given: dict[str, Any], faults: list[str], tmp_path: Path
) -> None:
    given = {"out": tmp_path / "run", **given}
    with pytest.raises(InputError) as raised:
        ragstone.evaluate(ROWS, **given)
    first, *lines = str(raised.value).splitlines()
    noun = "argument" if len(faults) == 1 else "arguments"
    assert first == f"{len(faults)} {noun} of a wrong type:"
    for line, fault in zip(lines, faults, strict=True):
        assert line.startswith(f"  {fault}")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("function", "given", "fault"),
    [
        (ragstone.gate, {"require": [3]}, "require[0]: expected text, got 3"),
        (ragstone.gate, {"require": "mrr > 0", "level": "x"}, "level: expected a number, got the"),
        (ragstone.gate, {"labels": "l.csv"}, "labels: expected a list of text or a path, got the"),
        (ragstone.compare, {"baseline": 3}, "baseline: expected text or None, got 3"),
        (ragstone.compare, {"margin": "x"}, "margin: expected a number or None, got the text"),
        (ragstone.compare, {"run": 3}, "run: expected text, a path or a Run, got 3"),
        (ragstone.calibrate, {"labels": 3}, "labels: expected a LabelTable, text, a path or a "),
        (ragstone.rescore, {"metrics": [3]}, "metrics[0]: expected text or a Metric, got 3"),
        (ragstone.rescore, {"run": 3}, "run: expected a Run, text or a path, got 3"),
    ],
)
def test_so_does_whatever_reads_a_run(
    function: Callable[..., object], given: dict[str, Any], fault: str, run: ragstone.Run
) -> None:
    with pytest.raises(InputError) as raised:
        function(**{"run": run, **given})
    assert f"  {fault}" in str(raised.value)


def test_what_can_be_read_once_alone_is_refused() -> None:
    """Read again it is empty: all that the data allow was computed, and not what was asked for."""
    given: Any = (name for name in ("rouge_l",))
    with pytest.raises(InputError, match=r"metrics: expected .* got a generator"):
        ragstone.evaluate(ROWS, metrics=given)


def test_what_is_as_good_as_the_type_is_taken(run: ragstone.Run) -> None:
    given: dict[str, Any] = {"metrics": ("rouge_l",), "by": (), "limit": np.int64(2), "judge": ()}
    again = ragstone.evaluate(iter(ROWS), **given)
    assert again.scores().equals(run.scores())
    level: Any = np.float64(0.05)
    assert ragstone.gate(run, ("rouge_l >= 0.1",), level=level).requirements
    assert ragstone.compare(run, margin=1).comparisons
