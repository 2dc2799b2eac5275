"""A store is a folder or a database on a server, and keeps what it is told."""

from pathlib import Path

import pytest

from ragstone.core.errors import InputError, StoreAway
from ragstone.monitor.store.rows import count, counted, keep, last_lines, log, remembered
from ragstone.monitor.store.store import MonitorStore, open_store


def test_counts_of_a_minute_add_up(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        count(run, 119.9, {"traces": 3, "malformed": 0})
        count(run, 61, {"traces": 4})
        count(run, 120, {"traces": 5, "spans": 1})
    with store.database.reading() as run:
        assert counted(run, 60) == {"traces": 12, "spans": 1}
        assert counted(run, 60, 120) == {"traces": 7}
        assert counted(run, 120) == {"traces": 5, "spans": 1}


def test_what_is_remembered_is_the_last_that_was_said(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        keep(run, "cursor", 1)
        keep(run, "cursor", {"at": 2.5})
        assert remembered(run, "cursor") == {"at": 2.5}
        assert remembered(run, "other", 7) == 7


def test_the_log_has_a_line_for_what_was_said_the_newest_first(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        log(run, 1.0, "info", "begun")
        log(run, 2.0, "error", "broken\nand so on")
    with store.database.reading() as run:
        lines = last_lines(run)
    assert [(at, level) for at, level, _ in lines] == [(2.0, "error"), (1.0, "info")]
    assert "\n" not in lines[0][2]


def test_bytes_and_any_text_come_back(store: MonitorStore) -> None:
    body = bytes(range(256))
    with store.database.transaction() as run:
        run.many(
            "INSERT INTO received (trace, kind, at, body) VALUES (?, ?, ?, ?)",
            [("a", "spans", 1.0, body), ("b\0\ud800", "logs", 2.0, b"")],
        )
    with store.database.reading() as run:
        rows = run("SELECT body FROM received ORDER BY number")
        assert [bytes(one) for (one,) in rows] == [body, b""]


def test_what_fails_is_undone(store: MonitorStore) -> None:
    def fail() -> None:
        with store.database.transaction() as run:
            keep(run, "cursor", 1)
            run("SELECT nothing FROM nowhere")

    with pytest.raises(StoreAway):
        fail()
    with store.database.reading() as run:
        assert remembered(run, "cursor") is None


def test_a_store_that_is_not_there_is_not_made_to_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ragstone monitor serve"):
        open_store(tmp_path / "none", make=False)
    assert not (tmp_path / "none").exists()


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not a folder"):
        open_store(tmp_path / "file")
