"""Monitor log: what the monitor says of its own work, and what it could not read."""

from dataclasses import dataclass

from ragstone.monitor.store.incoming import MOST_MALFORMED, last_malformed
from ragstone.monitor.store.rows import last_lines
from ragstone.report.reason_words import words
from ragstone.web.asked import Asked
from ragstone.web.parts.moments import ShownMoment, shown_moment
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import WebPage

from .monitor_tabs import HERE, MONITOR_TABS

MOST_LINES, A_PAGE = 1_000, 100
A_MALFORMED_PAGE = 25
SHOWN_BYTES = 1_500

LEVELS = {"error": ("wrong", "error"), "warning": ("missing", "warning")}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of the log; ``level`` is its shape and word, both empty of what is usual."""

    at: ShownMoment
    level: tuple[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class ShownMalformed:
    """Something that could not be read."""

    at: ShownMoment
    why: str
    body: str
    cut: bool


def log_page(place: RunsFolder, asked: Asked) -> WebPage:
    """The log, the newest line first.

    Raises:
        NotThere: Nothing is monitored.
    """
    with place.watching().reading() as run:
        lines = last_lines(run, MOST_LINES)
    grave = bool(asked.one("grave"))
    chosen = [one for one in lines if not grave or one.level in LEVELS]
    page = asked.list_page(len(chosen), A_PAGE)
    return WebPage(
        "monitor_log.html",
        "Log of the monitor",
        {
            "tabs": MONITOR_TABS,
            "lines": [
                ShownLine(shown_moment(one.at), LEVELS.get(one.level, ("", "")), one.text)
                for one in chosen[page.rows]
            ],
            "page": page,
            "of": len(lines),
            "grave": grave,
            "most": MOST_LINES,
        },
        here=HERE,
    )


def malformed_page(place: RunsFolder, asked: Asked) -> WebPage:
    """What could not be read of what came, the newest first.

    Raises:
        NotThere: Nothing is monitored.
    """
    with place.watching().reading() as run:
        found = last_malformed(run, MOST_MALFORMED)
    page = asked.list_page(len(found), A_MALFORMED_PAGE)
    return WebPage(
        "monitor_malformed.html",
        "What could not be read",
        {
            "rows": [
                ShownMalformed(
                    shown_moment(one.at),
                    words(one.why),
                    one.body[:SHOWN_BYTES].decode("utf-8", "backslashreplace"),
                    len(one.body) > SHOWN_BYTES,
                )
                for one in found[page.rows]
            ],
            "page": page,
            "of": len(found),
            "most": MOST_MALFORMED,
        },
        here=HERE,
    )
