"""Labels store: the database of queues and labels, with its address, people's tokens and erasure.

The store is a SQLite file beside the runs, or PostgreSQL for teams. Only a single writer works at
a time, so that no item is assigned twice. Tokens are stored as hashes, so that a reader of the
store cannot use them.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ragstone.annotation.adjudication import is_adjudicator
from ragstone.core.database import (
    POSTGRES,
    Database,
    KeptDatabase,
    Sql,
    is_readable,
    open_database,
    rows_of,
    without_password,
)
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.store_layout import DatabaseLayout

from .form import PlacedItem, QueueItem, Role

FILE = "labels.sqlite"


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A store of labels, or one queue of it.

    ``place`` is a file, or an address ``postgresql://…`` with its password; ``queue`` is empty
    for all queues.
    """

    place: str
    queue: str = ""

    @classmethod
    def of(cls, source: str | PathLike[str]) -> "StoreAddress | None":
        """Parse a source of labels that may end in ``#QUEUE``; None if it is no store.

        A folder's name may have a # in it, and so may a password.
        """
        text = fspath(source)
        is_address = text.startswith(POSTGRES)
        if text.startswith(tuple(scheme[:-1] for scheme in POSTGRES)) and not is_address:
            raise InputError(
                f"Write the address of labels as a text, {POSTGRES[0]}…; a path takes a slash out "
                "of it."
            )
        if text.endswith(FILE) or (is_address and is_readable(text)):
            return cls(text)
        address, _, queue = text.rpartition("#")
        if address.endswith(FILE) or (address.startswith(POSTGRES) and is_readable(address)):
            return cls(address, queue)
        return cls(text) if is_address else None

    @property
    def is_file(self) -> bool:
        """Return True if it is a file, and no address."""
        return not self.place.startswith(POSTGRES)

    @property
    def shown(self) -> str:
        """The address without its password."""
        address = self.place if self.is_file else without_password(self.place)
        return f"{address}#{self.queue}" if self.queue else address


def shown_source(source: str | PathLike[str]) -> str:
    """Return the name of a file, folder or store of labels, without a password."""
    store = StoreAddress.of(source)
    return fspath(source) if store is None else store.shown


# ``said``, and ``decided`` by adjudicators, only grow: what somebody changes or takes back stays
# beside what they said first.
#
# Of an item, ``question`` is a word for its question, ``people`` is how many label it once it is
# among those that are given out, ``wanted`` how many do now, ``taken`` how many have it or said
# something. ``passed`` is the probability that it was not labelled in an earlier phase of the
# routing, ``earlier`` whether it was given out in one.
TABLES = (
    "CREATE TABLE queues (queue TEXT PRIMARY KEY, at TEXT NOT NULL, form TEXT NOT NULL)",
    "CREATE TABLE items (queue TEXT NOT NULL, item INTEGER NOT NULL, id TEXT NOT NULL, "
    "question TEXT NOT NULL, shown TEXT NOT NULL, hidden TEXT NOT NULL, parts TEXT NOT NULL, "
    "probability DOUBLE PRECISION, people INTEGER NOT NULL, doubt DOUBLE PRECISION, "
    "place DOUBLE PRECISION NOT NULL, weight DOUBLE PRECISION NOT NULL, "
    "passed DOUBLE PRECISION NOT NULL, earlier INTEGER NOT NULL, "
    "wanted INTEGER NOT NULL, taken INTEGER NOT NULL, PRIMARY KEY (queue, item))",
    "CREATE INDEX open_items ON items (queue, place, item) WHERE taken < wanted",
    "CREATE TABLE people (queue TEXT NOT NULL, person TEXT NOT NULL, role TEXT NOT NULL, "
    "token TEXT NOT NULL UNIQUE, at TEXT NOT NULL, revoked TEXT, PRIMARY KEY (queue, person))",
    "CREATE TABLE turns (queue TEXT NOT NULL, person TEXT NOT NULL, item INTEGER NOT NULL, "
    "state TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, PRIMARY KEY (queue, person, item))",
    "CREATE INDEX turns_of ON turns (queue, item)",
    "CREATE INDEX turns_given ON turns (queue, until) WHERE state = 'given'",
    "CREATE TABLE said (number {serial}, queue TEXT NOT NULL, person TEXT NOT NULL, "
    "item INTEGER NOT NULL, at TEXT NOT NULL, once TEXT NOT NULL, answers TEXT NOT NULL, "
    "UNIQUE (queue, person, once))",
    "CREATE INDEX said_of ON said (queue, item, person)",
    "CREATE TABLE decided (number {serial}, queue TEXT NOT NULL, person TEXT NOT NULL, "
    "item INTEGER NOT NULL, at TEXT NOT NULL, once TEXT NOT NULL, answers TEXT NOT NULL, "
    "UNIQUE (queue, person, once))",
    "CREATE INDEX decided_of ON decided (queue, item, person)",
    "CREATE TABLE tagged (queue TEXT NOT NULL, item INTEGER NOT NULL, tag TEXT NOT NULL, "
    "PRIMARY KEY (queue, item, tag))",
    "CREATE TABLE events (number {serial}, queue TEXT NOT NULL, at TEXT NOT NULL, "
    "person TEXT NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL)",
)

