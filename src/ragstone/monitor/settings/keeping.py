"""Keeping: what is taken out of texts, how long they are kept, and where scores are sent to."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from ragstone.core.errors import InputError
from ragstone.monitor.traces.redaction import Redaction
from ragstone.monitor.write_back import WriteBack

from .table import SettingsTable

HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """What is taken out of every text before it is stored or judged.

    Attributes:
        built_in: Of ``email``, ``phone``, ``card`` and ``key``.
        patterns: Regular expressions by their names.
    """

    built_in: tuple[str, ...] = Redaction().built_in
    patterns: Mapping[str, str] = field(default_factory=dict)

    def open(self) -> Redaction | None:
        """What redacts; None where nothing is taken out."""
        if not self.built_in and not self.patterns:
            return None
        return Redaction(self.built_in, self.patterns)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long what was seen is kept: until it is too old, or too much."""

    days: float = 30.0
    gigabytes: float = 20.0


@dataclass(frozen=True, slots=True)
class WriteBackSettings:
    """Where scores are written back to, over OTLP.

    Attributes:
        url: Of the receiver of logs.
        headers_from: By header, the environment variable that holds its value.
    """

    url: str
    headers_from: Mapping[str, str] = field(default_factory=dict)

    def open(self) -> WriteBack:
        """The receiver, with its secrets.

        Raises:
            InputError: A variable is not set.
        """
        return WriteBack(self.url, {name: secret(one) for name, one in self.headers_from.items()})


def secret(variable: str) -> str:
    """The secret in an environment variable.

    Raises:
        InputError: It is not set.
    """
    value = os.environ.get(variable, "")
    if not value:
        raise InputError(
            f"The environment variable {variable}, which the settings name, is not set. Set it "
            "before the monitor starts."
        )
    return value


def read_redaction(table: SettingsTable) -> RedactionSettings:
    """The table ``[redaction]``."""
    usual = RedactionSettings()
    built_in = []
    for number, name in enumerate(table.texts("built_in", usual.built_in)):
        if table.checked("built_in", partial(Redaction, (name,)), number):
            built_in.append(name)
    own = table.table("patterns")
    patterns = {}
    for name in own.names():
        pattern = own.text(name)
        if pattern is None:
            continue
        if own.checked(name, partial(Redaction, (), {name: pattern})) is not None:
            patterns[name] = pattern
    table.end()
    return RedactionSettings(tuple(built_in), patterns)


def read_retention(table: SettingsTable) -> RetentionSettings:
    """The table ``[retention]``."""
    usual = RetentionSettings()
    found = RetentionSettings(
        table.number("days", usual.days, above=True, high=36_500),
        table.number("gigabytes", usual.gigabytes, above=True, high=1e6),
    )
    table.end()
    return found


def read_write_back(table: SettingsTable) -> WriteBackSettings | None:
    """The table ``[write_back]``; None where it is not there."""
    if not table.names():
        return None
    url = read_url(table, "url", such_as="http://localhost:4318/v1/logs")
    headers = read_headers(table)
    table.end()
    return WriteBackSettings(url, headers) if url else None


def read_url(table: SettingsTable, name: str, *, such_as: str) -> str:
    """An address of HTTP without a password; empty after a fault."""
    url = table.text(name, must=f'write {name} = "{such_as}".') or ""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        secretive = parts.username is not None or parts.password is not None
    except ValueError:
        right = secretive = False
    if not right or not url.isascii() or not url.isprintable() or " " in url:
        table.fault(name, f'is no address of HTTP; write one such as "{such_as}".')
        return ""
    if secretive:
        table.fault(
            name,
            "has a user or a password in it, and no secret belongs in this file. Put it into an "
            'environment variable, and name that: headers_from = { authorization = "VARIABLE" }.',
        )
        return ""
    return url


def read_headers(table: SettingsTable) -> dict[str, str]:
    """The table ``headers_from``: by header, an environment variable."""
    headers = table.table("headers_from")
    found = {}
    for name in headers.names():
        variable = headers.variable(name)
        if not HEADER.fullmatch(name):
            headers.fault(name, "is no name of a header; write one such as authorization.")
        elif variable is not None:
            found[name] = variable
    return found
