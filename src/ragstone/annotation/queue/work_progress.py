"""Queue progress: a person's own work in a queue, and everybody's progress and pace.

People see only their own answers; the overview shows nobody's.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median

from ragstone.core.database import Sql

from .assignment import Leases
from .form import ItemAnswers, ItemPart, QueueForm, Role, outline_of
from .labels_store import LabelDatabase, last_numbers, people_in
from .queue import Queue, form_in

# Items of somebody's own that are listed, the newest first.
MOST_ITEMS = 500

# Characters of a text in that list.
SHORT = 160


@dataclass(frozen=True, slots=True)
class MyAnswer:
    """The state of an item that somebody was given, and their last answers.

    Attributes:
        state: ``given``: they have it; ``late``: somebody else may have it now; ``skipped``;
            ``said``.
        answers: None if there are none yet; those that they took back are still here.
        version: Of their answers; 0 if there are none. ``Queue.save`` takes it as ``seen``.
    """

    state: str
    answers: ItemAnswers | None = None
    version: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True)
class MyItem:
    """An item in a person's own list; ``text`` is the start of its ``outline_of``."""

    item: int
    state: str
    text: str
    discarded: bool
    note: bool


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """A person's progress: items saved, skipped, in their hands, and still open to them."""

    saved: int
    skipped: int
    given: int
    left: int

    @property
    def all(self) -> int:
        """The number of items if nobody else took any that are open."""
        return self.saved + self.given + self.left


class MyWork:
    """The work of one person in a queue."""

    def __init__(self, database: LabelDatabase, queue: Queue, person: str) -> None:
        self._database, self._queue = database, queue
        self._here = (queue.name, person)

    def word(self, number: int) -> MyAnswer | None:
        """Return their last answers for an item; None if they were never given it."""
        with self._database.reading() as run:
            state = Leases(run, self._queue.name, 0.0).find(self._here[1], number)
            saves = run(
                "SELECT answers, number, at FROM said WHERE queue = ? AND person = ? AND item = ? "
                "ORDER BY number DESC LIMIT 1",
                *self._here, number,
            )  # fmt: skip
        if state is None or not saves:
            return None if state is None else MyAnswer(state)
        ((answers, version, at),) = saves
        return MyAnswer(state, ItemAnswers.from_dict(json.loads(answers)), version, at)

    def items(self) -> list[MyItem]:
        """Return the items they were given, the last one first."""
        with self._database.reading() as run:
            rows = run(
                "SELECT t.item, t.state, i.shown, i.parts, s.answers FROM turns t "
                "JOIN items i ON i.queue = t.queue AND i.item = t.item "
                "LEFT JOIN said s ON s.queue = t.queue AND s.person = t.person AND "
                "s.number = (SELECT max(number) FROM said o WHERE o.queue = t.queue "
                "AND o.person = t.person AND o.item = t.item) "
                "WHERE t.queue = ? AND t.person = ? ORDER BY t.until DESC, t.item LIMIT ?",
                *self._here, MOST_ITEMS,
            )  # fmt: skip
        items = []
        for item, state, content, parts, answers in rows:
            text = outline_of(json.loads(content), [ItemPart(**part) for part in json.loads(parts)])
            saved = json.loads(answers) if answers else {}
            labelled = bool(saved.get("discarded")), bool(saved.get("note"))
            items.append(MyItem(item, state, text[:SHORT], *labelled))
        return items

    def progress(self) -> OwnProgress:
        """Count their items by state."""
        with self._database.reading() as run:
            states = run(
                "SELECT state, count(*) FROM turns WHERE queue = ? AND person = ? GROUP BY state",
                *self._here,
            )
            ((open_to_all,),) = run(
                "SELECT count(*) FROM items WHERE queue = ? AND taken < wanted", self._here[0]
            )
            ((mine,),) = run(
                "SELECT count(*) FROM turns t JOIN items i ON i.queue = t.queue AND "
                "i.item = t.item WHERE t.queue = ? AND t.person = ? AND "
                "t.state IN ('said', 'given') AND i.taken < i.wanted",
                *self._here,
            )
        counts = {str(state): int(count) for state, count in states}
        saved, skipped, held = (counts.get(state, 0) for state in ("said", "skipped", "given"))
        return OwnProgress(saved, skipped, held, open_to_all - mine)

    def with_others(self) -> int:
        """Count the items that others have at present, which may come to this person yet."""
        with self._database.reading() as run:
            ((count,),) = run(
                "SELECT count(DISTINCT o.item) FROM turns o WHERE o.queue = ? AND o.person <> ? "
                "AND o.state = 'given' AND NOT EXISTS (SELECT 1 FROM turns t WHERE "
                "t.queue = o.queue AND t.person = ? AND t.item = o.item AND "
                "t.state IN ('said', 'given'))",
                *self._here, self._here[1],
            )  # fmt: skip
        return int(count)


# Saves from which the pace is taken, the newest.
LAST = 50

# Gaps between saves below which no pace is told.
FEWEST = 5

# A gap of more than so many usual ones is a pause.
PAUSE = 5.0

# Seconds between saves below which nobody labelled: they were taken over together.
TAKEN_OVER = 0.2

HOUR = 3600.0


