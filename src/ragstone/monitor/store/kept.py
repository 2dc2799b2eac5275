"""Kept: what is remembered by name, such as how far the worker is."""

import json
from typing import Any

from ragstone.core.database import Sql


def keep(run: Sql, name: str, value: object) -> None:
    """Remember a value, which JSON can hold, in the place of an earlier one."""
    run(
        "INSERT INTO kept VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name,
        json.dumps(value),
    )


def remembered(run: Sql, name: str, default: Any = None) -> Any:
    """The value of this name."""
    found = run("SELECT value FROM kept WHERE name = ?", name)
    return json.loads(found[0][0]) if found else default


def forget(run: Sql, name: str) -> None:
    """Remember no value of this name any more."""
    run("DELETE FROM kept WHERE name = ?", name)
