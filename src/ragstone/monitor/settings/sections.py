"""Settings sections: judging, sampling, redaction, retention, write-back, notification channels.

The file holds no secret, only the names of environment variables that do.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.judges.judge_names import check_name
from ragstone.metrics import parse_metric
from ragstone.monitor.traces.redaction import Redaction

from .settings_table import SettingsTable

LEAST_RATE = 0.05
"""The least probability to be drawn: the largest weight bounds what a detector may bet, so rarer
draws would make every alarm late."""

METRICS = ("faithfulness", "context_precision", "abstention")
"""What is judged by default: what the local judge can judge without a reference or a key."""


@dataclass(frozen=True, slots=True)
class JudgingSettings:
    """What is judged of the answers that are drawn.

    Attributes:
        metrics: Their text forms.
        judges: Their names, in the order they are asked; none: as in an evaluation.
        answers_an_hour: The most answers that are judged within an hour; None: all that are drawn.
        usd_an_hour: The most that judging may cost within an hour, in US dollars; None: no limit.
        prices: A TOML file with what models cost; None: as the ``prices`` extra has it.
        settle: Seconds of silence after which a trace with its root is taken for complete.
        keep_thoughts: Whether thoughts in think tags are judged with the answer.
    """

    metrics: tuple[str, ...] = METRICS
    judges: tuple[str, ...] = ()
    answers_an_hour: int | None = None
    usd_an_hour: float | None = None
    settle: float = 10.0
    prices: Path | None = None
    keep_thoughts: bool = False


@dataclass(frozen=True, slots=True)
class GuardStep:
    """Answers that the guard trusts less than ``below`` are drawn with probability ``rate``."""

    below: float
    rate: float


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """With which probability an answer is drawn to be judged.

    Attributes:
        rate: Of every answer, at least.
        by: More for the answers of a slice: by facet and value.
        by_guard_score: More for answers that the guard trusts little, by rising ``below``.
    """

    rate: float = 0.1
    by: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    by_guard_score: tuple[GuardStep, ...] = ()

    def probability(self, facets: Mapping[str, str], confidence: float | None) -> float:
        """The probability for one answer: the largest of those that apply to it.

        >>> SamplingSettings(0.1, {"language": {"de": 0.5}}).probability({"language": "de"}, None)
        0.5

        Args:
            facets: Its slices, by facet.
            confidence: The guard's, from 0 to 1; None where it has none.
        """
        rates = [self.rate]
        rates += [self.by[name][value] for name, value in facets.items()
                  if value in self.by.get(name, {})]  # fmt: skip
        if confidence is not None:
            rates += [one.rate for one in self.by_guard_score if confidence < one.below]
        return max(rates)

    @property
    def least(self) -> float:
        """The least probability that an answer can have."""
        return self.rate


def read_judging(table: SettingsTable, folder: Path) -> JudgingSettings:
    """The table ``[judging]``."""
    usual = JudgingSettings()
    read = [
        table.checked("metrics", partial(parse_metric, name), number)
        for number, name in enumerate(table.texts("metrics", usual.metrics))
    ]
    metrics = tuple(dict.fromkeys(str(one) for one in read if one is not None))
    judges = table.texts("judge")
    for number, name in enumerate(judges):
        table.checked("judge", partial(check_name, name), number)
    budget = table.whole("answers_an_hour", 0)
    prices = table.text("prices")
    found = JudgingSettings(
        metrics,
        judges,
        budget or None,
        table.number("usd_an_hour", None, above=True),
        table.seconds("settle", usual.settle),
        folder / prices if prices else None,
        table.flag("keep_thoughts", default=False),
    )
    table.end()
    return found


def read_sampling(table: SettingsTable) -> SamplingSettings:
    """The table ``[sampling]``."""
    rate = _rate(table, "rate", SamplingSettings().rate)
    facets = table.table("by")
    by = {}
    for facet in facets.names():
        rates = facets.table(facet)
        by[facet] = {value: _rate(rates, value, rate) for value in rates.names()}
    steps = []
    for one in table.tables("by_guard_score"):
        for name in ("below", "rate"):
            if name not in one:
                one.fault(None, f"has no {name}: write below = 0.3 and rate = 0.5, for example.")
        steps.append(
            GuardStep(one.number("below", 1.0, high=1, above=True), _rate(one, "rate", rate))
        )
        one.end()
    table.end()
    for lower, upper in pairwise(steps):
        if lower.below >= upper.below:
            table.fault("by_guard_score", "must rise: write the smallest below first.")
    return SamplingSettings(rate, by, tuple(steps))


def check_rate(rate: float) -> None:
    """See that answers can be drawn with a probability that was given in place of the file's.

    Raises:
        InputError: It is no probability, or too small a one.
    """
    if not LEAST_RATE <= rate <= 1:
        raise InputError(
            f"{argument('sample', rate)} is no probability from {LEAST_RATE:g} to 1: write 0.2, "
            "or 1 for all answers."
        )


def _rate(table: SettingsTable, name: str, default: float) -> float:
    rate = table.number(name, default, high=1)
    if rate < LEAST_RATE:
        table.fault(
            name,
            f"is {rate:g}, below {LEAST_RATE:g}, where one answer would weigh as much as more than "
            f"{1 / LEAST_RATE:g} and every alarm would come late. Write {LEAST_RATE:g} or more; to "
            "spend less, set answers_an_hour in [judging].",
        )
        return default
    return rate


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
class WriteBack:
    """Where scores are written back to.

    Args:
        url: Of the receiver of logs, such as ``http://localhost:4318/v1/logs``.
        headers: Sent with each request; a value may be a secret.
    """

    url: str
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"WriteBack({self.url!r}, {sorted(self.headers)})"


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


NotificationSettings = WebhookChannel | EmailChannel | FileChannel | StdoutChannel


def read_notifications(tables: Sequence[SettingsTable], folder: Path) -> list[NotificationSettings]:
    """The tables ``[[tell]]``."""
    readers: dict[str, Callable[[SettingsTable, str], NotificationSettings | None]] = {
        "webhook": _webhook,
        "email": _email,
        "file": lambda table, name: _file(table, name, folder),
        "stdout": lambda _, name: StdoutChannel(name),
    }
    found, names = list[NotificationSettings](), set[str]()
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
