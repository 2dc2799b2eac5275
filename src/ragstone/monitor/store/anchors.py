"""Anchors: examples that are judged again and again."""

from collections.abc import Callable, Iterable, Mapping

from ragstone.core.database import Sql


def anchors(run: Sql) -> dict[str, str]:
    """The records of the set by their ids, as JSON."""
    return dict(run("SELECT example, record FROM anchors ORDER BY example"))


def put_anchors(run: Sql, records: Mapping[str, str]) -> None:
    """Take these for the set; what was measured of another one goes."""
    for table in ("anchors", "anchor_scores"):
        run(f"DELETE FROM {table}")
    run.many("INSERT INTO anchors VALUES (?, ?)", sorted(records.items()))


def draw_anchors(run: Sql, least: int, most: int, order: Callable[[str], float]) -> int:
    """Draw the set among what is judged, if that is enough; gives how many were drawn."""
    ids = [example for (example,) in run("SELECT example FROM judged")]
    if len(ids) < least:
        return 0
    drawn = sorted(ids, key=order)[:most]
    for one in drawn:
        run("INSERT INTO anchors SELECT example, record FROM examples WHERE example = ?", one)
    return len(drawn)


def last_round(run: Sql) -> float | None:
    """When the set was last judged."""
    ((at,),) = run("SELECT max(at) FROM anchor_scores")
    return None if at is None else float(at)


def write_round(
    run: Sql, now: float, values: Iterable[tuple[str, str, float | None]], judge: str
) -> None:
    """Keep what a judge says now of examples that are still in the set, by metric."""
    kept = anchors(run)
    run.many(
        "INSERT INTO anchor_scores VALUES (?, ?, ?, ?, ?)",
        [
            (example, metric, now, value, judge)
            for example, metric, value in values
            if example in kept
        ],
    )
