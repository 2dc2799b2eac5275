"""Page requests: the fields of an address, links that change some of them, and page results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request

from ragstone.core.errors import InputError

from .auth import PERSON, SeatedPerson, Visitor, with_port

# Where a scope says who a request comes from.
VISITOR = "ragstone.visitor"

# The key by which the scope of a request says that the page becomes a file.
COPY = "ragstone.copy"

# A copy has all answers of a run with at most ``ALL``, otherwise the ``WORST`` worst.
ALL, WORST = 5_000, 1_000

# A cookie that the script of the pages sets: light or dark, the same for all servers.
THEME = "theme"

MOST_FIELDS, LONGEST_QUERY = 100, 4_000


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of a list: its number from 1, its rows, and the addresses of those beside it."""

    number: int
    of: int
    rows: slice
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a page.

    Attributes:
        names: The parts of the path that name a run, an example, …
        cookies: What the browser keeps for this server, but for a person's token.
        part: The id of the part of the page that the browser is going to replace; empty if it
            shows a whole page.
        match: The version that a write is about; empty if it does not say.
        person: Who came by a link of their own; None if it is the owner, or nobody.
        server: What the addresses begin with that other people open.
        copy: Whether the page becomes a file, which has no other views.
    """

    path: str
    names: Mapping[str, str] = field(default_factory=dict)
    query: Sequence[tuple[str, str]] = ()
    cookies: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    match: str = ""
    person: SeatedPerson | None = None
    owner: bool = True
    server: str = ""
    copy: bool = False

    @classmethod
    def of(cls, request: Request, server: str = "") -> Self:
        """Read a request."""
        visitor: Visitor = request.scope.get(VISITOR) or Visitor()
        port = with_port(request.headers)
        cookies = {
            name.removesuffix(port): value
            for name, value in request.cookies.items()
            if name.endswith(port) or name == THEME
        }
        return cls(
            request.scope["raw_path"].decode("latin-1").partition("?")[0],
            dict(request.path_params),
            tuple(request.query_params.multi_items()),
            {name: value for name, value in cookies.items() if name != PERSON},
            request.headers.get("hx-target", "").rpartition("#")[2],
            request.headers.get("if-match", ""),
            visitor.person,
            visitor.owner,
            server,
            COPY in request.scope,
        )

    def one(self, name: str, otherwise: str = "") -> str:
        """Return the last value of a field of the query."""
        return next((value for key, value in reversed(self.query) if key == name), otherwise)

    def all(self, name: str) -> list[str]:
        """Return every value of a field of the query; one that was left empty in a form is none."""
        return [value for key, value in self.query if key == name and value]

    def number(self, name: str, otherwise: int) -> int:
        """Return a whole number from 1; what is no such number is taken for the default."""
        return whole_number(self.one(name)) or otherwise

    def list_page(
        self, length: int, size: int, name: str = "page", **changed: str | None
    ) -> ListPage:
        """Return the page of a list that is asked for; the last one if there are fewer."""
        of = max(1, -(-length // size))
        number = min(self.number(name, 1), of)
        before, after = (
            self.but(**{**changed, name: str(beside)}) if 0 < beside <= of else ""
            for beside in (number - 1, number + 1)
        )
        return ListPage(number, of, slice((number - 1) * size, number * size), before, after)

    def but(self, *without: tuple[str, str], **changed: str | Sequence[str] | None) -> str:
        """Return this address with other values of some fields; an empty one removes the field."""
        fields = [(key, value) for key, value in self.query if key not in changed]
        fields = [pair for pair in fields if pair not in without]
        for key, values in changed.items():
            several = [values] if isinstance(values, str) else values or ()
            fields += [(key, value) for value in several if value]
        return f"{self.path}{query(fields)}"


def whole_number(text: object, digits: int = 9) -> int | None:
    """Read a whole number of at most so many digits; None if it is none."""
    written = str(text)
    known = written.isascii() and written.isdigit() and len(written) <= digits
    return int(written) if known else None


def fields_of(text: str) -> list[tuple[str, str]]:
    """Return the fields of a query."""
    if len(text) > LONGEST_QUERY or text.count("&") >= MOST_FIELDS:
        raise InputError(
            f"At most {LONGEST_QUERY:,} characters and {MOST_FIELDS} fields can be asked for at "
            f"once, got {len(text):,} and {text.count('&') + 1:,}: take some conditions away."
        )
    return parse_qsl(text, keep_blank_values=True)


def query(fields: Sequence[tuple[str, str]]) -> str:
    """Return the query of an address, with its question mark; empty without fields."""
    return f"?{urlencode(fields)}" if fields else ""


def run_path(run: str, *more: str) -> str:
    """Return the path of a run's page, or of one below it.

    >>> run_path("mtrag", "examples", "c3<::>5/a")
    '/runs/mtrag/examples/c3%3C%3A%3A%3E5%2Fa'
    """
    return "/".join(["/runs", *(quote(part, safe="") for part in (run, *more))])


def queue_path(queue: str, *more: str | int) -> str:
    """Return the path of a queue's page, or of one below it.

    >>> queue_path("mtrag", 7)
    '/annotate/mtrag/7'
    """
    return "/".join(["/annotate", *(quote(str(part), safe="") for part in (queue, *more))])


@dataclass(frozen=True, slots=True)
class WebPage:
    """A screen of the part ``here`` of the app: its template with the names that this shows.

    ``cookies`` are what the browser is going to keep, each with the path below which it is sent, if
    a page of this server led here. ``tag`` is of the version that is shown, for a write that must
    not be about another one; the status of such a write is 409 or 412.
    """

    template: str
    title: str
    shows: Mapping[str, Any]
    here: str = "Runs"
    cookies: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    tag: str = ""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The page is at another address."""

    path: str
    cookies: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def waits_page(request: Asked, title: str, here: str = "Runs") -> WebPage:
    """Return a page that says that its content is being computed, and asks again."""
    return WebPage("waits.html", title, {"again": request.but()}, here)


class NotThere(InputError):
    """There is no page of this name."""
