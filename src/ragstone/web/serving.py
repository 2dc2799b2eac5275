"""Serving: a port, an address to print, a browser, and the server until it is stopped."""

import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from urllib.parse import urlencode

from ragstone.errors import InputError, MissingDependency

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORT = 8421
NAMES = ("127.0.0.1", "localhost", "[::1]")


def view(
    folder: str | Path = "runs",
    *,
    port: int = PORT,
    host: str = "127.0.0.1",
    browser: bool = True,
    told: Callable[[str], None] = print,
) -> None:
    """Show the runs of a folder in the browser, until the process is stopped.

    Args:
        folder: With runs in it, or a run folder.
        port: 0 takes a free one.
        host: An address other than this machine's own needs a token, which is in the address.
        browser: Open it.
        told: Called with the address as soon as the port is taken.

    Raises:
        InputError: There is no such folder, or the port is taken.
        MissingDependency: The extra ``ui`` is not installed.
    """
    try:
        import uvicorn

        from .app import make_app
        from .runs_folder import RunsFolder
        from .safe import Access
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("ragstone"):
            raise
        raise MissingDependency("The local app", "ui") from error
    place = RunsFolder(Path(folder))
    taken = _take(host, port)
    port = taken.getsockname()[1]
    here = host in LOOPBACK
    token = "" if here else secrets.token_urlsafe(18)
    called = f"[{host}]" if ":" in host else host
    names = {*NAMES, called} if here else {*NAMES, called, socket.gethostname().lower()}
    hosts = frozenset(f"{name}:{port}" for name in names)
    # An address of every interface is no name; the token is what keeps strangers out then.
    own = frozenset() if host in ("0.0.0.0", "::") else hosts
    access = Access(own or _Any(), token)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::", "localhost") else called
    start = f"/runs/{place.alone.name}" if place.alone else "/"
    address = f"http://{shown}:{port}{start}"
    address += f"?{urlencode({'token': token})}" if token else ""
    told(address)
    if browser:
        Timer(0.3, webbrowser.open, [address]).start()
    config = uvicorn.Config(
        make_app(place, access), log_level="warning", access_log=False, server_header=False,
        lifespan="off",
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[taken])


class _Any(frozenset[str]):
    """Every name of a host."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name)


def _take(host: str, port: int) -> socket.socket:
    """A socket on this port.

    Raises:
        InputError: It is taken, or there is no such address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        taken = socket.socket(found[0], socket.SOCK_STREAM)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(found[4])
        taken.listen(128)
    except OverflowError as error:
        raise InputError(f"A port is from 0 to 65535, got {port}.") from error
    except OSError as error:
        words = (error.strerror or str(error)).lower()
        raise InputError(
            f"{host}:{port} cannot be used: {words}. Name another port, or 0 for a free one."
        ) from error
    return taken
