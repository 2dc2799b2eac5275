"""Stores of a monitor: in a folder, and on a real PostgreSQL server where that is installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.monitor.store.store import MonitorStore, open_store
from tests.clock import Clock
from tests.programs.postgres import PostgresServer


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MonitorStore]:
    """An empty store, of each kind."""
    if request.param == "sqlite":
        found = open_store(tmp_path / "store")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        found = open_store(server.schema(), folder=tmp_path / "store")
    yield found
    found.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()
