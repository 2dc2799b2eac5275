"""Queue: gives each item to as many people as it wants, and keeps what they say.

An item is somebody's for a while. Who is later than that keeps what they said, too. What is said
only grows: the last word of a person on an item counts.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from secrets import token_urlsafe
from typing import Any

from ragstone.core.database import Sql, rows_of
from ragstone.core.errors import InputError, LabelConflict, UnknownName
from ragstone.core.messages import argument

from .assignment import Leases, Route, inclusion_probabilities, limit, reroute
from .form import (
    AskedLabel,
    ItemAnswers,
    ItemPart,
    PlacedItem,
    QueueEvent,
    QueueForm,
    QueueItem,
    Role,
    SavedItem,
)
from .labels_store import (
    LabelDatabase,
    QueuePerson,
    add_items,
    admit,
    as_json,
    check_person,
    hashed,
    note_event,
    people_in,
    timestamp,
)

# Characters of the name of a queue, which is a part of addresses.
MOST_QUEUE = 120

# Where another page stands, where that of a queue of this name would be.
NOT_A_QUEUE = ("new",)


def queues(database: LabelDatabase) -> list[QueueForm]:
    """Return the forms of a store's queues, the oldest first."""
    rows = rows_of(database, "SELECT form FROM queues ORDER BY at, queue")
    return [QueueForm.from_dict(json.loads(form)) for (form,) in rows]


def form_in(run: Sql, name: str, store: str) -> tuple[QueueForm, str]:
    """Return the form of a queue, and when it was made."""
    rows = run("SELECT form, at FROM queues WHERE queue = ?", name)
    if not rows:
        known = [queue for (queue,) in run("SELECT queue FROM queues ORDER BY at")]
        raise UnknownName("queue", name, known, hint=f"It is looked for in {store}.")
    return QueueForm.from_dict(json.loads(rows[0][0])), rows[0][1]


