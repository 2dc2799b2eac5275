"""Safe: who may see the app and write through it, and what its pages may load.

Every answer carries a Content-Security-Policy without inline script, inline style or eval. A
request must name this server as its host, so that a page elsewhere cannot reach it through a name
of its own (DNS rebinding). A write must come from a page of this server and carry the secret that
its pages have. On another address than the machine's own, a token is asked for once and then kept
in a cookie.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

READING = ("GET", "HEAD")
COOKIE = "ragstone-token"
FIELD = "secret"
"""The form field, or the header with ``X-`` before it, that carries the secret of the pages."""

LARGEST_FORM = 1_000_000


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use a server.

    Attributes:
        hosts: The names by which it may be called, each with its port.
        token: What another machine has to know; empty if only this one can connect.
        secret: What pages carry and every write has to give back.
    """

    hosts: frozenset[str]
    token: str = ""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def knows(self, secret: str) -> bool:
        """Whether a write carries the secret of the pages."""
        return hmac.compare_digest(self.secret.encode(), secret.encode())

    def admits(self, token: str) -> bool:
        """Whether a token is the one that is asked for."""
        return not self.token or hmac.compare_digest(self.token.encode(), token.encode())


class Safe:
    """Puts an app behind these rules.

    Args:
        app: The app.
        access: Who may use it.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None and scope["method"] not in READING:
            body, receive = await _whole(receive)
            refusal = self._refused_write(scope, body)
        await (refusal or self.app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.access.hosts:
            return PlainTextResponse(
                "This server is not called by that name. Open the address that it printed.\n", 421
            )
        if self.access.token:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
            if given and self.access.admits(given):
                return _with_cookie(scope, given)
            kept = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
            if kept is None or not self.access.admits(kept.value):
                return PlainTextResponse(
                    "Open the address with the token that the server printed.\n", 401
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


def _with_cookie(scope: Scope, token: str) -> Response:
    """Move the token from the address, which may be seen and copied, into a cookie."""
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query.pop("token")
    path = scope["raw_path"].decode("latin-1").partition("?")[0].lstrip("/")
    rest = urlencode(query, doseq=True)
    answer = RedirectResponse(f"/{path}{'?' if rest else ''}{rest}", 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
    return answer
