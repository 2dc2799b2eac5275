"""Sign-in: who a request comes from, by its tokens, or why it is refused.

The owner's token opens everything; if none is asked for, everybody on this machine is the owner.
A person's own link opens only the addresses of their queue. A browser that holds such a link is
that person, never the owner, unless it has the owner's token too. Who showed many wrong tokens
waits for the answer to the next wrong one; a right token never waits.
"""

import asyncio
import hmac
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from ipaddress import IPv6Address, ip_address
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from ragstone.core.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.annotation.queue.form import Role


# What the path of a person's link begins with.
SEATS = "/a/"

# Where a browser is made to forget a person's link.
LEAVE = f"{SEATS}leave"


@dataclass(frozen=True, slots=True)
class SeatedPerson:
    """Somebody who came by a link of their own to label a queue, or to decide in it."""

    queue: str
    name: str
    role: "Role"

    def reaches(self, path: str) -> bool:
        """Return whether an address is one of theirs.

        >>> SeatedPerson("one", "Ann", "annotator").reaches("/annotate/one/7")
        True
        >>> SeatedPerson("one", "Ann", "annotator").reaches("/annotate/two")
        False
        """
        match path.split("/"):
            case ["", "annotate", self.queue]:
                return True
            case ["", "annotate", self.queue, item] if _whole(item):
                return True
            case ["", "annotate", self.queue, "adjudicate"]:
                return self.role == "adjudicator"
            case ["", "annotate", self.queue, "adjudicate", item] if _whole(item):
                return self.role == "adjudicator"
        return False


def _whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


@dataclass(frozen=True, slots=True)
class Visitor:
    """The one who sends a request: the owner of the app, somebody with a link, or neither."""

    owner: bool = False
    person: SeatedPerson | None = None


# Wrong tokens, and the seconds in which so many may come from one address without a pause.
MOST, WITHIN = 10, 60.0

# Seconds before one more wrong token is answered.
PAUSE = 1.0

# Addresses that are remembered; of more, the one that was quiet for longest is forgotten.
KNOWN = 10_000

# Wrong tokens that wait at the same time; what comes beyond them is answered at once.
MOST_SLOW = 100


