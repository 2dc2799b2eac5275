"""Embedding API: vectors from OpenAI-compatible servers; a model server's address, key and errors.

The texts leave this machine unless the server runs on it. The only key for embeddings is
OPENAI_API_KEY. It is sent to a single server only: the server in OPENAI_BASE_URL, or
api.openai.com if that is not set.
"""

import asyncio
import json
import math
import os
import random
import re
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure

from .encoder import TokenVectors, Vectors
from .tokenizer import blocks, readable

if TYPE_CHECKING:
    from aiohttp import ClientSession


OPENAI_URL = "https://api.openai.com/v1"
TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
MASKED = re.compile(r"(?<!\S)\S*?\*{3}\S*")
KEY_REST = re.compile(r"[^\s\"'<>]*")
LONG_KEY, KEY_START = 16, 8
SHOWN = 200


@dataclass(frozen=True, slots=True)
class Server:
    """A server and the model on it.

    Args:
        url: Without a slash at the end: ``https://HOST/v1``.
        key: Sent with every request, never shown; None if this server gets no key.
    """

    url: str
    model: str
    key: str | None

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.url).netloc

    @property
    def is_local(self) -> bool:
        """True if the server runs on this machine, so that no text leaves it."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def proxy(self) -> str | None:
        """The system's proxy for this server; aiohttp's own lookup would also read ~/.netrc."""
        parts = urlsplit(self.url)
        if self.is_local or proxy_bypass(parts.netloc):
            return None
        proxy = getproxies().get(parts.scheme)
        return f"http://{proxy}" if proxy and "://" not in proxy else proxy

    def __repr__(self) -> str:
        return f"Server({self.url!r}, {self.model!r})"

    def __reduce__(self) -> "tuple[Callable[[str, str], Server], tuple[str, str]]":
        # A key does not leave the process that has it; another machine has one of its own.
        return _server_with_key_here, (self.url, self.model)


def openai_server(name: str, what: str = "model", *, to_ask: bool = True) -> Server:
    """Return the server and the model of ``openai:MODEL`` or ``http(s)://HOST[/v1]#MODEL``.

    OPENAI_API_KEY goes to the server of OPENAI_BASE_URL, or else to api.openai.com, and to no
    other.
    """
    if name.startswith("openai:"):
        url, model = _url_of_the_key(), name.removeprefix("openai:")
    else:
        url, _, model = name.partition("#")
    parts = address(url, name, what)
    if not model.strip():
        raise ModelError(f"{name!r} names no model. Use openai:MODEL or http://HOST/v1#MODEL")
    url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/') or '/v1'}"
    if not to_ask:
        return Server(url, model.strip(), None)
    server = _server_with_key_here(url, model.strip())
    if server.key is None and origin(url) == origin(OPENAI_URL):
        raise ModelError(f"{name} needs a key: set OPENAI_API_KEY")
    return server


def _server_with_key_here(url: str, model: str) -> Server:
    key = key_from("OPENAI_API_KEY") if origin(url) == origin(_url_of_the_key()) else None
    return Server(url, model, key)


def _url_of_the_key() -> str:
    return os.environ.get("OPENAI_BASE_URL") or OPENAI_URL


def key_from(variable: str) -> str | None:
    """Return the key in an environment variable; None if it is not set or empty."""
    key = os.environ.get(variable, "").strip() or None
    if key and not (key.isascii() and key.isprintable()):
        raise ModelError(f"{variable} holds non-ASCII or control characters, so it is not a key")
    return key


def address(url: str, name: str, what: str) -> SplitResult:
    """Return the parts of a server's address."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")
    except ValueError:
        usable = False
    whole = usable and not (parts.query or parts.fragment)
    if "@" in (parts.netloc if whole else url + name):
        raise ModelError(
            f"{_an(what)}'s address must not hold a password: it would be stored in runs"
        )
    if not usable:
        raise ModelError(f"{name!r} holds no usable address. Use http://HOST/v1#MODEL")
    if not whole:
        raise ModelError(
            f"{name!r}: {_an(what).lower()}'s address may have no query (?…) and only one #MODEL"
        )
    return parts


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port; a key is sent to one origin only."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that the server asks to wait before a retry; 0 if it does not say.

    Reads ``retry-after-ms``, and ``Retry-After`` as seconds or as a date.
    """
    values = {name.lower(): value.strip() for name, value in headers.items()}
    seconds = _number(values.get("retry-after-ms", "")) / 1000
    wait = values.get("retry-after", "")
    if not math.isfinite(seconds):
        seconds = _number(wait)
    if not math.isfinite(seconds):
        try:
            seconds = parsedate_to_datetime(wait).timestamp() - time.time()
        except ValueError:
            return 0.0
    return max(0.0, seconds)


def words_of(body: bytes) -> str:
    """Return the error message in a server's reply, unchanged; empty if none is found."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else ""


