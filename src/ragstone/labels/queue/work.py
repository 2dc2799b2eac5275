"""Work: how far a queue is, who did how much of it and how fast; nothing of who said what."""

import json
from dataclasses import dataclass
from typing import Any

from ragstone.core.database import Sql
from ragstone.core.errors import UnknownName

from .database import LabelDatabase
from .form import QueueForm, Role
from .pace import LAST, hours_for, pace_of

KEPT = '%"discarded": ""%'
"""What the answers of an item have that was not discarded: within a text, quotes are escaped."""


@dataclass(frozen=True, slots=True)
class PersonWork:
    """What somebody did in a queue.

    Attributes:
        name: Theirs.
        role: What they do there.
        revoked: Since when no longer; None if they still can.
        saved: Items of which they said something, those that they discarded among them.
        discarded: Of these, where they said that nothing can be said.
        skipped: Items that they left to others.
        left: Items that they can still label.
        decided: Items that they decided as an adjudicator.
        pace: Items in an hour of work; None if too little is known.
        last: When they last saved something; empty if never.
    """

    name: str
    role: Role
    revoked: str | None
    saved: int
    discarded: int
    skipped: int
    left: int
    decided: int
    pace: float | None
    last: str


@dataclass(frozen=True, slots=True)
class QueueWork:
    """How far a queue is.

    Attributes:
        form: What it asks.
        made: When it was made.
        items: Those that are given out, or are going to be.
        labelled: Those of which somebody said something.
        finished: Those of which as many people did as are wanted.
        wanted: How often somebody is wanted to label an item, in all.
        given: How often somebody did, at most as often as an item wants.
        lacking: How often somebody is wanted whom the queue does not have.
        people: Everybody who was invited or labelled, in that order.
        version: Changes with every save, decision and change of the queue.
    """

    form: QueueForm
    made: str
    items: int
    labelled: int
    finished: int
    wanted: int
    given: int
    lacking: int
    people: tuple[PersonWork, ...]
    version: tuple[int, int, int]

    @property
    def last(self) -> str:
        """When somebody last saved something; empty if nobody did."""
        return max((one.last for one in self.people), default="")

    @property
    def at_work(self) -> tuple[PersonWork, ...]:
        """Who can still label, and said something."""
        return tuple(one for one in self.people if one.left and one.saved and not one.revoked)

    @property
    def hours(self) -> float | None:
        """Hours of work until nothing is wanted, if those at work go on; None if not known."""
        if any(one.pace is None for one in self.at_work):
            return None
        people = ((one.pace or 0.0, one.left) for one in self.at_work)
        return hours_for(self.wanted - self.given, people)


def queue_work(database: LabelDatabase, name: str) -> QueueWork:
    """How far a queue is, from one look at its store.

    Raises:
        UnknownName: The store has no such queue.
    """
    with database.reading() as run:
        found = run("SELECT at, form FROM queues WHERE queue = ?", name)
        if not found:
            known = [one for (one,) in run("SELECT queue FROM queues ORDER BY at")]
            raise UnknownName("queue", name, known, hint=f"It is looked for in {database.name}.")
        ((made, form),) = found
        items, labelled, finished, wanted, given = _items(run, name)
        return QueueWork(
            QueueForm.from_dict(json.loads(form)),
            made,
            items,
            labelled,
            finished,
            wanted,
            given,
            _lacking(run, name),
            _people(run, name),
            queue_version(run, name),
        )


def _items(run: Sql, queue: str) -> tuple[int, int, int, int, int]:
    (counts,) = run(
        "SELECT count(*), sum(CASE WHEN said > 0 THEN 1 ELSE 0 END), "
        "sum(CASE WHEN said >= wanted THEN 1 ELSE 0 END), sum(wanted), "
        "sum(CASE WHEN said < wanted THEN said ELSE wanted END) FROM "
        "(SELECT i.wanted AS wanted, coalesce(t.people, 0) AS said FROM items i LEFT JOIN "
        "(SELECT item, count(*) AS people FROM turns WHERE queue = ? AND state = 'said' "
        "GROUP BY item) AS t ON t.item = i.item WHERE i.queue = ? AND i.wanted > 0) AS one",
        queue, queue,
    )  # fmt: skip
    items, labelled, finished, wanted, given = (int(one or 0) for one in counts)
    return items, labelled, finished, wanted, given


