"""``ragstone view``: it prints where it is, and asks for a token where others can come."""

import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
import uvicorn
from starlette.datastructures import URL
from starlette.testclient import TestClient

from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError
from ragstone.web.entry_points import view
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Served, ServerAddress, listen
from ragstone.web.server import CONNECTIONS, BoundedConnection
from ragstone.web.web_app import make_app
from tests.certificates import certificate
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
    with started(str(runs), "--no-token") as address:
        assert address.startswith("http://127.0.0.1:")
        assert status(address) == 200
        assert status(address, Host="evil.example") == 421


def test_idle_connections_keep_nobody_from_a_page(runs: Path) -> None:
    with started(str(runs), "--no-token") as address, ExitStack() as lines:
        where = (urlsplit(address).hostname, urlsplit(address).port)
        for _ in range(CONNECTIONS + 100):
            lines.enter_context(socket.create_connection(where))
        assert status(address) == 200


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
        port = urlsplit(plain).port
        assert status(plain, Cookie=f"ragstone-token-{port}={token}") == 200


def test_a_taken_port_and_a_missing_folder_are_told(runs: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"{port} cannot be used"):
            view(runs, at=ServerAddress(port), browser=False)
    with pytest.raises(InputError, match="no folder"):
        view(tmp_path / "none", browser=False)
    with pytest.raises(InputError, match="no store of labels"):
        view(runs, labels=str(tmp_path / "none.sqlite"), browser=False)
    with pytest.raises(InputError, match="from 0 to 65535"):
        view(runs, at=ServerAddress(70_000), browser=False)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The port is taken and the app made; nobody is waited for."""

    def run(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        assert server.config.http is BoundedConnection
        for one in sockets:
            one.close()

    monkeypatch.setattr(uvicorn.Server, "run", run)


def served(folder: Path, start: str = "/", **options: Any) -> Served:
    """Where an app says that it is."""
    told: list[Served] = []
    view(folder, at=ServerAddress(0, **options), browser=False, told=told.append, start=start)
    (found,) = told
    return found


@pytest.mark.usefixtures("at_once")
def test_a_link_has_the_port_that_was_taken(tmp_path: Path) -> None:
    found = served(tmp_path)
    plain, _, token = found.owner.partition("?token=")
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+/", plain)
    assert len(token) > 20
    assert found.link("t0ken") == f"{plain}a/t0ken"
    assert found.alone


@pytest.mark.usefixtures("at_once")
def test_who_wants_no_token_says_so(tmp_path: Path) -> None:
    found = served(tmp_path, no_token=True, start="/annotate/q")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/annotate/q", found.owner)
    assert found.browser == found.owner


@pytest.mark.usefixtures("at_once")
def test_others_open_the_address_of_the_proxy(tmp_path: Path) -> None:
    found = served(tmp_path, url="https://rag.example", token="t")
    assert (found.owner, found.link("x")) == (
        "https://rag.example/?token=t",
        "https://rag.example/a/x",
    )
    assert (found.alone, found.encrypted) == (False, True)
    assert not served(tmp_path, host="0.0.0.0", url="https://rag.example").encrypted


@pytest.mark.parametrize("host", ["::1", "::"])
def test_an_address_of_ipv6_is_opened_as_one(host: str) -> None:
    try:
        port, served, _ = listen(ServerAddress(0, host))
    except InputError:
        pytest.skip("no IPv6 here")
    port.close()
    assert served.owner.startswith("http://[::1]:")


def test_a_server_answers_to_the_name_that_its_proxy_has() -> None:
    at = ServerAddress(0, url="https://Rag.example:443")
    port, _, access = listen(at)
    port.close()
    assert {"rag.example", "rag.example:443"} <= access.hosts
    assert "evil.example" not in access.hosts
    assert access.address(URL("http://rag.example/x")) == at.url
    assert access.address(URL("http://127.0.0.1:8421/x")) == at.url


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"no_token": True, "host": "0.0.0.0"}, "no_token=True is for this machine alone"),
        ({"no_token": True, "url": "https://rag.example"}, "no_token=True is for this machine"),
        ({"no_token": True, "token": "t"}, "name one of them"),
        ({"url": "rag.example"}, "has to be http:// or https://"),
        ({"url": "https://rag.example/sub"}, "has to be http:// or https://"),
        ({"url": "http://"}, "has to be http:// or https://"),
        ({"url": "javascript://x"}, "has to be http:// or https://"),
        ({"keyfile": Path("key.pem")}, "keyfile= goes with certfile="),
        ({"certfile": Path("none.pem")}, "none.pem: no such file or directory"),
        ({"certfile": Path(__file__)}, "not a certificate in PEM with its key"),
    ],
)
def test_an_address_whose_parts_do_not_go_together_is_refused(
    parts: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        listen(ServerAddress(0, **parts))


def test_what_a_browser_is_started_with_opens_the_app_once(runs: Path) -> None:
    """For every user of the machine sees it in the list of processes."""
    port, served, access = listen(ServerAddress())
    path = served.browser.partition("/?")[2]
    assert access.token not in path
    host = urlsplit(served.owner).netloc
    app = make_app(RunsFolder(runs), access)
    port.close()
    mine, other = (
        TestClient(app, base_url=f"http://{host}", follow_redirects=False) for _ in range(2)
    )
    assert mine.get(f"/?{path}").status_code == 303
    assert mine.get("/").status_code == 200
    assert other.get(f"/?{path}").status_code == 401


@pytest.mark.parametrize("command", ["view", "monitor serve"])
def test_what_goes_over_the_network_is_encrypted(runs: Path, tmp_path: Path, command: str) -> None:
    cert, key = certificate(tmp_path)
    tls = ("--port", "0", "--certfile", str(cert), "--keyfile", str(key), "--token", "t")
    of = (str(runs), "--no-browser") if command == "view" else ("--store", str(tmp_path / "s"))
    process = Forked(COMMAND, *command.split(), *of, *tls, "--host", "0.0.0.0", cwd=Path.cwd())
    try:
        address = process.address()
        assert address.startswith("https://127.0.0.1:")
        trusts = ssl.create_default_context(cafile=str(cert))
        with urlopen(f"{address.partition('?')[0]}static/style.css"
                     if command == "view" else address.replace("/monitor?token=t", "/health"),
                     context=trusts) as answer:  # fmt: skip
            assert answer.status == 200
        with pytest.raises(OSError, match=r"[Rr]eset|disconnected|closed|[Ee]mpty|Remote"):
            urlopen(address.replace("https:", "http:"))
    finally:
        process.kill()
        _, err = process.communicate()
    assert "not encrypted" not in err


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
    with started(str(runs), "--labels", str(store), "--no-token") as address:
        cookie = f"ragstone-person-{urlsplit(address).port}={token}"
        assert status(address) == 200
        assert status(address, Cookie=cookie) == 403
        queue.revoke("Ann")
        assert status(f"{address}annotate/q", Cookie=cookie) == 403
        assert status(f"{address}a/{token}") == 404
