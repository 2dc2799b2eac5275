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
from importlib.resources import files
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


def _tables() -> tuple[str, ...]:
    """The statements of tables.sql, each in one line, without the comments before them."""
    text = files(__package__).joinpath("tables.sql").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("--"))
    statements = " ".join(" ".join(lines).split()).split(";")
    return tuple(filter(None, map(str.strip, statements)))


SUMS_TO_MAKE = (
    Reaction("score_came", "scores", "INSERT", _of_score("NEW")),
    Reaction("score_changed", "scores", "UPDATE", _of_score("NEW")),
    Reaction("score_moved", "scores", "UPDATE", _of_score("OLD")),
    Reaction("score_went", "scores", "DELETE", _of_score("OLD")),
    Reaction("facet_came", "facets", "INSERT", _of_facet("NEW")),
    Reaction("facet_changed", "facets", "UPDATE", _of_facet("NEW")),
    Reaction("facet_went", "facets", "DELETE", _of_facet("OLD")),
)


LAYOUT = DatabaseLayout(
    holds="monitoring", irreplaceable="what was seen in production, which is stored nowhere else",
    argument="store", owner=0x52616D6F, version=1, tables=_tables(), reactions=SUMS_TO_MAKE,
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
    database = open_database(text if text.startswith(POSTGRES) else home / FILE, LAYOUT)
    return MonitorStore(database, home, text)


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