def pace_of(saves: Sequence[str]) -> float | None:
    """Return items in an hour of work, from the sorted times of somebody's saves, without pauses.

    None where too little is known.

    >>> pace_of([f"2026-11-23T10:{minute:02}:00+00:00" for minute in (0, 1, 2, 3, 4, 5, 6, 56, 57)])
    60.0
    """
    times = [datetime.fromisoformat(saved).timestamp() for saved in saves[-LAST:]]
    gaps = [after - before for before, after in pairwise(times) if after - before > TAKEN_OVER]
    if len(gaps) < FEWEST:
        return None
    worked = [gap for gap in gaps if gap <= PAUSE * median(gaps)]
    return HOUR * len(worked) / sum(worked)


def hours_for(missing: int, people: Iterable[tuple[float, int]]) -> float | None:
    """Return hours until so many labels are given, if everybody goes on; None if they cannot be.

    ``people`` has the pace of each, and how many items they can still label.
    """
    able = sorted((left / pace, pace) for pace, left in people if pace > 0 and left > 0)
    hours, rate, rest = 0.0, sum(pace for _, pace in able), float(missing)
    for until, pace in able:
        if rest <= rate * (until - hours):
            break
        rest -= rate * (until - hours)
        hours, rate = until, rate - pace
    if rest <= 1e-9:
        return hours
    return None if rate <= 1e-9 else hours + rest / rate


# An SQL pattern for the stored answers of an item that was not discarded. It matches no text that
# somebody typed, because quotes are escaped there.
KEPT = '%"discarded": ""%'


@dataclass(frozen=True, slots=True)
class PersonWork:
    """A person's work in a queue.

    Attributes:
        revoked: Since when no longer; None if they still can.
        saved: Items that they labelled or discarded.
        discarded: Those of ``saved`` that they discarded.
        skipped: Items that they left to others.
        left: Items that they can still label.
        decided: Items that they decided as an adjudicator.
        pace: Items in an hour of work; None if too little is known.
        last: The time of their last save; empty if there is none.
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
    """The progress of a queue.

    Attributes:
        items: Those that are given out, or are going to be.
        labelled: Those that somebody labelled.
        finished: Those that as many people labelled as are wanted.
        wanted: Labels of items that are wanted, in all.
        given: Labels of items that were given, at most as many as an item wants.
        lacking: Labels of items for which the queue lacks people.
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
        """The time of the last save; empty if there is none."""
        return max((person.last for person in self.people), default="")

    @property
    def at_work(self) -> tuple[PersonWork, ...]:
        """The people who labelled something and can still label."""
        return tuple(
            person for person in self.people if person.left and person.saved and not person.revoked
        )

    @property
    def hours(self) -> float | None:
        """Hours of work until nothing is wanted, if those at work go on; None if not known."""
        if any(person.pace is None for person in self.at_work):
            return None
        people = ((person.pace or 0.0, person.left) for person in self.at_work)
        return hours_for(self.wanted - self.given, people)


def queue_work(database: LabelDatabase, name: str) -> QueueWork:
    """Return the progress of a queue, from one look at its store."""
    with database.reading() as run:
        form, created = form_in(run, name, database.name)
        state = (_lacking(run, name), _people(run, name), queue_version(run, name))
        return QueueWork(form, created, *_items(run, name), *state)


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
    items, labelled, finished, needed, labels = (int(count or 0) for count in counts)
    return items, labelled, finished, needed, labels


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
    rows = run(
        "SELECT person, state, count(*) FROM turns WHERE queue = ? GROUP BY person, state", queue
    )
    states = {(person, state): int(count) for person, state, count in rows}
    ((open_items,),) = run("SELECT count(*) FROM items WHERE queue = ? AND taken < wanted", queue)
    mine = dict(run(
        "SELECT t.person, count(*) FROM items i JOIN turns t ON t.queue = i.queue "
        "AND t.item = i.item WHERE i.queue = ? AND i.taken < i.wanted "
        "AND t.state IN ('said', 'given') GROUP BY t.person",
        queue,
    ))  # fmt: skip
    discarded = dict(run(
        "SELECT s.person, count(*) FROM said s JOIN turns t ON t.queue = s.queue "
        "AND t.person = s.person AND t.item = s.item WHERE s.queue = ? AND t.state = 'said' "
        "AND s.answers NOT LIKE ? AND s.number = (SELECT max(number) FROM said o "
        "WHERE o.queue = s.queue AND o.person = s.person AND o.item = s.item) GROUP BY s.person",
        queue, KEPT,
    ))  # fmt: skip
    decided = dict(run(
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
    work = []
    for known in people_in(run, queue):
        name, times = known.name, saves.get(known.name, ())
        left = int(open_items) - mine.get(name, 0) + states.get((name, "given"), 0)
        work.append(PersonWork(
            name, known.role, known.revoked, states.get((name, "said"), 0), discarded.get(name, 0),
            states.get((name, "skipped"), 0), left if known.role == "annotator" else 0,
            decided.get(name, 0), pace_of(times), times[-1] if times else "",
        ))  # fmt: skip
    return tuple(work)


def queue_version(run: Sql, queue: str) -> tuple[int, int, int]:
    """Return numbers that change with every save, decision and change of a queue."""
    return last_numbers(run, "WHERE queue = ?", queue)
