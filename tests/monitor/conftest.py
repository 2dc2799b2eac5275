"""Stores of a monitor: in a folder, and on a real PostgreSQL server where that is installed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragstone.monitor.store.store import MonitorStore, open_store
from tests.scripts import script

if TYPE_CHECKING:
    from postgres import PostgresServer

POSTGRES = script("postgres")


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    pytest.importorskip("psycopg")
    try:
        with POSTGRES.postgres_server() as server:
            yield server
    except POSTGRES.NoPostgres as error:
        pytest.skip(str(error))


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MonitorStore]:
    """An empty store, of each kind."""
    if request.param == "sqlite":
        found = open_store(tmp_path / "store")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        found = open_store(server.database(), folder=tmp_path / "store")
    yield found
    found.close()
