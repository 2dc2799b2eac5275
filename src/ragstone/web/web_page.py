"""Web page: what a page function returns, and how it is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragstone.core.errors import InputError


@dataclass(frozen=True, slots=True)
class WebPage:
    """A screen: its template with what it shows.

    Attributes:
        template: Its file.
        title: Of the window.
        shows: The names that the template uses.
        here: The part of the app that it belongs to.
        cookies: What the browser is going to keep, each with the path below which it is sent.
        tag: Of the version that is shown, for a write that must not be about another one.
        status: 200, or 409 and 412 for a write that was about another version.
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


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file instead of a page.

    Attributes:
        content: What is in it.
        kind: Its media type.
        headers: What goes with it.
        cookies: As those of a page.
    """

    content: str
    kind: str
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, tuple[str, str]] = field(default_factory=dict)


class NotThere(InputError):
    """There is no page of this name."""
