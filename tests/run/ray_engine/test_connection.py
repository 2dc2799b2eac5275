"""A cluster that is not there, or unlike this machine, is told in one line."""

import importlib
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.run.evaluate import evaluate
from ragstone.run.ray_engine.connection import connected, ray_address
from ragstone.run.ray_engine.pool import _check_alike
from ragstone.run.ray_engine.shard_worker import Node, this_node
from tests.availability import import_or_skip
from tests.waiting import until

ROWS = [{"question": "Is it so?", "answer": "Yes.", "contexts": ["It is so."]}]


@pytest.mark.parametrize("engine", ["dask", "ray://10.0.0.1:10001", "local:1", "Ray", "ray:", ""])
def test_an_engine_that_is_none(engine: str) -> None:
    with pytest.raises(InputError, match="expected local, ray, or ray:HOST:PORT"):
        ray_address(engine)


@pytest.mark.parametrize("address", ["nowhere", "host:", ":6379", "host:port"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(InputError, match="expected a host and a port"), connected(address):
        pass


def test_no_cluster_at_an_address(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as told:
            evaluate(ROWS, judge="human", out=tmp_path / "run", engine=f"ray:127.0.0.1:{port}")
    assert str(told.value).startswith(f"There is no Ray cluster at 127.0.0.1:{port}: ")
    assert "\n" not in str(told.value)
    assert not (tmp_path / "run").exists()


def test_another_cluster_than_the_one_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as head:
        port = head.getsockname()[1]
        here = SimpleNamespace(gcs_address=f"10.9.8.7:{port}")
        ray = SimpleNamespace(is_initialized=lambda: True, get_runtime_context=lambda: here)
        monkeypatch.setitem(sys.modules, "ray", ray)
        for address in ("", f"127.0.0.1:{port}", f"localhost:{port}"):
            with connected(address) as there:
                assert there is ray
        here.gcs_address = f"127.0.0.1:{port + 1}"
        with (
            pytest.raises(
                InputError, match=r"connected to the Ray cluster at 127\.0\.0\.1:\d+, not"
            ),
            connected(f"127.0.0.1:{port}"),
        ):
            pass


def test_a_token_that_a_cluster_may_ask_for_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(**_: object) -> None:
        raise ConnectionError("Failed to connect to Ray cluster.")

    ray = SimpleNamespace(is_initialized=lambda: False, init=refuses)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)

    def said() -> str:
        with (
            socket.create_server(("127.0.0.1", 0)) as head,
            pytest.raises(InputError) as told,
            connected(f"127.0.0.1:{head.getsockname()[1]}"),
        ):
            pass
        return str(told.value)

    assert said().endswith("cannot be used: Failed to connect to Ray cluster.")
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("t")
    assert said().endswith(
        "If it asks for the token in ~/.ray/auth_token, set RAY_AUTH_MODE=token."
    )
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert said().endswith("cannot be used: Failed to connect to Ray cluster.")


def test_a_node_with_other_versions() -> None:
    here = this_node()
    _check_alike(here)
    other = Node("node7", {**here.versions, "polars": "0.1", "python": "3.9"})
    with pytest.raises(InputError, match=r"The node node7 has .*python 3\.9, here .*polars 0\.1"):
        _check_alike(other)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"debug": lambda *_: None}, "debug"),
        ({"bertscore": "idf"}, "bertscore"),
        ({"batch": True, "out": "run"}, "batch"),
    ],
)
def test_what_only_one_process_can_do(more: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=f'{named}=True goes with engine="local" alone'):
        evaluate(ROWS, engine="ray", **more)  # type: ignore[arg-type]


class FakeRay:
    """Counts how often a connection is made and ended."""

    def __init__(self) -> None:
        self.made = self.ended = 0
        self.begins: Callable[[], object] = lambda: None
        self.ends = self.begins

    def is_initialized(self) -> bool:
        return self.made > self.ended

    def init(self, **_: object) -> None:
        self.begins()
        self.made += 1
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: None)

    def shutdown(self) -> None:
        self.ends()
        self.ended += 1

    def get_runtime_context(self) -> SimpleNamespace:
        return SimpleNamespace(gcs_address="127.0.0.1:6379")


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    import_or_skip("ray._private.worker")
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    return fake


def test_runs_at_the_same_time_share_a_connection(ray: FakeRay) -> None:
    for times in (1, 2):
        with ExitStack() as first, connected(""):
            with connected(""):
                first.enter_context(connected(""))
            assert (ray.made, ray.ended) == (times, times - 1)
        assert (ray.made, ray.ended) == (times, times)


def test_what_one_thread_began_is_there_for_the_others_when_it_has_ended(ray: FakeRay) -> None:
    """Linux kills what a thread started when that ends, so it is none that judges."""
    begun_by: list[threading.Thread] = []
    ray.begins = lambda: begun_by.append(threading.current_thread())
    ends, ended = threading.Event(), threading.Event()

    def first() -> None:
        with connected(""):
            ends.wait(60)
        ended.set()

    thread = threading.Thread(target=first)
    thread.start()
    until(lambda: ray.made)
    with connected(""):
        ends.set()
        thread.join()
        assert (ray.made, ray.ended) == (1, 0)
        assert begun_by[0] is not thread
        assert begun_by[0].is_alive()
    assert ray.ended == 1


def test_what_nodes_report_is_not_printed_as_long_as_a_connection_lives(ray: FakeRay) -> None:
    worker: Any = importlib.import_module("ray._private.worker")
    printed: list[str] = []
    reports = printed.append
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "print_to_stdstream", reports)
        ray.begins = lambda: worker.print_to_stdstream("begins")
        ray.ends = lambda: worker.print_to_stdstream("ends")
        with connected(""):
            worker.print_to_stdstream("A worker died.")
        assert printed == []
        assert worker.print_to_stdstream == reports

        def fails() -> None:
            raise RuntimeError("no such thing")

        ray.begins = fails
        with pytest.raises(InputError, match="no such thing"), connected(""):
            pass
        assert worker.print_to_stdstream == reports


def test_a_connection_of_the_users_own_is_left(ray: FakeRay) -> None:
    ray.made = 1
    with connected(""):
        pass
    assert (ray.made, ray.ended) == (1, 0)


@pytest.mark.usefixtures("ray")
def test_what_ends_the_process_stays_as_it_was() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with connected(""):
        assert signal.getsignal(signal.SIGTERM) is before
