"""Assignment: the item that each annotator labels next, and how likely each was to be labelled.

A person has an item for a limited time; what comes later is stored, too. A turn is ``given``,
``said``, ``skipped``, or ``late`` where somebody had an item for too long or was revoked.

All parts of an example are assigned together. Every example has a random number u, spread evenly
over 0 to 1, and a weight w; the smaller u/w, the earlier its turn. With k examples labelled, and
t the (k + 1)th smallest u/w, an example was labelled with probability min(1, wt), and sums in
which each label counts 1/that are right on average. Labels therefore stand for all examples,
however far people get. After a change of routing, the examples that nobody has had get new
numbers; with the probabilities p of each phase, an example was labelled with probability
1 − Π (1 − p).

Source: Duffield, Lund & Thorup (2007), "Priority sampling for estimation of arbitrary subset
sums", J. ACM 54(6).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragstone.core.database import Sql
from ragstone.core.errors import InputError

# Seconds for which an item is somebody's.
HELD = 900.0

TurnState = Literal["given", "said", "skipped", "late"]


@dataclass(frozen=True, slots=True)
class Leases:
    """The turns of a queue, in a transaction; ``now`` is in seconds since the epoch."""

    run: Sql
    queue: str
    now: float

    def next(self, person: str) -> int | None:
        """Return the number of the item that a person has, or is now given; None if nothing is
        left.
        """
        # One that is held for far longer than any can be was given by a clock that ran ahead;
        # those of two servers may differ a little.
        self.free("(until < ? OR until > ?)", self.now, self.now + 2 * HELD)
        here = (self.queue, person)
        held = self.run(
            "SELECT item FROM turns WHERE queue = ? AND person = ? AND state = 'given' "
            "ORDER BY until DESC LIMIT 1",
            *here,
        )
        if held:
            ((number,),) = held
            self.set(person, number, "given")
            return int(number)
        open_items = self.run(
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
        if not open_items:
            return None
        ((number,),) = open_items
        self.set(person, number, "given")
        self.count(number, 1)
        return int(number)

    def find(self, person: str, number: int) -> TurnState | None:
        """Return the state of somebody's turn; None if they were never given the item."""
        states = self.run(
            "SELECT state FROM turns WHERE queue = ? AND person = ? AND item = ?",
            self.queue, person, number,
        )  # fmt: skip
        return states[0][0] if states else None

    def state(self, person: str, number: int) -> TurnState:
        """Return the state of somebody's turn."""
        turn = self.find(person, number)
        if turn is None:
            raise InputError(f"Item {number} of {self.queue} was not given to {person}.")
        return turn

    def set(self, person: str, number: int, state: TurnState) -> None:
        """Set the state of somebody's turn; a given item is held from now on."""
        self.run(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?) ON CONFLICT (queue, person, item) "
            "DO UPDATE SET state = excluded.state, until = excluded.until",
            self.queue, person, number, state, self.now + (HELD if state == "given" else 0),
        )  # fmt: skip

    def hold(self, person: str, number: int) -> None:
        """Extend a person's turn if they have the item."""
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

    def free(self, which: str, *values: object) -> None:
        """Give back the items that these turns hold."""
        freed = self.run(
            f"UPDATE turns SET state = 'late' WHERE queue = ? AND state = 'given' AND {which} "
            "RETURNING item",
            self.queue, *values,
        )  # fmt: skip
        for (number,) in freed:
            self.count(number, -1)


# ``random``: all are as likely. ``doubt``: those on which the judge is in doubt are likelier.
Route = Literal["random", "doubt"]

# How much likelier the most doubtful example is than the least; none has no chance at all.
EMPHASIS = 10.0


def route_weight(route: Route, doubt: float | None) -> float:
    """Return the weight of an example.

    ``doubt`` is how much the judge is in doubt, from 0 to 1; None, as 0, if it gave no score.
    """
    return EMPHASIS ** (doubt or 0.0) if route == "doubt" else 1.0


