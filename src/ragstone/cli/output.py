"""Output: JSON on standard output, notes on standard error."""

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from ragstone.argument import in_shell, throughout
from ragstone.inert import json_text, seen

if TYPE_CHECKING:
    from ragstone.report.page import Page


def print_page(page: "Page", *, json: bool) -> None:
    """The page, or its record as JSON; what is to be known beside it on standard error."""
    if json:
        print_json(page.record())
    else:
        from ragstone.report import show

        show(page)
    print_notes(page.notes)


def print_json(value: object) -> None:
    """One JSON value; NaN has no place in it."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    ascii_only = not encoding.startswith("utf")
    told = throughout(value, in_shell)
    text = json.dumps(told, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)
    typer.echo(json_text(text))


def print_notes(notes: Iterable[str]) -> None:
    """What the user should know beside the results."""
    from ragstone.report.words import words

    for note in notes:
        say(f"note: {words(note)}", err=True)


def say(words: str, *, err: bool = False) -> None:
    """Print words, those of the data in them so that they can only be read."""
    typer.echo(seen(in_shell(words)), err=err)
