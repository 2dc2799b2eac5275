"""Moments: times and lengths of time as pages write them, by the clock of this machine."""

from dataclasses import dataclass
from datetime import UTC, datetime

MINUTE, HOUR, DAY = 60, 3_600, 86_400
LAST = 253_402_300_799.0
"""The end of the year 9999, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class ShownMoment:
    """A time.

    Attributes:
        iso: For programs.
        words: For people, as short as the day allows.
        full: With date and zone.
    """

    iso: str
    words: str
    full: str


def shown_moment(at: float, now: float | None = None) -> ShownMoment:
    """A time in seconds since the epoch; one of today without its date."""
    then = datetime.fromtimestamp(min(max(at, 0.0), LAST - DAY), UTC).astimezone()
    today = datetime.now().astimezone() if now is None else datetime.fromtimestamp(now).astimezone()
    if then.date() == today.date():
        words = then.strftime("%H:%M")
    else:
        words = then.strftime("%d %b, %H:%M" if then.year == today.year else "%d %b %Y, %H:%M")
    return ShownMoment(
        then.isoformat(timespec="seconds"), words, then.strftime("%d %b %Y, %H:%M:%S %Z")
    )


def length_in_words(seconds: float) -> str:
    """How long something takes, in one unit or two.

    >>> length_in_words(4.2), length_in_words(5_280), length_in_words(7_200), length_in_words(2e5)
    ('4 s', '88 min', '2 h', '2 d 8 h')
    """
    whole = max(0, round(seconds))
    if whole < 2 * MINUTE and whole != MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR and whole != HOUR:
        return f"{round(whole / MINUTE)} min"
    if whole < 2 * DAY:
        return f"{round(whole / HOUR)} h"
    days, rest = divmod(whole, DAY)
    hours = round(rest / HOUR)
    return f"{days} d {hours} h" if hours and days < 7 else f"{days} d"
