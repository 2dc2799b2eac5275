"""Every SQLite file of ours is opened in one place, and only where it is ours."""

import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

import ragstone
from ragstone.core.sqlite import (
    Connection,
    SqliteLayout,
    explained,
    is_damaged,
    open_file,
    open_to_read,
)

LAYOUT = SqliteLayout(
    owner=0x1234, version=3, tables=("CREATE TABLE notes (text TEXT)",), synchronous="FULL"
)
OPENER = """
import sys
from pathlib import Path
from ragstone.core.sqlite import SqliteLayout, open_file
layout = SqliteLayout(0x1234, 3, ("CREATE TABLE notes (text TEXT)",), "FULL")
sys.stdin.readline()
with open_file(Path(sys.argv[1]), layout) as connection:
    connection.execute("INSERT INTO notes VALUES ('here')")
"""

Open = Callable[[Path, SqliteLayout], sqlite3.Connection]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of ours that holds one note."""
    file = tmp_path / "notes.sqlite"
    with closing(open_file(file, LAYOUT)) as connection:
        connection.execute("INSERT INTO notes VALUES ('here')")
    return file


def run_on(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def facts(connection: sqlite3.Connection, *names: str) -> list[object]:
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


def test_no_other_file_opens_a_database() -> None:
    source = Path(ragstone.__file__).parent
    opening = re.compile(r"sqlite3\.connect|from sqlite3 import")
    files = [file for file in source.rglob("*.py") if opening.search(file.read_text("utf-8"))]
    assert files == [source / "core" / "sqlite.py"]


def test_a_file_is_made_for_this_user_alone_and_written_ahead(tmp_path: Path) -> None:
    file = tmp_path / "new.sqlite"
    with closing(open_file(file, LAYOUT)) as connection:
        assert facts(connection, "journal_mode", "synchronous", "page_size") == ["wal", 2, 4096]
        modes = [one.stat().st_mode & 0o777 for one in tmp_path.iterdir()]
    assert modes == [0o600] * 3, "the file, and -wal and -shm beside it"


def test_a_layout_says_how_safe_and_how_large_its_pages_are(tmp_path: Path) -> None:
    layout = SqliteLayout(1, 1, ("CREATE TABLE t (x BLOB)",), "NORMAL", page=16_384)
    with closing(open_file(tmp_path / "new.sqlite", layout)) as connection:
        assert facts(connection, "synchronous", "page_size") == [1, 16_384]


@pytest.mark.parametrize("door", [open_file, open_to_read])
def test_what_was_written_is_read(door: Open, file: Path) -> None:
    with closing(door(file, LAYOUT)) as connection:
        assert connection.execute("SELECT text FROM notes").fetchall() == [("here",)]


@pytest.mark.parametrize("door", [open_file, open_to_read])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("PRAGMA application_id = 99", "belongs to another program"),
        ("PRAGMA user_version = 2", "of version 2, expected 3"),
        ("CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM notes; END", "its tables"),
        ("CREATE VIEW v AS SELECT * FROM notes", "its tables"),
        ("ALTER TABLE notes ADD COLUMN more TEXT", "its tables"),
        ("DROP TABLE notes", "its tables"),
    ],
)
def test_a_file_that_is_not_as_we_made_it_is_refused(
    change: str, words: str, door: Open, file: Path
) -> None:
    run_on(file, change)
    before = file.read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match=words) as caught:
        door(file, LAYOUT)
    assert is_damaged(caught.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize("door", [open_file, open_to_read])
def test_a_file_of_a_later_version_is_left_as_it_is(door: Open, file: Path) -> None:
    run_on(file, "ALTER TABLE notes ADD COLUMN more TEXT", "PRAGMA user_version = 12030401")
    before = file.read_bytes()
    with pytest.raises(sqlite3.DatabaseError) as caught:
        door(file, LAYOUT)
    assert not is_damaged(caught.value)
    assert str(explained(caught.value, file)) == (
        f"{file}: a later version of Ragstone wrote it: install Ragstone 12.3.4 or newer."
    )
    assert file.read_bytes() == before


@pytest.mark.parametrize("door", [open_file, open_to_read])
@pytest.mark.parametrize("content", [b"no database" * 99, b"SQLite format 3\0" + b"\xff" * 9999])
def test_a_damaged_file_is_known_as_such(door: Open, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    file.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError) as caught:
        door(file, LAYOUT)
    assert is_damaged(caught.value)
    assert "Move it away" in str(explained(caught.value, file))


def test_a_full_disk_is_no_damage() -> None:
    error = sqlite3.OperationalError("disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert not is_damaged(error)
    assert not is_damaged(sqlite3.OperationalError("without a code"))


def test_where_there_is_no_folder_no_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        open_file(tmp_path / "none" / "notes.sqlite", LAYOUT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b""])
def test_reading_makes_nothing(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    if content is not None:
        file.write_bytes(content)
    before = list(tmp_path.iterdir())
    with pytest.raises(sqlite3.Error):
        open_to_read(file, LAYOUT)
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize("doing", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_whoever_else_makes_the_file_is_waited_for(doing: str, tmp_path: Path) -> None:
    """Of the first SQLite says at once that the file is locked, whatever its time-out."""
    file = tmp_path / "notes.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute(doing)
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(open_file, file, LAYOUT)
            time.sleep(0.2)
            assert not opening.done()
            other.execute("COMMIT")
            with closing(opening.result(20)) as connection:
                assert facts(connection, "journal_mode") == ["wal"]


def test_several_processes_may_make_it_at_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    command = [sys.executable, "-c", OPENER, str(file)]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(4)]
    for one in running:
        one.communicate(b"go\n", timeout=60)
    assert [one.returncode for one in running] == [0] * 4
    with closing(open_to_read(file, LAYOUT)) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchall() == [(4,)]


class OvertakenConnection(sqlite3.Connection):
    """A connection beside which another process makes the file, just as it looks at it."""

    overtaking = False

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        found = super().execute(sql, *values)  # type: ignore[arg-type]
        if sql == "PRAGMA application_id" and OvertakenConnection.overtaking:
            OvertakenConnection.overtaking = False
            ((file,),) = super().execute("SELECT file FROM pragma_database_list")
            rows = found.fetchall()
            with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
                for change in (*LAYOUT.tables, f"PRAGMA application_id = {LAYOUT.owner}"):
                    with suppress(sqlite3.OperationalError):
                        other.execute(change)
            return super().execute("SELECT ?", rows[0])
        return found


def test_a_file_that_another_process_is_just_making_is_not_taken_for_a_foreign_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite3.connect

    def connect(*given: object, **options: object) -> sqlite3.Connection:
        return real(*given, **options | {"factory": OvertakenConnection})  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr("ragstone.core.sqlite.sqlite3.connect", connect)
    OvertakenConnection.overtaking = True
    with closing(open_file(tmp_path / "notes.sqlite", LAYOUT)) as connection:
        connection.execute("INSERT INTO notes VALUES ('here')")
    assert not OvertakenConnection.overtaking


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY])
def test_a_file_on_a_read_only_disk_is_said_to_be_there(
    file: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = sqlite3.OperationalError("it cannot be used")
    error.sqlite_errorcode = code
    # The administrator, who may run this, can write to every folder.
    monkeypatch.setattr(os, "access", lambda path, _: path != file.parent)
    assert "it is in a read-only folder. Make the folder writable" in str(explained(error, file))
    assert "read-only folder" not in str(explained(error, file.with_name("other.sqlite")))


def test_a_connection_that_is_let_go_is_closed(tmp_path: Path) -> None:
    open_file(tmp_path / "store.sqlite", LAYOUT).close()
    written = open_file(tmp_path / "store.sqlite", LAYOUT)
    read = open_to_read(tmp_path / "store.sqlite", LAYOUT)
    for connection in (written, read):
        assert isinstance(connection, Connection)
        connection.__del__()
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
