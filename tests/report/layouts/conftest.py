"""Runs judged by a scripted model: what it says depends on words that the request holds."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.models.chat import ChatRequest
from ragstone.report.layouts.layout import Report
from ragstone.run import Run
from ragstone.testing import ScriptedEncoder, ScriptedModel, asked, reply_to

Said = Mapping[str, Any] | None
Script = Mapping[str, Mapping[str, Said]]
"""For a word of a request, what is said to each item, by the beginning of its id."""

Judged = Callable[..., Run]
Read = Callable[[Report, str], list[list[dict[str, str]]]]


def model(script: Script) -> ScriptedModel:
    """Says of each item what the first word that the request holds has for it; None: nothing."""

    def reply(request: ChatRequest) -> dict[str, Any]:
        said = {}
        for item in asked(request):
            words = [word for word in script if word in request.text]
            fitting = [script[word] for word in words if _key(script[word], item)]
            answer = fitting[0][_key(fitting[0], item)] if fitting else None
            if answer is not None:
                said[item] = answer
        return reply_to(request, said)

    return ScriptedModel(reply)


def _key(items: Mapping[str, Said], item: str) -> str:
    """The longest beginning of its id that something is said to."""
    return max((key for key in items if item.startswith(key)), key=len, default="")


def at(cosine: float) -> tuple[float, ...]:
    """A vector with this cosine to the first axis."""
    return (cosine, sqrt(1 - cosine**2), 0, 0, 0, 0, 0, 0)


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Evaluates rows with a script and vectors."""

    def run(
        rows: Sequence[Mapping[str, Any]],
        suite: str,
        script: Script,
        vectors: Mapping[str, Sequence[float]],
        **arguments: Any,
    ) -> Run:
        return evaluate(
            rows,
            suites=suite,
            judge=model(script),
            embedder=ScriptedEncoder(vectors),
            out=tmp_path / "run",
            **arguments,
        )

    return run


@pytest.fixture
def cosine() -> Callable[[float], tuple[float, ...]]:
    return at


@pytest.fixture
def read() -> Read:
    """The tables of a file of a report, row by row."""

    def tables(report: Report, name: str) -> list[list[dict[str, str]]]:
        content = next(file for file in report.files if file.name == name).content.decode()
        return [list(csv.DictReader(io.StringIO(part))) for part in content.split("\n\n")]

    return tables
