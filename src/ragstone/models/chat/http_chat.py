"""HTTP chat: a chat model behind a server, asked again without fields that the server rejects."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from ragstone.models.embedding_api import Server, scrubbed

from .batch_server import ChatBatches
from .http_transport import Connections, Unsupported, blaming, refused
from .model import ITEMS, ChatFailure, ChatModel, ChatReply, ChatRequest
from .wire_format import Body, Settings, Takes, encoded, opened


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's format.

    Args:
        body: Builds a request from a question, the model's name, the settings, and the features
            that the server is known not to support. What the user set is always included.
        reply: Reads a reply, whose body comes as JSON and as it was sent.
        batches: Its batches; None if it has none.
    """

    format: str
    variable: str
    takes: Takes
    url: Callable[[Server], str]
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[ChatRequest, str, Settings, frozenset[str]], Body]
    reply: Callable[[Body, Mapping[str, str], bytes], ChatReply]
    batches: type[ChatBatches] | None = None

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> ChatReply:
        """Read a reply."""
        if not 200 <= status < 300:
            raise refused(status, headers, body)
        return self.reply(opened(body), headers, body)


class AskingChat:
    """A chat model that retries without the features that its server rejects.

    A rejected feature that the user did not set is left out of this and all later requests, and
    listed in ``notes``. A setting of the user's is never left out: if the server rejects it, the
    request fails with an error that says so.

    Args:
        identity: Format, server and model, without the settings.
        window: Context window in tokens, if the settings give none.
        body: Builds a request from a question and the features that the server does not support.
        send: Sends a request; raises ``Unsupported`` if the server rejects a feature.
        batches: Makes batches of questions, given the body of a question.
    """

    kept = True

    def __init__(
        self,
        *,
        name: str,
        about: str,
        identity: str,
        settings: Settings,
        window: int,
        body: Callable[[ChatRequest, frozenset[str]], Body],
        send: Callable[[Body], Awaitable[ChatReply]],
        finish: Callable[[], Awaitable[None]] | None = None,
        batches: Callable[[Callable[[ChatRequest], Body]], ChatBatches] | None = None,
    ) -> None:
        self.name = f"{name}{settings}"
        self.about = f"{about}, {settings.sampling}"
        self.identity = f"{identity} {settings.answering}".rstrip()
        self.window = settings.window or window
        self.items = settings.items or ITEMS
        self._settings, self._body, self._send, self._finish = settings, body, send, finish
        self._lacks: frozenset[str] = frozenset()
        self.batches = batches and batches(lambda request: body(request, self._lacks))

    @property
    def notes(self) -> tuple[str, ...]:
        """Features that the server rejected, so that they were left out or sent another way."""
        return tuple(sorted(self._lacks))

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Send the question, and again at once without each feature that the server rejects."""
        lacks = self._lacks
        while True:
            body = self._body(request, lacks)
            try:
                return await self._send(body)
            except Unsupported as refusal:
                less = self._less(request, body, lacks, refusal)
                if less is None:
                    raise self._final(refusal) from refusal
                lacks = less

    async def close(self) -> None:
        """Close connections; nothing may be asked after that."""
        if self._finish:
            await self._finish()

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _less(
        self, request: ChatRequest, body: Body, lacks: frozenset[str], refusal: Unsupported
    ) -> frozenset[str] | None:
        """The unsupported features plus a new one that changes the request; None: there is none."""
        for feature in refusal.features:
            more = lacks | {feature}
            # A change of the request each time: so the loop in `reply` ends.
            if self._body(request, more) != body:
                self._lacks |= {feature}
                return more | self._lacks
        return None

    def _final(self, refusal: Unsupported) -> ChatFailure:
        settings = self._settings.given
        names = (feature.replace("_completion_", "_") for feature in refusal.features)
        blamed = [name for name in names if name in settings]
        if not blamed:
            return refusal.saying(str(refusal))
        words = " and ".join(f"{name}={settings[name]}" for name in dict.fromkeys(blamed))
        return refusal.saying(
            f"{refusal}. The server does not support {words}, which {self.name} sets: remove it",
            "parameter",
        )


def http_chat(
    name: str,
    wire: Wire,
    server: Server,
    settings: Settings,
    *,
    window: int,
    connections: Connections | None = None,
) -> ChatModel:
    """Return a chat model behind a server."""
    pool = connections or Connections()

    def body(request: ChatRequest, lacks: frozenset[str]) -> Body:
        return wire.body(request, server.model, settings, lacks)

    def batches(question_body: Callable[[ChatRequest], Body]) -> ChatBatches:
        assert wire.batches is not None
        signed = wire.headers(server.key)
        return wire.batches(server, signed, wire.variable, pool, question_body, wire.read)

    url, key = wire.url(server), (server.key or "").encode()
    headers = {"Content-Type": "application/json", **wire.headers(server.key)}
    hint = f". Check the address {url} and the model {server.model}"

    async def send(payload: Body) -> ChatReply:
        with blaming(server.host, server.key, wire.variable, hint):
            reply = await pool.request("POST", url, headers, encoded(payload), server.proxy)
            status, received, sent = reply
            if status != 200 or (key and key in sent):
                sent = scrubbed(sent.decode(errors="replace"), server.key).encode()
            return wire.read(status, received, sent)

    finish = None if connections else pool.close
    return AskingChat(
        name=name,
        about=f"{server.model} at {server.host}",
        identity=f"{wire.format} {url} {server.model}",
        settings=settings,
        window=window,
        body=body,
        send=send,
        finish=finish,
        batches=batches if wire.batches else None,
    )