def random_places(weights: Sequence[float], rng: np.random.Generator) -> list[float]:
    """Return u/w of each example."""
    count = len(weights)
    return [u / count / w for u, w in zip(rng.permutation(count).tolist(), weights, strict=True)]


def phase_probabilities(
    places: Mapping[str, float], weights: Mapping[str, float], labelled: Collection[str]
) -> dict[str, float]:
    """Return the probability with which each example was labelled in a phase.

    Args:
        places: u/w of the examples that could be given out in it.
        weights: Of these, and of those of earlier phases.
        labelled: Those of ``places`` that were labelled.
    """
    if len(labelled) >= len(places):
        return dict.fromkeys(weights, 1.0)
    least_left = sorted(places.values())[len(labelled)]
    return {id: min(1.0, weight * least_left) for id, weight in weights.items()}


# The place of what was given out in an earlier phase and is not finished.
FIRST = -1.0


def reroute(run: Sql, queue: str, route: Route, seed: int) -> None:
    """Close the phase: examples that nobody has been given get new places by ``route``."""
    given_out = {id for (id,) in run(
        "SELECT DISTINCT id FROM items WHERE queue = ? AND taken > 0", queue
    )}  # fmt: skip
    rows = run(
        "SELECT id, min(place), min(weight), min(passed), max(earlier), min(doubt) FROM items "
        "WHERE queue = ? GROUP BY id ORDER BY min(item)",
        queue,
    )
    weights = {id: weight for id, _, weight, *_ in rows}
    places = {id: u for id, u, _, _, earlier, _ in rows if not earlier}
    chances = phase_probabilities(places, weights, given_out & set(places))
    left = [id for id, *_ in rows if id in places and id not in given_out]
    later = {id: route_weight(route, doubt) for id, *_, doubt in rows}
    new = dict(zip(
        left, random_places([later[id] for id in left], np.random.default_rng(seed)), strict=True
    ))  # fmt: skip
    for id, _, _, passed, _, _ in rows:
        run(
            "UPDATE items SET weight = ?, passed = ?, earlier = ?, place = ? "
            "WHERE queue = ? AND id = ?",
            later[id], passed * (1 - chances[id]), int(id not in new), new.get(id, FIRST),
            queue, id,
        )  # fmt: skip


def limit(run: Sql, queue: str, most: int | None) -> None:
    """Give out the first ``most`` examples, all if None; what somebody was given stays."""
    rows = run(
        "SELECT id FROM items WHERE queue = ? GROUP BY id ORDER BY max(taken) = 0, min(place), "
        "min(item)",
        queue,
    )
    run(
        "UPDATE items SET wanted = CASE WHEN taken > 0 THEN people ELSE 0 END WHERE queue = ?",
        queue,
    )
    for (id,) in rows[:most]:
        run("UPDATE items SET wanted = people WHERE queue = ? AND id = ?", queue, id)


def inclusion_probabilities(run: Sql, queue: str) -> dict[int, float]:
    """Return the probability with which each item was labelled, by routing and sample."""
    labelled_items = {item for (item,) in run(
        "SELECT DISTINCT item FROM turns WHERE queue = ? AND state = 'said'", queue
    )}  # fmt: skip
    rows = run(
        "SELECT item, id, place, weight, passed, earlier, probability FROM items "
        "WHERE queue = ? ORDER BY item",
        queue,
    )
    weights = {id: weight for _, id, _, weight, *_ in rows}
    places = {id: u for _, id, u, _, _, earlier, _ in rows if not earlier}
    labelled = {id for item, id, *_ in rows if item in labelled_items and id in places}
    chances = phase_probabilities(places, weights, labelled)
    return {
        item: (1.0 if drawn is None else drawn) * (1 - passed * (1 - chances[id]))
        for item, id, _, _, passed, _, drawn in rows
    }
