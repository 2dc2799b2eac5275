"""The pytest plugin: quality requirements as tests, whose failures show the worst examples.

    def test_rag(ragstone):
        run = ragstone.evaluate("answers.jsonl")
        ragstone.gate(run, require=["faithfulness >= 0.85"])

    def test_one_answer(ragstone_example):
        ragstone_example({"question": …, "contexts": …, "answer": …}, require="faithfulness >= 1")

Nothing of Ragstone is imported before a fixture is used.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from ragstone.analysis.release_gate.gate_checks import On
    from ragstone.analysis.release_gate.release_gate import GateResult
    from ragstone.data import Example
    from ragstone.run import Run

# How many of the worst examples a failing test prints for each requirement.
SHOWN = 3


class Ragstone:
    """The value of the fixture ``ragstone``."""

    def evaluate(self, data: Any, **options: Any) -> "Run":
        """Evaluate with the options of ``ragstone.evaluate``."""
        from ragstone.run.evaluate import evaluate

        return evaluate(data, **options)

    def gate(
        self,
        run: "Run | str | Path",
        require: str | Sequence[str] = (),
        *,
        no_worse_than: str | Sequence[str] = (),
        only: str | Sequence[str] = (),
        system: str | Sequence[str] = (),
        on: "On" = "interval",
        level: float = 0.05,
        max_missing: float = 0.05,
        labels: Sequence[str | Path] = (),
        cluster: str | None = None,
        cannot_tell: Literal["fail", "skip"] = "fail",
        worst: int = SHOWN,
        **options: Any,
    ) -> "GateResult":
        """Fail the test unless the run passes; the options are those of ``ragstone.gate``.

        Args:
            run: A run, or its folder.
            require: ``METRIC OP BAR``.
            no_worse_than: ``BASELINE:MARGIN``.
            only: Apply ``no_worse_than`` to these metrics only.
            system: Apply the gate to these systems only.
            on: ``point`` decides on the point estimates, without confidence intervals.
            level: One-sided significance level.
            max_missing: The largest share of a requirement's scores that may be missing.
            labels: Label files by people: decide on estimates corrected by them.
            cluster: Field whose rows are not independent; by default the run's own.
            cannot_tell: Whether the test fails or is skipped if there are too few examples to
                decide. If something that the gate needs is missing, it always fails.
            worst: How many of the worst examples to print for each requirement, at most ten.
            options: Others of ``ragstone.gate``, such as ``assume_random``.

        Returns:
            The decision, if the gate passes.
        """
        from ragstone.analysis import gate

        result = gate(
            run,
            require,
            no_worse_than=no_worse_than,
            only=only,
            system=system,
            on=on,
            level=level,
            max_missing=max_missing,
            labels=labels,
            cluster=cluster,
            **options,
        )
        if result.decision != "pass":
            from ragstone.report.pages.release_gate_page import gate_page
            from ragstone.report.render.terminal import as_text
            from ragstone.report.worst_examples import failing

            page = gate_page(result.run, result, failing(result.run, result, limit=worst))
            words = f"{page.said}\n{as_text(page)}"
            if result.decision == "cannot_tell" and cannot_tell == "skip":
                pytest.skip(words)
            pytest.fail(words, pytrace=False)
        return result

    def check(
        self, example: "Mapping[str, Any] | Example", require: str | Sequence[str], **options: Any
    ) -> "GateResult":
        """Fail the test unless one example meets the requirements; its values alone decide.

        A metric that is undefined for the example decides nothing, so the test fails.

        Args:
            example: A record, as a line of a data file, or an ``Example``.
            require: ``METRIC OP BAR``; these metrics are computed.
            options: Of ``ragstone.evaluate``, such as ``judge``.
        """
        from ragstone.analysis.release_gate.gate_requirements import metric_in

        texts = [require] if isinstance(require, str) else list(require)
        metrics = list(dict.fromkeys(metric_in(text) for text in texts))
        run = self.evaluate([example], metrics=metrics, **options)
        return self.gate(run, texts, on="point", worst=1)


@pytest.fixture
def ragstone() -> Ragstone:
    """Evaluates, and fails the test where a run does not pass its gate."""
    return Ragstone()


@pytest.fixture
def ragstone_example() -> "Callable[..., GateResult]":
    """Fails the test unless one example meets its requirements: ``(example, require, judge=…)``."""
    return Ragstone().check
