"""Address: which store of labels, and which queue of it, a text names."""

from dataclasses import dataclass
from os import PathLike, fspath

from ragstone.core.database import POSTGRES, is_readable, without_password
from ragstone.core.errors import InputError

FILE = "labels.sqlite"


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A store of labels, or one queue of it.

    Attributes:
        place: The file, or the address ``postgresql://…`` with its password.
        queue: Of which queue; empty for all of them.
    """

    place: str
    queue: str = ""

    @classmethod
    def of(cls, source: str | PathLike[str]) -> "StoreAddress | None":
        """The store that a source of labels names, with ``#QUEUE`` behind it; None if it is none.

        A folder's name may have a # in it, and so may a password.

        Raises:
            InputError: It is an address that was a path, which has one slash less.
        """
        text = fspath(source)
        if text.startswith(tuple(one.removesuffix("/") for one in POSTGRES)) and not (
            text.startswith(POSTGRES)
        ):
            raise InputError(
                f"Write the address of labels as a text, {POSTGRES[0]}…; a path takes a slash out "
                "of it."
            )
        if text.endswith(FILE):
            return cls(text)
        is_address = text.startswith(POSTGRES)
        if is_address and is_readable(text):
            return cls(text)
        place, _, queue = text.rpartition("#")
        if place.endswith(FILE) or (place.startswith(POSTGRES) and is_readable(place)):
            return cls(place, queue)
        return cls(text) if is_address else None

    @property
    def is_file(self) -> bool:
        """Whether it is a file, and no address."""
        return not self.place.startswith(POSTGRES)

    @property
    def shown(self) -> str:
        """What can be shown to everybody."""
        place = self.place if self.is_file else without_password(self.place)
        return f"{place}#{self.queue}" if self.queue else place


def shown_source(source: str | PathLike[str]) -> str:
    """The name of a source of labels, be it a file, a folder or a store, without a password."""
    store = StoreAddress.of(source)
    return fspath(source) if store is None else store.shown
