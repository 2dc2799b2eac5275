"""Score sums: what weighted means need of the scores of a metric, by slot.

Sums that are ready are read, and the others are made while they are read, so that what is read is
always right and only the slots of the last minutes are summed up again and again.
"""

from typing import NamedTuple

from ragstone.core.database import Sql

from .slots import WIDTH, slot_of

SUMS = "n, w, wx, ww, wwx, wwxx, most, undefined, missing, missing_w"

_VALUED = "s.status = 'value'"
_WEIGHT = "1.0 / s.probability"


def _over(condition: str, what: str) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN {what} END), 0)"


_MADE = ", ".join(
    [
        f"count(CASE WHEN {_VALUED} THEN 1 END)",
        _over(_VALUED, _WEIGHT),
        _over(_VALUED, f"{_WEIGHT} * s.value"),
        _over(_VALUED, f"{_WEIGHT} * {_WEIGHT}"),
        _over(_VALUED, f"{_WEIGHT} * {_WEIGHT} * s.value"),
        _over(_VALUED, f"{_WEIGHT} * {_WEIGHT} * s.value * s.value"),
        f"coalesce(max(CASE WHEN {_VALUED} THEN {_WEIGHT} END), 0)",
        "count(CASE WHEN s.status = 'undefined' THEN 1 END)",
        "count(CASE WHEN s.status = 'missing' THEN 1 END)",
        _over("s.status = 'missing'", _WEIGHT),
    ]
)
_BY_JUDGES = "s.source <> 'people'"
_IN_SLOT = f"s.at >= ? AND s.at < ? AND {_BY_JUDGES}"


class SlotSums(NamedTuple):
    """The sums over the scores of one metric in one slot.

    ``w`` is the weight of a score, one over the probability with which its example was drawn, and
    ``x`` its value. ``missing_w`` is the weight of those whose judgement failed.
    """

    slot: int
    n: int
    w: float
    wx: float
    ww: float
    wwx: float
    wwxx: float
    most: float
    undefined: int
    missing: int
    missing_w: float


def slot_sums(
    run: Sql, metric: str, first: int, end: int, facet: tuple[str, str] | None = None
) -> list[SlotSums]:
    """The sums of each slot from ``first`` on and before ``end`` that has a score.

    Args:
        run: The store.
        metric: Its text form.
        first: A slot.
        end: A later one.
        facet: Name and value that the examples have; None: all examples.
    """
    name, value = facet or ("", "")
    open_slots = [
        slot
        for (slot,) in run(
            "SELECT slot FROM to_sum WHERE metric = ? AND slot >= ? AND slot < ? ORDER BY slot",
            metric, first, end,
        )
    ]  # fmt: skip
    ready = run(
        f"SELECT slot, {SUMS} FROM score_sums r WHERE metric = ? AND name = ? AND value = ? "
        "AND slot >= ? AND slot < ? AND NOT EXISTS "
        "(SELECT 1 FROM to_sum t WHERE t.metric = r.metric AND t.slot = r.slot)",
        metric, name, value, first, end,
    )  # fmt: skip
    made = [row for run_of in _runs(open_slots) for row in _made(run, metric, *run_of, facet)]
    return sorted(SlotSums(*row) for row in [*ready, *made])


def _made(
    run: Sql, metric: str, first: int, end: int, facet: tuple[str, str] | None
) -> list[tuple[float, ...]]:
    has, values = "", tuple[str, ...]()
    if facet is not None:
        has = (
            " AND EXISTS (SELECT 1 FROM facets f WHERE f.example = s.example AND f.name = ? "
            "AND f.value = ?)"
        )
        values = facet
    return run(
        f"SELECT {slot_of('s.at')} AS slot, {_MADE} FROM scores s WHERE s.metric = ? "
        f"AND {_IN_SLOT}{has} GROUP BY 1",
        metric, first * WIDTH, end * WIDTH, *values,
    )  # fmt: skip


def _runs(slots: list[int]) -> list[tuple[int, int]]:
    """Slots as stretches that follow each other without a gap: the first, and behind the last."""
    found: list[tuple[int, int]] = []
    for slot in slots:
        if found and found[-1][1] == slot:
            found[-1] = found[-1][0], slot + 1
        else:
            found.append((slot, slot + 1))
    return found


def sum_up(run: Sql, most: int = 500) -> int:
    """Make the sums of slots whose scores changed, the oldest first; returns how many were made.

    Args:
        run: The store, in a transaction.
        most: Slots of a metric that are summed up.
    """
    slots = run("SELECT metric, slot FROM to_sum ORDER BY slot, metric LIMIT ?", most)
    for metric, slot in slots:
        within = (metric, slot * WIDTH, (slot + 1) * WIDTH)
        run("DELETE FROM score_sums WHERE metric = ? AND slot = ?", metric, slot)
        run(
            f"INSERT INTO score_sums (metric, name, value, slot, {SUMS}) "
            f"SELECT s.metric, '', '', CAST(? AS BIGINT), {_MADE} FROM scores s "
            f"WHERE s.metric = ? AND {_IN_SLOT} GROUP BY s.metric",
            slot, *within,
        )  # fmt: skip
        run(
            f"INSERT INTO score_sums (metric, name, value, slot, {SUMS}) "
            f"SELECT s.metric, f.name, f.value, CAST(? AS BIGINT), {_MADE} FROM scores s "
            f"JOIN facets f ON f.example = s.example WHERE s.metric = ? AND {_IN_SLOT} "
            "AND f.name <> '' GROUP BY s.metric, f.name, f.value",
            slot, *within,
        )  # fmt: skip
        run("DELETE FROM to_sum WHERE metric = ? AND slot = ?", metric, slot)
    return len(slots)