def _lacking(run: Sql, queue: str) -> int:
    ((able,),) = run(
        "SELECT count(*) FROM people WHERE queue = ? AND role = 'annotator' AND revoked IS NULL",
        queue,
    )
    ((lacking,),) = run(
        "SELECT sum(i.wanted - i.taken - ? + coalesce(t.people, 0)) FROM items i LEFT JOIN "
        "(SELECT t.item AS item, count(*) AS people FROM turns t JOIN people p "
        "ON p.queue = t.queue AND p.person = t.person WHERE t.queue = ? "
        "AND t.state IN ('said', 'given') AND p.role = 'annotator' AND p.revoked IS NULL "
        "GROUP BY t.item) AS t ON t.item = i.item "
        "WHERE i.queue = ? AND i.wanted - i.taken > ? - coalesce(t.people, 0)",
        able, queue, queue, able,
    )  # fmt: skip
    return int(lacking or 0)


def _people(run: Sql, queue: str) -> tuple[PersonWork, ...]:
    states = {
        (person, state): int(count)
        for person, state, count in run(
            "SELECT person, state, count(*) FROM turns WHERE queue = ? GROUP BY person, state",
            queue,
        )
    }
    ((open_items,),) = run("SELECT count(*) FROM items WHERE queue = ? AND taken < wanted", queue)
    mine = _counts(run(
        "SELECT t.person, count(*) FROM items i JOIN turns t ON t.queue = i.queue "
        "AND t.item = i.item WHERE i.queue = ? AND i.taken < i.wanted "
        "AND t.state IN ('said', 'given') GROUP BY t.person",
        queue,
    ))  # fmt: skip
    discarded = _counts(run(
        "SELECT s.person, count(*) FROM said s JOIN turns t ON t.queue = s.queue "
        "AND t.person = s.person AND t.item = s.item WHERE s.queue = ? AND t.state = 'said' "
        "AND s.answers NOT LIKE ? AND s.number = (SELECT max(number) FROM said o "
        "WHERE o.queue = s.queue AND o.person = s.person AND o.item = s.item) GROUP BY s.person",
        queue, KEPT,
    ))  # fmt: skip
    decided = _counts(run(
        "SELECT person, count(DISTINCT item) FROM decided WHERE queue = ? GROUP BY person", queue
    ))  # fmt: skip
    saves: dict[str, list[str]] = {}
    for person, at in run(
        "SELECT person, at FROM (SELECT person, at, number, row_number() OVER "
        "(PARTITION BY person ORDER BY number DESC) AS back FROM said WHERE queue = ?) AS one "
        "WHERE back <= ? ORDER BY number",
        queue, LAST,
    ):  # fmt: skip
        saves.setdefault(person, []).append(at)
    rows = run(
        "SELECT person, role, revoked FROM people WHERE queue = ? ORDER BY at, person", queue
    )
    return tuple(
        PersonWork(
            person,
            role,
            revoked,
            states.get((person, "said"), 0),
            discarded.get(person, 0),
            states.get((person, "skipped"), 0),
            int(open_items) - mine.get(person, 0) + states.get((person, "given"), 0)
            if role == "annotator"
            else 0,
            decided.get(person, 0),
            pace_of(saves.get(person, ())),
            saves[person][-1] if person in saves else "",
        )
        for person, role, revoked in rows
    )


def _counts(rows: list[tuple[Any, ...]]) -> dict[str, int]:
    return {person: int(count) for person, count in rows}


def queue_version(run: Sql, queue: str) -> tuple[int, int, int]:
    """What changes with every save, decision and change of a queue."""
    said, decided, changed = (
        run(f"SELECT coalesce(max(number), 0) FROM {table} WHERE queue = ?", queue)[0][0]
        for table in ("said", "decided", "events")
    )
    return int(said), int(decided), int(changed)
