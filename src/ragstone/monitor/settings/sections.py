"""Settings sections: judging, sampling, redaction, retention, write-back, notification channels.

The file holds no secret, only the names of environment variables that do.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, Strict, ValidationInfo

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.data.traces.redaction import Redaction
from ragstone.judges.judge_names import check_name

from .settings_table import (
    LISTED,
    FilePath,
    Seconds,
    Text,
    Variable,
    checked,
    context_of,
    is_known,
    judged_metric,
    matching,
    number,
    refuse_if,
    that,
    whole,
    wrong,
)

# The least probability to be drawn: the largest weight bounds what a detector may bet, so rarer
# draws would make every alarm late.
LEAST_RATE = 0.05

# What is judged by default: what the local judge can judge without a reference or a key.
METRICS = ("faithfulness", "context_precision", "abstention")


def _metric(name: str, info: ValidationInfo) -> str:
    form = str(judged_metric(name))
    context_of(info).judged.append(form)
    return form


def _metrics(value: object, info: ValidationInfo) -> object:
    context_of(info).judged.clear()
    return value


PriceFile = Annotated[
    FilePath, that(Path.is_file, "{} is not there; name the file that has the models' prices.")
]


@dataclass(frozen=True, slots=True)
class JudgingSettings:
    """The metrics, judges and limits by which answers that are drawn are judged.

    Attributes:
        judges: Names, in the order they are asked; none: as in an evaluation.
        answers_an_hour: The most answers that are judged within an hour; None: all that are drawn.
        usd_an_hour: The most that judging may cost within an hour, in US dollars; None: no limit.
        settle: Seconds of silence after which a trace with its root is taken for complete.
        prices: A TOML file with what models cost; None: as the ``prices`` extra has it.
    """

    metrics: Annotated[
        tuple[Annotated[Text, AfterValidator(_metric)], ...],
        AfterValidator(lambda metrics: tuple(dict.fromkeys(metrics))),
        BeforeValidator(_metrics),
        LISTED,
    ] = METRICS
    judges: Annotated[
        tuple[Annotated[Text, checked(check_name)], ...], LISTED, Field(alias="judge")
    ] = ()
    answers_an_hour: Annotated[int, whole()] | None = None
    usd_an_hour: Annotated[float, number(above=True)] | None = None
    settle: Seconds = 10.0
    prices: PriceFile | None = None
    keep_thoughts: Annotated[bool, Strict()] = False


def _drawable(rate: float) -> float:
    if rate < LEAST_RATE:
        raise wrong(
            f"is {rate:g}, below {LEAST_RATE:g}, where one answer would weigh as much as more than "
            f"{1 / LEAST_RATE:g} and every alarm would come late. Write {LEAST_RATE:g} or more; to "
            "spend less, set answers_an_hour in [judging]."
        )
    return rate


Rate = Annotated[float, number(high=1), AfterValidator(_drawable)]


@dataclass(frozen=True, slots=True)
class GuardStep:
    """Answers that the guard trusts less than ``below`` are drawn with probability ``rate``."""

    below: Annotated[float, number(high=1, above=True), Field(examples=[0.3])]
    rate: Annotated[Rate, Field(examples=[0.5])]


def _rising(steps: tuple[GuardStep, ...]) -> tuple[GuardStep, ...]:
    if any(lower.below >= upper.below for lower, upper in pairwise(steps)):
        raise wrong("must rise: write the smallest below first.")
    return steps


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """The probabilities with which answers are drawn to be judged.

    Attributes:
        by: More for the answers of a slice: by facet and value.
        by_guard_score: More for answers that the guard trusts little, by rising ``below``.
    """

    rate: Rate = 0.1
    by: Mapping[str, Mapping[str, Rate]] = field(default_factory=dict)
    by_guard_score: Annotated[tuple[GuardStep, ...], AfterValidator(_rising)] = ()

    def probability(self, facets: Mapping[str, str], confidence: float | None) -> float:
        """Return the probability for one answer: the largest of those that apply to it.

        >>> SamplingSettings(0.1, {"language": {"de": 0.5}}).probability({"language": "de"}, None)
        0.5

        Args:
            confidence: The guard's, from 0 to 1; None where it has none.
        """
        rates = [self.rate]
        rates += [self.by.get(name, {}).get(value, 0.0) for name, value in facets.items()]
        if confidence is not None:
            rates += [step.rate for step in self.by_guard_score if confidence < step.below]
        return max(rates)

    @property
    def least(self) -> float:
        """The least probability that an answer can have."""
        return self.rate


def check_rate(rate: float) -> None:
    """Check that answers can be drawn with a probability that was given in place of the file's."""
    if not LEAST_RATE <= rate <= 1:
        raise InputError(
            f"{argument('sample', rate)} is no probability from {LEAST_RATE:g} to 1: write 0.2, "
            "or 1 for all answers."
        )


def _patterns(patterns: Mapping[str, str]) -> Mapping[str, str]:
    for name, pattern in patterns.items():
        try:
            Redaction((), {name: pattern})
        except InputError as error:
            raise wrong(str(error), name) from None
    return patterns


