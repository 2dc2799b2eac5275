"""Stores of labels: a file, and a real PostgreSQL server where Debian's package is installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from tests.clock import Clock
from tests.programs.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LabelDatabase]:
    if request.param == "sqlite":
        found: LabelDatabase = open_labels(tmp_path)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        found = open_labels(server.schema())
    yield found
    found.close()


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000_000.0)
