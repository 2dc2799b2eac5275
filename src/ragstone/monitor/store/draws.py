"""Draws: which examples are judged, with which probability they were drawn, and how far it is.

``out``: not drawn. ``due``: to be judged. ``judged``. ``failed``: set aside after several tries.
``shed``: it waited too long for its turn.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from ragstone.core.database import Sql

from .counts import count
from .rows import in_pages, marks
from .to_do import DRAW, done

DrawState = Literal["out", "due", "judged", "failed", "shed"]


class ToDraw(NamedTuple):
    """An example that may be drawn; ``confidence`` is the guard's, ``session`` is its own id where
    it has none."""

    example: str
    session: str
    text_hash: str
    confidence: float | None
    facets: Mapping[str, str]


class NewDraw(NamedTuple):
    """Whether an example was drawn."""

    example: str
    probability: float
    state: DrawState
    text_hash: str
    lot: float


def next_to_draw(run: Sql, most: int) -> list[ToDraw]:
    """The examples that wait longest."""
    rows = run(
        "SELECT e.example, coalesce(e.session, e.example), e.text_hash, a.confidence "
        "FROM to_do t JOIN examples e ON e.example = t.example "
        "LEFT JOIN assessed a ON a.example = t.example "
        "WHERE t.step = ? ORDER BY t.at, t.example LIMIT ?",
        DRAW, most,
    )  # fmt: skip
    facets = facets_of(run, [example for example, *_ in rows])
    return [
        ToDraw(example, session, text_hash, confidence, facets.get(example, {}))
        for example, session, text_hash, confidence in rows
    ]


def facets_of(run: Sql, examples: Collection[str]) -> dict[str, dict[str, str]]:
    """What some examples can be sliced by."""
    found: dict[str, dict[str, str]] = {}
    for example, name, value in run(
        f"SELECT example, name, value FROM facets WHERE example IN ({marks(examples)}) "
        "ORDER BY example, name",
        *examples,
    ):
        found.setdefault(example, {})[name] = value
    return found


def write_draws(run: Sql, now: float, draws: Sequence[NewDraw], about: Collection[str]) -> None:
    """Keep draws; an example that was drawn before is due again where its text changed.

    Args:
        run: The store.
        now: Seconds since the epoch.
        draws: New ones.
        about: The examples that waited.
    """
    there = {
        example
        for (example,) in run(
            f"SELECT example FROM examples WHERE example IN ({marks(about)})", *about
        )
    }
    known = {
        example: (text_hash, state)
        for example, text_hash, state in run(
            f"SELECT example, text_hash, state FROM draws WHERE example IN ({marks(about)})",
            *about,
        )
    }
    new = [one for one in draws if one.example in there and one.example not in known]
    run.many(
        "INSERT INTO draws VALUES (?, ?, ?, ?, ?, ?, 'sample', 0, ?)",
        [
            (one.example, now, one.probability, one.state, now, one.text_hash, one.lot)
            for one in new
        ],
    )
    changed = [
        (now, one.text_hash, one.example)
        for one in draws
        if one.example in known and known[one.example][0] != one.text_hash
    ]
    run.many(
        "UPDATE draws SET state = CASE WHEN state = 'out' THEN 'out' ELSE 'due' END, "
        "due_at = ?, text_hash = ?, tries = 0 WHERE example = ?",
        changed,
    )
    again = sum(known[example][1] != "out" for *_, example in changed)
    due = sum(one.state == "due" for one in new)
    done(run, DRAW, about)
    count(run, now, {"due": due + again, "passed_over": len(new) - due})


def due_before(run: Sql, at: float) -> int:
    """How many are to be judged by then."""
    ((n,),) = run("SELECT count(*) FROM draws WHERE state = 'due' AND due_at <= ?", at)
    return int(n)


def due_of_sessions(run: Sql, at: float, sessions: Collection[str]) -> dict[str, int]:
    """How many of each of some sessions are to be judged by then; 0 are left out."""
    found: dict[str, int] = {}
    for page in in_pages(sorted(set(sessions))):
        found.update(
            run(
                "SELECT e.session, count(*) FROM examples e JOIN draws d ON d.example = e.example "
                f"WHERE e.session IN ({marks(page)}) AND d.state = 'due' AND d.due_at <= ? "
                "GROUP BY e.session",
                *page, at,
            )
        )  # fmt: skip
    return found
