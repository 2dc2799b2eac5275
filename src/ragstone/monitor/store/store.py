"""Monitor store: its tables and triggers, the two-minute slots, and the opening of a store.

Times are seconds since the epoch.

``score_sums`` holds for each metric and slot the sums over its scores: over all of them (``name``
is empty), and over those whose example has a facet. ``to_sum`` lists the slots whose sums have to
be made anew. The database itself lists a slot when a score in it, or a facet of its example,
comes, changes or goes; the sums of slots that are not listed are right, whoever writes scores.
"""

import os
import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from ragstone.core.database import POSTGRES, KeptDatabase, open_database
from ragstone.core.errors import InputError
from ragstone.core.files import private_folder
from ragstone.core.messages import argument
from ragstone.core.store_layout import DatabaseLayout, Reaction

from .rows import Level, log

# Seconds of a slot.
WIDTH = 120


def slot_of(at: str) -> str:
    """Return the SQL for the slot of a time, which both databases round in the same way.

    Casts round in PostgreSQL and cut in SQLite; half a second below a whole one, ``round`` goes to
    either neighbour, which makes a difference at the end of a slot alone, and there both go up.
    """
    return f"CAST(round({at} - 0.5) AS BIGINT) / {WIDTH}"


SUMMED = (
    "CREATE TABLE score_sums (metric TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, "
    "slot BIGINT NOT NULL, n BIGINT NOT NULL, w DOUBLE PRECISION NOT NULL, "
    "wx DOUBLE PRECISION NOT NULL, ww DOUBLE PRECISION NOT NULL, wwx DOUBLE PRECISION NOT NULL, "
    "wwxx DOUBLE PRECISION NOT NULL, most DOUBLE PRECISION NOT NULL, undefined BIGINT NOT NULL, "
    "missing BIGINT NOT NULL, missing_w DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (metric, name, value, slot))",
    "CREATE TABLE to_sum (metric TEXT NOT NULL, slot BIGINT NOT NULL, PRIMARY KEY (metric, slot))",
)


def _of_score(row: str) -> str:
    return (
        f"INSERT INTO to_sum VALUES ({row}.metric, {slot_of(f'{row}.at')}) "
        "ON CONFLICT (metric, slot) DO NOTHING"
    )


def _of_facet(row: str) -> str:
    return (
        f"INSERT INTO to_sum SELECT metric, {slot_of('at')} FROM scores "
        f"WHERE example = {row}.example ON CONFLICT (metric, slot) DO NOTHING"
    )


SUMS_TO_MAKE = (
    Reaction("score_came", "scores", "INSERT", _of_score("NEW")),
    Reaction("score_changed", "scores", "UPDATE", _of_score("NEW")),
    Reaction("score_moved", "scores", "UPDATE", _of_score("OLD")),
    Reaction("score_went", "scores", "DELETE", _of_score("OLD")),
    Reaction("facet_came", "facets", "INSERT", _of_facet("NEW")),
    Reaction("facet_changed", "facets", "UPDATE", _of_facet("NEW")),
    Reaction("facet_went", "facets", "DELETE", _of_facet("OLD")),
)


