"""A small disk that can be filled."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.availability import unavailable


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        unavailable("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)
