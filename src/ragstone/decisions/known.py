"""Known: a metric or a system of a run by its name, and what there is where it is none."""

from collections.abc import Sequence

from ragstone.errors import UnknownName

from .scored import Scored

SHOWN = 8


def known_metric(scored: Scored, name: str) -> str:
    """The name, if the run has such a metric.

    Raises:
        UnknownName: It has not.
    """
    if name not in scored.metrics:
        raise UnknownName("metric of this run", name, scored.metrics, hint=_has(scored.metrics))
    return name


def known_system(scored: Scored, name: str) -> str:
    """The name, if the run has such a system.

    Raises:
        UnknownName: It has not.
    """
    if name not in scored.systems:
        raise UnknownName("system of this run", name, scored.systems, hint=_has(scored.systems))
    return name


def _has(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"It has {', '.join(names[:SHOWN])}{more}."
