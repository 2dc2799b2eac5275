"""A cluster that is not there, or unlike this machine, is told in one line."""

import signal
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragstone.errors import InputError
from ragstone.run.cluster.connection import connected, ray_address
from ragstone.run.cluster.pool import _check_alike
from ragstone.run.cluster.worker import Node, this_node
from ragstone.run.evaluate import evaluate

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

    def is_initialized(self) -> bool:
        return self.made > self.ended

    def init(self, **_: object) -> None:
        self.made += 1
        signal.signal(signal.SIGTERM, lambda *_: None)

    def shutdown(self) -> None:
        self.ended += 1

    def get_runtime_context(self) -> SimpleNamespace:
        return SimpleNamespace(gcs_address="127.0.0.1:6379")


def test_runs_at_the_same_time_share_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    for times in (1, 2):
        with ExitStack() as first, connected(""):
            with connected(""):
                first.enter_context(connected(""))
            assert (ray.made, ray.ended) == (times, times - 1)
        assert (ray.made, ray.ended) == (times, times)


def test_a_connection_of_the_users_own_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    ray.made = 1
    with connected(""):
        pass
    assert (ray.made, ray.ended) == (1, 0)


def test_what_ends_the_process_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", FakeRay())
    before = signal.getsignal(signal.SIGTERM)
    with connected(""):
        assert signal.getsignal(signal.SIGTERM) is before
