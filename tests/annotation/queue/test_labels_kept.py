"""Two people label at once, the server is killed and its database restarted: nothing is lost."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.scripts import script

if TYPE_CHECKING:
    from postgres import PostgresServer

SCRIPT = script("labels_kept")


@pytest.mark.kill
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_every_label_that_was_confirmed_is_there_once(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    postgres: PostgresServer | None = None
    if where == "postgres":
        postgres = request.getfixturevalue("postgres")
    store = "" if postgres is None else postgres.database()
    found = SCRIPT.kept(tmp_path, store, labels=60, kills=3, seed=1, postgres=postgres)
    assert (found.confirmed, found.lost, found.doubled, found.others) == (60, 0, 0, 0)
    assert found.kills + found.restarts == 3
    assert found.restarts == (1 if where == "postgres" else 0)
