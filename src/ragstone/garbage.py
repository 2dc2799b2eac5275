"""Garbage: how often Python looks for objects that only refer to each other."""

import gc

OBJECTS = 20_000
"""Imports and judgements are many objects that stay; looking at them after every 700, as Python
does by default, takes a seventh of a run's processor time."""


def collect_rarely() -> None:
    """Look less often, in a process that is Ragstone's own."""
    gc.set_threshold(OBJECTS, 20, 50)
