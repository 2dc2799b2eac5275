"""Known: finds a metric or system of a run by name; the error lists those there are."""

from collections.abc import Sequence
from pathlib import Path

from ragstone.core.errors import RagstoneError, UnknownName
from ragstone.core.messages import argument, call
from ragstone.metrics import parse_metric

from .scored import Scored

SHOWN = 12


def known_metric(scored: Scored, name: str) -> str:
    """The text form of a metric of the run, from any form or name of it.

    Raises:
        UnknownName: The run has no such metric.
    """
    return metric_among(name, scored.metrics, "metric of this run", run=scored.run.path)


def metric_among(name: str, there: Sequence[str], noun: str, *, run: Path | None = None) -> str:
    """The text form of a metric among these, from that form, an alias or another spelling.

    Args:
        name: Any form or name of it.
        there: The text forms.
        noun: What none of them is called, where it is none.
        run: A run that a metric which is not there could be added to.

    Raises:
        UnknownName: None of them is meant.
    """
    written = " ".join(name.split())
    form = _text_form(written)
    for one in (written, form):
        if one is not None and one in there:
            return one
    hint = f"There are {some(there)}."
    if run is not None and form is not None:
        hint += f" To add it: {call('rescore', argument('run', run), argument('metrics', form))}"
    raise UnknownName(noun, written, there, hint=hint)


def known_system(scored: Scored, name: str) -> str:
    """The name, if the run has such a system.

    Raises:
        UnknownName: It has not.
    """
    if name not in scored.systems:
        hint = f"There are {some(scored.systems)}."
        raise UnknownName("system of this run", name, scored.systems, hint=hint)
    return name


def some(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _text_form(name: str) -> str | None:
    """The text form as runs write it; None if no loaded metric has that name."""
    try:
        return str(parse_metric(name))
    except RagstoneError:
        return None
