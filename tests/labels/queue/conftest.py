"""Stores of labels: a file, and a real PostgreSQL server where Debian's package is installed."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from ragstone.labels.queue.database import LabelDatabase, PostgresLabels, open_labels

USER = "postgres"


class PostgresServer:
    """A server in a folder of its own, reached through a socket there."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        self.data = folder / "data"
        self._run("initdb", "-D", str(self.data), "-U", USER, "--auth=trust", "--encoding=UTF8")
        self.start()

    def start(self) -> None:
        options = f"-k {self._folder} -c listen_addresses=''"
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-l", log, "-o", options, "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def database(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        name = f"d{uuid4().hex}"
        with psycopg.connect(self._address(USER), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._address(name)

    def _address(self, name: str) -> str:
        return f"postgresql://{USER}@/{name}?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        # The server refuses to run as root.
        as_user: Sequence[str] = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
        command = [*as_user, str(self._programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    pytest.importorskip("psycopg")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    there = shutil.which("pg_ctl") or (found and str(found[-1]))
    if not there:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="labels"))
    try:
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam(USER)
            except KeyError:
                pytest.skip("PostgreSQL needs a user that is not root: apt-get install postgresql")
            os.chown(folder, user.pw_uid, user.pw_gid)
        server = PostgresServer(Path(there).resolve().parent, folder)
        yield server
        server.stop("immediate")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LabelDatabase]:
    if request.param == "sqlite":
        found: LabelDatabase = open_labels(tmp_path)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        found = PostgresLabels(server.database())
    yield found
    found.close()
