"""Small file: what lies beside a model's weights, read only if it is a file, and not too long."""

import stat
from pathlib import Path

LONGEST = 256 * 2**20
"""Bytes; the largest tokenizers have a tenth of that."""


def small_file(file: Path) -> bytes:
    """What the file holds.

    Raises:
        OSError: It is no plain file, is too long, or cannot be read.
    """
    facts = file.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(0, "no plain file")
    if facts.st_size > LONGEST:
        raise OSError(0, f"a file of {facts.st_size:,} bytes, more than {LONGEST:,}")
    with file.open("rb") as content:
        return content.read(LONGEST)
