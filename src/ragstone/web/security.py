"""Security: the port and its addresses, who may see the app and write, what pages may load.

Every response carries a Content-Security-Policy without inline script, inline style or eval. A
request must name this server as its host, so that a page elsewhere cannot reach it through a name
of its own (DNS rebinding). A write must come from a page of this server and carry the secret that
its pages have. The ``Authenticator`` in ``auth`` decides who is let in. No body is read of anybody
else, and all that can be refused by its head is.
"""

import errno
import hmac
import re
import secrets
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.core.errors import InputError
from ragstone.core.messages import argument

from .auth import LEAVE, READING, SEATS, Authenticator, Lookup, Refusal, Visitor, WrongTries
from .page_request import VISITOR

LOOPBACK, EVERY = ("127.0.0.1", "localhost", "::1"), ("0.0.0.0", "::")
OF_PORT = (errno.EADDRINUSE, errno.EACCES)
ANOTHER_HOST = (
    "Name another host: 127.0.0.1 for this machine alone, 0.0.0.0 for all of its addresses, or "
    "one of these"
)
NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address at which a server listens, and what it asks of who comes.

    Attributes:
        port: 0 takes a free one.
        host: The address to listen on; any but this machine's own lets others in.
        token: The owner's; empty: one is made.
        no_token: Asks nobody for a token, where only this machine can come.
        url: By which others open it where a proxy stands before it: ``https://rag.example``.
        certfile: A certificate in PEM, with which everything is encrypted.
        keyfile: The certificate's key, if it is in a file of its own.
    """

    port: int = 0
    host: str = "127.0.0.1"
    token: str = field(default="", repr=False)
    no_token: bool = False
    url: str = ""
    certfile: Path | None = None
    keyfile: Path | None = None

    @property
    def is_alone(self) -> bool:
        """True if only this machine can come."""
        return self.host in LOOPBACK and not self.url

    @property
    def tls(self) -> dict[str, Path | None]:
        """What uvicorn's settings need to encrypt."""
        return {"ssl_certfile": self.certfile, "ssl_keyfile": self.keyfile} if self.certfile else {}

    def check(self) -> None:
        """See that the parts go together, and that the certificate is one."""
        if self.no_token and self.token:
            raise InputError(
                f"{argument('no_token', True)} and a token ({argument('token')}, or "
                "RAGSTONE_TOKEN): name one of them."
            )
        if self.no_token and not self.is_alone:
            raise InputError(
                f"{argument('no_token', True)} is for this machine alone. At "
                f"{self.url or self.host} others can come: leave it out."
            )
        parts = self.url.removeprefix("https://").removeprefix("http://")
        if self.url and (parts == self.url or not re.fullmatch(r"[\w.-]+(:\d+)?", parts)):
            raise InputError(
                f"{argument('url', self.url)} has to be http:// or https:// with a host and, if "
                "need be, a port, and nothing behind them: https://rag.example."
            )
        if self.keyfile and not self.certfile:
            raise InputError(f"{argument('keyfile')} goes with {argument('certfile')}.")
        if self.certfile:
            try:
                # A key with a password would be asked for in the terminal, at every start.
                tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                tls.load_cert_chain(self.certfile, self.keyfile, password="")
            except OSError as error:
                files = " with ".join(str(file) for file in (self.certfile, self.keyfile) if file)
                why = "not a certificate in PEM with its key (the key must not have a password)"
                if not isinstance(error, ssl.SSLError):
                    why = (error.strerror or str(error)).lower()
                raise InputError(f"{files}: {why}.") from error


@dataclass(frozen=True, slots=True)
class Served:
    """The addresses of an app, as soon as its port is taken.

    Attributes:
        owner: The address for who started it, with the owner's token if one is asked for.
        browser: The same, with a token that opens it once: other users of the machine see what a
            browser is started with.
        others: What the addresses begin with that other people open, such as
            ``http://192.168.1.7:8421``.
        alone: Whether only this machine can open them.
        encrypted: Whether what goes over the network is encrypted, if it does.
        send_token: What apps have to show that send traces to it; empty if nothing is asked for.
    """

    owner: str
    browser: str
    others: str
    alone: bool
    encrypted: bool
    send_token: str = ""

    def link(self, token: str) -> str:
        """Return the address for the person who has this token."""
        return f"{self.others}{SEATS}{token}"

    def __str__(self) -> str:
        return self.owner


