"""What is recorded arrives, without the app waiting, failing or hearing of it."""

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

import pytest

from ragstone import monitor
from ragstone.core.errors import InputError
from ragstone.monitor.intake import recorder as module
from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.record_sender import NoUse, TryLater
from ragstone.monitor.intake.recorder import Recorder
from ragstone.monitor.intake.send_tokens import SendTokens
from ragstone.monitor.store.rows import counted
from ragstone.monitor.store.store import MonitorStore, open_store
from tests.monitor.intake.running import kept, running

LONGEST = 60.0
"""Seconds that nothing here takes on any machine."""


class Gate:
    """Takes batches once it is open; until then it says what it is told to say."""

    def __init__(self, fault: Exception | None = None, *, is_open: bool = True) -> None:
        self.fault, self.opened = fault, Event()
        self.lines: list[bytes] = []
        self.dropped = 0
        if is_open:
            self.opened.set()

    def send(self, lines: Sequence[bytes], dropped: int) -> None:
        self.opened.wait(LONGEST)
        if self.fault is not None:
            raise self.fault
        self.lines.extend(lines)
        self.dropped = dropped

    def anew(self) -> "Gate":
        return self

    def close(self) -> None:
        self.opened.set()


@pytest.fixture(autouse=True)
def no_recorder() -> Iterator[None]:
    """Each test begins without one."""
    yield
    if module._recorder is not None:
        module._recorder.close(0)
        module._recorder = None


def said(store: MonitorStore) -> list[dict[str, object]]:
    """What is kept, in the order in which it came."""
    with store.database.reading() as run:
        rows = run("SELECT body FROM received ORDER BY number")
    return [json.loads(bytes(body)) for (body,) in rows]


def test_what_is_recorded_arrives_as_it_was_said(store: MonitorStore) -> None:
    with running(store, IntakeSettings(senders=SendTokens("secret"))) as (sender, _):
        started = monitor.start_recorder(sender.url, token="secret")
        monitor.record(
            question="Where is Rome?",
            contexts=["Rome is in Italy.", {"id": "d2", "text": "It is old.", "score": 0.5}],
            answer="In Italy.",
            session="s1",
            user="u1",
            version="1.4",
            latency=0.25,
            plan="pro",
        )
        assert started.flush(LONGEST)
    (one,) = said(store)
    record = one["record"]
    assert isinstance(record, dict)
    assert (record["question"], record["answer"]) == ("Where is Rome?", "In Italy.")
    assert [each["text"] for each in record["contexts"]] == ["Rome is in Italy.", "It is old."]
    assert record["contexts"][1]["id"] == "d2"
    assert (one["session"], one["user"], one["version"]) == ("s1", "u1", "1.4")
    assert (one["latency"], record["slices"]) == (0.25, {"plan": "pro"})
    assert (started.recorded, started.sent, started.dropped) == (1, 1, 0)


def test_a_recorder_can_write_into_a_store(store: MonitorStore) -> None:
    started = monitor.start_recorder(store.place)
    monitor.record(question="Is it ann@example.org?", answer="Yes.")
    assert started.flush(LONGEST)
    (one,) = said(store)
    assert one["record"]["question"] == "Is it [email]?"  # type: ignore[index]