LAYOUT = DatabaseLayout(
    holds="labels", irreplaceable="what people labelled, which is stored nowhere else",
    argument="labels", owner=0x52616C62, version=1, tables=TABLES,
)  # fmt: skip

# What keeps the labels.
LabelDatabase = Database


def open_labels(address: str | Path) -> KeptDatabase:
    """Open the labels in a folder, a file, or at ``postgresql://…``; create them where missing."""
    path = Path(address)
    return open_database(path / FILE if path.is_dir() else address, LAYOUT)


# Characters of a person's name.
MOST_NAME = 80


@dataclass(frozen=True, slots=True)
class QueuePerson:
    """A person who works on a queue; ``revoked`` is the time since when no longer."""

    name: str
    role: Role
    revoked: str | None


def person_of(database: LabelDatabase, token: str) -> tuple[str, QueuePerson] | None:
    """Return the queue and the person of a valid token."""
    statement = "SELECT queue, person, role, revoked FROM people WHERE token = ?"
    people = rows_of(database, statement, hashed(token))
    if not people or people[0][3] is not None:
        return None
    ((queue, *person),) = people
    return queue, QueuePerson(*person)


def people_in(run: Sql, queue: str) -> list[QueuePerson]:
    """Return everybody who was invited."""
    rows = run(
        "SELECT person, role, revoked FROM people WHERE queue = ? ORDER BY at, person", queue
    )
    return [QueuePerson(*row) for row in rows]


def check_person(person: str) -> None:
    """Refuse an invalid name."""
    if not person.isprintable() or not 0 < len(person) <= MOST_NAME:
        raise InputError(f"A name has 1 to {MOST_NAME} characters that can be printed.")
    if is_adjudicator(person):
        raise InputError(f"{person!r} is no name: labels call adjudicators so.")


def admit(run: Sql, queue: str, person: str) -> None:
    """Refuse a person who is not in the queue, or no longer."""
    people = {known.name: known for known in people_in(run, queue)}
    if person not in people:
        hint = f"There are {', '.join(people)}." if people else "Nobody was invited yet."
        raise UnknownName("person", person, list(people), hint=hint)
    if people[person].revoked is not None:
        raise InputError(
            f"{person} is no longer in the queue {queue}, so nothing was changed. Invite them "
            "again to let them go on."
        )


def hashed(text: str) -> str:
    """Hash a token, or a client's word for a save, which may be of any length."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


OF_AN_ITEM = ("turns", "said", "decided", "tagged", "items")


def erase_items(run: Sql, examples: Sequence[str]) -> int:
    """Remove the items of all queues that show these examples; return how many there were."""
    n = 0
    for example in examples:
        for queue, item in run("SELECT queue, item FROM items WHERE id = ?", example):
            for table in OF_AN_ITEM:
                run(f"DELETE FROM {table} WHERE queue = ? AND item = ?", queue, item)
            n += 1
    return n


def add_items(
    run: Sql, queue: str, items: Iterable[PlacedItem | tuple[QueueItem, float, int]]
) -> int:
    """Add items to a queue; return how many."""
    count = 0
    for item, place, people, weight, doubt, is_in in (PlacedItem(*entry) for entry in items):
        run(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, ?, 0)",
            queue, item.item, item.id, hashed(item.question) if item.question else "",
            as_json(dict(item.shown)), as_json(dict(item.hidden)),
            as_json(list(map(asdict, item.parts))), item.probability, people, doubt, place, weight,
            people if is_in else 0,
        )  # fmt: skip
        count += 1
    return count


def note_event(run: Sql, queue: str, at: str, person: str, what: str, about: str) -> None:
    """Record a change of a queue."""
    run(
        "INSERT INTO events (queue, at, person, what, about) VALUES (?, ?, ?, ?, ?)",
        queue, at, person, what, about,
    )  # fmt: skip


def last_numbers(run: Sql, where: str = "", *values: object) -> tuple[int, int, int]:
    """Return the numbers of the last save, decision and event of a store, or of a queue of it."""
    saved, decided, changed = (
        run(f"SELECT coalesce(max(number), 0) FROM {table} {where}", *values)[0][0]
        for table in ("said", "decided", "events")
    )
    return int(saved), int(decided), int(changed)


def as_json(data: Any) -> str:
    """Return JSON text that every database takes."""
    # Escaped, for PostgreSQL takes no NUL and no half of a pair in a text.
    return json.dumps(data)


def timestamp(seconds: float) -> str:
    """Return a time as text, in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
