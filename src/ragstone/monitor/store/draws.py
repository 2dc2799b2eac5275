"""Draws: which examples are drawn to be judged, with which probability, and their state.

The states are ``out`` (not drawn), ``due`` (to be judged), ``judged``, ``failed`` (set aside
after several tries) and ``shed`` (waited too long for its turn).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from math import prod
from typing import NamedTuple

from ragstone.core.database import Sql

from .rows import DRAW, count, done, marks, rows_of, single


class TurnChance(NamedTuple):
    """The chance of a turn, which is drawn if its ``lot`` is less than its ``probability``.

    The turns of a session share their lot. ``lot`` is None where it is not kept, and then one of
    the turn's own.
    """

    example: str
    probability: float
    lot: float | None


def probability_of_all(turns: Iterable[TurnChance]) -> float:
    """Return the probability that all of them are drawn.

    Those with one lot are if it is less than the least of their probabilities; lots are drawn
    apart.
    """
    least: dict[float | str, float] = {}
    for turn in turns:
        of = turn.example if turn.lot is None else turn.lot
        least[of] = min(turn.probability, least.get(of, 1.0))
    return prod(least.values())


def lot(seed: str, session: str) -> float:
    """Return the number from 0 to 1 of a session, or of an answer without one: always the same."""
    drawn = blake2b(f"{seed}\0{session}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(drawn) / 2**64


class ToDraw(NamedTuple):
    """An example that may be drawn; ``confidence`` is the guard's, ``session`` is its own id where
    it has none."""

    example: str
    session: str
    text_hash: str
    confidence: float | None
    facets: Mapping[str, str]


def next_to_draw(run: Sql, most: int) -> list[ToDraw]:
    """Return the examples that wait longest."""
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
    """Return the facets of some examples, by example."""
    facets: dict[str, dict[str, str]] = {}
    for example, name, value in run(
        f"SELECT example, name, value FROM facets WHERE example IN ({marks(examples)}) "
        "ORDER BY example, name",
        *examples,
    ):
        facets.setdefault(example, {})[name] = value
    return facets


def write_draws(
    run: Sql, now: float, seed: str, examples: Sequence[ToDraw], probabilities: Sequence[float]
) -> None:
    """Draw each example with its probability, by its lot, and keep the draws.

    An example that was drawn before is due again where its text changed.
    """
    ids = [example.example for example in examples]
    rows = rows_of(run, "SELECT example FROM examples WHERE example IN (...)", ids)
    stored = {example for (example,) in rows}
    rows = rows_of(run, "SELECT example, text_hash, state FROM draws WHERE example IN (...)", ids)
    known = {example: (text_hash, state) for example, text_hash, state in rows}
    new, due = list[tuple[object, ...]](), 0
    for example, probability in zip(examples, probabilities, strict=True):
        if example.example in stored and example.example not in known:
            own_lot = lot(seed, example.session)
            is_due = own_lot < probability
            due += is_due
            state = "due" if is_due else "out"
            new.append((example.example, now, probability, state, now, example.text_hash, own_lot))
    run.many("INSERT INTO draws VALUES (?, ?, ?, ?, ?, ?, 'sample', 0, ?)", new)
    changed = [
        (now, example.text_hash, example.example)
        for example in examples
        if example.example in known and known[example.example][0] != example.text_hash
    ]
    run.many(
        "UPDATE draws SET state = CASE WHEN state = 'out' THEN 'out' ELSE 'due' END, "
        "due_at = ?, text_hash = ?, tries = 0 WHERE example = ?",
        changed,
    )
    again = sum(known[example][1] != "out" for *_, example in changed)
    done(run, DRAW, ids)
    count(run, now, {"due": due + again, "passed_over": len(new) - due})


def due_before(run: Sql, at: float) -> int:
    """Return how many are to be judged by then."""
    return int(single(run, "SELECT count(*) FROM draws WHERE state = 'due' AND due_at <= ?", at))


def due_of_sessions(run: Sql, at: float, sessions: Collection[str]) -> dict[str, int]:
    """Return how many of each of some sessions are to be judged by then; 0 are left out."""
    return dict(
        rows_of(
            run,
            "SELECT e.session, count(*) FROM examples e JOIN draws d ON d.example = e.example "
            "WHERE e.session IN (...) AND d.state = 'due' AND d.due_at <= ? GROUP BY e.session",
            sorted(set(sessions)),
            at,
        )
    )


def draws_between(run: Sql, since: float, until: float) -> tuple[int, list[TurnChance]]:
    """Return how many answers of a window were drawn before, and the others."""
    rows = run(
        "SELECT d.example, d.state, d.probability, d.lot FROM examples e "
        "JOIN draws d ON d.example = e.example "
        "WHERE e.at >= ? AND e.at < ? AND e.settled = 1 ORDER BY d.example",
        since, until,
    )  # fmt: skip
    others = [TurnChance(example, *chance) for example, state, *chance in rows if state == "out"]
    return len(rows) - len(others), others


def draw_between(
    run: Sql,
    now: float,
    since: float,
    until: float,
    rate: float,
    drawn: Callable[[TurnChance], bool],
) -> int:
    """Draw more of the answers of a window; gives how many more are due.

    The probability of every answer of the window rises to that of being in one of two draws, and so
    does that of the scores that some have already.
    """
    _, others = draws_between(run, since, until)
    due = [answer.example for answer in others if drawn(answer)]
    window = "(SELECT example FROM examples WHERE at >= ? AND at < ? AND settled = 1)"
    run(
        f"UPDATE draws SET probability = 1 - (1 - probability) * (1 - ?) WHERE example IN {window}",
        rate, since, until,
    )  # fmt: skip
    run(
        "UPDATE scores SET probability = 1 - (1 - probability) * (1 - ?) "
        f"WHERE source IN ('sample', 'backfill') AND example IN {window}",
        rate, since, until,
    )  # fmt: skip
    run.many(
        "UPDATE draws SET state = 'due', source = 'backfill', due_at = ?, tries = 0 "
        "WHERE example = ?",
        [(now, id) for id in due],
    )
    count(run, now, {"due": len(due)})
    return len(due)


def oldest_due(run: Sql) -> tuple[float | None, int]:
    """Return since when the answer is due that waits longest to be judged, and how many wait."""
    ((at, n),) = run("SELECT min(due_at), count(*) FROM draws WHERE state = 'due'")
    return at, int(n)
