"""Routed: the routing of a queue as its store keeps it, changed midway, read back as probabilities.

All parts of an example are given out together, so what is routed are examples.
"""

import numpy as np

from ragstone.core.database import Sql

from .routing import Route, phase_probabilities, random_places, route_weight

FIRST = -1.0
"""The place of what was given out in an earlier phase and is not finished."""


def reroute(run: Sql, queue: str, route: Route, seed: int) -> None:
    """Close the phase; the examples that nobody has been given get new places.

    Args:
        run: A transaction.
        queue: Its name.
        route: By what examples are routed from now on.
        seed: Of the new places.
    """
    given = {id for (id,) in run(
        "SELECT DISTINCT id FROM items WHERE queue = ? AND taken > 0", queue
    )}  # fmt: skip
    rows = run(
        "SELECT id, min(place), min(weight), min(passed), max(earlier), min(doubt) FROM items "
        "WHERE queue = ? GROUP BY id ORDER BY min(item)",
        queue,
    )
    weights = {id: weight for id, _, weight, *_ in rows}
    places = {id: place for id, place, _, _, earlier, _ in rows if not earlier}
    chances = phase_probabilities(places, weights, given & set(places))
    left = [id for id, *_ in rows if id in places and id not in given]
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
    """Give out the first ``most`` examples, all without it; what somebody was given stays."""
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
    """How likely each item was to be labelled, by the routing and by the sample it comes from."""
    said = {item for (item,) in run(
        "SELECT DISTINCT item FROM turns WHERE queue = ? AND state = 'said'", queue
    )}  # fmt: skip
    rows = run(
        "SELECT item, id, place, weight, passed, earlier, probability FROM items "
        "WHERE queue = ? ORDER BY item",
        queue,
    )
    weights = {id: weight for _, id, _, weight, *_ in rows}
    places = {id: place for _, id, place, _, _, earlier, _ in rows if not earlier}
    labelled = {id for item, id, *_ in rows if item in said and id in places}
    chances = phase_probabilities(places, weights, labelled)
    return {
        item: (1.0 if drawn is None else drawn) * (1 - passed * (1 - chances[id]))
        for item, id, _, _, passed, _, drawn in rows
    }
