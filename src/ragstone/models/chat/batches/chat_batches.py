"""Chat batches: the batches of one chat model."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

from ragstone.models.chat.model import ChatReply, ChatRequest
from ragstone.models.chat.wire import Body, encoded, no_reply

from .format import BatchFormat, BatchResult, BatchStatus
from .server import BatchServer


class ChatBatches:
    """Makes, finds, follows and reads the batches of a model. It never retries.

    Args:
        of: The provider's format.
        server: Where the model is.
        body: Makes the request of a question, without what the server is known not to support.
        read: Reads a reply.
    """

    def __init__(
        self,
        of: BatchFormat,
        server: BatchServer,
        body: Callable[[ChatRequest], Body],
        read: Callable[[int, Mapping[str, str], bytes], ChatReply],
    ) -> None:
        self._of, self._server, self._body, self._read = of, server, body, read
        self.most_requests, self.most_bytes = of.most_requests, of.most_bytes
        self.by_name = of.by_name

    @property
    def host(self) -> str:
        """Host and port of the server."""
        return self._server.host

    def line(self, custom: str, request: ChatRequest) -> bytes:
        """A line of the file of requests."""
        return encoded(self._of.line(custom, self._body(request))) + b"\n"

    async def upload(self, file: Path, tag: str) -> str:
        """Upload the file, where that comes first; it costs nothing and may be repeated.

        Raises:
            ChatFailure: It is not uploaded.
        """
        return await self._of.upload(self._server, file, tag)

    async def create(self, file: Path, uploaded: str, tag: str) -> str:
        """Create the batch; gives its id.

        Raises:
            ChatFailure: It may have been created all the same unless the server refused it.
        """
        made = await self._of.create(self._server, file, uploaded, tag)
        if not _is_name(made):
            raise no_reply("sent an id that is none", made.encode(errors="replace"))
        return made

    async def find(self, tag: str, since: float, count: int) -> list[str]:
        """The ids of batches that may be the one that was sent.

        Raises:
            ChatFailure: The server does not say.
        """
        return list(filter(_is_name, await self._of.find(self._server, tag, since, count)))

    async def status(self, batch: str) -> BatchStatus:
        """How far a batch is.

        Raises:
            ChatFailure: The server does not say.
        """
        return await self._of.status(self._server, batch)

    def results(self, found: BatchStatus) -> AsyncIterator[BatchResult]:
        """The results of a batch that ended, in any order.

        Raises:
            ChatFailure: They cannot be read, or not all of them.
        """
        return self._of.results(self._server, found)

    def read(self, status: int, body: bytes) -> ChatReply:
        """Read the reply of a result.

        Raises:
            ChatFailure: It is an error, or not in this format.
        """
        return self._read(status, {}, body)


def _is_name(made: str) -> bool:
    """Whether it can be an id: it is printed, and is part of an address."""
    return made.isascii() and made.isprintable()
