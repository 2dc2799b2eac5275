"""A file that is followed is read once, line by line, whatever becomes of it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.core.errors import StoreAway
from ragstone.monitor.intake import file_tail as module
from ragstone.monitor.intake.file_tail import SETTLED, TailedFile
from ragstone.monitor.intake.group_commit import GroupCommit, IntakeSettings
from ragstone.monitor.store.incoming import last_malformed
from ragstone.monitor.store.rows import counted
from ragstone.monitor.store.store import MonitorStore
from tests.monitor.intake.running import as_otlp_json, kept, running, trace_id, traces
from tests.waiting import until


class Follower:
    """Follows a file step by step, by a clock of its own."""

    def __init__(self, store: MonitorStore, path: Path) -> None:
        self.store, self.path, self.time = store, path, 1_000.0
        self.begin()

    def begin(self) -> None:
        """In a new process."""
        self.writer = GroupCommit(self.store)
        self.tail = TailedFile(
            self.path, self.store, self.writer, IntakeSettings(), lambda: self.time
        )

    def end(self) -> None:
        """End the process."""
        self.tail.close()
        self.writer.close()

    def read(self) -> dict[str, int]:
        """Read all that can be read, and say which traces are kept."""
        while self.tail.step():
            pass
        return kept(self.store)

    def settled(self) -> dict[str, int]:
        """The same, after some time."""
        self.read()
        self.time += SETTLED
        return self.read()


@pytest.fixture
def follower(store: MonitorStore, tmp_path: Path) -> Iterator[Follower]:
    found = Follower(store, tmp_path / "answers.jsonl")
    yield found
    found.end()


def line(name: str) -> bytes:
    return b'{"id":"%s","question":"q","answer":"a"}\n' % name.encode()


def add(path: Path, *names: str, end: bytes = b"") -> None:
    with path.open("ab") as file:
        file.write(b"".join(map(line, names)) + end)


def once(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 1)


def test_lines_are_read_when_they_are_there_and_whole(follower: Follower) -> None:
    assert follower.read() == {}
    add(follower.path, "a", "b", end=line("c")[:10])
    assert follower.read() == once("a", "b")
    with follower.path.open("ab") as file:
        file.write(line("c")[10:])
    assert follower.read() == once("a", "b", "c")


def test_a_restart_goes_on_where_it_was(follower: Follower) -> None:
    add(follower.path, "a", "b")
    follower.read()
    follower.end()
    add(follower.path, "c")
    follower.begin()
    assert follower.read() == once("a", "b", "c")


def test_a_renamed_file_is_read_to_its_end_before_the_new_one(follower: Follower) -> None:
    add(follower.path, "a")
    follower.read()
    old = follower.path.rename(follower.path.with_suffix(".1"))
    add(follower.path, "d")
    # Its writer still has it open.
    add(old, "b", end=line("c").rstrip())
    assert follower.read() == once("a", "b")
    assert follower.settled() == once("a", "b", "c", "d")
    add(follower.path, "e")
    assert follower.read() == once("a", "b", "c", "d", "e")


def test_a_file_that_was_renamed_while_nobody_followed_is_found(follower: Follower) -> None:
    add(follower.path, "a")
    follower.read()
    follower.end()
    add(follower.path, "b")
    follower.path.rename(follower.path.with_suffix(".1"))
    add(follower.path, "c")
    follower.begin()
    assert follower.settled() == once("a", "b", "c")


def test_a_file_that_was_taken_away_does_not_keep_the_new_one_from_being_read(
    follower: Follower,
) -> None:
    add(follower.path, "a")
    follower.read()
    follower.end()
    follower.path.unlink()
    add(follower.path, "b")
    follower.begin()
    assert follower.settled() == once("a", "b")


@pytest.mark.parametrize("later", [["c"], ["c", "d", "e", "f"]])
def test_a_file_that_was_copied_and_cut_is_read_from_its_beginning(
    follower: Follower, later: list[str]
) -> None:
    add(follower.path, "a", "b")
    follower.read()
    os.truncate(follower.path, 0)
    add(follower.path, *later)
    assert follower.read() == once("a", "b", *later)


def test_a_cut_is_noticed_by_the_next_process_too(follower: Follower) -> None:
    add(follower.path, "a")
    follower.read()
    follower.end()
    os.truncate(follower.path, 0)
    add(follower.path, "x", "y")
    follower.begin()
    assert follower.read() == once("a", "x", "y")


def test_bad_lines_are_counted_kept_aside_and_passed_over(follower: Follower) -> None:
    add(follower.path, "a", end=b"no json\n\xff\xfe\n\n[1]\n")
    add(follower.path, "b", end=b'{"contexts": 3}\n')
    assert follower.read() == once("a", "b")
    follower.path.write_bytes(b"alone\n")
    assert follower.read() == once("a", "b")
    with follower.store.database.reading() as run:
        assert len(last_malformed(run)) == 5
        assert counted(run, 0)["malformed"] == 5
        assert counted(run, 0)["received"] == 7


def test_a_line_without_end_is_put_aside(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 1_000)
    monkeypatch.setattr(module, "CHUNK", 300)
    add(follower.path, "a", end=b"x" * 5_000)
    assert follower.read() == once("a")
    add(follower.path, end=b"x" * 5_000 + b"\n")
    add(follower.path, "b")
    assert follower.read() == once("a", "b")
    with follower.store.database.reading() as run:
        assert counted(run, 0)["malformed"] == 1


def test_requests_of_otlp_are_read_as_a_collector_writes_them(follower: Follower) -> None:
    follower.path.write_bytes(as_otlp_json(traces(0, 2)) + b"\n" + line("a"))
    assert follower.read() == once(trace_id(0).hex(), trace_id(1).hex(), "a")


def test_what_cannot_be_written_is_read_again(follower: Follower) -> None:
    add(follower.path, "a")
    follower.writer.close()
    with pytest.raises(StoreAway):
        follower.tail.step()
    follower.end()
    follower.begin()
    assert follower.read() == once("a")


def test_secrets_in_a_file_are_taken_out(follower: Follower) -> None:
    follower.path.write_bytes(b'{"id":"a","answer":"ann@example.org"}\nann@example.org\n')
    follower.read()
    with follower.store.database.reading() as run:
        rows = run("SELECT body FROM received UNION ALL SELECT body FROM malformed")
        assert len(rows) == 2
        assert not [1 for (body,) in rows if b"ann@" in bytes(body)]


def test_an_intake_follows_the_files_that_it_is_told_of(
    store: MonitorStore, tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    add(file, *(f"t{n}" for n in range(100)))
    with running(store, IntakeSettings(tails=(file,))) as (_, app):
        until(lambda: app.writer.totals["kept"] >= 100)
    assert len(kept(store)) == 100