def listen(
    at: ServerAddress, start: str = "/", send_token: str = ""
) -> tuple[socket.socket, Served, "Access"]:
    """Take a port; return it with its addresses and with who may use what answers on it.

    ``start`` is the path of the page that is opened first, ``send_token`` what apps have to show
    that send traces.

    Raises:
        InputError: The port is taken, there is no such address, or its parts do not go together.
    """
    at.check()
    port_socket = _take(at.host, at.port)
    port = port_socket.getsockname()[1]
    every, here = at.host in EVERY, at.host in LOOPBACK
    secret = "" if at.no_token else at.token or secrets.token_urlsafe(18)
    once = secret and secrets.token_urlsafe(18)
    scheme = "https" if at.certfile else "http"
    outside = _seen_by_others(at.host) if every else _called(at.host)
    others = at.url or f"{scheme}://{outside}:{port}"
    mine = "[::1]" if ":" in at.host else "127.0.0.1"
    owner_url = f"{scheme}://{mine}:{port}" if (every or here) and not at.url else others

    def opens(token: str) -> str:
        return f"{owner_url}{start}" + (f"?{urlencode({'token': token})}" if token else "")

    encrypted = bool(at.certfile) or here
    served = Served(opens(secret), opens(once), others, at.is_alone, encrypted, send_token)
    hosts = _Any() if every else _hosts(at, port)
    return port_socket, served, Access(hosts, secret, others=others, url=at.url, once={once} - {""})


def _hosts(at: ServerAddress, port: int) -> frozenset[str]:
    machine = () if at.host in LOOPBACK else (socket.gethostname().lower(),)
    hosts = {f"{name}:{port}" for name in (*NAMES, _called(at.host), *machine)}
    if at.url:
        scheme, _, name = at.url.lower().partition("://")
        hosts |= {name, name.removesuffix(":443" if scheme == "https" else ":80")}
    return frozenset(hosts)


