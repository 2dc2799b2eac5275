"""A reply is kept for later runs; where it cannot be, the run goes on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.models.chat import ChatReply, Usage
from ragstone.report.reason_words import explain
from ragstone.run.calls.reply_cache import FILE, ReplyCache
from tests.forked import Forked

REPLY = ChatReply('{"p01": "\ud83d"}', "stop", Usage(9, 8, 7, None), "m-1")

OTHER = """
import sys
from pathlib import Path
from ragstone.models.chat import ChatReply
from ragstone.run.calls.reply_cache import ReplyCache
replies = ReplyCache(Path(sys.argv[1]), print)
for number in range(200):
    replies.put(f"{sys.argv[2]}{number}", ChatReply("{}"))
replies.close()
"""


def test_a_reply_is_found_by_another_run(tmp_path: Path) -> None:
    notes: list[str] = []
    first = ReplyCache(tmp_path / "cache", notes.append)
    assert first.get("aa") is None
    first.put("aa", REPLY)
    first.put("aa", ChatReply("another"))
    first.close()
    second = ReplyCache(tmp_path / "cache", notes.append)
    assert second.get("aa") == REPLY
    second.close()
    assert notes == []


@pytest.mark.parametrize(
    "change",
    ["reply = replace(reply, 'p01', 'p02')", "key = 'bb'", "reply = x'ff'", "model = x'ff'"],
)
def test_a_reply_that_is_not_the_one_that_was_kept_is_not_used(change: str, tmp_path: Path) -> None:
    first = ReplyCache(tmp_path, print)
    first.put("aa", ChatReply('{"p01": "yes"}', "stop", Usage(), "m-1"))
    first.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute(f"UPDATE replies SET {change}")
    notes: list[str] = []
    second = ReplyCache(tmp_path, notes.append)
    assert second.get("bb" if "bb" in change else "aa") is None
    second.close()
    (note,) = map(explain, notes)
    assert "it is damaged" in note


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    replies = ReplyCache(tmp_path / "new" / "cache", print)
    replies.put("aa", REPLY)
    replies.close()
    made = [tmp_path / "new", tmp_path / "new" / "cache", tmp_path / "new" / "cache" / FILE]
    assert [one.stat().st_mode & 0o777 for one in made] == [0o700, 0o700, 0o600]


def test_two_processes_may_use_it_at_once(tmp_path: Path) -> None:
    both = [Forked(OTHER, tmp_path, name, cwd=tmp_path) for name in "ab"]
    assert [process.communicate() for process in both] == [("", "")] * 2
    assert [process.returncode for process in both] == [0, 0]
    replies = ReplyCache(tmp_path, print)
    assert all(replies.get(f"{name}{number}") for name in "ab" for number in range(200))
    replies.close()


def test_a_damaged_file_is_told_of_once_and_gone_on_without(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"nothing of ours" * 100)
    notes: list[str] = []
    replies = ReplyCache(tmp_path, notes.append)
    replies.put("aa", REPLY)
    assert replies.get("aa") is None
    replies.close()
    (note,) = map(explain, notes)
    assert note.startswith("Replies are not kept across runs.")
    assert "Move it away" in note


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (1, "asked, and paid for, again. The cache {} was of an earlier version of Ragstone and"),
        (4_02_00, "not kept across runs. {}: a later version of Ragstone wrote it: install "),
    ],
)
def test_a_cache_of_another_version_is_told_of_once(
    version: int, words: str, tmp_path: Path
) -> None:
    first = ReplyCache(tmp_path, print)
    first.put("aa", REPLY)
    first.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    notes: list[str] = []
    for _ in range(2 if version == 1 else 1):
        second = ReplyCache(tmp_path, notes.append)
        assert second.get("aa") is None
        second.put("bb", REPLY)
        second.close()
    (note,) = map(explain, notes)
    assert words.format(tmp_path / FILE) in note


def test_a_folder_that_cannot_be_made_is_gone_on_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    notes: list[str] = []
    replies = ReplyCache(tmp_path / "file" / "cache", notes.append)
    assert replies.get("aa") is None
    replies.close()
    assert len(notes) == 1
