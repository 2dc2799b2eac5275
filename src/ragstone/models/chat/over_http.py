"""Over HTTP: a chat model behind a server with one of the three request formats."""

from collections.abc import Callable

from ragstone.models.server import Server, scrubbed

from .asking import AskingChat, Card
from .batches.chat_batches import ChatBatches
from .batches.server import BatchServer
from .connections import Connections
from .failure import ChatFailure
from .model import ChatModel, ChatReply, ChatRequest
from .refusal import Unsupported
from .settings import Settings
from .wire import Body, Wire, encoded


def http_chat(
    name: str,
    wire: Wire,
    server: Server,
    settings: Settings,
    *,
    window: int,
    connections: Connections | None = None,
) -> ChatModel:
    """A chat model behind a server.

    Args:
        name: As the user wrote it, without the settings.
        wire: The server's format.
        server: Address, model and key.
        settings: The user's settings.
        window: Context window in tokens, if the settings give none.
        connections: The run's, which closes them; None: the model opens its own.
    """
    pool = connections or Connections()
    card = Card(
        name=f"{name}{settings}",
        about=f"{server.model} at {server.host}",
        identity=f"{wire.format} {wire.url(server)} {server.model}",
        settings=settings,
        window=settings.window or window,
    )

    def body(request: ChatRequest, lacks: frozenset[str]) -> Body:
        return wire.body(request, server.model, settings, lacks)

    def batches(made: Callable[[ChatRequest], Body]) -> ChatBatches:
        assert wire.batches is not None
        place = BatchServer(server, wire.headers(server.key), wire.variable, pool)
        return ChatBatches(wire.batches, place, made, wire.read)

    finish = None if connections else pool.close
    sender = _Sender(wire, server, pool)
    return AskingChat(card, body, sender, finish, batches if wire.batches else None)


class _Sender:
    """Sends requests to a server and reads its replies; removes the key from all it passes on."""

    def __init__(self, wire: Wire, server: Server, connections: Connections) -> None:
        self._wire = wire
        self._server = server
        self._connections = connections
        self._url = wire.url(server)
        self._headers = {"Content-Type": "application/json", **wire.headers(server.key)}
        self._proxy = server.proxy
        self._key = (server.key or "").encode()

    async def __call__(self, body: Body) -> ChatReply:
        try:
            status, headers, sent = await self._connections.post(
                self._url, self._headers, encoded(body), self._proxy
            )
            if status != 200 or (self._key and self._key in sent):
                sent = scrubbed(sent.decode(errors="replace"), self._server.key).encode()
            return self._wire.read(status, headers, sent)
        except Unsupported as refusal:
            raise Unsupported(
                refusal.features, self._said(refusal), http=refusal.http or 0, body=refusal.body
            ) from refusal
        except ChatFailure as failure:
            raise ChatFailure(
                failure.trouble,
                self._said(failure),
                after=failure.after,
                http=failure.http,
                body=failure.body,
            ) from failure

    def _said(self, failure: ChatFailure) -> str:
        words = f"{self._server.host} {scrubbed(str(failure), self._server.key)}"
        if failure.trouble == "not_allowed":
            variable = self._wire.variable
            sent = f"The key of {variable} was sent" if self._key else "No key was sent"
            return f"{words}. {sent}"
        if failure.trouble == "not_found":
            return f"{words}. Check the address {self._url} and the model {self._server.model}"
        return words