class Queue:
    """A queue of a store.

    Methods that take the person who labels raise ``UnknownName`` if nobody of this name is in
    the queue, and ``InputError`` if their token was revoked or they were not given the item.
    """

    def __init__(
        self, database: LabelDatabase, name: str, now: Callable[[], float] = time.time
    ) -> None:
        self._database, self.name, self._now = database, name, now
        with database.reading() as run:
            self.form, _ = form_in(run, name, database.name)

    @classmethod
    def make(
        cls,
        database: LabelDatabase,
        form: QueueForm,
        items: Iterable[PlacedItem | tuple[QueueItem, float, int]],
        now: Callable[[], float] = time.time,
    ) -> "Queue":
        """Make a queue."""
        _check_name(form.name)
        with database.transaction() as run:
            if run("SELECT 1 FROM queues WHERE queue = ?", form.name):
                raise InputError(
                    f"{database.name} has a queue {form.name!r}. Choose another name, or go on "
                    f"with it: `ragstone annotate {form.name}`."
                )
            at = timestamp(now())
            run("INSERT INTO queues VALUES (?, ?, ?)", form.name, at, as_json(asdict(form)))
            count = add_items(run, form.name, items)
            note_event(run, form.name, at, "", "made", f"{count} items")
        return cls(database, form.name, now)

    def extend(
        self, items: Iterable[PlacedItem | tuple[QueueItem, float, int]], by: str = ""
    ) -> int:
        """Add items of examples that are not there yet, with new numbers; return how many."""
        with self._database.transaction() as run:
            known = {id for (id,) in run("SELECT id FROM items WHERE queue = ?", self.name)}
            ((last,),) = run("SELECT max(item) FROM items WHERE queue = ?", self.name)
            more = [
                item for item in (PlacedItem(*each) for each in items) if item.item.id not in known
            ]
            count = add_items(run, self.name, (
                item._replace(item=replace(item.item, item=last + 1 + at))
                for at, item in enumerate(more)
            ))  # fmt: skip
            self.record(run, by, "extended", f"{count} items")
        return count

    def drawn_again(self, probabilities: Mapping[str, float]) -> None:
        """Raise the probabilities of examples for which a draw reached further."""
        with self._database.transaction() as run:
            run.many(
                "UPDATE items SET probability = ? WHERE queue = ? AND id = ? AND probability < ?",
                [(p, self.name, id, p) for id, p in probabilities.items()],
            )

    def limit(self, most: int | None, by: str = "") -> None:
        """Give out this many examples, all without a number; what was given out stays so."""
        if most is not None and most < 1:
            raise InputError(f"{argument('n', most)} is not 1 or more.")
        with self._database.transaction() as run:
            limit(run, self.name, most)
            self._change(run, most=most)
            self.record(run, by, "limited", "all" if most is None else str(most))

    def route(self, route: Route, by: str = "") -> None:
        """Give out the examples that are left by another rule; labelled ones keep their chances."""
        if self.form.order == "risk":
            raise InputError(
                f"{self.name!r} gives its items out in the order of their risk, which leaves "
                "nothing to route. Make a queue in random order."
            )
        with self._database.transaction() as run:
            if route == "doubt" and not run(
                "SELECT 1 FROM items WHERE queue = ? AND doubt IS NOT NULL LIMIT 1", self.name
            ):
                raise InputError(
                    f"{self.name!r} does not know where the judge is in doubt. Make a queue of a "
                    f"run with {argument('metric', 'METRIC')}."
                )
            ((phases,),) = run(
                "SELECT count(*) FROM events WHERE queue = ? AND what = 'routed'", self.name
            )
            self._change(run, route=route)
            reroute(run, self.name, route, self.form.seed + 1 + phases)
            limit(run, self.name, self.form.most)
            self.record(run, by, "routed", route)

    def ask(self, label: AskedLabel, by: str = "") -> None:
        """Ask for another label from now on; what was said stays as it is."""
        if not any(part.asks(label) for _, parts in self.places().values() for part in parts):
            raise InputError(
                f"No item of the queue {self.name!r} has a {label.unit} to label with "
                f"{label.label}."
            )
        with self._database.transaction() as run:
            labels = form_in(run, self.name, self._database.name)[0].asked
            if (label.label, label.unit) in [(known.label, known.unit) for known in labels]:
                raise InputError(f"The queue {self.name!r} asks for {label.label} already.")
            self._change(run, asked=(*labels, label))
            self.record(run, by, "asked", label.label)

    def open(self, by: str = "") -> None:
        """Let the owner see who gave which label from now on, which cannot be taken back."""
        if not self.form.opened:
            with self._database.transaction() as run:
                self._change(run, opened=True)
                self.record(run, by, "opened", "")

    def inclusion(self) -> dict[int, float] | None:
        """Return the probability with which each item was labelled, from 0 to 1.

        None where labels do not stand for all examples: these were chosen and not drawn, or are
        labelled in the order of their risk and not all of them are.
        """
        with self._database.reading() as run:
            if self.form.chosen:
                return None
            probabilities = inclusion_probabilities(run, self.name)
            if self.form.order == "risk" and run(
                "SELECT 1 FROM items i WHERE queue = ? AND NOT EXISTS (SELECT 1 FROM turns t "
                "WHERE t.queue = i.queue AND t.item = i.item AND t.state = 'said') LIMIT 1",
                self.name,
            ):
                return None
        return probabilities

    def invite(self, person: str, role: Role = "annotator", by: str = "") -> str:
        """Give a person, who may be known already, a new token; an older one ends at once."""
        check_person(person)
        token = token_urlsafe(24)
        with self._database.transaction() as run:
            run(
                "INSERT INTO people VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT (queue, person) "
                "DO UPDATE SET token = excluded.token, role = excluded.role, revoked = NULL",
                self.name, person, role, hashed(token), self._at,
            )  # fmt: skip
            self.record(run, by, "invited", f"{person} as {role}")
        return token

    def revoke(self, person: str, by: str = "") -> None:
        """Take a person's token back; what they said stays, and their open items are free."""
        with self._database.transaction() as run:
            if not run(
                "UPDATE people SET revoked = ? WHERE queue = ? AND person = ? RETURNING person",
                self._at, self.name, person,
            ):  # fmt: skip
                admit(run, self.name, person)  # Which says who is in the queue.
            self._turns(run).free("person = ?", person)
            self.record(run, by, "revoked", person)

    def people(self) -> list[QueuePerson]:
        """Return everybody who was invited."""
        with self._database.reading() as run:
            return people_in(run, self.name)

    def next(self, person: str) -> QueueItem | None:
        """Return the item that a person has, or is now given; None if nothing is left for them."""
        with self._database.transaction() as run:
            admit(run, self.name, person)
            return self._next(run, person)

    def item(self, number: int) -> QueueItem:
        """Return an item by its number."""
        with self._database.reading() as run:
            return self._item(run, number)

    def questions(self) -> dict[str, str]:
        """Return a word for the question of each example, as far as known."""
        statement = "SELECT id, question FROM items WHERE queue = ? AND question <> ''"
        return dict(rows_of(self._database, statement, self.name))

    def places(self) -> dict[int, tuple[str, list[ItemPart]]]:
        """Return the example of each item, and its parts."""
        statement = "SELECT item, id, parts FROM items WHERE queue = ?"
        rows = rows_of(self._database, statement, self.name)
        return {
            number: (id, [ItemPart(**part) for part in json.loads(parts)])
            for number, id, parts in rows
        }

    def pairs(self) -> dict[int, Mapping[str, Any]]:
        """Return the hidden facts of items that are pairs of answers."""
        statement = "SELECT item, hidden FROM items WHERE queue = ? AND hidden <> '{}'"
        rows = rows_of(self._database, statement, self.name)
        return {number: json.loads(hidden) for number, hidden in rows}

    def fill(self, person: str, number: int, answers: ItemAnswers, by: str = "") -> bool:
        """Take over a person's labels from elsewhere; return True if they were new.

        They are in the queue then, without a link until they are invited. What they said here of
        the item stays.
        """
        once = f"{person}\n{number}\n{as_json(answers.to_dict())}"
        with self._database.transaction() as run:
            run(
                "INSERT INTO people VALUES (?, ?, 'annotator', ?, ?, NULL) "
                "ON CONFLICT (queue, person) DO NOTHING",
                self.name, person, hashed(token_urlsafe(24)), self._at,
            )  # fmt: skip
            turns = self._turns(run)
            state = turns.find(person, number)
            if state == "said":
                return False
            if state != "given":
                turns.count(number, 1)
            turns.set(person, number, "said")
            self._insert(run, "said", person, number, answers, once)
            self.record(run, by, "taken over", f"{person}: {number}")
        return True

    def save(
        self, person: str, number: int, answers: ItemAnswers, once: str, seen: int | None = None
    ) -> QueueItem | None:
        """Save a person's labels of an item; return their next item.

        Args:
            once: A word of the client's own for this save; with the same word again nothing is
                added, so that a save whose reply was lost can be repeated.
            seen: The version that they saw of their earlier labels, see ``MyWork``; None if it does
                not matter.

        Raises:
            LabelConflict: Their labels were changed after they saw them.
        """
        with self._database.transaction() as run:
            admit(run, self.name, person)
            turns = self._turns(run)
            state = turns.state(person, number)
            if seen is not None:
                self._refuse_other(run, person, number, answers, once, seen)
            if self._insert(run, "said", person, number, answers, once):
                turns.set(person, number, "said")
                if state in ("skipped", "late"):
                    turns.count(number, 1)
            return self._next(run, person)

    def skip(self, person: str, number: int) -> QueueItem | None:
        """Let somebody else have the item; it comes back to this person after all others."""
        with self._database.transaction() as run:
            admit(run, self.name, person)
            turns = self._turns(run)
            if turns.state(person, number) == "given":
                turns.set(person, number, "skipped")
                turns.count(number, -1)
                self.record(run, person, "skipped", str(number))
            return self._next(run, person)

    def hold(self, person: str, number: int) -> None:
        """Let somebody who is still at an item have it for longer; nothing if they have it not."""
        with self._database.transaction() as run:
            self._turns(run).hold(person, number)

    def undo(self, person: str) -> tuple[QueueItem, ItemAnswers] | None:
        """Take back what a person saved last, to label it anew; None if there is nothing."""
        with self._database.transaction() as run:
            admit(run, self.name, person)
            last = run(
                "SELECT s.item, s.answers FROM said s JOIN turns t ON t.queue = s.queue AND "
                "t.person = s.person AND t.item = s.item WHERE s.queue = ? AND s.person = ? AND "
                "t.state = 'said' ORDER BY s.number DESC LIMIT 1",
                self.name, person,
            )  # fmt: skip
            if not last:
                return None
            ((number, answers),) = last
            self._turns(run).set(person, number, "given")
            self.record(run, person, "undone", str(number))
            return self._item(run, number), ItemAnswers.from_dict(json.loads(answers))

    def decide(self, person: str, number: int, answers: ItemAnswers, once: str) -> None:
        """Save an adjudicator's labels of an item; empty ones take their decision back.

        Their labels as an annotator stay beside it. ``once`` is as in ``save``.
        """
        check_person(person)
        with self._database.transaction() as run:
            self._item(run, number)
            if self._insert(run, "decided", person, number, answers, once):
                what = "undecided" if answers.is_empty else "decided"
                self.record(run, person, what, str(number))

    def said(self) -> list[SavedItem]:
        """Return each person's last labels of each item, unless they took them back.

        Who decided an item and labelled it, too, has two.
        """
        with self._database.reading() as run:
            rows = run(
                "SELECT s.item, i.id, s.person, 'annotator', s.at, s.answers FROM said s "
                "JOIN turns t ON t.queue = s.queue AND t.person = s.person AND t.item = s.item "
                "JOIN items i ON i.queue = s.queue AND i.item = s.item "
                "WHERE s.queue = ? AND t.state = 'said' AND s.number = (SELECT max(number) "
                "FROM said o WHERE o.queue = s.queue AND o.person = s.person AND o.item = s.item) "
                "ORDER BY s.number",
                self.name,
            ) + run(
                "SELECT d.item, i.id, d.person, 'adjudicator', d.at, d.answers FROM decided d "
                "JOIN items i ON i.queue = d.queue AND i.item = d.item "
                "WHERE d.queue = ? AND d.number = (SELECT max(number) FROM decided o "
                "WHERE o.queue = d.queue AND o.person = d.person AND o.item = d.item) "
                "ORDER BY d.number",
                self.name,
            )
        saves = [
            SavedItem(item, id, person, role, at, ItemAnswers.from_dict(json.loads(answers)))
            for item, id, person, role, at, answers in rows
        ]
        return [saved for saved in saves if saved.role == "annotator" or not saved.answers.is_empty]

    def to_come(self) -> int:
        """Count the labels still to be given; an item that two are to label counts twice."""
        with self._database.reading() as run:
            ((count,),) = run(
                "SELECT coalesce(sum(i.wanted - coalesce(d.n, 0)), 0) FROM items i LEFT JOIN "
                "(SELECT t.item, count(*) AS n FROM turns t JOIN people p ON p.queue = t.queue AND "
                "p.person = t.person WHERE t.queue = ? AND t.state = 'said' AND "
                "p.role = 'annotator' GROUP BY t.item) d ON d.item = i.item "
                "WHERE i.queue = ? AND i.wanted > coalesce(d.n, 0)",
                self.name, self.name,
            )  # fmt: skip
        return int(count)

    def record(self, run: Sql, person: str, what: str, about: str) -> None:
        """Add a change to the events, in a transaction of the store."""
        note_event(run, self.name, self._at, person, what, about)

    def events(self) -> list[QueueEvent]:
        """Return every change, the oldest first; labels are in ``said``."""
        statement = "SELECT at, person, what, about FROM events WHERE queue = ? ORDER BY number"
        return [QueueEvent(*row) for row in rows_of(self._database, statement, self.name)]

    def _change(self, run: Sql, **changed: Any) -> None:
        # Somebody else may have changed the form in the store.
        self.form = replace(form_in(run, self.name, self._database.name)[0], **changed)
        run("UPDATE queues SET form = ? WHERE queue = ?", as_json(asdict(self.form)), self.name)

    @property
    def _at(self) -> str:
        return timestamp(self._now())

    def _turns(self, run: Sql) -> Leases:
        return Leases(run, self.name, self._now())

    def _next(self, run: Sql, person: str) -> QueueItem | None:
        number = self._turns(run).next(person)
        return None if number is None else self._item(run, number)

    def _insert(
        self, run: Sql, table: str, person: str, number: int, answers: ItemAnswers, once: str
    ) -> bool:
        added = run(
            f"INSERT INTO {table} (queue, person, item, at, once, answers) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (queue, person, once) DO NOTHING "
            "RETURNING number",
            self.name, person, number, self._at, _once(number, once),
            as_json(answers.to_dict()),
        )  # fmt: skip
        return bool(added)

    def _refuse_other(
        self, run: Sql, person: str, number: int, answers: ItemAnswers, once: str, seen: int
    ) -> None:
        saves = run(
            "SELECT number, at, answers, once FROM said "
            "WHERE queue = ? AND person = ? AND item = ? ORDER BY number DESC",
            self.name, person, number,
        )  # fmt: skip
        if not saves or saves[0][0] == seen or _once(number, once) in [save[3] for save in saves]:
            return
        version, at, last, _ = saves[0]
        if json.loads(last) != answers.to_dict():
            raise LabelConflict(number, at, version)

    def _item(self, run: Sql, number: int) -> QueueItem:
        rows = run(
            "SELECT id, shown, parts, probability, hidden FROM items "
            "WHERE queue = ? AND item = ?",
            self.name, number,
        )  # fmt: skip
        if not rows:
            raise UnknownName("item", str(number), (), hint=f"It is not in the queue {self.name}.")
        ((id, content, parts, probability, hidden),) = rows
        item_parts = tuple(ItemPart(**part) for part in json.loads(parts))
        return QueueItem(
            number, id, json.loads(content), item_parts, probability, json.loads(hidden)
        )


def _check_name(name: str) -> None:
    printable = name.isprintable() and 0 < len(name) <= MOST_QUEUE
    other = {"/", "#"} & set(name) or not name.strip(" .") or name in NOT_A_QUEUE
    if not printable or other:
        raise InputError(
            f"{name!r} cannot be the name of a queue: it has 1 to {MOST_QUEUE} characters that can "
            f"be printed, neither / nor #, and is not {' or '.join(NOT_A_QUEUE)}."
        )


def _once(number: int, once: str) -> str:
    return hashed(f"{number}\n{once}")
