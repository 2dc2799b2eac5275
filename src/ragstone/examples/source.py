"""Source: the interface of every format, which yields rows with their positions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ragstone.examples.example import Example
from ragstone.examples.files import Meter
from ragstone.examples.problem import BadRow

Row = tuple[int | None, Mapping[str, Any] | Example | BadRow]


class Source(Protocol):
    """Rows of one format, in the order of the data, readable as often as wanted."""

    @property
    def name(self) -> str:
        """How messages call it: the path, or what kind of table it is."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files it reads; none for what is in memory."""

    @property
    def format(self) -> str | None:
        """Its format if the source determines it; None if its records do."""

    @property
    def unit(self) -> str:
        """What a place in it counts: ``line``, ``row``, or ``element`` of a list."""

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Line and record of each row; a ``BadRow`` in place of a record that cannot be read."""


@dataclass(frozen=True)
class FileSource:
    """A source of one file."""

    path: Path
    name: str

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def format(self) -> str | None:
        return None

    @property
    def unit(self) -> str:
        return "line"
