"""A real PostgreSQL server of Debian's package, in a folder of its own.

It listens on a socket there and on nothing else.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

USER = "postgres"
INSTALL = "apt-get install postgresql"


class NoPostgres(Exception):
    """There is no PostgreSQL on this machine, or no user that can run it; says what to do."""


class PostgresServer:
    """A server in a folder of its own, reached through a socket there.

    Args:
        programs: The folder of its programs.
        folder: Its own.
        synced: Whether the disk has what it confirmed, as it has to where machines lose power.
    """

    def __init__(self, programs: Path, folder: Path, *, synced: bool = True) -> None:
        self._programs, self._folder, self._synced = programs, folder, synced
        self.data = folder / "data"
        self._shared: str | None = None
        self._run("initdb", "-D", str(self.data), "-U", USER, "--auth=trust", "--encoding=UTF8")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-k {self._folder} -c listen_addresses=''{'' if self._synced else ' -F'}"
        log = str(self._folder / "log")
        # After a kill it replays what was written, which takes a while on a busy machine.
        waits = ("-w", "-t", "300")
        self._run("pg_ctl", "-D", str(self.data), "-l", log, "-o", options, *waits, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; ``immediate`` is as if the machine had lost its power."""
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def database(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        name = f"d{uuid4().hex}"
        with psycopg.connect(self._address(USER), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._address(name)

    def schema(self) -> str:
        """The address of a new, empty schema in one database: it takes a fraction of the work."""
        import psycopg

        self._shared = self._shared or self.database()
        name = f"s{uuid4().hex}"
        with psycopg.connect(self._shared, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{self._shared}&options=-csearch_path%3D{name}"

    def _address(self, name: str) -> str:
        return f"postgresql://{USER}@/{name}?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        # The server refuses to run as root.
        as_user: Sequence[str] = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
        command = [*as_user, str(self._programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder)


@contextmanager
def server_of_its_own(*, synced: bool = True) -> Iterator[PostgresServer]:
    """A server for a while, which has what it confirmed on the disk if it is ``synced``.

    Raises:
        NoPostgres: There is none on this machine.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    there = shutil.which("pg_ctl") or (found and str(found[-1]))
    if not there:
        raise NoPostgres(f"PostgreSQL is not installed: {INSTALL}")
    folder = Path(tempfile.mkdtemp(prefix="labels"))
    try:
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam(USER)
            except KeyError:
                raise NoPostgres(f"PostgreSQL needs a user that is not root: {INSTALL}") from None
            os.chown(folder, user.pw_uid, user.pw_gid)
        server = PostgresServer(Path(there).resolve().parent, folder, synced=synced)
        yield server
        server.stop("immediate")
    finally:
        shutil.rmtree(folder)
