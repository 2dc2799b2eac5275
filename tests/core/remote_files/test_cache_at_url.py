"""Machines that share nothing but a cache at a URL pay for no reply that another has."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import s3fs

from ragstone import Limits, Run, evaluate, forecast
from ragstone.core.errors import InputError, StorageAway
from ragstone.core.files import cache_folder
from ragstone.core.remote_files import Remote
from ragstone.core.sqlite import open_file
from ragstone.models.chat import ChatReply
from ragstone.report.reason_words import explain
from ragstone.run.calls import reply_cache as shared_replies
from ragstone.run.calls.reply_cache import FILE, LAYOUT, ReplyCache, open_replies, write_replies
from tests.batch_provider import BatchProvider, provider

ROWS = [{"id": f"q{n}", "question": f"Q{n}?", "answer": f"A{n}.", "contexts": ["A."]}
        for n in (1, 2)]  # fmt: skip


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Goes over to a machine with a cache folder of its own."""
    return lambda name: monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / f"machine-{name}"))


@pytest.fixture
def judge() -> Iterator[BatchProvider]:
    with provider("openai") as there:
        yield there


def files(s3: s3fs.S3FileSystem, bucket: str) -> list[str]:
    s3.invalidate_cache()
    return [str(one) for one in s3.find(f"{bucket}/cache")]


def kept(bucket: str, *keys: str) -> None:
    """A run that asks these questions."""
    replies = open_replies(f"{bucket}/cache", print)
    for key in keys:
        replies.put(key, ChatReply(f'{{"of": "{key}"}}'))
    replies.close()


def known(bucket: str, *keys: str) -> set[str]:
    """The questions that a run would find answered."""
    replies = open_replies(f"{bucket}/cache", print)
    found = {key for key in keys if replies.get(key) is not None}
    replies.close()
    return found


def test_a_copy_of_an_earlier_version_is_made_anew_from_the_url(
    bucket: str, machine: Callable[[str], None]
) -> None:
    machine("one")
    kept(bucket, "aa")
    (copy,) = (cache_folder() / "replies").glob(f"*/{FILE}")
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("ALTER TABLE replies RENAME COLUMN reply TO said")
        connection.execute("PRAGMA user_version = 1")
    notes: list[str] = []
    replies = open_replies(f"{bucket}/cache", notes.append)
    assert replies.get("aa") is not None
    replies.close()
    (note,) = map(explain, notes)
    assert "earlier version of Ragstone" in note


def test_a_reply_is_paid_for_by_one_machine_alone(
    s3: s3fs.S3FileSystem, bucket: str, judge: BatchProvider, machine: Callable[[str], None],
    tmp_path: Path,
) -> None:  # fmt: skip
    given: dict[str, Any] = {
        "metrics": ["faithfulness"],
        "judge": judge.judge,
        "limits": Limits(cache=f"{bucket}/cache/"),
    }
    machine("one")
    first = evaluate(ROWS, out=tmp_path / "one", **given)
    assert judge.single == len(judge.paid) > 2
    assert len(files(s3, bucket)) == 1
    machine("two")
    assert forecast(ROWS, **given).total.known == 4, "those whose questions are known before"
    second = evaluate(ROWS, out=tmp_path / "two", **given)
    assert set(judge.paid.values()) == {1}
    assert first.estimate_list == second.estimate_list
    assert len(files(s3, bucket)) == 1, "nothing new is nothing to write"


def test_two_who_write_at_once_lose_nothing_of_each_other(
    s3: s3fs.S3FileSystem, bucket: str, machine: Callable[[str], None]
) -> None:
    machine("one")
    one = open_replies(f"{bucket}/cache", print)
    machine("two")
    two = open_replies(f"{bucket}/cache", print)
    one.put("a", ChatReply("{}"))
    two.put("b", ChatReply("{}"))
    one.close()
    two.close()
    machine("three")
    assert known(bucket, "a", "b") == {"a", "b"}
    assert len(files(s3, bucket)) == 2


def test_what_a_killed_run_did_not_give_the_next_one_gives(
    bucket: str, machine: Callable[[str], None]
) -> None:
    machine("one")
    killed = open_replies(f"{bucket}/cache", print)
    killed.put("a", ChatReply("{}"))
    ReplyCache.close(killed)
    machine("two")
    assert known(bucket, "a") == set()
    kept(bucket, "b")
    machine("one")
    kept(bucket, "c")
    machine("three")
    assert known(bucket, "a", "b", "c") == {"a", "b", "c"}