def _called(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _seen_by_others(host: str) -> str:
    """Return this machine's address towards others, or its name where there is none."""
    family, outside = (
        (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    )
    # To connect with UDP sends nothing: it only chooses the address to send from.
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((outside, 9))
        address = str(probe.getsockname()[0])
        return f"[{address}]" if ":" in address else address
    return socket.gethostname().lower()


class _Any(frozenset[str]):
    """Every name: who listens on all addresses has no list; the token keeps strangers out."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(name)


def _take(host: str, port: int) -> socket.socket:
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


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # With no-referrer, a browser says of our own forms that they come from nowhere.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

# The form field, or the header with ``X-`` before it, that carries the secret of the pages.
FIELD = "secret"

LARGEST_FORM = 1_000_000

# Pages that are made at a time, so that connections are left for what the server takes in.
PAGES = 250


@dataclass(frozen=True, slots=True)
class Access:
    """The rules by which somebody may use a server.

    Attributes:
        hosts: The names by which it may be called, each with its port.
        token: What the owner has to know; empty if everybody who can connect is the owner.
        secret: What pages carry and every write has to give back.
        tries: The wrong tokens that were shown.
        others: What the addresses begin with that other people open, where it is not what the
            owner opens.
        url: The same, where a proxy stands before the server.
        once: Tokens that open it as the owner's does, but one time.
    """

    hosts: frozenset[str]
    token: str = ""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    tries: WrongTries = field(default_factory=WrongTries)
    others: str = ""
    url: str = ""
    once: set[str] = field(default_factory=set)

    def knows(self, secret: str) -> bool:
        """Return whether a write carries the secret of the pages."""
        return hmac.compare_digest(self.secret.encode(), secret.encode())

    def address(self, opened: URL) -> str:
        """Return what the addresses that others open begin with; ``opened`` is the owner's."""
        opened_url = f"{opened.scheme}://{opened.netloc}"
        return self.url or (self.others if self.others and is_alone(opened_url) else opened_url)


def is_alone(server: str) -> bool:
    """True if addresses that begin so lead to this machine, whoever opens them.

    >>> is_alone("http://127.0.0.1:8421"), is_alone("https://[::1]"), is_alone("http://10.0.0.7")
    (True, True, False)
    """
    host = server.partition("://")[2]
    return any(f"{host}:".startswith(f"{name}:") for name in NAMES)


# Writes the page that says why somebody is not let in.
Refuse = Callable[[Scope, Refusal], Response]


class SecurityHeaders:
    """Puts an app behind these rules."""

    def __init__(self, app: ASGIApp, access: Access, person: Lookup, refused: Refuse) -> None:
        self.app, self.access, self.refused = app, access, refused
        self.door = Authenticator(access.token, person, access.tries, access.once)
        self._pages = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._pages >= PAGES:
            await _BUSY(scope, receive, send)
            return
        self._pages += 1
        try:
            await self._answer(scope, receive, send)
        except ClientDisconnect:
            pass
        finally:
            self._pages -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith(SEATS):
                    # The address is a token, which no page it leads to has to be told.
                    headers["referrer-policy"] = "no-referrer"
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal: Response | None = None
        if Headers(scope=scope).get("host", "").lower() not in self.access.hosts:
            refusal = _WRONG_HOST
        else:
            visitor = await self.door.visitor(scope)
            if isinstance(visitor, Refusal):
                refusal = self.refused(scope, visitor)
            elif isinstance(visitor, Visitor):
                scope = {**scope, VISITOR: visitor}
            else:
                refusal = visitor
        if refusal is None and scope["method"] not in READING:
            form = Request(scope, receive)
            refusal = self._refused_head(form)
            if refusal is None:
                body = await _form_body(form)
                refusal = self._refused_write(form, body)
                receive = _again(body or b"", receive)
        await (refusal or self.app)(scope, receive, guarded)

    def _refused_head(self, form: Request) -> Response | None:
        """Why the body of a write is not read."""
        origin = form.headers.get("origin")
        host = form.headers.get("host", "").lower()
        if origin is not None and origin.lower().partition("://")[2] != host:
            return _ELSEWHERE
        length = form.headers.get("content-length", "")
        if length.isdecimal() and int(length) > LARGEST_FORM:
            return _TOO_LARGE
        if _secret(form) or (_is_form(form) and form.scope["path"] != LEAVE):
            return None
        return _OLD

    def _refused_write(self, form: Request, body: bytes | None) -> Response | None:
        if body is None:
            return _TOO_LARGE
        secret = _secret(form)
        if not secret and _is_form(form):
            secret = parse_qs(body.decode("utf-8", "replace")).get(FIELD, [""])[0]
        return None if self.access.knows(secret) else _OLD


_BUSY = PlainTextResponse(
    "The server is busy with other pages. Try again in a few seconds.\n", 503, {"retry-after": "2"}
)
_WRONG_HOST = PlainTextResponse(
    "This server does not answer to that name. Open the address that it printed.\n", 421
)
_ELSEWHERE = PlainTextResponse("Changes must come from a page of this server.\n", 403)
_TOO_LARGE = PlainTextResponse(f"At most {LARGEST_FORM:,} bytes can be sent.\n", 413)
_OLD = PlainTextResponse(
    "This page is from before the server started again. Reload it, and repeat.\n", 403
)


def _secret(form: Request) -> str:
    """The secret of the pages, where the head of a write has it."""
    if form.scope["path"] == LEAVE:
        return form.query_params.get(FIELD, "")
    return form.headers.get(f"x-{FIELD}", "")


def _is_form(form: Request) -> bool:
    return form.headers.get("content-type", "").startswith("application/x-www-form")


async def _form_body(form: Request) -> bytes | None:
    """The body of a write; None if it is too large."""
    body = bytearray()
    if form.scope["path"] != LEAVE:
        async for piece in form.stream():
            body += piece
            if len(body) > LARGEST_FORM:
                return None
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """A way to read a body that was read."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
