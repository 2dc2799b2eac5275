"""``ragstone monitor doctor``: what is wrong, each with the next step."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ragstone.cli.monitor_doctor import CONTENT, ENDPOINT, PROTOCOL, asked, environment, said_of
from ragstone.monitor.duties.worker_status import monitor_status
from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.intake_app import IntakeApp
from ragstone.monitor.intake.send_tokens import SendTokens
from ragstone.monitor.store.rows import counted
from ragstone.monitor.store.store import MonitorStore, open_store
from tests.monitor.duties.arriving import receive_answers
from tests.serving import served

from .conftest import Outcome

Ragstone = Callable[..., Outcome]

URL = "http://127.0.0.1:8431"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MonitorStore]:
    found = open_store(tmp_path / "store")
    yield found
    found.close()


@pytest.fixture
def server(store: MonitorStore) -> Iterator[str]:
    """A server that takes traces, with a token."""
    intake = IntakeApp(store, IntakeSettings(senders=SendTokens("of-ours")))
    with served(lambda _: intake) as host:
        yield f"http://{host}"
    intake.close()


def states(found: list[dict[str, str]]) -> dict[str, str]:
    return {one["what"]: one["state"] for one in found}


def test_a_server_that_takes_traces_is_right_and_keeps_nothing_of_the_probe(
    ragstone: Ragstone, server: str, store: MonitorStore
) -> None:
    found = ragstone("monitor", "doctor", "--json", "--url", server, "--send-token", "of-ours",
                     "--store", store.place)  # fmt: skip
    told = states(found.json)
    assert (told["server"], told["traces"]) == ("right", "right")
    with store.database.reading() as run:
        assert run("SELECT count(*) FROM received") == [(0,)]
        assert not counted(run, 0).get("kept")


def test_a_missing_token_is_told_with_the_header_that_carries_it(
    ragstone: Ragstone, server: str, store: MonitorStore
) -> None:
    found = ragstone("monitor", "doctor", "--url", server, "--store", store.place)
    assert found.status == 1
    assert "the token is missing or wrong" in found.out
    assert "OTEL_EXPORTER_OTLP_HEADERS" in found.out


def test_where_there_is_nothing_each_thing_has_its_next_step(
    ragstone: Ragstone, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found = ragstone("monitor", "doctor", "--json", "--url", f"http://127.0.0.1:{port}",
                     "--store", str(tmp_path / "none"))  # fmt: skip
    assert found.status == 1
    wrong = [one for one in found.json if one["state"] == "wrong"]
    assert {one["what"] for one in wrong} >= {"server", "store"}
    assert all(one["then"] for one in wrong)


@pytest.mark.parametrize(
    ("value", "state"),
    [("SPAN_AND_EVENT", "right"), ("event_only", "right"), ("true", "wrong"),
     ("NO_CONTENT", "wrong"), ("", "look")],
)  # fmt: skip
def test_what_the_variable_of_texts_means_is_said(value: str, state: str) -> None:
    found = {one.what: one for one in environment({CONTENT: value} if value else {}, URL)}
    assert found["texts"].state == state
    assert state == "right" or f"{CONTENT}=SPAN_AND_EVENT" in found["texts"].then


def test_an_exporter_that_goes_elsewhere_or_speaks_grpc_is_noticed() -> None:
    there = {ENDPOINT: "http://collector:4317", PROTOCOL: "grpc"}
    found = {one.what: one.state for one in environment(there, URL)}
    assert (found["endpoint"], found["protocol"]) == ("look", "wrong")
    found = {one.what: one.state for one in environment({ENDPOINT: f"{URL}/"}, URL)}
    assert found["endpoint"] == "right"


@pytest.mark.parametrize("wrong", ["foo bar", "http://foo bar", "http://", "ftp://host:8431", ""])
def test_an_address_that_is_none_is_recommended_to_nobody(
    ragstone: Ragstone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    found = ragstone("monitor", "doctor", "--json", "--url", wrong, "--store", str(tmp_path)).json
    (server,) = (one for one in found if one["what"] == "server")
    assert (server["state"], server["then"]) == ("wrong", f"write {URL}")
    (endpoint,) = (one for one in found if one["what"] == "endpoint")
    assert endpoint["then"].endswith(f"such as {URL}")


def test_a_server_that_is_not_a_monitor_is_recommended_to_nobody(
    ragstone: Ragstone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{other.server_port}"
        found = ragstone("monitor", "doctor", "--json", "--url", address, "--store", str(tmp_path))
        other.shutdown()
    (server,) = (one for one in found.json if one["what"] == "server")
    assert "is not the server of a monitor" in server["words"]
    (endpoint,) = (one for one in found.json if one["what"] == "endpoint")
    assert address not in endpoint["then"]


def test_what_does_not_speak_http_is_told_and_no_bug() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            visitor, _ = listening.accept()
            with visitor:
                visitor.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

        threading.Thread(target=greet, daemon=True).start()
        status, said = asked(f"http://127.0.0.1:{listening.getsockname()[1]}/ready")
    assert status == 0
    assert said


def test_an_endpoint_is_judged_only_by_an_address_that_is_known() -> None:
    found = {one.what: one for one in environment({ENDPOINT: "http://a:1"}, None)}
    assert found["endpoint"].state == "look"
    assert "None" not in found["endpoint"].words + found["endpoint"].then


def test_what_waits_for_the_worker_is_told_with_how_long(store: MonitorStore) -> None:
    now = time.time()
    receive_answers(store, now - 7_200, [1, 2])
    with store.database.reading() as run:
        status = monitor_status(run, now)
    found = {one.what: one for one in said_of(status, now)}
    assert found["waiting"].state == "wrong"
    assert f"{status.waiting_to_fold} parts to put together" in found["waiting"].words
    assert found["waiting"].words.endswith("the first for 2 h")
    assert "disk is full" in found["waiting"].then
    assert found["judging"].state == "look"


def test_what_is_due_while_nothing_is_judged_is_wrong(store: MonitorStore) -> None:
    now = time.time()
    with store.database.reading() as run:
        status = monitor_status(run, now)
    due = replace(status, last_trace_at=now, waiting_to_be_judged=3)
    found = {one.what: one for one in said_of(due, now)}
    assert (found["waiting"].state, found["judging"].state) == ("right", "wrong")
    assert found["judging"].words.endswith("; 3 wait")


@pytest.mark.parametrize(
    ("content", "state"),
    [
        ({"there": 1.0}, "right"),
        ({"there": 0.8, "none": 0.2}, "look"),
        ({"there": 0.7, "ids_only": 0.3}, "look"),
        ({"there": 0.3, "ids_only": 0.7}, "wrong"),
    ],
)
def test_traces_without_texts_are_looked_at(
    store: MonitorStore, content: dict[str, float], state: str
) -> None:
    now = time.time()
    with store.database.reading() as run:
        status = replace(
            monitor_status(run, now), content=content, received=9, last_trace_at=now - 300
        )
    found = {one.what: one for one in said_of(status, now)}
    assert found["content"].state == state
    assert "the last 5 min ago" in found["traffic"].words
