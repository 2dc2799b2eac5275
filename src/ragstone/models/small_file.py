"""Small file: reads a file beside a model's weights, unless it is special or too large."""

import stat
from pathlib import Path

LONGEST = 256 * 2**20
"""Bytes; the largest tokenizers have a tenth of this size."""


def small_file(file: Path) -> bytes:
    """The file's content.

    Raises:
        OSError: It is not a regular file, is too large, or cannot be read.
    """
    facts = file.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(0, "not a regular file")
    if facts.st_size > LONGEST:
        raise OSError(0, f"a file of {facts.st_size:,} bytes, more than {LONGEST:,}")
    with file.open("rb") as content:
        return content.read(LONGEST)
