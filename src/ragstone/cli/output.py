"""Output: JSON on standard output, notes on standard error."""

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from ragstone.core.escape import json_text, seen
from ragstone.core.messages import in_shell, throughout

if TYPE_CHECKING:
    from ragstone.report.page import Page


def print_page(page: "Page", *, json: bool) -> None:
    """Print the page, or its record as JSON; its notes go to standard error."""
    if json:
        print_json(page.record())
    else:
        from ragstone.report import show

        show(page)
    print_notes(page.notes)


def print_json(value: object) -> None:
    """Print one JSON value; NaN is not allowed."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    ascii_only = not encoding.startswith("utf")
    shown = throughout(value, in_shell)
    text = json.dumps(shown, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)
    typer.echo(json_text(text))


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on the results to standard error."""
    from ragstone.report.reason_words import words

    for note in notes:
        say(f"note: {words(note)}", err=True)


def say(words: str, *, err: bool = False) -> None:
    """Print text, with what comes from the data escaped for a terminal."""
    typer.echo(seen(in_shell(words)), err=err)
