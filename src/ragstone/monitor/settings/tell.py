"""Tell: who is told of an alarm, and by which way. No secret stands here, only where it is."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from .keeping import read_headers, read_url
from .table import SettingsTable

MAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+")
HOST = re.compile(r"[A-Za-z0-9.:_-]+")
Security = Literal["starttls", "ssl", "none"]
SECURITY: tuple[Security, ...] = ("starttls", "ssl", "none")
PORTS: Mapping[str, int] = {"starttls": 587, "ssl": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class WebhookChannel:
    """A JSON body, sent by HTTP and signed.

    Attributes:
        name: Of the channel.
        url: Where to; empty where ``url_from`` says it.
        url_from: The environment variable that holds the address, for one that is a secret.
        secret_from: The environment variable that holds the secret of the signature.
        headers_from: By header, the environment variable that holds its value.
    """

    name: str
    url: str = ""
    url_from: str | None = None
    secret_from: str | None = None
    headers_from: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EmailChannel:
    """A letter by SMTP.

    Attributes:
        name: Of the channel.
        to: Addresses.
        sender: An address.
        server: Its host.
        port: Of the server.
        security: ``starttls``, ``ssl`` or ``none``.
        user: None: without signing in.
        password_from: The environment variable that holds the password.
    """

    name: str
    to: tuple[str, ...]
    sender: str
    server: str
    port: int = 587
    security: Security = "starttls"
    user: str | None = None
    password_from: str | None = None


@dataclass(frozen=True, slots=True)
class FileChannel:
    """A file of JSON lines, to which a line is added."""

    name: str
    file: Path


@dataclass(frozen=True, slots=True)
class StdoutChannel:
    """A line on the output of ``ragstone monitor serve``."""

    name: str


TellSettings = WebhookChannel | EmailChannel | FileChannel | StdoutChannel


def read_tells(tables: Sequence[SettingsTable], folder: Path) -> list[TellSettings]:
    """The tables ``[[tell]]``."""
    readers: dict[str, Callable[[SettingsTable, str], TellSettings | None]] = {
        "webhook": _webhook,
        "email": _email,
        "file": lambda table, name: _file(table, name, folder),
        "stdout": lambda _, name: StdoutChannel(name),
    }
    found, names = list[TellSettings](), set[str]()
    for table in tables:
        if "kind" not in table:
            table.fault(None, f'has no kind: write kind = "webhook", or {", ".join(readers)}.')
        kind = table.choice("kind", list(readers), "stdout")
        name = table.text("name") or kind
        if name in names:
            table.fault(
                "name" if "name" in table else None,
                f"is called {name!r}, as another channel is: write a name of its own, by which it "
                "is known what was told where.",
            )
        names.add(name)
        channel = readers[kind](table, name)
        table.end()
        if channel is not None:
            found.append(channel)
    return found


def _webhook(table: SettingsTable, name: str) -> WebhookChannel | None:
    url_from = table.variable("url_from")
    if "url_from" not in table:
        url = read_url(table, "url", such_as="https://example.org/alarms")
    else:
        url = table.text("url", "") or ""
        if url:
            table.fault("url_from", "stands beside url: leave one of them out.")
    secret_from = table.variable("secret_from")
    headers = read_headers(table)
    if not url and not url_from:
        return None
    return WebhookChannel(name, url, url_from, secret_from, headers)


def _email(table: SettingsTable, name: str) -> EmailChannel | None:
    to = table.texts("to", must='write to = ["team@example.org"].')
    sender = table.text("from", must='write from = "ragstone@example.org".')
    server = table.text("server", must='write server = "smtp.example.org".')
    for number, one in enumerate(to):
        if not MAIL.fullmatch(one):
            table.fault("to", f"{one!r} is no address; write one such as team@example.org.", number)
    if sender is not None and not MAIL.fullmatch(sender):
        table.fault("from", f"{sender!r} is no address; write one such as team@example.org.")
    if server is not None and not HOST.fullmatch(server):
        table.fault("server", f"{server!r} is no host; write one such as smtp.example.org.")
    security = cast("Security", table.choice("security", SECURITY, "starttls"))
    port = table.whole("port", PORTS[security], high=65_535)
    user = table.text("user")
    password = table.variable("password_from")
    if ("user" in table) != ("password_from" in table):
        there, lacks = ("user", "password_from") if user else ("password_from", "user")
        table.fault(there, f"wants {lacks} beside it.")
    if user and security == "none":
        table.fault("security", 'would send the password in the clear; write "starttls" or "ssl".')
    if not to or sender is None or server is None:
        return None
    return EmailChannel(name, to, sender, server, port, security, user, password)


def _file(table: SettingsTable, name: str, folder: Path) -> FileChannel | None:
    file = table.text("file", must='write file = "alarms.jsonl".')
    return FileChannel(name, folder / file) if file else None
