"""Address: which store of labels, and which queue of it, a text names.

A password in it is shown nowhere.
"""

import re
from dataclasses import dataclass
from os import PathLike, fspath

from ragstone.errors import InputError

FILE = "labels.sqlite"
POSTGRES = ("postgresql://", "postgres://")

HOSTS = r"(?:\[[^\]@/?#]*\]|[^:@/?#,\[\]]*)(?::[0-9]*)?"
READABLE = re.compile(
    rf"(?P<user>[^:@/?#]*)(?::[^@/]*)?@(?P<there>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
    rf"|(?P<here>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
)
"""What stands behind the scheme, as PostgreSQL's programs read it, without a queue."""


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
        if is_address and _readable(text):
            return cls(text)
        place, _, queue = text.rpartition("#")
        if place.endswith(FILE) or (place.startswith(POSTGRES) and _readable(place)):
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


def without_password(address: str) -> str:
    """An address ``postgresql://…`` as user, host and database; no more than … if it is none."""
    scheme, _, _ = address.partition("://")
    read = _readable(address)
    if read is None:
        return f"{scheme}://…"
    user = f"{read['user']}@" if read["user"] else ""
    return f"{scheme}://{user}{read['there'] if read['there'] is not None else read['here']}"


def is_readable(address: str) -> bool:
    """Whether it is clear what of an address ``postgresql://…`` is a password."""
    return _readable(address) is not None


def unreadable(address: str) -> InputError:
    """What is said of an address that cannot be read, which may have a password anywhere in it."""
    return InputError(
        f"{without_password(address)}: the address of the labels cannot be read. It is written "
        "postgresql://USER:PASSWORD@HOST/DATABASE; in a password write @ as %40, / as %2F and % "
        "as %25."
    )


def _readable(address: str) -> "re.Match[str] | None":
    return READABLE.fullmatch(address.partition("://")[2])
