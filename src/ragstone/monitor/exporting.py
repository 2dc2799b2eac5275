"""Export: a window of what was seen in production, as a data set."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.files import result_lines

from .moment import LAST
from .store.exported import StoredExample, stored_between
from .store.store import MonitorStore

NAMES = (".jsonl", ".ndjson")


def export(store: MonitorStore, out: Path, *, since: float = 0.0, until: float = LAST) -> int:
    """Write the examples of a window to a file that ``ragstone.evaluate`` reads.

    Each has what it can be sliced by in ``slices``, its conversation in ``session``, and when and
    in which trace it was in ``meta``.

    Args:
        store: Where they are.
        out: JSON Lines, written in full or not at all.
        since: Seconds since the epoch, the first that is in.
        until: The first that is not.

    Returns:
        How many were written.

    Raises:
        InputError: The file cannot be written, or the window ends before it begins.
    """
    if out.suffix not in NAMES:
        raise InputError(f"{out}: a window is written as JSON Lines. Name a file {out.stem}.jsonl.")
    if until <= since:
        raise InputError("The window ends before it begins: nothing can be in it.")
    n = 0
    with result_lines(out) as write:
        for one in stored_between(store.database, since, until):
            write(json.dumps(exported_record(one), ensure_ascii=False))
            n += 1
    return n


def exported_record(one: StoredExample) -> dict[str, Any]:
    """An example as a record of a data set."""
    record = dict(one.record)
    record["id"] = one.id
    record["slices"] = {**one.facets, **(record.get("slices") or {})}
    told = {
        "at": datetime.fromtimestamp(one.at, UTC).isoformat(),
        "trace": one.trace,
        "span": one.span,
    }
    record["meta"] = {**(record.get("meta") or {}), **told}
    if one.session is not None:
        record["session"] = one.session
    return record
