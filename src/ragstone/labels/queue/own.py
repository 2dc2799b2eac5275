"""Own: what one person did in a queue, which is all of it that they may see."""

import json
from dataclasses import dataclass

from .database import LabelDatabase
from .form import ItemAnswers
from .queue import Queue

MOST_ITEMS = 500
"""Items of somebody's own that are listed, the newest first."""

SHORT = 160
"""Characters of a question in that list."""


@dataclass(frozen=True, slots=True)
class OwnWord:
    """What became of an item that somebody was given, and what they said of it last.

    Attributes:
        state: ``given``: they have it; ``late``: somebody else may have it now; ``skipped``;
            ``said``.
        answers: What they said; None if nothing yet. What they took back is still here.
        version: Of what they said; 0 if nothing yet. ``Queue.save`` takes it as ``seen``.
        at: When they said it.
    """

    state: str
    answers: ItemAnswers | None = None
    version: int = 0
    at: str = ""


@dataclass(frozen=True, slots=True)
class OwnItem:
    """An item in the list of somebody's own.

    Attributes:
        item: Its number in the queue.
        state: As in ``OwnWord``.
        text: How its question begins; its id where it has none.
        discarded: Whether they discarded it.
        note: Whether they noted something.
    """

    item: int
    state: str
    text: str
    discarded: bool
    note: bool


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """How far somebody is: items saved, skipped, in their hands, and still open to them."""

    saved: int
    skipped: int
    given: int
    left: int

    @property
    def all(self) -> int:
        """As many as it would be if nobody else took any of those that are open."""
        return self.saved + self.given + self.left


class OwnWork:
    """What one person did in a queue.

    Args:
        database: The store.
        queue: Of the store.
        person: Somebody who was invited to it.
    """

    def __init__(self, database: LabelDatabase, queue: Queue, person: str) -> None:
        self._database, self._queue = database, queue
        self._here = (queue.name, person)

    def word(self, number: int) -> OwnWord | None:
        """What they said of an item; None if they were never given it."""
        with self._database.reading() as run:
            states = run(
                "SELECT state FROM turns WHERE queue = ? AND person = ? AND item = ?",
                *self._here, number,
            )  # fmt: skip
            said = run(
                "SELECT answers, number, at FROM said WHERE queue = ? AND person = ? AND item = ? "
                "ORDER BY number DESC LIMIT 1",
                *self._here, number,
            )  # fmt: skip
        if not states:
            return None
        if not said:
            return OwnWord(states[0][0])
        ((answers, version, at),) = said
        return OwnWord(states[0][0], ItemAnswers.from_dict(json.loads(answers)), version, at)

    def items(self) -> list[OwnItem]:
        """Those they were given, the last one first."""
        with self._database.reading() as run:
            rows = run(
                "SELECT t.item, t.state, i.id, i.shown, s.answers FROM turns t "
                "JOIN items i ON i.queue = t.queue AND i.item = t.item "
                "LEFT JOIN said s ON s.queue = t.queue AND s.person = t.person AND "
                "s.number = (SELECT max(number) FROM said o WHERE o.queue = t.queue "
                "AND o.person = t.person AND o.item = t.item) "
                "WHERE t.queue = ? AND t.person = ? ORDER BY t.until DESC, t.item LIMIT ?",
                *self._here, MOST_ITEMS,
            )  # fmt: skip
        return [_own(*row) for row in rows]

    def progress(self) -> OwnProgress:
        """How far they are."""
        with self._database.reading() as run:
            states = run(
                "SELECT state, count(*) FROM turns WHERE queue = ? AND person = ? GROUP BY state",
                *self._here,
            )
            ((open_to_all,),) = run(
                "SELECT count(*) FROM items WHERE queue = ? AND taken < wanted", self._here[0]
            )
            ((theirs,),) = run(
                "SELECT count(*) FROM turns t JOIN items i ON i.queue = t.queue AND "
                "i.item = t.item WHERE t.queue = ? AND t.person = ? AND "
                "t.state IN ('said', 'given') AND i.taken < i.wanted",
                *self._here,
            )
        counts = {str(state): int(count) for state, count in states}
        said, skipped, given = (counts.get(one, 0) for one in ("said", "skipped", "given"))
        return OwnProgress(said, skipped, given, open_to_all - theirs)

    def with_others(self) -> int:
        """How many items others have at present, which may come to this person yet."""
        with self._database.reading() as run:
            ((count,),) = run(
                "SELECT count(DISTINCT o.item) FROM turns o WHERE o.queue = ? AND o.person <> ? "
                "AND o.state = 'given' AND NOT EXISTS (SELECT 1 FROM turns t WHERE "
                "t.queue = o.queue AND t.person = ? AND t.item = o.item AND "
                "t.state IN ('said', 'given'))",
                *self._here, self._here[1],
            )  # fmt: skip
        return int(count)


def _own(item: int, state: str, id: str, shown: str, answers: str | None) -> OwnItem:
    said = json.loads(answers) if answers else {}
    question = json.loads(shown).get("question") or id
    return OwnItem(
        item, state, question[:SHORT], bool(said.get("discarded")), bool(said.get("note"))
    )