class WrongTries:
    """The wrong tokens of the last minute, by client."""

    def __init__(
        self,
        now: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now, self._sleep = now, sleep
        self._at: dict[str, deque[float]] = {}
        self._slow = 0

    async def slow(self, client: str) -> None:
        """Count a wrong token of this client, and wait if there were many."""
        key, now = _network(client), self._now()
        times = self._at.pop(key, None) or deque(maxlen=MOST)
        is_many = len(times) == MOST and now < times[0] + WITHIN
        times.append(now)
        self._at[key] = times
        if len(self._at) > KNOWN:
            del self._at[next(iter(self._at))]
        if is_many and self._slow < MOST_SLOW:
            self._slow += 1
            try:
                await self._sleep(PAUSE)
            finally:
                self._slow -= 1


def _network(client: str) -> str:
    """Return the part of an address that one machine cannot choose: half of an IPv6 address."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return f"{int(address) >> 64:x}/64"
    return client


LOG = logging.getLogger(__name__)

READING = ("GET", "HEAD")
# The cookies, before the port.
OWNER, PERSON = "ragstone-token", "ragstone-person"


def with_port(headers: Mapping[str, str]) -> str:
    """Return the end of a cookie's name: the port in the address, which browsers do not heed.

    >>> with_port({"host": "localhost:8421"}), with_port({"host": "[::1]"})
    ('-8421', '')
    """
    port = headers.get("host", "").rpartition(":")[2]
    return f"-{port}" if port.isdecimal() else ""


# Who has a token; None if nobody does, or no longer.
Lookup = Callable[[str], SeatedPerson | None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal, for a page that leads to one's own, asks for a token or forgets a link."""

    title: str
    lines: tuple[str, ...]
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    person: SeatedPerson | None = None
    forget: bool = False
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Lets visitors in, by the owner's token, tokens that open all of it one time, or a link."""

    token: str
    person: Lookup
    tries: WrongTries
    once: set[str] = field(default_factory=set)

    async def visitor(self, scope: Scope) -> Visitor | Refusal | Response:
        """Return who a request comes from, or what it is answered instead of the page."""
        path: str = scope["path"]
        if path.startswith("/static/") and scope["method"] in READING:
            return Visitor()
        try:
            return await self._visitor(scope, path)
        except RagstoneError as error:
            return away(error)

    async def _visitor(self, scope: Scope, path: str) -> Visitor | Refusal | Response:
        client = (scope.get("client") or ("",))[0]
        connection = HTTPConnection(scope)
        port = with_port(connection.headers)
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self.token and (self._admits(token) or token in self.once):
            self.once.discard(token)
            return _with_cookie(scope, f"{OWNER}{port}", self.token)
        if path == LEAVE and scope["method"] == "POST":
            return Visitor()
        cookie, seat = (connection.cookies.get(f"{name}{port}", "") for name in (OWNER, PERSON))
        if not (cookie or seat) and _from_another_site(connection.headers):
            return _once_more(scope)
        person = await self._who(seat) if seat else None
        if path.startswith(SEATS) and scope["method"] in READING:
            comes = await self._who(path.removeprefix(SEATS))
            if comes is None:
                await self.tries.slow(client)
            elif person and person.name != comes.name:
                return _another(person, comes)
            return Visitor()
        if person and person.reaches(path):
            return Visitor(person=person)
        owner = bool(self.token) and self._admits(cookie)
        if owner or not (self.token or seat):
            return Visitor(owner=True)
        if (self.token and (token or cookie)) or (seat and person is None):
            await self.tries.slow(client)
        if person:
            return _not_theirs(person)
        return _out() if seat else _stranger(is_wrong=bool(token or cookie))

    def _admits(self, token: str) -> bool:
        right = hmac.compare_digest(self.token.encode(), token.encode("utf-8", "surrogatepass"))
        return right and bool(self.token)

    async def _who(self, token: str) -> SeatedPerson | None:
        return await run_in_threadpool(self.person, token)


def away(error: RagstoneError) -> Refusal:
    """Refuse because the labels cannot be used; the log says why to who started the server."""
    LOG.error("%s", error)
    return Refusal(
        "The labels cannot be reached",
        ("Try again in a moment. What you saved is kept.",),
        503,
        {"retry-after": "5"},
    )


def _not_theirs(person: SeatedPerson) -> Refusal:
    return Refusal(
        "Your link does not open this page",
        (
            "It opens what you label, and nothing else.",
            "If you are the one who started this server and tried a person's link, forget the "
            "link here. Then open the address that the server printed.",
        ),
        403,
        person=person,
        forget=True,
    )


def _out() -> Refusal:
    return Refusal(
        "Your link no longer works",
        (
            "Ask whoever sent it to you for a new one. What you saved is kept.",
            "If you are the one who started this server, forget the link here. Then open the "
            "address that the server printed.",
        ),
        403,
        forget=True,
    )


def _another(person: SeatedPerson, comes: SeatedPerson) -> Refusal:
    return Refusal(
        f"This browser has the link of {person.name}",
        (
            f"The link that you opened is {comes.name}'s. To go on as {comes.name}, forget the "
            f"link of {person.name} here, then open {comes.name}'s link again.",
        ),
        403,
        person=person,
        forget=True,
    )


def _stranger(*, is_wrong: bool) -> Refusal:
    return Refusal(
        "This token is wrong" if is_wrong else "This page asks for a token",
        (
            "Open the address that the server printed when it was started, or enter its token.",
            "If you were sent a link to label, open that link.",
        ),
        401,
        asks=True,
    )


def from_own_page(headers: Mapping[str, str]) -> bool:
    """True if a page of this server led here. Without TLS browsers name only the page itself."""
    if site := headers.get("sec-fetch-site"):
        return site == "same-origin"
    page = headers.get("referer", "").partition("://")[2]
    return page.partition("/")[0] == headers.get("host")


def _from_another_site(headers: Mapping[str, str]) -> bool:
    return (
        headers.get("sec-fetch-site") == "cross-site"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _once_more(scope: Scope) -> Response:
    """Return a page that asks for the same address, for browsers keep cookies from other sites."""
    here = escape(_address(scope))
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Ragstone</title>'
        f'<meta http-equiv="refresh" content="0; url={here}"></head>'
        f'<body><p><a href="{here}">Go on</a></p></body></html>',
        headers={"cache-control": "no-store"},
    )


def _with_cookie(scope: Scope, name: str, token: str) -> Response:
    """Move the token from the address, which may be seen and copied, into a cookie."""
    answer = RedirectResponse(_address(scope), 303)
    secure = scope["scheme"] == "https"
    answer.set_cookie(name, token, httponly=True, samesite="strict", secure=secure)
    return answer


def _address(scope: Scope) -> str:
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query.pop("token", None)
    path = scope["raw_path"].decode("latin-1").partition("?")[0].lstrip("/")
    rest = urlencode(query, doseq=True)
    return f"/{path}{'?' if rest else ''}{rest}"
