"""Database: the tables of labels, in a SQLite file beside the runs, or in PostgreSQL for teams.

One writes at a time, so that no item is given out twice.
"""

from pathlib import Path

from ragstone.core.database import Database, DatabaseLayout, KeptDatabase, open_database

from .address import FILE

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
"""``said``, and ``decided`` by adjudicators, only grow: what somebody changes or takes back stays
beside what they said first.

Of an item, ``question`` is a word for its question, ``people`` is how many label it once it is
among those that are given out, ``wanted`` how many do now, ``taken`` how many have it or said
something. ``passed`` is the probability that it was not labelled in an earlier phase of the
routing, ``earlier`` whether it was given out in one.
"""

LAYOUT = DatabaseLayout(
    holds="labels",
    irreplaceable="what people labelled, which nothing else does",
    argument="labels",
    owner=0x52616C62,
    version=1,
    tables=TABLES,
)

LabelDatabase = Database
"""What keeps the labels."""


def open_labels(place: str | Path) -> KeptDatabase:
    """The labels in a folder, a file, or at an address ``postgresql://…``; created where missing.

    Raises:
        InputError: It cannot be opened, or is no store of labels.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    path = Path(place)
    return open_database(path / FILE if path.is_dir() else place, LAYOUT)
