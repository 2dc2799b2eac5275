"""``ragstone view``: it prints where it is, and asks for a token where others can come."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import uvicorn

from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError, MissingDependency
from ragstone.web import entry_points as extra
from ragstone.web.entry_points import view
from ragstone.web.security import Served
from tests.forked import COMMAND, Forked
from tests.web.conftest import client_of


@contextmanager
def started(*arguments: str) -> Iterator[str]:
    served = ("view", "--no-browser", "--port", 0)
    process = Forked(COMMAND, *served, *arguments, cwd=Path.cwd())
    try:
        yield process.address()
    finally:
        process.kill()
        process.communicate()


def status(address: str, **headers: str) -> int:
    try:
        with urlopen(Request(address, headers=headers)) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def test_the_app_runs_at_the_printed_address(runs: Path) -> None:
    with started(str(runs)) as address:
        assert address.startswith("http://127.0.0.1:")
        assert status(address) == 200
        assert status(address, Host="evil.example") == 421


def test_one_run_is_shown_at_once(runs: Path) -> None:
    answer = client_of(runs / "cornwall").get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/cornwall")


def test_another_host_needs_the_token_of_the_address(runs: Path) -> None:
    with started(str(runs), "--host", "0.0.0.0") as address:
        plain, _, token = address.partition("?token=")
        assert len(token) > 20
        assert status(plain) == 401
        assert status(f"{plain}?token=guess") == 401
        # The cookie comes with the first answer; who does not keep it is asked again.
        assert status(plain, Cookie=f"ragstone-token={token}") == 200


def test_a_taken_port_and_a_missing_folder_are_told(runs: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"{port} cannot be used"):
            view(runs, port=port, browser=False)
    with pytest.raises(InputError, match="no folder"):
        view(tmp_path / "none", browser=False)
    with pytest.raises(InputError, match="no store of labels"):
        view(runs, labels=str(tmp_path / "none.sqlite"), browser=False)
    with pytest.raises(InputError, match="from 0 to 65535"):
        view(runs, port=70_000, browser=False)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The port is taken and the app made; nobody is waited for."""

    def run(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        for one in sockets:
            one.close()

    monkeypatch.setattr(uvicorn.Server, "run", run)


def served(folder: Path, **options: Any) -> Served:
    """Where an app says that it is."""
    told: list[Served] = []
    view(folder, port=0, browser=False, told=told.append, **options)
    (found,) = told
    return found


@pytest.mark.usefixtures("at_once")
def test_a_link_has_the_port_that_was_taken(tmp_path: Path) -> None:
    found = served(tmp_path)
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+/", found.owner)
    assert found.link("t0ken") == f"{found.owner}a/t0ken"
    assert found.alone


@pytest.mark.usefixtures("at_once")
def test_the_owner_can_need_a_token_on_their_own_machine(tmp_path: Path) -> None:
    found = served(tmp_path, token=True, start="/annotate/q")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/annotate/q\?token=[\w-]{20,}", found.owner)
    assert "token" not in found.others


@pytest.mark.usefixtures("at_once")
def test_a_link_on_every_address_is_none_that_leads_others_to_themselves(tmp_path: Path) -> None:
    found = served(tmp_path, host="0.0.0.0")
    assert found.owner.startswith("http://127.0.0.1:")
    assert not re.match(r"http://(127\.|0\.0|localhost)", found.others)
    assert not found.alone


def test_a_person_comes_by_a_link_and_sees_nothing_of_the_owner(runs: Path, tmp_path: Path) -> None:
    store = tmp_path / "labels.sqlite"
    queue = Queue.make(open_labels(store), QueueForm("q", ()), [])
    token = queue.invite("Ann")
    with started(str(runs), "--labels", str(store)) as address:
        cookie = f"ragstone-person={token}"
        assert status(address) == 200
        assert status(address, Cookie=cookie) == 403
        queue.revoke("Ann")
        assert status(f"{address}annotate/q", Cookie=cookie) == 403
        assert status(f"{address}a/{token}") == 404


def test_without_the_extra_it_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra, "NEEDED", ("a_package_that_is_not_there",))
    with pytest.raises(MissingDependency, match=r"ragstone\[ui\]"):
        view(runs, browser=False)
