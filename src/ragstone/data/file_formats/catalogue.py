"""The formats that can be read, each with a two-line example, as ``catalogue.toml`` lists them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name, what it is, the endings of its files, two lines of it.

    ``extensions`` is empty for a folder and for a layout, which is a set of
    field names that any kind of file may use.
    """

    name: str
    what: str
    extensions: tuple[str, ...]
    example: tuple[str, ...]


def formats() -> list[Format]:
    """List kinds of files first, then the layouts of records in them."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return [
        Format(
            entry["name"],
            entry["what"],
            tuple(entry.get("extensions", ())),
            tuple(entry["example"].split("\n")),
        )
        for entry in tomllib.loads(text)["format"]
    ]
