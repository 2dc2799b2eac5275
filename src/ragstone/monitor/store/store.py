"""Store: where everything that the monitor knows is kept."""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from ragstone.argument import argument
from ragstone.database.database import KeptDatabase, open_database
from ragstone.database.postgres_address import POSTGRES
from ragstone.errors import InputError
from ragstone.private import private_folder

from .tables import LAYOUT

FILE = "monitor.sqlite"
FOLDER = Path("monitor")


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
    store: str | PathLike[str], *, folder: Path | None = None, make: bool = True
) -> MonitorStore:
    """A store in a folder, or at an address ``postgresql://…``.

    Args:
        store: Where it is.
        folder: For what is being judged; by default the store's own, or ``monitor`` beside the
            user where that is a server.
        make: Whether to make it where there is none.

    Raises:
        InputError: There is none, or it cannot be used.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    text = fspath(store)
    on_server = text.startswith(POSTGRES)
    own = folder or (FOLDER if on_server else Path(text))
    if not on_server and own.exists() and not own.is_dir():
        raise InputError(f"{argument('store', text)} is not a folder.")
    file = own / FILE
    if not on_server and not make and not file.is_file():
        raise InputError(
            f"{argument('store', text)}: nothing was monitored there. "
            f"`ragstone monitor serve` begins."
        )
    try:
        private_folder(own)
    except OSError as error:
        raise InputError(f"{own}: {error.strerror}.") from error
    return MonitorStore(open_database(text if on_server else file, LAYOUT), own, text)