def copies() -> list[Path]:
    """The file of replies of this machine, beside which others may lie."""
    return list((cache_folder() / "replies").glob(f"*/{FILE}*"))


def test_a_copy_that_is_deleted_takes_nothing_from_the_others(
    bucket: str, machine: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_replies, "MOST_FILES", 2)
    machine("one")
    kept(bucket, "a")
    machine("two")
    kept(bucket, "b")
    for one in copies():
        one.unlink()
    kept(bucket, "c")
    running = open_replies(f"{bucket}/cache", print)
    running.put("d", ChatReply("{}"))
    for one in copies():
        one.unlink()
    running.close()
    kept(bucket, "e")
    machine("three")
    assert known(bucket, *"abce") == set("abce")


def test_many_files_are_put_together(
    s3: s3fs.S3FileSystem, bucket: str, machine: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(shared_replies, "MOST_FILES", 3)
    keys = "abcdefgh"
    for key in keys:
        machine(key)
        kept(bucket, key)
        assert len(files(s3, bucket)) <= 3
    machine("new")
    assert known(bucket, *keys) == set(keys)


def test_a_file_that_is_gone_or_damaged_or_of_others_does_no_harm(
    s3: s3fs.S3FileSystem, bucket: str, machine: Callable[[str], None], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    machine("one")
    kept(bucket, "a")
    s3.pipe_file(f"{bucket}/cache/replies/{uuid4().hex}.sqlite", b"damaged")
    s3.pipe_file(f"{bucket}/cache/replies/../../etc", b"strange")
    changed = tmp_path / "changed.sqlite"
    with closing(open_file(changed, LAYOUT)) as connection:
        row = ("b", "{}", None, 1, 1, None, None, "no checksum")
        write_replies(connection, [row, ("c", 5, None, "x", -1, None, None, None)])
    s3.put_file(str(changed), f"{bucket}/cache/replies/{uuid4().hex}.sqlite")
    machine("two")
    assert known(bucket, "a", "b", "c") == {"a"}
    machine("three")
    found = Remote.files

    def more(self: Remote) -> list[Any]:
        listed = found(self)
        for one in listed:
            s3.rm_file(one.path)
        return listed

    with monkeypatch.context() as patch:
        patch.setattr(Remote, "files", more)
        assert known(bucket, "a") == set()


def test_a_url_that_cannot_be_read_is_said_before_anything_is_asked(
    bucket: str, judge: BatchProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    async def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(s3fs.S3FileSystem, "_info", refuse)
    s3fs.S3FileSystem.clear_instance_cache()
    limits = Limits(cache=f"{bucket}/cache")
    with pytest.raises(StorageAway, match=r"/cache/replies cannot be read: the store refuses it"):
        evaluate(ROWS, metrics=["faithfulness"], judge=judge.judge, limits=limits,
                 out=tmp_path / "run")  # fmt: skip
    assert not judge.calls
    assert not (tmp_path / "run" / "run.json").exists()


def test_the_folder_of_all_caches_is_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", "s3://bucket/cache")
    with pytest.raises(InputError, match=r"RAGSTONE_CACHE is a URL\. Name a folder on the disk"):
        cache_folder()


def test_where_replies_cannot_be_written_the_run_says_so(
    bucket: str, judge: BatchProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    machine: Callable[[str], None],
) -> None:  # fmt: skip
    def run(name: str) -> Run:
        limits = Limits(cache=f"{bucket}/cache")
        return evaluate(ROWS, metrics=["faithfulness"], judge=judge.judge, limits=limits,
                        out=tmp_path / name)  # fmt: skip

    async def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Access Denied")

    machine("one")
    with monkeypatch.context() as patch:
        patch.setattr(s3fs.S3FileSystem, "_put_file", refuse)
        s3fs.S3FileSystem.clear_instance_cache()
        told = list(map(explain, run("one").form.remarks))
    assert any("cannot be written: the store refuses it" in one for one in told)
    s3fs.S3FileSystem.clear_instance_cache()
    run("two")
    machine("two")
    run("three")
    assert set(judge.paid.values()) == {1}


def test_the_copy_holds_all_replies_in_one_file(
    bucket: str, machine: Callable[[str], None], tmp_path: Path
) -> None:
    machine("one")
    kept(bucket, "a")
    kept(bucket, "b")
    (file,) = (tmp_path / "machine-one").rglob(FILE)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (2,)
