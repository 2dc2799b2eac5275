"""Layouts that a later version of Ragstone might have, for tests; run as a program, opens one.

The first step adds a column, the second changes what a column means, renames a table, and does
without a trigger.
"""

import sys
from dataclasses import replace

from ragstone.annotation.queue.labels_store import LAYOUT as LABELS
from ragstone.core.database import open_database
from ragstone.core.store_layout import DatabaseLayout
from ragstone.monitor.store.store import LAYOUT as MONITOR

NEXT, LATER = 98_00_00_00, 99_01_02_00


def changed(layout: DatabaseLayout, *changes: tuple[str, str]) -> tuple[str, ...]:
    """The tables with other words in them, each of which has to be there."""
    text = "\n".join(layout.tables)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return tuple(text.split("\n"))


LATER_LABELS = replace(
    LABELS,
    version=LATER,
    tables=changed(
        LABELS,
        ("answers TEXT NOT NULL, UNIQUE", "answers TEXT NOT NULL, note TEXT, UNIQUE"),
        ("CREATE TABLE tagged", "CREATE TABLE marked"),
    ),
    steps={
        LABELS.version: (
            "ALTER TABLE said ADD COLUMN note TEXT",
            "ALTER TABLE decided ADD COLUMN note TEXT",
        ),
        NEXT: ("UPDATE items SET passed = 1 - passed", "ALTER TABLE tagged RENAME TO marked"),
    },
)
LATER_MONITOR = replace(
    MONITOR,
    version=LATER,
    tables=changed(
        MONITOR,
        ("person TEXT NOT NULL)", "person TEXT NOT NULL, why TEXT)"),
        ("CREATE TABLE told", "CREATE TABLE notified"),
    ),
    reactions=MONITOR.reactions[1:],
    steps={
        MONITOR.version: ("ALTER TABLE silences ADD COLUMN why TEXT",),
        NEXT: ("UPDATE scores SET value = 100 * value", "ALTER TABLE told RENAME TO notified"),
    },
)
PAIRS = {"labels": (LABELS, LATER_LABELS), "monitor": (MONITOR, LATER_MONITOR)}


def broken(layout: DatabaseLayout, at: int, statement: str) -> DatabaseLayout:
    """The layout with another statement before one of its steps, or behind all of them."""
    steps = dict(layout.steps)
    for start, step in sorted(steps.items()):
        if at <= len(step):
            steps[start] = (*step[:at], statement, *step[at:])
            break
        at -= len(step)
    return replace(layout, steps=steps)


if __name__ == "__main__":
    place, name, at, statement = sys.argv[1:]
    open_database(place, broken(PAIRS[name][1], int(at), statement))