# ``received`` holds what was acknowledged, as it came: of each request one row for each trace. The
# worker folds the rows of a trace into ``examples`` and writes everything below; ``traces`` says
# through which row it has, ``waiting`` that more may come. ``to_do`` says what comes next for an
# example: to be assessed by the guard's checks, or to be drawn or not.
#
# ``draws`` says with which probability each example was drawn to be judged, and what became of it:
# out, due, judged, failed or shed. It was drawn if its lot is below that probability; the turns of
# a session share a lot, and an example for which none is kept had one of its own. A score's weight
# is one over its probability. ``again``: the example had been judged before and its text changed,
# so no detector counts it twice.
#
# ``open_sessions`` are those of which a metric that is watched by sessions has a score, and more
# may come; ``watched_sessions`` those that are over, with one score, each once: value, undefined,
# missing (the judge failed at a turn), or out, where a turn was not drawn. ``example`` is the last
# turn.
TABLES = (
    "CREATE TABLE received (number {serial}, trace TEXT NOT NULL, kind TEXT NOT NULL, "
    "at DOUBLE PRECISION NOT NULL, body {blob} NOT NULL)",
    "CREATE INDEX received_of ON received (trace, number)",
    "CREATE TABLE traces (trace TEXT PRIMARY KEY, first_at DOUBLE PRECISION NOT NULL, "
    "last_at DOUBLE PRECISION NOT NULL, rooted INTEGER NOT NULL, waiting INTEGER NOT NULL, "
    "through BIGINT NOT NULL, content TEXT NOT NULL)",
    "CREATE INDEX traces_waiting ON traces (last_at) WHERE waiting = 1",
    "CREATE INDEX traces_last ON traces (last_at)",
    "CREATE TABLE examples (example TEXT PRIMARY KEY, trace TEXT NOT NULL, span TEXT NOT NULL, "
    "at DOUBLE PRECISION NOT NULL, folded_at DOUBLE PRECISION NOT NULL, settled INTEGER NOT NULL, "
    "session TEXT, person TEXT, version TEXT, system TEXT NOT NULL, record TEXT NOT NULL, "
    "text_hash TEXT NOT NULL, facts TEXT NOT NULL)",
    "CREATE INDEX examples_at ON examples (at)",
    "CREATE INDEX examples_of_trace ON examples (trace)",
    "CREATE INDEX examples_of_session ON examples (session) WHERE session IS NOT NULL",
    "CREATE INDEX examples_of_person ON examples (person) WHERE person IS NOT NULL",
    "CREATE TABLE facets (example TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, "
    "PRIMARY KEY (example, name))",
    "CREATE INDEX facets_by_value ON facets (name, value)",
    "CREATE TABLE to_do (example TEXT NOT NULL, step TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (example, step))",
    "CREATE INDEX to_do_next ON to_do (step, at, example)",
    "CREATE TABLE assessed (example TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, "
    "text_hash TEXT NOT NULL, ok INTEGER, confidence DOUBLE PRECISION, assessment TEXT NOT NULL)",
    "CREATE TABLE draws (example TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, "
    "probability DOUBLE PRECISION NOT NULL, state TEXT NOT NULL, due_at DOUBLE PRECISION NOT NULL, "
    "text_hash TEXT NOT NULL, source TEXT NOT NULL, tries INTEGER NOT NULL, lot DOUBLE PRECISION)",
    "CREATE INDEX draws_due ON draws (due_at) WHERE state = 'due'",
    "CREATE INDEX draws_at ON draws (at)",
    "CREATE TABLE scores (number {serial}, example TEXT NOT NULL, metric TEXT NOT NULL, "
    "at DOUBLE PRECISION NOT NULL, judged_at DOUBLE PRECISION NOT NULL, value DOUBLE PRECISION, "
    "status TEXT NOT NULL, reason TEXT NOT NULL, label TEXT, judge TEXT NOT NULL, "
    "probability DOUBLE PRECISION NOT NULL, version TEXT, source TEXT NOT NULL, "
    "again INTEGER NOT NULL, UNIQUE (example, metric, source))",
    "CREATE INDEX scores_over_time ON scores (metric, at)",
    "CREATE INDEX scores_of_people ON scores (metric, at) WHERE source = 'people'",
    "CREATE INDEX scores_in_order ON scores (metric, number)",
    "CREATE TABLE judged (example TEXT PRIMARY KEY, at DOUBLE PRECISION NOT NULL, "
    "text_hash TEXT NOT NULL, judge TEXT NOT NULL, judgements TEXT NOT NULL)",
    "CREATE TABLE anchors (example TEXT PRIMARY KEY, record TEXT NOT NULL)",
    "CREATE TABLE anchor_scores (example TEXT NOT NULL, metric TEXT NOT NULL, "
    "at DOUBLE PRECISION NOT NULL, value DOUBLE PRECISION, judge TEXT NOT NULL, "
    "PRIMARY KEY (example, metric, at))",
    "CREATE TABLE detectors (rule TEXT NOT NULL, slice TEXT NOT NULL, identity TEXT NOT NULL, "
    "state TEXT NOT NULL, through BIGINT NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (rule, slice))",
    "CREATE TABLE open_sessions (metric TEXT NOT NULL, session TEXT NOT NULL, "
    "due_at DOUBLE PRECISION NOT NULL, PRIMARY KEY (metric, session))",
    "CREATE INDEX open_sessions_due ON open_sessions (metric, due_at, session)",
    "CREATE INDEX open_sessions_by_id ON open_sessions (session)",
    "CREATE TABLE watched_sessions (number BIGINT PRIMARY KEY, session TEXT NOT NULL, "
    "example TEXT NOT NULL, metric TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, "
    "judged_at DOUBLE PRECISION NOT NULL, value DOUBLE PRECISION, status TEXT NOT NULL, "
    "probability DOUBLE PRECISION NOT NULL, version TEXT, judge TEXT NOT NULL, "
    "UNIQUE (metric, session))",
    "CREATE INDEX watched_sessions_in_order ON watched_sessions (metric, number)",
    "CREATE INDEX watched_sessions_by_time ON watched_sessions (metric, at)",
    "CREATE INDEX watched_sessions_of ON watched_sessions (example)",
    "CREATE TABLE alarms (number {serial}, rule TEXT NOT NULL, slice TEXT NOT NULL, "
    "kind TEXT NOT NULL, state TEXT NOT NULL, since DOUBLE PRECISION NOT NULL, "
    "fired_at DOUBLE PRECISION NOT NULL, resolved_at DOUBLE PRECISION, facts TEXT NOT NULL)",
    "CREATE UNIQUE INDEX alarms_firing ON alarms (rule, slice, kind) WHERE state = 'firing'",
    "CREATE INDEX alarms_of ON alarms (rule, slice, number)",
    "CREATE TABLE told (alarm BIGINT NOT NULL, channel TEXT NOT NULL, event TEXT NOT NULL, "
    "at DOUBLE PRECISION NOT NULL, tries INTEGER NOT NULL, state TEXT NOT NULL, "
    "error TEXT NOT NULL, PRIMARY KEY (alarm, channel, event))",
    "CREATE TABLE silences (rule TEXT PRIMARY KEY, until DOUBLE PRECISION NOT NULL, "
    "person TEXT NOT NULL)",
    "CREATE TABLE versions (version TEXT PRIMARY KEY, first_at DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE counts (minute BIGINT NOT NULL, what TEXT NOT NULL, n BIGINT NOT NULL, "
    "PRIMARY KEY (minute, what))",
    "CREATE TABLE malformed (number {serial}, at DOUBLE PRECISION NOT NULL, why TEXT NOT NULL, "
    "body {blob} NOT NULL)",
    "CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    *SUMMED,
    "CREATE TABLE lines (number {serial}, at DOUBLE PRECISION NOT NULL, level TEXT NOT NULL, "
    "text TEXT NOT NULL)",
)

