"""Marks: what people noted beside the runs of a folder: the pinned run, tags, saved filters.

They are kept in ``view.json`` in the folder, for everybody who looks at it. Each change reads the
file anew and replaces it whole, so what somebody else noted meanwhile stays.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.core.errors import InputError
from ragstone.core.files import write_result

FILE = "view.json"
LONGEST_NAME, MOST = 80, 500

_writing = Lock()


class SavedFilter(BaseModel):
    """A filter of examples with a name: the query of its address."""

    model_config = ConfigDict(frozen=True)

    name: str
    query: str


class Marks(BaseModel):
    """What people noted.

    Attributes:
        pinned: The run that others are compared with; empty if none is.
        tags: The tags of each run.
        filters: Saved filters, by name.
    """

    model_config = ConfigDict(frozen=True)

    pinned: str = ""
    tags: dict[str, list[str]] = {}
    filters: list[SavedFilter] = []


def marks_in(folder: Path) -> Marks:
    """The marks of a folder; none if there is no file, or one that cannot be read."""
    try:
        return Marks.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return Marks()


def change_marks(folder: Path, change: Callable[[Marks], Marks]) -> Marks:
    """Change the marks of a folder.

    Raises:
        InputError: They cannot be read or written, or there are too many.
    """
    with _writing:
        changed = change(_marks_to_change(folder))
        if len(changed.filters) > MOST or sum(map(len, changed.tags.values())) > MOST * 10:
            raise InputError(f"There are {MOST} saved filters. Delete one to save another.")
        try:
            # Beside the old file first, which a full disk then leaves whole.
            write_result(folder / f"{FILE}.new", changed.model_dump_json(indent=1))
            (folder / f"{FILE}.new").replace(folder / FILE)
        except OSError as error:
            words = error.strerror or type(error).__name__
            raise InputError(
                f"{folder / FILE} cannot be written ({words.lower()}), so nothing was noted."
            ) from error
    return changed


def _marks_to_change(folder: Path) -> Marks:
    try:
        return Marks.model_validate_json((folder / FILE).read_bytes())
    except FileNotFoundError:
        return Marks()
    except ValidationError as error:
        raise InputError(
            f"{folder / FILE} cannot be read, so nothing was noted. It may hold filters and tags: "
            "bring back a copy, or move it away."
        ) from error


def name_of(text: str) -> str:
    """A tag or the name of a filter.

    Raises:
        InputError: It is empty or too long.
    """
    name = " ".join(text.split())
    if not 0 < len(name) <= LONGEST_NAME:
        raise InputError(f"A name has 1 to {LONGEST_NAME} characters, got {len(name):,}.")
    return name
