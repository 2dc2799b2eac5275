"""A small disk that can be filled."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.availability import unavailable


@contextmanager
def small_disk(size: int) -> Iterator[Path]:
    """A disk of so many bytes.

    It lies outside the folders of tests: a test that is killed leaves it mounted, and pytest would
    fail at every later end on a folder that it cannot remove.
    """
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
        try:
            mounted = subprocess.run(mount, capture_output=True).returncode == 0
        except OSError:
            mounted = False
        if not mounted:
            unavailable("no disk can be mounted here")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
