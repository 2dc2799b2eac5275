"""Shared file: the data of a run, where a node has them at the same path.

A worker there reads the lines of its shards itself, so that they need not be sent to it. Whether it
is the same file is told by size, time of the last change and a sample of the bytes; see
``known_input``.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ragstone.data.line_ranges import Lines
from ragstone.run.known_input import KnownFile, known_file


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file as the process of the run sees it.

    Args:
        known: What it is recognised by.
    """

    known: KnownFile

    @classmethod
    def of(cls, files: Sequence[KnownFile]) -> Self | None:
        """The one file of the data; None if they are several, or none."""
        if len(files) != 1:
            return None
        return cls(files[0].model_copy(update={"name": str(Path(files[0].name).absolute())}))

    def is_here(self) -> bool:
        """Whether this machine has it."""
        try:
            return known_file(Path(self.known.name)) == self.known
        except OSError:
            return False

    def read(self, lines: Lines) -> Lines | None:
        """Lines that came without their bytes, with them; None if the file is another by now."""
        try:
            with Path(self.known.name).open("rb") as file:
                before = self._is_same(file.fileno())
                file.seek(lines.start.bytes)
                text = file.read(lines.end.bytes - lines.start.bytes)
                same = before and self._is_same(file.fileno())
        except OSError:
            return None
        return lines.with_bytes(text) if same else None

    def _is_same(self, file: int) -> bool:
        status = os.fstat(file)
        return (status.st_size, status.st_mtime_ns) == (self.known.bytes, self.known.changed)
