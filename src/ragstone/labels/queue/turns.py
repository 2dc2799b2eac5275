"""Turns: which person has which item, and until when.

An item is somebody's for a while; who is later keeps what they say, too. A turn is ``given``,
``said``, ``skipped``, or ``late`` where somebody had an item for too long or was revoked.
"""

from dataclasses import dataclass
from typing import Literal

from ragstone.core.database import Sql
from ragstone.core.errors import InputError

HELD = 900.0
"""Seconds for which an item is somebody's."""

TurnState = Literal["given", "said", "skipped", "late"]


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of a queue, in a transaction.

    Attributes:
        run: Of the store.
        queue: Its name.
        now: Seconds since the epoch.
    """

    run: Sql
    queue: str
    now: float

    def next(self, person: str) -> int | None:
        """The number of the item that a person has, or is now given; None if nothing is left."""
        self.free("until < ?", self.now)
        here = (self.queue, person)
        given = self.run(
            "SELECT item FROM turns WHERE queue = ? AND person = ? AND state = 'given' "
            "ORDER BY until DESC LIMIT 1",
            *here,
        )
        if given:
            ((number,),) = given
            self.set(person, number, "given")
            return int(number)
        found = self.run(
            "SELECT item FROM items i WHERE queue = ? AND taken < wanted AND NOT EXISTS "
            "(SELECT 1 FROM turns t WHERE t.queue = i.queue AND t.person = ? AND t.item = i.item) "
            "ORDER BY place, item LIMIT 1",
            *here,
        ) or self.run(
            "SELECT t.item FROM turns t JOIN items i ON i.queue = t.queue AND i.item = t.item "
            "WHERE t.queue = ? AND t.person = ? AND t.state IN ('skipped', 'late') "
            "AND i.taken < i.wanted ORDER BY t.until, t.item LIMIT 1",
            *here,
        )
        if not found:
            return None
        ((number,),) = found
        self.set(person, number, "given")
        self.count(number, 1)
        return int(number)

    def find(self, person: str, number: int) -> TurnState | None:
        """What became of somebody's turn; None if they were never given the item."""
        found = self.run(
            "SELECT state FROM turns WHERE queue = ? AND person = ? AND item = ?",
            self.queue, person, number,
        )  # fmt: skip
        return found[0][0] if found else None

    def state(self, person: str, number: int) -> TurnState:
        """What became of somebody's turn.

        Raises:
            InputError: They were never given the item.
        """
        found = self.find(person, number)
        if found is None:
            raise InputError(f"Item {number} of {self.queue} was not given to {person}.")
        return found

    def set(self, person: str, number: int, state: TurnState) -> None:
        """Say what becomes of somebody's turn; what is given is held from now on."""
        self.run(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?) ON CONFLICT (queue, person, item) "
            "DO UPDATE SET state = excluded.state, until = excluded.until",
            self.queue, person, number, state, self.now + (HELD if state == "given" else 0),
        )  # fmt: skip

    def hold(self, person: str, number: int) -> None:
        """Let somebody who has an item have it for longer; nothing if they have it not."""
        self.run(
            "UPDATE turns SET until = ? WHERE queue = ? AND person = ? AND item = ? "
            "AND state = 'given'",
            self.now + HELD, self.queue, person, number,
        )  # fmt: skip

    def count(self, number: int, more: int) -> None:
        """Change by how many an item is taken."""
        self.run(
            "UPDATE items SET taken = taken + ? WHERE queue = ? AND item = ?",
            more, self.queue, number,
        )  # fmt: skip

    def free(self, which: str, value: object) -> None:
        """Give back the items that these turns hold."""
        freed = self.run(
            f"UPDATE turns SET state = 'late' WHERE queue = ? AND state = 'given' AND {which} "
            "RETURNING item",
            self.queue, value,
        )  # fmt: skip
        for (number,) in freed:
            self.count(number, -1)
