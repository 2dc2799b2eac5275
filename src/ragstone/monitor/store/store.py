"""Store: where everything that the monitor knows is kept."""

import os
import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from ragstone.core.database import POSTGRES, KeptDatabase, open_database
from ragstone.core.errors import InputError
from ragstone.core.files import private_folder
from ragstone.core.messages import argument

from .tables import LAYOUT

FILE = "monitor.sqlite"
FOLDER = Path("monitor")

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://")
KINDS = "name a folder, or an address postgresql://…"


@dataclass(frozen=True, slots=True)
class MonitorStore:
    """An open store.

    Attributes:
        database: What is kept.
        folder: On this machine, for what is being judged.
        place: The folder or the address ``postgresql://…``, which also holds people's labels.
    """

    database: KeptDatabase
    folder: Path
    place: str

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def open_store(
    store: str | PathLike[str],
    *,
    folder: Path | None = None,
    make: bool = True,
    writes: bool = False,
) -> MonitorStore:
    """A store in a folder, or at an address ``postgresql://…``.

    Args:
        store: Where it is.
        folder: For what is being judged; by default the store's own, or ``monitor`` beside the
            user where that is a server.
        make: Whether to make it where there is none.
        writes: Whether to see that it can be written, rather than find that out later.

    Raises:
        InputError: There is none, or it cannot be used.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    text = fspath(store)
    check_place(text, folder=folder, make=make, writes=writes)
    on_server = text.startswith(POSTGRES)
    own = folder or (FOLDER if on_server else Path(text))
    try:
        private_folder(own)
    except OSError as error:
        raise InputError(f"{own}: {error.strerror}.") from error
    return MonitorStore(open_database(text if on_server else own / FILE, LAYOUT), own, text)


def check_place(
    text: str, *, folder: Path | None = None, make: bool = True, writes: bool = False
) -> None:
    """See that a store can be at a place; nothing is made, and no server is asked.

    Args:
        text: A folder or an address.
        folder: As in ``open_store``.
        make: Whether it may be made.
        writes: Whether it has to be writable.

    Raises:
        InputError: It cannot.
    """
    if not text.strip():
        raise InputError(f"{argument('store', text)} names no store: {KINDS}.")
    on_server = text.startswith(POSTGRES)
    scheme = ADDRESS.match(text)
    if scheme and not on_server:
        # The address, which may have a password in it, is not repeated.
        raise InputError(f"{scheme[0]}… is no address of a store: {KINDS}.")
    own = folder or (FOLDER if on_server else Path(text))
    file = own / FILE
    if not on_server:
        if own.exists() and not own.is_dir():
            raise InputError(f"{argument('store', text)} is not a folder.")
        if not make and not file.is_file():
            raise InputError(
                f"{argument('store', text)}: nothing was monitored there. "
                f"`ragstone monitor serve` begins."
            )
    if writes:
        there = next(one for one in (own, *own.absolute().parents) if one.exists())
        for one in (there, file):
            if one.exists() and not os.access(one, os.W_OK):
                raise InputError(
                    f"{argument('store', text)} cannot be written: {one} is read-only. Give "
                    "yourself write permission, or name another store."
                )