@dataclass(frozen=True, slots=True)
class RedactionSettings:
    """The patterns that are taken out of every text before it is stored or judged."""

    built_in: Annotated[
        tuple[Annotated[Text, checked(lambda name: Redaction((name,)))], ...], LISTED
    ] = Redaction().built_in
    patterns: Annotated[Mapping[str, Text], AfterValidator(_patterns)] = field(default_factory=dict)

    def open(self) -> Redaction | None:
        """Return what redacts; None where nothing is taken out."""
        if not self.built_in and not self.patterns:
            return None
        return Redaction(self.built_in, self.patterns)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """The age and the size from which on what was seen is not kept."""

    days: Annotated[float, number(above=True, high=36_500)] = 30.0
    gigabytes: Annotated[float, number(above=True, high=1e6)] = 20.0


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        has_secret = parts.username is not None or parts.password is not None
    except ValueError:
        is_http = has_secret = False
    if not is_http or not url.isascii() or not url.isprintable() or " " in url:
        raise wrong('is no address of HTTP; write one such as "https://example.org/alarms".')
    if has_secret:
        raise wrong(
            "has a user or a password in it, and no secret belongs in this file. Put it into an "
            'environment variable, and name that: headers_from = { authorization = "VARIABLE" }.'
        )
    return url


Url = Annotated[Text, AfterValidator(_url)]
# By header, the environment variable that holds its value.
HeadersFrom = Mapping[
    Annotated[
        str,
        matching(
            re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"),
            "is no name of a header; write one such as authorization.",
        ),
    ],
    Variable,
]


@dataclass(frozen=True, slots=True)
class WriteBackSettings:
    """The receiver that scores are written back to, over OTLP."""

    url: Annotated[Url, Field(examples=["http://localhost:4318/v1/logs"])]
    headers_from: HeadersFrom = field(default_factory=dict)


def secret(variable: str) -> str:
    """Return the secret in an environment variable."""
    value = os.environ.get(variable, "")
    if not value:
        raise InputError(
            f"The environment variable {variable}, which the settings name, is not set. Set it "
            "before the monitor starts."
        )
    return value


Mail = Annotated[
    Text,
    matching(
        re.compile(r"[^\s@<>,;:\"()\[\]\\]+@[^\s@<>,;:\"()\[\]\\]+"),
        "{!r} is no address; write one such as team@example.org.",
    ),
]
Host = Annotated[
    Text,
    matching(
        re.compile(r"[A-Za-z0-9.:_-]+"), "{!r} is no host; write one such as smtp.example.org."
    ),
]
PORTS: Mapping[str, int] = {"starttls": 587, "ssl": 465, "none": 25}


@dataclass(frozen=True, slots=True)
class WebhookChannel:
    """A JSON body, sent by HTTP and signed.

    Attributes:
        url: Where to; empty where ``url_from`` says it.
        url_from: The environment variable that holds the address, for one that is a secret.
        secret_from: The environment variable that holds the secret of the signature.
    """

    name: Annotated[Text, Field(default="webhook")]
    url: Url = ""
    url_from: Variable | None = None
    secret_from: Variable | None = None
    headers_from: HeadersFrom = field(default_factory=dict)
    kind: Literal["webhook"] = "webhook"


@dataclass(frozen=True, slots=True)
class EmailChannel:
    """A letter by SMTP."""

    name: Annotated[Text, Field(default="email")]
    to: Annotated[tuple[Mail, ...], LISTED, Field(examples=["team@example.org"])]
    sender: Annotated[Mail, Field(alias="from", examples=["ragstone@example.org"])]
    server: Annotated[Host, Field(examples=["smtp.example.org"])]
    port: Annotated[int, whole(high=65_535)] = 0
    security: Literal["starttls", "ssl", "none"] = "starttls"
    user: Text | None = None
    password_from: Variable | None = None
    kind: Literal["email"] = "email"

    def __post_init__(self) -> None:
        object.__setattr__(self, "port", self.port or PORTS[self.security])


@dataclass(frozen=True, slots=True)
class FileChannel:
    """A file of JSON lines, to which a line is added."""

    name: Annotated[Text, Field(default="file")]
    file: Annotated[FilePath, Field(examples=["alarms.jsonl"])]
    kind: Literal["file"] = "file"


@dataclass(frozen=True, slots=True)
class StdoutChannel:
    """A line on the output of ``ragstone monitor serve``."""

    name: Annotated[Text, Field(default="stdout")]
    kind: Literal["stdout"] = "stdout"


NotificationSettings = WebhookChannel | EmailChannel | FileChannel | StdoutChannel


def _channel(channel: NotificationSettings, info: ValidationInfo) -> NotificationSettings:
    name = f"is called {channel.name!r}, as another channel is: write a name of its own."
    refuse_if((is_known(info, "channel", channel.name), "name", name))
    if isinstance(channel, WebhookChannel):
        none = 'has no url: write url = "https://example.org/alarms".'
        both = "stands beside url: leave one of them out."
        refuse_if(
            (not channel.url and not channel.url_from, "", none),
            (channel.url and channel.url_from, "url_from", both),
        )
    if isinstance(channel, EmailChannel):
        user, password = channel.user, channel.password_from
        clear = 'would send the password in the clear; write "starttls" or "ssl".'
        refuse_if(
            (user and not password, "user", "needs password_from as well."),
            (password and not user, "password_from", "wants user beside it."),
            (user and channel.security == "none", "security", clear),
        )
    return channel


Channel = Annotated[NotificationSettings, Field(discriminator="kind"), AfterValidator(_channel)]
