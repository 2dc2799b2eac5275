"""Sign-in: who a request comes from, by its tokens, or why it is refused.

The owner's token opens everything; if none is asked for, everybody on this machine is the owner.
A person's own link opens only the addresses of their queue. A browser that holds such a link is
that person, never the owner, unless it has the owner's token too. Wrong tokens are counted, and a
client that showed many has to wait; a right token in a cookie never waits.
"""

import hmac
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from ipaddress import IPv6Address, ip_address
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import Scope

from ragstone.core.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.annotation.queue.form import Role


SEATS = "/a/"
"""What the path of a person's link begins with."""

LEAVE = f"{SEATS}leave"
"""Where a browser is made to forget a person's link."""


@dataclass(frozen=True, slots=True)
class SeatedPerson:
    """Somebody who came by a link of their own to label a queue.

    Attributes:
        queue: Its name.
        name: Theirs.
        role: What they do there.
    """

    queue: str
    name: str
    role: "Role"

    def reaches(self, path: str) -> bool:
        """Whether an address is one of theirs.

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
    """Who a request comes from.

    Attributes:
        owner: Whether the whole app is theirs.
        person: Who came by a link of their own; None if nobody did, or the owner's page is shown.
    """

    owner: bool = False
    person: SeatedPerson | None = None


MOST, WITHIN = 10, 60.0
"""Wrong tokens, and the seconds in which so many may come from one address."""

KNOWN = 10_000
"""Addresses that are remembered; of more, the one that was quiet for longest is forgotten."""


class WrongTries:
    """The wrong tokens of the last minute, by client.

    Args:
        now: Seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._at: dict[str, deque[float]] = {}

    def add(self, client: str) -> None:
        """One more by this client."""
        key = _network(client)
        times = self._at.pop(key, None) or deque(maxlen=MOST)
        times.append(self._now())
        self._at[key] = times
        if len(self._at) > KNOWN:
            del self._at[next(iter(self._at))]

    def wait(self, client: str) -> int:
        """Seconds until this client may try again; 0 if it may now."""
        times = self._at.get(_network(client))
        if times is None or len(times) < MOST:
            return 0
        return max(0, ceil(times[0] + WITHIN - self._now()))


def _network(client: str) -> str:
    """What one machine can choose its addresses from, which is half of an IPv6 address."""
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return f"{int(address) >> 64:x}/64"
    return client


LOG = logging.getLogger(__name__)

READING = ("GET", "HEAD")
OWNER, PERSON = "ragstone-token", "ragstone-person"
"""The cookies."""

Lookup = Callable[[str], SeatedPerson | None]
"""Who has a token; None if nobody does, or no longer."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why somebody is not let in, for a page that says so.

    Attributes:
        title: Of the page.
        lines: What it says.
        status: 403, 429 or 503.
        headers: What goes with it.
        person: Whose own pages it leads back to.
        forget: Whether it offers to forget the link that the browser keeps.
    """

    title: str
    lines: tuple[str, ...]
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    person: SeatedPerson | None = None
    forget: bool = False


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Lets visitors in.

    Attributes:
        token: The owner's; empty if none is asked for.
        person: Who has a person's token.
        tries: The wrong ones.
    """

    token: str
    person: Lookup
    tries: WrongTries

    async def visitor(self, scope: Scope) -> Visitor | Refusal | Response:
        """Who a request comes from, or what it is answered instead of the page."""
        path: str = scope["path"]
        if path.startswith("/static/"):
            return Visitor()
        try:
            return await self._visitor(scope, path)
        except RagstoneError as error:
            return away(error)

    async def _visitor(self, scope: Scope, path: str) -> Visitor | Refusal | Response:
        client = (scope.get("client") or ("",))[0]
        wait = self.tries.wait(client)
        asked = HTTPConnection(scope)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self.token and given and not wait:
            if self._admits(given):
                return _with_cookie(scope, given)
            self.tries.add(client)
        if path == LEAVE and scope["method"] == "POST":
            return Visitor()
        if path.startswith(SEATS) and scope["method"] in READING:
            if wait:
                return _later(wait)
            if await self._who(path.removeprefix(SEATS)) is None:
                self.tries.add(client)
            return Visitor()
        kept, seat = asked.cookies.get(OWNER, ""), asked.cookies.get(PERSON, "")
        if not (kept or seat) and _from_another_site(asked.headers):
            return _once_more(scope)
        owner = bool(self.token) and self._admits(kept)
        person = await self._who(seat) if seat else None
        wrong = (kept and self.token and not owner) or (seat and person is None)
        if wrong and not wait:
            self.tries.add(client)
        if person and person.reaches(path):
            return Visitor(person=person)
        if owner or not (self.token or seat):
            return Visitor(owner=True)
        if wait and (wrong or (given and self.token)):
            return _later(wait)
        if person:
            return _not_theirs(person)
        return _out() if seat else _stranger()

    def _admits(self, token: str) -> bool:
        return hmac.compare_digest(self.token.encode(), token.encode("utf-8", "surrogatepass"))

    async def _who(self, token: str) -> SeatedPerson | None:
        return await run_in_threadpool(self.person, token)


def away(error: RagstoneError) -> Refusal:
    """That the store of labels cannot be used; why is for the log of who started the server."""
    LOG.error("%s", error)
    return Refusal(
        "The labels cannot be reached",
        ("Try again in a moment. What you saved is kept.",),
        503,
        {"retry-after": "5"},
    )


def _later(seconds: int) -> Refusal:
    return Refusal(
        "Too many wrong links",
        (
            f"Too many links from here were wrong. Try yours again in {seconds} seconds.",
            "See that it is copied whole.",
        ),
        429,
        {"retry-after": str(seconds)},
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


def _stranger() -> Response:
    return PlainTextResponse(
        "Open the address with the token that the server printed, or the link that you were "
        "sent.\n",
        401,
    )


def _from_another_site(headers: Mapping[str, str]) -> bool:
    """Whether somebody followed a link on a page that is not ours, such as that of their mail."""
    return (
        headers.get("sec-fetch-site") == "cross-site"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def _once_more(scope: Scope) -> Response:
    """A page that asks for the same address, for a browser keeps our cookies from other sites."""
    here = escape(_address(scope))
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Ragstone</title>'
        f'<meta http-equiv="refresh" content="0; url={here}"></head>'
        f'<body><p><a href="{here}">Go on</a></p></body></html>',
        headers={"cache-control": "no-store"},
    )


def _with_cookie(scope: Scope, token: str) -> Response:
    """Move the token from the address, which may be seen and copied, into a cookie."""
    answer = RedirectResponse(_address(scope), 303)
    answer.set_cookie(OWNER, token, httponly=True, samesite="strict")
    return answer


def _address(scope: Scope) -> str:
    """What was asked for, on this server, without a token."""
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query.pop("token", None)
    path = scope["raw_path"].decode("latin-1").partition("?")[0].lstrip("/")
    rest = urlencode(query, doseq=True)
    return f"/{path}{'?' if rest else ''}{rest}"
