"""What tests of runs share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.small_disk import small_disk


@pytest.fixture
def disk() -> Iterator[Path]:
    """A disk of one megabyte."""
    with small_disk(2**20) as disk:
        yield disk
