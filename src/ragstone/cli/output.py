"""Output: JSON on standard output, notes on standard error."""

import json
import sys
from collections.abc import Iterable

import typer


def print_json(value: object) -> None:
    """One JSON value; NaN has no place in it."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    ascii_only = not encoding.startswith("utf")
    typer.echo(json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str))


def print_notes(notes: Iterable[str]) -> None:
    """What the user should know beside the results."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)
