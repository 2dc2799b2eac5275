"""Buckets: rows put together by the hash of their cluster, so that a bucket has clusters whole."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import room_for
from ragstone.stats.bootstrap import part_of

EXAMPLES = 50_000
"""Examples of a bucket, about: as many as are held in memory at a time."""

Rows = NDArray[np.void]
"""Of a type with a field ``cluster``, a hash."""


class Buckets:
    """The rows of a run, in buckets of consecutive hashes.

    How many there are follows from the number of examples alone, and each has its rows in the order
    of the data: whatever is summed over them is the same number, however the rows came.

    Args:
        examples: How many rows there are going to be.
        folder: Where several buckets are kept, which nothing else is; None: in memory.
    """

    def __init__(self, examples: int, folder: Path | None) -> None:
        self._number = max(1, -(-examples // EXAMPLES))
        self._folder = folder if self._number > 1 else None
        self._there: list[list[Rows]] = [[] for _ in range(self._number)]
        self._dtype: np.dtype[Any] | None = None

    def __enter__(self) -> "Buckets":
        self._drop()
        if self._folder is not None:
            self._folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def add(self, rows: Rows) -> None:
        """Take further rows, all of one type."""
        self._dtype = rows.dtype
        parts = part_of(rows["cluster"], self._number)
        order = np.argsort(parts, kind="stable")
        ends = np.cumsum(np.bincount(parts, minlength=self._number))
        for bucket, own in enumerate(np.split(order, ends[:-1])):
            self._put(bucket, rows[own])

    def __iter__(self) -> Iterator[Rows]:
        """The rows of each bucket, in the order of the hashes; they are then forgotten."""
        for bucket in range(self._number):
            if self._folder is not None:
                file = self._file(bucket)
                if file.exists():
                    yield np.fromfile(file, dtype=self._dtype)
                    file.unlink()
            elif parts := self._there[bucket]:
                self._there[bucket] = []
                yield np.concatenate(parts)

    def _put(self, bucket: int, rows: Rows) -> None:
        if not len(rows):
            return
        if self._folder is None:
            self._there[bucket].append(rows)
            return
        file = self._file(bucket)
        with room_for(file), file.open("ab") as there:
            there.write(rows.tobytes())

    def _file(self, bucket: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{bucket:06d}"

    def _drop(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
