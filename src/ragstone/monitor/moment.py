"""Moment: a time or a length of time, as people write it."""

import re
from datetime import UTC, datetime

from ragstone.core.errors import InputError
from ragstone.core.messages import argument

SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(s|min|m|h|d|w)")
LAST = 253_402_300_799.0
"""The end of the year 9999, in seconds since the epoch."""


def read_length(text: str, name: str) -> float:
    """Seconds of ``30s``, ``15min``, ``2h``, ``7d`` or ``1w``.

    Args:
        text: What was written.
        name: The argument's.

    Raises:
        InputError: It is none of these.
    """
    found = LENGTH.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"{argument(name, text)} is no length of time: write 30s, 15min, 2h, 7d or 1w."
        )
    return float(found[1]) * SECONDS[found[2]]


def read_moment(text: str, name: str, now: float) -> float:
    """Seconds since the epoch of ``2026-11-23``, ``2026-11-23T16:20`` or ``24h``, which is ago.

    A time without a zone is UTC.

    Args:
        text: What was written.
        name: The argument's.
        now: Seconds since the epoch.

    Raises:
        InputError: It is none of these.
    """
    if LENGTH.fullmatch(text.strip()):
        return now - read_length(text, name)
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise InputError(
            f"{argument(name, text)} is no time: write 2026-11-23, 2026-11-23T16:20 (UTC), or 24h "
            "for a day ago."
        ) from None
