"""Fault: one thing wrong with the settings, where it stands and what to write instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.core.escape import on_one_line


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """One thing wrong.

    Attributes:
        line: Of the file, from 1.
        key: Such as ``[[rule]] bar``.
        text: What is wrong and what to do, as a sentence.
    """

    line: int
    key: str
    text: str


class FaultySettings(InputError):
    """A file of settings with faults: all of them, in the order of the file.

    Attributes:
        file: Where it lies.
        faults: What is wrong.
    """

    def __init__(self, file: Path, faults: Sequence[SettingsFault]) -> None:
        self.file = file
        self.faults = tuple(sorted(faults, key=lambda one: one.line))
        many = "1 fault" if len(faults) == 1 else f"{len(faults):,} faults"
        lines = [f"  {file}:{one.line}  {one.key}  {on_one_line(one.text)}" for one in self.faults]
        super().__init__("\n".join([f"{file} has {many}.", *lines]))
