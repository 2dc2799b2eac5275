"""A finished run to compare with."""

from pathlib import Path

import pytest

import ragstone


@pytest.fixture(scope="session")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the bundled data, by what needs no judge."""
    folder = tmp_path_factory.mktemp("runs") / "baseline"
    data = Path(ragstone.__file__).parent / "data" / "cornwall.jsonl"
    ragstone.evaluate(data, metrics=["token_f1"], out=folder)
    return folder
