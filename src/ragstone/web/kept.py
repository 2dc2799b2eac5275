"""Kept: results that were computed once, as files beside the runs.

They are in ``.ragstone-cache`` in the folder of the runs, or, if that cannot be written to, in the
user's cache. The name of a file is made from all that its result depends on, so it is never stale;
the folder may be deleted at any time. A file that cannot be read is made anew.
"""

from collections.abc import Hashable
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from ragstone.core.files import cache_folder

T = TypeVar("T")

FOLDER = ".ragstone-cache"
MOST = 300
"""Files that are kept; the oldest go first."""


class KeptResults:
    """The results that are kept of the runs of a folder.

    Args:
        runs: The folder with the runs.
    """

    def __init__(self, runs: Path) -> None:
        self._beside = runs / FOLDER
        own = blake2b(str(runs.resolve()).encode(), digest_size=8).hexdigest()
        self._elsewhere = cache_folder() / "view" / own

    def read(self, key: Hashable, form: type[T]) -> T | None:
        """A result; None if it was not kept, or cannot be read."""
        for folder in (self._beside, self._elsewhere):
            try:
                found = (folder / _name(key, form)).read_bytes()
                return TypeAdapter(form).validate_json(found)
            except (OSError, ValidationError):
                continue
        return None

    def write(self, key: Hashable, form: type[T], result: T) -> None:
        """Keep a result; if nothing can be written anywhere, it is computed anew next time."""
        content = TypeAdapter(form).dump_json(result)
        for folder in (self._beside, self._elsewhere):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                with NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
                    part.write(content)
                Path(part.name).replace(folder / _name(key, form))
                _prune(folder)
                return


def _name(key: Hashable, form: type) -> str:
    text = repr((version("ragstone"), form.__qualname__, key))
    return f"{blake2b(text.encode(), digest_size=16).hexdigest()}.json"


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.*"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MOST]:
        file.unlink(missing_ok=True)
