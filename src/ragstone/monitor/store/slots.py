"""Slots: stretches of two minutes, for each of which the scores are summed up once.

``score_sums`` holds for each metric and slot the sums over its scores: of all (where ``name`` is
empty), and of those whose example has a facet. ``to_sum`` holds the slots whose sums have to be
made anew. The database itself puts a slot there when a score in it, or a facet of its example,
comes, changes or goes; so sums that are not listed there are right, whoever writes scores.
"""

from ragstone.core.database import Reaction

WIDTH = 120
"""Seconds of a slot."""


def slot_of(at: str) -> str:
    """The SQL for the slot of a time, which both databases round in the same way.

    Casts round in PostgreSQL and cut in SQLite; half a second below a whole one, ``round`` goes to
    either neighbour, which makes a difference at the end of a slot alone, and there both go up.
    """
    return f"CAST(round({at} - 0.5) AS BIGINT) / {WIDTH}"


SUMMED = (
    "CREATE TABLE score_sums (metric TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, "
    "slot BIGINT NOT NULL, n BIGINT NOT NULL, w DOUBLE PRECISION NOT NULL, "
    "wx DOUBLE PRECISION NOT NULL, ww DOUBLE PRECISION NOT NULL, wwx DOUBLE PRECISION NOT NULL, "
    "wwxx DOUBLE PRECISION NOT NULL, most DOUBLE PRECISION NOT NULL, undefined BIGINT NOT NULL, "
    "missing BIGINT NOT NULL, missing_w DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (metric, name, value, slot))",
    "CREATE TABLE to_sum (metric TEXT NOT NULL, slot BIGINT NOT NULL, PRIMARY KEY (metric, slot))",
)


def _of_score(row: str) -> str:
    return (
        f"INSERT INTO to_sum VALUES ({row}.metric, {slot_of(f'{row}.at')}) "
        "ON CONFLICT (metric, slot) DO NOTHING"
    )


def _of_facet(row: str) -> str:
    return (
        f"INSERT INTO to_sum SELECT metric, {slot_of('at')} FROM scores "
        f"WHERE example = {row}.example ON CONFLICT (metric, slot) DO NOTHING"
    )


SUMS_TO_MAKE = (
    Reaction("score_came", "scores", "INSERT", _of_score("NEW")),
    Reaction("score_changed", "scores", "UPDATE", _of_score("NEW")),
    Reaction("score_moved", "scores", "UPDATE", _of_score("OLD")),
    Reaction("score_went", "scores", "DELETE", _of_score("OLD")),
    Reaction("facet_came", "facets", "INSERT", _of_facet("NEW")),
    Reaction("facet_changed", "facets", "UPDATE", _of_facet("NEW")),
    Reaction("facet_went", "facets", "DELETE", _of_facet("OLD")),
)
