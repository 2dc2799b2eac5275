"""Serving: a port, an address to print, a browser, and the server until it is stopped."""

import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from urllib.parse import urlencode

from ragstone.argument import argument
from ragstone.errors import InputError

from .extra import require_ui
from .visitor import SEATS

LOOPBACK, EVERY = ("127.0.0.1", "localhost", "::1"), ("0.0.0.0", "::")
PORT = 8421
NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Served:
    """Where an app is, as soon as its port is taken.

    Attributes:
        owner: The address for who started it, with the owner's token if one is asked for.
        others: What the addresses begin with that other people open, such as
            ``http://192.168.1.7:8421``.
        alone: Whether only this machine can open them.
    """

    owner: str
    others: str
    alone: bool

    def link(self, token: str) -> str:
        """The address for the person who has this token."""
        return f"{self.others}{SEATS}{token}"

    def __str__(self) -> str:
        return self.owner


def view(
    folder: str | Path = "runs",
    *,
    labels: str = "",
    port: int = PORT,
    host: str = "127.0.0.1",
    browser: bool = True,
    told: Callable[[Served], None] = print,
    start: str = "/",
    token: bool = False,
) -> None:
    """Show the runs of a folder in the browser, until the process is stopped.

    Args:
        folder: With runs in it, or a run folder.
        labels: The store of human labels, a file or an address ``postgresql://…``; empty for
            ``labels.sqlite`` in the folder.
        port: 0 takes a free one.
        host: An address other than this machine's own needs a token, which is in the address.
        browser: Open it.
        told: Called as soon as the port is taken.
        start: The path of the page that is opened first.
        token: Ask for the owner's token on this machine's own address too, as other people open
            their links on it.

    Raises:
        InputError: There is no such folder or store, or the port is taken.
        MissingDependency: The extra ``ui`` is not installed.
    """
    require_ui("The local app")
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}: `ragstone evaluate DATA` makes a run.")
    if labels and "://" not in labels and not Path(labels).exists():
        raise InputError(f"There is no store of labels {argument('labels', labels)}.")
    taken = _take(host, port)
    port = taken.getsockname()[1]
    every, here = host in EVERY, host in LOOPBACK
    secret = "" if here and not token else secrets.token_urlsafe(18)
    called = f"[{host}]" if ":" in host else host
    others = f"http://{_seen_by_others(host) if every else called}:{port}"
    own = f"http://{NAMES[0]}:{port}" if every or here else others
    address = f"{own}{start}" + (f"?{urlencode({'token': secret})}" if secret else "")
    told(Served(address, others, here))
    if browser:
        Timer(0.3, webbrowser.open, [address]).start()
    _lean()
    # Only now, for it takes most of a second: a browser that comes earlier waits on the socket.
    import uvicorn

    from .app import make_app
    from .runs_folder import RunsFolder
    from .safe import Access

    names = {*NAMES, called, *([] if here else [socket.gethostname().lower()])}
    hosts = _Any() if every else frozenset(f"{name}:{port}" for name in names)
    place = RunsFolder(folder, labels)
    Timer(1, place.prepare).start()
    config = uvicorn.Config(
        make_app(place, Access(hosts, secret, others=others)),
        # Otherwise it sets up the whole process's log, for which it closes what is there.
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
    )
    # Ctrl+C is how it ends, which it tells once more when everything is closed.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[taken])


def _lean() -> None:
    """Keep memory small, and pages quick while something is computed beside them.

    Polars' allocator, jemalloc, keeps freed memory in many places for ten seconds: on 50,000
    answers the peak is 476 MB with that, and 350 to 400 MB with one place for a fifth of a second.
    To keep none would be 335 MB, and pages would take half as long again. A page calls Polars some
    250 times, and after each call it waits for its turn behind Python code of other threads, by
    default for 5 ms.
    """
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1,dirty_decay_ms:200,muzzy_decay_ms:0")
    sys.setswitchinterval(0.0005)


def _seen_by_others(host: str) -> str:
    """What others call this machine: its address towards them, or its name where there is none."""
    family, outside = (
        (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    )
    # To connect with UDP sends nothing: it only chooses the address to send from.
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((outside, 9))
        found = str(probe.getsockname()[0])
        return f"[{found}]" if ":" in found else found
    return socket.gethostname().lower()


class _Any(frozenset[str]):
    """Every name: who listens on all addresses has no list; the token keeps strangers out."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name)


def _take(host: str, port: int) -> socket.socket:
    """A socket on this port.

    Raises:
        InputError: It is taken, or there is no such address.
    """
    if not 0 <= port <= 65_535:
        raise InputError(f"A port is from 0 to 65535, got {port}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        words = (error.strerror or str(error)).lower()
        raise InputError(
            f"{host}:{port} cannot be used: {words}. Name another port, or 0 for a free one."
        ) from error
