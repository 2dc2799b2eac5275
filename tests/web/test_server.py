"""Whoever keeps a connection and does not go on loses it, and takes no place from others."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Event
from time import process_time, sleep
from urllib.request import urlopen

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from ragstone.web.server import BoundedConnection, Bounds
from tests.serving import served
from tests.waiting import until

LONGEST = 60.0
"""Seconds that nothing here takes on any machine."""

LARGE = 30_000_000


class App:
    """Reads bodies, but for those to /refused; /held is answered when it may, /large at length."""

    def __init__(self) -> None:
        self.go = Event()
        self.begun = self.gone = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from asyncio import sleep as pause

        self.begun += 1
        path = scope["path"]
        if path != "/refused":
            try:
                await Request(scope, receive).body()
            except ClientDisconnect:
                self.gone += 1
                return
        while path == "/held" and not self.go.is_set():
            await pause(0.01)
        await PlainTextResponse("x" * (LARGE if path == "/large" else 2))(scope, receive, send)


@contextmanager
def running(**bounds: float) -> Iterator[tuple[App, "Clients"]]:
    app = App()
    less = {"bounds": Bounds(**bounds)}  # type: ignore[arg-type]
    connection = type("Connection", (BoundedConnection,), less)
    with served(lambda _: app, http=connection) as host, ExitStack() as lines:
        try:
            yield app, Clients(int(host.rpartition(":")[2]), lines)
        finally:
            app.go.set()


class Clients:
    """Connects to a port of this machine."""

    def __init__(self, port: int, lines: ExitStack) -> None:
        self.port, self._lines = port, lines

    def send(self, *pieces: bytes) -> socket.socket:
        """A connection on which this was sent."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=LONGEST)
        self._lines.enter_context(closing(line))
        for piece in pieces:
            line.sendall(piece)
        return line

    def is_served(self) -> bool:
        """Whether a new client is answered."""
        with urlopen(f"http://127.0.0.1:{self.port}/", timeout=LONGEST) as answer:
            return int(answer.status) == 200


def head(path: str = "/", length: int = 100) -> bytes:
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path.encode(), length)


def rest(line: socket.socket) -> bytes:
    """What comes until the other side hangs up."""
    pieces = []
    with suppress(ConnectionResetError):
        while piece := line.recv(100_000):
            pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("start", [b"", b"POST /v1/tr", head()[:-2]])
def test_a_head_that_comes_too_slowly_is_given_up(start: bytes) -> None:
    with running(head=0.2) as (app, clients):
        assert rest(clients.send(start)) == b""
        # After a whole request too.
        line = clients.send(head(length=2), b"{}")
        assert line.recv(1_000).startswith(b"HTTP/1.1 200 ")
        line.sendall(start or b"P")
        assert not rest(line).startswith(b"HTTP")
        assert app.begun == 1


def dribble(line: socket.socket, piece: bytes) -> bytes:
    """Send on, little by little, until the other side hangs up; what it said."""
    line.settimeout(0.02)
    answer = b""
    for _ in range(3_000):
        try:
            line.sendall(piece)
            if not (more := line.recv(1_000)):
                return answer
            answer += more
        except TimeoutError:
            pass
        except (ConnectionResetError, BrokenPipeError):
            return answer
    raise AssertionError("it was never hung up")


@pytest.mark.parametrize(
    ("start", "piece", "bounds"),
    [
        (head() + b"{", b"", {"pause": 0.2}),
        (head(length=100_000), b"x", {"body": 0.3}),
        (b"GET / HT", b"T", {"head": 0.3}),
        (head()[:-2], b"X: x\r\n", {"head": 0.3}),
        (head().replace(b"Content-Length: 100", b"Transfer-Encoding: chunked"),
         b"1\r\nx\r\n", {"body": 0.3}),
    ],
)  # fmt: skip
def test_what_comes_little_by_little_is_given_up(
    start: bytes, piece: bytes, bounds: dict[str, float]
) -> None:
    with running(**bounds) as (app, clients):
        answer = dribble(clients.send(start), piece)
        assert answer.startswith(b"HTTP/1.1 408 ") == (app.begun == 1)
        until(lambda: app.gone == app.begun)
        assert clients.is_served()


def test_a_body_that_was_refused_is_not_waited_for_longer() -> None:
    with running(body=0.3) as (_, clients):
        answer = dribble(clients.send(head("/refused", 100_000)), b"x")
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.count(b"HTTP/1.1") == 1


def test_a_client_that_does_not_read_is_given_up_and_one_that_reads_slowly_is_not() -> None:
    with running(pause=0.2, head=0.2) as (app, clients):
        deaf = clients.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        slow = clients.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        size = len(slow.recv(100))
        while size < LARGE:
            sleep(0.01)
            size += len(slow.recv(1_000_000))
        assert len(rest(deaf)) < LARGE
        assert app.begun == 2


def test_what_is_answered_late_is_not_slow() -> None:
    with running(head=0.1, body=0.1, pause=0.1) as (app, clients):
        line = clients.send(head("/held", 2) + b"{}")
        sleep(0.3)
        app.go.set()
        assert line.recv(1_000).startswith(b"HTTP/1.1 200 ")


def test_of_one_connection_too_many_the_one_is_closed_that_was_silent_for_longest() -> None:
    with running(connections=4) as (app, clients):
        sends = clients.send(head() + b"{")
        held = clients.send(head("/held", 2) + b"{}")
        until(lambda: app.begun == 2)
        first, second = clients.send(), clients.send(b"POST")
        assert clients.is_served()
        assert rest(first) == b""
        for _ in range(2):
            clients.send()
        assert rest(second) == b""
        sends.sendall(b"x" * 99)
        app.go.set()
        for line in (sends, held):
            assert line.recv(1_000).startswith(b"HTTP/1.1 200 ")


def test_connections_that_say_nothing_keep_nobody_out() -> None:
    with running(connections=50) as (_, clients):
        for _ in range(5):
            for _ in range(80):
                clients.send()
            assert clients.is_served()


def test_connections_that_are_all_being_served_are_not_closed() -> None:
    with running(connections=2) as (app, clients):
        lines = [clients.send(head("/held", 2) + b"{}") for _ in range(2)]
        until(lambda: app.begun == 2)
        assert rest(clients.send(head())) == b""
        app.go.set()
        for line in lines:
            assert line.recv(1_000).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("path", ["/", "/refused"])
def test_a_body_in_many_chunks_is_given_up(path: str) -> None:
    with running(chunks=100) as (_, clients):
        start = head(path).replace(b"Content-Length: 100", b"Transfer-Encoding: chunked")
        began = process_time()
        line = clients.send(start)
        with suppress(ConnectionResetError, BrokenPipeError):
            line.sendall(b"1\r\nx\r\n" * 100_000)
        answer = rest(line)
        assert b"HTTP/1.1 400 " in answer or path == "/refused" or not answer
        assert process_time() - began < 1
        line = clients.send(start + b"1\r\nx\r\n" * 100 + b"0\r\n\r\n")
        assert line.recv(1_000).startswith(b"HTTP/1.1 200 ")