def scrubbed(text: str, *keys: str | None) -> str:
    """Return the text with whole keys, words that start like a key, and masked keys replaced by
    ``…``."""
    for key in filter(None, keys):
        text = text.replace(key, "…")
        # Servers may quote a truncated key; its first characters identify it.
        if len(key) >= LONG_KEY:
            before, *behind = text.split(key[:KEY_START])
            text = "…".join((before, *(KEY_REST.sub("", part, count=1) for part in behind)))
    return MASKED.sub("…", text)


def one_line(text: str, length: int = SHOWN) -> str:
    """Return the text as one short line; characters that cannot be encoded are replaced."""
    line = " ".join(text.encode(errors="replace").decode().split())
    return line if len(line) <= length else f"{line[:length]}…"


def _an(what: str) -> str:
    return f"{'An' if what[0] in 'aeiou' else 'A'} {what}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


TEXTS, CHARACTERS = 256, 200_000
IN_FLIGHT = 8
ATTEMPTS = 4
TOO_MUCH = {400, 413, 422}
SHOWN_TEXT = 40

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts and delays, in seconds.

    Args:
        first: Delay before the second attempt; it doubles before each further one.
        down: How long a server that could not be reached is left alone.
    """

    reply: float = 60.0
    first: float = 0.5
    down: float = 10.0
    longest: float = 60.0


def is_api(name: str) -> bool:
    """Return True if the name means a model behind a server."""
    return name.startswith(("openai:", "http://", "https://"))


class _Refused(ModelFailure): ...


class ApiEncoder:
    """An embedding model behind a server.

    Requests hold at most 256 texts and 200,000 characters; up to eight run concurrently. A
    rejected request is split in two and sent again. An empty text is sent as one space, because
    servers reject empty input.
    """

    max_tokens = 0
    longest = 0
    layers = 0

    def __init__(self, name: str, server: Server, *, patience: Patience | None = None) -> None:
        self.name = name
        self._server = server
        self._patience = patience or Patience()
        self._width = 0
        self._at_once = TEXTS
        self._down: tuple[float, str] | None = None

    @property
    def about(self) -> str:
        """The model, its server and, once it has returned a vector, the number of dimensions."""
        width = f", {self._width} dimensions" if self._width else ""
        return f"{self._server.model} at {self._server.host}{width}, limit not known"

    @property
    def fingerprint(self) -> str:
        """Hash of the server's address and the model's name; the weights cannot be seen."""
        digest = blake2b(digest_size=16)
        digest.update(f"api\0{self._server.url}\0{self._server.model}".encode())
        return digest.hexdigest()

    @property
    def dimensions(self) -> int:
        """The length of a vector; asks the server for one if it has returned none yet."""
        if not self._width:
            self.embed(["dimensions"])
        return self._width

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return shape (n, d), in the order of the texts."""
        if not texts:
            return np.zeros((0, self._width), np.float32)
        if self._down and time.monotonic() < self._down[0]:
            raise ModelFailure(self._down[1])
        return _run(self._all([readable(text) or " " for text in texts]))

    def tokens(
        self,
        texts: Sequence[str],  # noqa: ARG002
        *,
        layer: int | None = None,  # noqa: ARG002
        limit: int | None = None,  # noqa: ARG002
    ) -> list[TokenVectors]:
        """Not available from a server."""
        raise ModelError(
            f"{self.name} gives one vector per text and no token vectors, which are needed here. "
            "Use a local model: builtin:minilm, a folder, or org/name"
        )

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Zeros, because the server does not report token counts."""
        return np.zeros(len(texts), np.int32)

    async def _all(self, texts: Sequence[str]) -> Vectors:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

        key = self._server.key
        slots = asyncio.Semaphore(IN_FLIGHT)
        async with ClientSession(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=ClientTimeout(total=self._patience.reply),
            connector=TCPConnector(limit=IN_FLIGHT),
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            proxy=self._server.proxy,
        ) as session:

            async def one(batch: Sequence[str]) -> Vectors:
                async with slots:
                    return await self._batch(session, batch)

            try:
                async with asyncio.TaskGroup() as group:
                    parts = blocks(texts, self._at_once, CHARACTERS)
                    tasks = [group.create_task(one(batch)) for batch in parts]
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from None
        return np.concatenate([task.result() for task in tasks])

    async def _batch(self, session: "ClientSession", texts: Sequence[str]) -> Vectors:
        """The vectors of a batch; if the server rejects it, of its two halves."""
        try:
            return await self._request(session, texts)
        except _Refused:
            half = len(texts) // 2
            if not half:
                raise
        vectors = [
            await self._batch(session, texts[:half]),
            await self._batch(session, texts[half:]),
        ]
        # Only after both halves succeeded: a rejection for another reason must not shrink batches.
        self._at_once = min(self._at_once, half)
        return np.concatenate(vectors)

    async def _request(self, session: "ClientSession", texts: Sequence[str]) -> Vectors:
        from aiohttp import (
            ClientConnectionError,
            ClientConnectorError,
            ClientError,
            ClientPayloadError,
        )

        trouble, wait = "", 0.0
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(wait)
            wait = self._patience.first * 2**attempt * (1 + random.random() / 4)
            try:
                async with session.post(
                    f"{self._server.url}/embeddings",
                    json={"model": self._server.model, "input": texts, "encoding_format": "float"},
                    allow_redirects=False,
                ) as response:
                    body = await response.read()
            except ClientConnectorError as error:
                reason = error.os_error.strerror or error
                raise self._down_for_now(
                    f"cannot be reached: {reason}. Is it running at {self._server.url}?"
                ) from error
            except TimeoutError as error:
                waited = f"{self._patience.reply:g} s"
                raise self._down_for_now(f"did not reply within {waited}") from error
            except (ClientConnectionError, ClientPayloadError) as error:
                trouble = f"broke off: {error or type(error).__name__}"
                continue
            except ClientError as error:
                raise self._failure(
                    f"could not be asked: {error or type(error).__name__}"
                ) from error
            if response.status == 200:
                return self._vectors(body, len(texts))
            line = self._shown(words_of(body))
            trouble = f"replied {response.status}{': ' if line else ''}{line}"
            if response.status not in TRANSIENT:
                raise self._refusal(response.status, trouble, texts)
            wait = max(wait, retry_after(response.headers))
            if wait > self._patience.longest:
                raise self._failure(f"{trouble}, and asks to wait {wait:,.0f} s before a retry")
        raise self._failure(f"{trouble}, {ATTEMPTS} times in a row")

    def _vectors(self, body: bytes, count: int) -> Vectors:
        try:
            data = json.loads(body)["data"]
            rows = sorted(data, key=lambda row: row["index"])
            order = [row["index"] for row in rows]
            with np.errstate(over="ignore"):
                vectors = [np.asarray(row["embedding"], np.float32) for row in rows]
            widths = {vector.shape for vector in vectors}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._failure(
                f"sent no embeddings: {self._shown(body.decode(errors='replace')) or 'nothing'}"
            ) from error
        if order != list(range(count)):
            raise self._failure(
                f"sent {len(order):,} vectors for {count:,} texts, or wrong index numbers"
            )
        if len(widths) != 1 or len(shape := widths.pop()) != 1 or not shape[0]:
            raise self._failure("sent vectors of unequal lengths")
        if self._width not in (0, shape[0]):
            raise self._failure(
                f"sent vectors of {shape[0]:,} dimensions; before, they had {self._width:,}"
            )
        stacked = np.stack(vectors)
        if not np.isfinite(stacked).all():
            raise self._failure("sent vectors with numbers that are not finite")
        self._width = shape[0]
        return stacked

    def _refusal(self, status: int, trouble: str, texts: Sequence[str]) -> ModelFailure:
        if status in (401, 403):
            sent = "The key of OPENAI_API_KEY was sent" if self._server.key else "No key was sent"
            return self._down_for_now(f"replied {status}: not allowed. {sent}")
        if status in TOO_MUCH:
            (text, *_) = texts
            what = f"a text of {len(text):,} characters, {text[:SHOWN_TEXT]!r}"
            return _Refused(f"{self._failure(trouble)} (asked for {what})")
        if 300 <= status < 400:
            trouble += ": a redirect, which is not followed"
        if status in (404, 405):
            trouble += f". Check the address {self._server.url} and the model {self._server.model}"
        return self._failure(trouble)

    def _down_for_now(self, trouble: str) -> ModelFailure:
        failure = self._failure(trouble)
        self._down = (time.monotonic() + self._patience.down, str(failure))
        return failure

    def _failure(self, trouble: str) -> ModelFailure:
        return ModelFailure(f"The encoder's server {self._server.host} {trouble}")

    def _shown(self, words: str) -> str:
        return one_line(scrubbed(words, self._server.key))


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result; run in another thread if this one has a running event loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, coroutine).result()
