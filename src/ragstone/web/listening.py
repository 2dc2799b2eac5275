"""Listening: a port, who may come to it, and the addresses to print for them."""

import errno
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ragstone.core.errors import InputError

from .visitor import SEATS

if TYPE_CHECKING:
    from .safe import Access

LOOPBACK, EVERY = ("127.0.0.1", "localhost", "::1"), ("0.0.0.0", "::")
OF_PORT = (errno.EADDRINUSE, errno.EACCES)
ANOTHER_HOST = (
    "Name another host: 127.0.0.1 for this machine alone, 0.0.0.0 for all of its addresses, or "
    "one of these"
)
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


@dataclass(frozen=True, slots=True)
class Listening:
    """A port that is taken.

    Attributes:
        taken: The socket.
        served: Where the app is.
        token: The owner's; empty if none is asked for.
    """

    taken: socket.socket
    served: Served
    token: str
    _host: str

    def access(self) -> "Access":
        """Who may use what answers on it."""
        from .safe import Access

        if self._host in EVERY:
            return Access(_Any(), self.token, others=self.served.others)
        port = self.taken.getsockname()[1]
        own = () if self._host in LOOPBACK else (socket.gethostname().lower(),)
        hosts = frozenset(f"{name}:{port}" for name in (*NAMES, _called(self._host), *own))
        return Access(hosts, self.token, others=self.served.others)


def listen(host: str, port: int, *, start: str = "/", token: str | None = None) -> Listening:
    """Take a port.

    Args:
        host: An address other than this machine's own needs a token, which is in the address.
        port: 0 takes a free one.
        start: The path of the page that is opened first.
        token: The owner's; empty: one is made; None: it is asked for only if the host needs it.

    Raises:
        InputError: The port is taken, or there is no such address.
    """
    taken = _take(host, port)
    port = taken.getsockname()[1]
    every, here = host in EVERY, host in LOOPBACK
    secret = "" if here and token is None else token or secrets.token_urlsafe(18)
    others = f"http://{_seen_by_others(host) if every else _called(host)}:{port}"
    own = f"http://{NAMES[0]}:{port}" if every or here else others
    address = f"{own}{start}" + (f"?{urlencode({'token': secret})}" if secret else "")
    return Listening(taken, Served(address, others, here), secret, host)


def _called(host: str) -> str:
    return f"[{host}]" if ":" in host else host


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
    if not host.strip():
        raise InputError(f"The host to listen on is empty. {ANOTHER_HOST}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, UnicodeError) as error:
        words = (getattr(error, "strerror", "") or str(error)).lower()
        of_port = isinstance(error, OSError) and error.errno in OF_PORT
        then = "Name another port, or 0 for a free one" if of_port else ANOTHER_HOST
        raise InputError(f"{host}:{port} cannot be used: {words}. {then}.") from error
