"""Monitor filter: which answers of production are shown, as an address says it and in words."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from ragstone.core.errors import InputError
from ragstone.monitor.settings.settings_table import read_moment
from ragstone.monitor.store.stored_examples import ListedWhere
from ragstone.report.number_format import number

from .asked import Asked
from .parts.metric_names import said_metric
from .parts.moments import shown_moment

FIELDS = ("where", "alarm", "slice", "version", "session", "since", "until")
"""The fields of an address that choose answers."""


@dataclass(frozen=True, slots=True)
class FilterToken:
    """A condition in words, and the address without it."""

    words: str
    without: str


@dataclass(frozen=True, slots=True)
class MonitorFilter:
    """Which answers are shown.

    Attributes:
        where: As the store is asked.
        tokens: Its conditions.
    """

    where: ListedWhere
    tokens: tuple[FilterToken, ...]

    @property
    def words(self) -> str:
        """All conditions in words."""
        return " and ".join(one.words for one in self.tokens)


def monitor_filter(
    asked: Asked,
    of_alarm: Callable[[int], tuple[ListedWhere, str]],
    *,
    now: Callable[[], float] = time.time,
) -> MonitorFilter:
    """What an address asks for.

    Args:
        asked: The request.
        of_alarm: Which answers an alarm is about, and what it is called.
        now: Seconds since the epoch.

    Raises:
        InputError: A condition cannot be read.
    """
    found, tokens = ListedWhere(), []
    if number_of := asked.one("alarm"):
        found, words = of_alarm(_whole(number_of))
        tokens.append(FilterToken(words, asked.but(alarm=None, page=None)))
    for text in asked.all("where")[-1:]:
        found, words = _with_range(found, text)
        tokens.append(FilterToken(words, asked.but(where=None, page=None)))
    for text in dict.fromkeys(asked.all("slice")):
        name, colon, value = text.partition(":")
        if not (name and colon):
            raise InputError(f"A slice is written NAME:VALUE, got {text[:80]!r}.")
        found = replace(found, facets=(*found.facets, (name, value)))
        tokens.append(FilterToken(f"{name} is {value}", asked.but(("slice", text), page=None)))
    if version := asked.one("version"):
        found = replace(found, version=version)
        tokens.append(FilterToken(f"version {version}", asked.but(version=None, page=None)))
    if session := asked.one("session"):
        found = replace(found, session=session)
        tokens.append(FilterToken(f"conversation {session}", asked.but(session=None, page=None)))
    if text := asked.one("since"):
        since = read_moment(text, "since", now())
        found = replace(found, since=max(since, found.since or since))
        words = f"from {shown_moment(since, now()).words}"
        tokens.append(FilterToken(words, asked.but(since=None, page=None)))
    if text := asked.one("until"):
        until = read_moment(text, "until", now())
        found = replace(found, until=min(until, found.until or until))
        words = f"before {shown_moment(until, now()).words}"
        tokens.append(FilterToken(words, asked.but(until=None, page=None)))
    return MonitorFilter(found, tuple(tokens))


def _with_range(found: ListedWhere, text: str) -> tuple[ListedWhere, str]:
    metric, colon, ends = text.rpartition(":")
    if not colon:
        return replace(found, metric=text), f"with a score of {said_metric(text)}"
    low, dots, high = ends.partition("..")
    try:
        least, most = (_value(one) for one in (low, high if dots else low))
    except ValueError as error:
        raise InputError(
            f"A condition on a metric is written METRIC:LOW..HIGH, such as faithfulness:0..0.5, "
            f"got {text[:80]!r}."
        ) from error
    name = said_metric(metric)
    words = {
        (False, False): f"with a score of {name}",
        (True, False): f"{name} ≥ {_written(least)}",
        (False, True): f"{name} ≤ {_written(most)}",
        (True, True): f"{name} {_written(least)} to {_written(most)}",
    }[least is not None, most is not None]
    if metric.startswith("guard_") and (least, most) == (0, 0):
        words = f"{name} failed"
    elif least is not None and least == most:
        words = f"{name} is {_written(least)}"
    return replace(found, metric=metric, low=least, high=most), words


def _value(text: str) -> float | None:
    """A number, or None for an end that is open.

    Raises:
        ValueError: It is none.
    """
    if not text.strip():
        return None
    value = float(text)
    if not isfinite(value):
        raise ValueError
    return value


def _written(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if value == round(value, 3) else number(value)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 15):
        raise InputError(f"There is no alarm {text!r}: they are numbered from 1.")
    return int(text)