LAYOUT = DatabaseLayout(
    holds="monitoring", irreplaceable="what was seen in production, which is stored nowhere else",
    argument="store", owner=0x52616D6F, version=1, tables=TABLES, reactions=SUMS_TO_MAKE,
)  # fmt: skip


FILE = "monitor.sqlite"
FOLDER = Path("monitor")

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://")
KINDS = "name a folder, or an address postgresql://…"


@dataclass(frozen=True, slots=True)
class MonitorStore:
    """An open store.

    Attributes:
        place: The folder or the address ``postgresql://…``, which also holds people's labels.
    """

    database: KeptDatabase
    folder: Path
    place: str

    def log(self, now: float, level: Level, text: str) -> None:
        """Write a line to the log, in a transaction of its own."""
        with self.database.transaction() as run:
            log(run, now, level, text)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def open_store(
    store: str | PathLike[str],
    *,
    folder: Path | None = None,
    make: bool = True,
    writes: bool = False,
) -> MonitorStore:
    """Open a store in a folder, or at an address ``postgresql://…``.

    Args:
        folder: For what is being judged; by default the store's own, or ``monitor`` beside the
            user where that is a server.

    Raises:
        InputError: There is none, or it cannot be used.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    text = fspath(store)
    home = check_place(text, folder=folder, make=make, writes=writes)
    try:
        private_folder(home)
    except OSError as error:
        raise InputError(f"{home}: {error.strerror}.") from error
    place = text if text.startswith(POSTGRES) else home / FILE
    return MonitorStore(open_database(place, LAYOUT), home, text)


def check_place(
    text: str, *, folder: Path | None = None, make: bool = True, writes: bool = False
) -> Path:
    """Check that a store can be at a place, and return the folder for what is being judged.

    Nothing is made, and no server is asked.
    """
    if not text.strip():
        raise InputError(f"{argument('store', text)} names no store: {KINDS}.")
    on_server = text.startswith(POSTGRES)
    scheme = ADDRESS.match(text)
    if scheme and not on_server:
        # The address, which may have a password in it, is not repeated.
        raise InputError(f"{scheme[0]}… is no address of a store: {KINDS}.")
    home = folder or (FOLDER if on_server else Path(text))
    file = home / FILE
    if not on_server:
        if home.exists() and not home.is_dir():
            raise InputError(f"{argument('store', text)} is not a folder.")
        if not make and not file.is_file():
            raise InputError(
                f"{argument('store', text)}: nothing was monitored there. "
                f"`ragstone monitor serve` begins."
            )
    if writes:
        nearest = next(item for item in (home, *home.absolute().parents) if item.exists())
        for example in (nearest, file):
            if example.exists() and not os.access(example, os.W_OK):
                raise InputError(
                    f"{argument('store', text)} cannot be written: {example} is read-only. Give "
                    "yourself write permission, or name another store."
                )
    return home
