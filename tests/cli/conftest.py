"""Commands run in this process, and small data to run them on."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragstone.cli.app import app
from ragstone.core.messages import BETWEEN, CLOSE, OPEN
from ragstone.data import cornwall

ROWS: list[dict[str, Any]] = [
    {
        "id": f"{question}-{system}",
        "question_id": question,
        "system": system,
        "topic": topic,
        "question": f"How long is the {question}?",
        "contexts": [f"The {question} is 90 metres long.", "Gulls are loud."],
        "answer": answer,
        "reference": f"The {question} is 90 metres long.",
    }
    for question, topic in (("pier", "sea"), ("mole", "sea"), ("adit", "mine"))
    for system, answer in (("a", f"The {question} is 90 metres long."), ("b", "I don't know."))
]


class Outcome:
    """What a command printed, and how it ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        """Standard output as strict JSON."""

        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


def call(*arguments: object) -> Outcome:
    """Run ``ragstone`` with these arguments."""
    result = CliRunner(env={"COLUMNS": "120"}).invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert not {OPEN, BETWEEN, CLOSE} & set(result.output), "an argument is told to nobody"
    return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def ragstone() -> Callable[..., Outcome]:
    return call


@pytest.fixture(scope="session")
def write() -> Callable[[Path, Sequence[Mapping[str, Any]]], Path]:
    """Rows as JSON lines."""

    def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return ROWS


@pytest.fixture
def data(tmp_path: Path, write: Callable[..., Path]) -> Path:
    """Six rows: three questions, two systems."""
    return write(tmp_path / "answers.jsonl", ROWS)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the bundled example data."""
    out = tmp_path_factory.mktemp("demo") / "run"
    outcome = call("evaluate", cornwall(), "--by", "question_type", "--out", out)
    assert outcome.status == 0, outcome.err
    return out
