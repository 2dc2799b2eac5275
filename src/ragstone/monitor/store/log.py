"""Log: what the monitor says of its own work. No text of a trace, and no secret, stands in it."""

from typing import Literal, NamedTuple

from ragstone.core.database import Sql
from ragstone.core.escape import on_one_line

Level = Literal["info", "warning", "error"]

LONGEST_LINE = 2_000
MOST_LINES = 100_000


class LogLine(NamedTuple):
    """One line of the log."""

    at: float
    level: Level
    text: str


def log(run: Sql, now: float, level: Level, text: str) -> None:
    """Write a line; of very many, the oldest are forgotten."""
    line = on_one_line(text)[:LONGEST_LINE]
    run("INSERT INTO lines (at, level, text) VALUES (?, ?, ?)", now, level, line)
    run("DELETE FROM lines WHERE number <= (SELECT max(number) FROM lines) - ?", MOST_LINES)


def last_lines(run: Sql, n: int = 100) -> list[LogLine]:
    """The last lines, the newest first."""
    return [
        LogLine(*row)
        for row in run("SELECT at, level, text FROM lines ORDER BY number DESC LIMIT ?", n)
    ]