def test_where_it_goes_can_stand_in_the_environment(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(store, IntakeSettings(senders=SendTokens("t"))) as (sender, _):
        monkeypatch.setenv("RAGSTONE_MONITOR_URL", sender.url)
        monkeypatch.setenv("RAGSTONE_MONITOR_TOKEN", "t")
        monitor.record(question="q", answer="a")
        assert module._the_recorder().flush(LONGEST)
    assert len(said(store)) == 1


def test_a_full_queue_drops_what_comes_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(is_open=False)
    one = Recorder(gate, most=10)
    with caplog.at_level(logging.WARNING):
        for n in range(300):
            one.record({"answer": str(n)})
    # Up to a batch of ten may be on its way besides.
    assert 280 <= one.dropped <= 290
    assert len(caplog.records) == 1
    gate.opened.set()
    assert one.flush(LONGEST)
    assert len(gate.lines) == one.sent == 300 - one.dropped
    one.close()
    assert gate.dropped == one.dropped
    assert len(caplog.records) == 2, "the rest is said at the end"


def test_the_monitor_is_told_what_was_dropped(store: MonitorStore) -> None:
    with running(store) as (sender, _):
        started = monitor.start_recorder(sender.url)
        monitor.record(answer=lambda: 0, question=_Unreadable())  # type: ignore[arg-type]
        monitor.record(answer="a")
        assert started.flush(LONGEST)
    assert started.dropped == 1
    with store.database.reading() as run:
        assert counted(run, 0)["dropped"] == 1


class _Unreadable:
    """Raises whatever is done with it."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __str__(self) -> str:
        raise RuntimeError


def test_what_cannot_be_taken_now_is_sent_again() -> None:
    gate = Gate(TryLater("away"))
    one = Recorder(gate)
    one.record({"answer": "a"})
    assert not one.flush(0.3)
    gate.fault = None
    assert one.flush(LONGEST)
    assert (len(gate.lines), one.sent, one.dropped) == (1, 1, 0)
    one.close()


def test_what_is_never_taken_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    one = Recorder(Gate(NoUse("it answered 401", 1)))
    with caplog.at_level(logging.WARNING):
        one.record({"answer": "a"})
        assert one.flush(LONGEST)
        one.close()
    assert (one.sent, one.rejected) == (0, 1)
    assert "it answered 401" in caplog.text


def test_a_wrong_token_or_a_server_that_is_no_monitor_is_no_error(
    store: MonitorStore, caplog: pytest.LogCaptureFixture
) -> None:
    with running(store, IntakeSettings(senders=SendTokens("right"))) as (sender, _):
        started = monitor.start_recorder(sender.url, token="wrong-one")
        monitor.record(answer="a")
        started.flush(LONGEST)
        started.close()
        assert started.rejected == 1
    assert "401" in caplog.text
    assert "wrong-one" not in caplog.text


@pytest.mark.parametrize("to", ["http://", "http://x:port", "ftp://127.0.0.1", "http://h:0"])
def test_an_address_that_is_none_is_refused(to: str) -> None:
    with pytest.raises(InputError):
        monitor.start_recorder(to)


def test_a_wrong_environment_is_logged_and_does_not_stop_the_app(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RAGSTONE_MONITOR_URL", "ftp://127.0.0.1")
    monitor.record(answer="a")
    assert "Nothing is recorded" in caplog.text


def app(code: str, place: str) -> subprocess.CompletedProcess[str]:
    """An app of its own that records."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "RAGSTONE_MONITOR_URL": place},
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )


def test_what_is_queued_at_the_end_of_the_process_is_sent(store: MonitorStore) -> None:
    code = """
from ragstone import monitor
for n in range(1_000):
    monitor.record(question=f"q{n}", answer="a")
"""
    with running(store) as (sender, _):
        done = app(code, sender.url)
    assert (done.stdout, done.stderr) == ("", "")
    assert len(kept(store)) == 1_000


def test_a_monitor_that_is_away_keeps_no_process_from_its_end() -> None:
    code = """
from ragstone import monitor
monitor.record(question="q", answer="a")
"""
    begun = time.monotonic()
    done = app(code, "http://127.0.0.1:9")
    assert time.monotonic() - begun < LONGEST / 2
    assert done.stderr.splitlines() == [
        "Not recorded: 1 examples (127.0.0.1:9 cannot be reached (ConnectionRefusedError))."
    ]


def test_a_forked_process_records_what_is_its_own(tmp_path: Path) -> None:
    code = """
import os
from ragstone import monitor
monitor.record(answer="before")
child = os.fork()
monitor.record(answer="child" if child == 0 else "parent")
if child:
    os.waitpid(child, 0)
"""
    store = open_store(tmp_path / "store")
    with running(store) as (sender, _):
        app(code, sender.url)
        answers = [one["record"]["answer"] for one in said(store)]  # type: ignore[index]
        app(code, store.place)
    assert sorted(answers) == ["before", "child", "parent"]
    assert len(said(store)) == 6
    store.close()


def test_the_base_install_is_enough_to_record() -> None:
    code = """
import sys
from ragstone import monitor
monitor.record
assert not {"google.protobuf", "opentelemetry", "starlette", "uvicorn"} & set(sys.modules)
"""
    app(code, "")
