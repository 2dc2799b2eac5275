"""Safe: who may see the app and write through it, and what its pages may load.

Every answer carries a Content-Security-Policy without inline script, inline style or eval. A
request must name this server as its host, so that a page elsewhere cannot reach it through a name
of its own (DNS rebinding). A write must come from a page of this server and carry the secret that
its pages have. Who is let in is decided at the ``door``.
"""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .asked import VISITOR
from .door import READING, Door, Lookup, Refusal
from .listening import NAMES
from .visitor import SEATS, Visitor
from .wrong_tries import WrongTries

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
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

FIELD = "secret"
"""The form field, or the header with ``X-`` before it, that carries the secret of the pages."""

LARGEST_FORM = 1_000_000


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use a server.

    Attributes:
        hosts: The names by which it may be called, each with its port.
        token: What the owner has to know; empty if everybody who can connect is the owner.
        secret: What pages carry and every write has to give back.
        tries: The wrong tokens that were shown.
        others: What the addresses begin with that other people open, where it is not what the
            owner opens.
    """

    hosts: frozenset[str]
    token: str = ""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    tries: WrongTries = field(default_factory=WrongTries)
    others: str = ""

    def knows(self, secret: str) -> bool:
        """Whether a write carries the secret of the pages."""
        return hmac.compare_digest(self.secret.encode(), secret.encode())

    def address(self, asked: URL) -> str:
        """What the addresses begin with that other people open.

        Args:
            asked: What the owner opened: a name that is not of this machine alone does for others.
        """
        alone = asked.netloc.rpartition(":")[0] in NAMES
        return self.others if self.others and alone else f"{asked.scheme}://{asked.netloc}"


class Safe:
    """Puts an app behind these rules.

    Args:
        app: The app, which finds a ``Visitor`` in the scope under ``VISITOR``.
        access: Who may use it.
        person: Who has a person's token.
        refused: The page that says why somebody is not let in.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        person: Lookup,
        refused: Callable[[Scope, Refusal], Response],
    ) -> None:
        self.app, self.access, self.refused = app, access, refused
        self.door = Door(access.token, person, access.tries)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith(SEATS):
                    # The address is a token, which no page it leads to has to be told.
                    headers["referrer-policy"] = "no-referrer"
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._wrong_host(scope)
        if refusal is None:
            visitor = await self.door.visitor(scope)
            if isinstance(visitor, Refusal):
                refusal = self.refused(scope, visitor)
            elif isinstance(visitor, Visitor):
                scope = {**scope, VISITOR: visitor}
            else:
                refusal = visitor
        if refusal is None and scope["method"] not in READING:
            body, receive = await _whole(receive)
            refusal = self._refused_write(scope, body)
        await (refusal or self.app)(scope, receive, guarded)

    def _wrong_host(self, scope: Scope) -> Response | None:
        if Headers(scope=scope).get("host", "").lower() not in self.access.hosts:
            return PlainTextResponse(
                "This server is not called by that name. Open the address that it printed.\n", 421
            )
        return None

    def _refused_write(self, scope: Scope, body: bytes | None) -> Response | None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        host = headers.get("host", "").lower()
        if origin is not None and origin.lower().partition("://")[2] != host:
            return PlainTextResponse("A write has to come from a page of this server.\n", 403)
        if body is None:
            return PlainTextResponse(f"At most {LARGEST_FORM:,} bytes can be sent.\n", 413)
        given = headers.get(f"x-{FIELD}", "")
        if not given and headers.get("content-type", "").startswith("application/x-www-form"):
            given = parse_qs(body.decode("utf-8", "replace")).get(FIELD, [""])[0]
        if not self.access.knows(given):
            return PlainTextResponse(
                "This page is from before the server started again. Reload it, and repeat.\n", 403
            )
        return None


async def _whole(receive: Receive) -> tuple[bytes | None, Receive]:
    """The body of a request, or None if it is too large; and a way to read it again."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_FORM:
            return None, receive
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return body, again
