"""Shard ledger: which shards of a run are done, and what was written of each; a line each.

The lines stand in the order in which shards were finished, each with a checksum of itself. Only
where each begins is kept in memory, and it is read when it is needed: a ledger of a hundred million
rows opens in less than a second. A last line that is cut off was never finished; any other fault is
damage.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from pydantic import ValidationError

from ragstone.core.errors import DamagedRun, Fault

from .forms import ShardForm
from .written import CHECKSUM, DIGITS, faults_of, reading

BEFORE, AFTER = f',"{CHECKSUM}":"'.encode(), b'"}\n'
SIGNATURE = len(BEFORE) + 2 * DIGITS + len(AFTER)
FIRST = re.compile(rb'{"shard":([0-9]{1,9}),"examples":([0-9]{1,9}),')


class ShardLedger:
    """The ledger of a run; read from its file, if there is one.

    Args:
        file: The file.

    Raises:
        DamagedRun: A line is not as it was written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._done: dict[int, tuple[int, int]] = {}
        """Where the line of each shard begins, and how many examples it has."""
        self._end = 0
        if file.exists() or file.is_symlink():
            if not file.is_file():
                raise DamagedRun([Fault(str(file), None, "", "a file", "not a regular file")])
            with reading(file):
                self._read()

    def __len__(self) -> int:
        """How many shards are done."""
        return len(self._done)

    def __contains__(self, shard: int) -> bool:
        return shard in self._done

    def __iter__(self) -> Iterator[ShardForm]:
        """What was written, in the order of the shards."""
        return self.of(self.shards)

    @property
    def shards(self) -> list[int]:
        """The numbers of the shards that are done, in order."""
        return sorted(self._done)

    def of(self, shards: Iterable[int]) -> Iterator[ShardForm]:
        """What was written of these, each of which is done."""
        if not self._done:
            return
        with reading(self.file), self.file.open("rb") as file:
            for shard in shards:
                file.seek(self._done[shard][0])
                yield self._form(file.readline())

    def examples_of(self, shard: int) -> int | None:
        """How many examples a shard has that is done; None for one that is not."""
        return self._done[shard][1] if shard in self._done else None

    def leave_out(self, shard: int) -> None:
        """Take a shard for one that is not done, until it is added again."""
        del self._done[shard]

    def add(self, form: ShardForm) -> None:
        """Note that a shard is done."""
        line = _line(form)
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            # A line that was cut off by a kill is written over.
            file.truncate(self._end)
            file.seek(self._end)
            file.write(line)
        self._note(form.shard, form.examples, self._end)
        self._end += len(line)

    def _read(self) -> None:
        with self.file.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                self._note(*_shard(line, self.file, number), self._end)
                self._end += len(line)

    def _note(self, shard: int, examples: int, place: int) -> None:
        self._done[shard] = place, examples

    def _form(self, line: bytes) -> ShardForm:
        try:
            return ShardForm.model_validate_json(line, strict=True)
        except ValidationError as error:
            raise DamagedRun(faults_of(self.file, error)) from error


def write_ledger(file: Path, forms: Iterable[ShardForm]) -> None:
    """Write a whole ledger, replacing the file if it exists."""
    with file.open("wb") as lines:
        lines.writelines(map(_line, forms))


def _line(form: ShardForm) -> bytes:
    text = form.model_dump_json(exclude_defaults=True).encode()
    return b"".join((text[:-1], BEFORE, _checksum(text), AFTER))


def _checksum(text: bytes) -> bytes:
    return blake2b(text, digest_size=DIGITS).hexdigest().encode()


def _shard(line: bytes, file: Path, number: int) -> tuple[int, int]:
    """The number of a line's shard, and of its examples, if its checksum is right."""
    text, noted = line[:-SIGNATURE] + b"}", line[-SIGNATURE:]
    if noted != b"".join((BEFORE, _checksum(text), AFTER)):
        raise DamagedRun([Fault(str(file), number, CHECKSUM, "that of its line", "another")])
    found = FIRST.match(text)
    if found is None:
        raise DamagedRun([Fault(str(file), number, "shard", "its number", "none")])
    return int(found[1]), int(found[2])
