"""Format: what a provider's batches look like."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ragstone.models.chat.wire import Body

from .server import BatchServer


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is, as the server says.

    Args:
        state: ``open``: it may still change. ``ended``: its results can be read. ``failed``: it
            was refused as a whole, and nothing in it was asked.
        said: The server's word for its state.
        requests: Requests in it.
        answered: Of these, the ones with a reply.
        unanswered: Of these, the ones that failed, expired or were cancelled.
        places: Where its results are, for ``results``.
        words: Why it failed, as the server says.
    """

    state: Literal["open", "ended", "failed"]
    said: str
    requests: int = 0
    answered: int = 0
    unanswered: int = 0
    places: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of one request of a batch.

    Args:
        custom: The id that the request was given.
        status: The HTTP status that the reply would have had; None if there was no attempt, as it
            expired or was cancelled.
        body: The reply in the format of the provider.
    """

    custom: str
    status: int | None
    body: bytes = b""


class BatchFormat(Protocol):
    """A provider's batches: the file of requests, its sending, finding, following and reading."""

    @property
    def most_requests(self) -> int:
        """The most requests in a batch."""

    @property
    def most_bytes(self) -> int:
        """The most bytes of its file."""

    @property
    def by_name(self) -> bool:
        """Whether ``find`` finds a batch by its tag; otherwise its results have to prove it."""

    def line(self, custom: str, body: Body) -> Body:
        """A line of the file: a request with its id."""

    async def upload(self, server: BatchServer, file: Path, tag: str) -> str:
        """Upload the file, where that comes before the batch; costs nothing and may be repeated.

        Returns:
            Where it is, for ``create``.
        """

    async def create(self, server: BatchServer, file: Path, uploaded: str, tag: str) -> str:
        """Create the batch, which is what is paid for; gives its id."""

    async def find(self, server: BatchServer, tag: str, since: float, count: int) -> list[str]:
        """The ids of batches that may be this one, after it is unknown whether it was created.

        Args:
            server: The server.
            tag: Its tag.
            since: When it was sent, in seconds since 1970.
            count: Its requests.
        """

    async def status(self, server: BatchServer, batch: str) -> BatchStatus:
        """How far it is."""

    def results(self, server: BatchServer, found: BatchStatus) -> AsyncIterator[BatchResult]:
        """The results of a batch that ended, in any order; some may lack or come twice."""
