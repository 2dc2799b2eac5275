"""Server: the address and API key of a model server, and how to read its error replies."""

import json
import math
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from ragstone.core.errors import ModelError

OPENAI = "https://api.openai.com/v1"
TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
SURROGATE = re.compile("[\ud800-\udfff]")
MASKED = re.compile(r"(?<!\S)\S*?\*{3}\S*")
KEY_REST = re.compile(r"[^\s\"'<>]*")
LONG_KEY, KEY_START = 16, 8
SHOWN = 200


@dataclass(frozen=True, slots=True)
class Server:
    """A server and the model on it.

    Args:
        url: Without a slash at the end: ``https://HOST/v1``.
        model: As the server calls it.
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
        """Whether the server runs on this machine, so that no text leaves it."""
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


def openai_server(name: str, what: str = "model") -> Server:
    """The server and the model of ``openai:MODEL`` or ``http(s)://HOST[/v1]#MODEL``.

    OPENAI_API_KEY goes to the server of OPENAI_BASE_URL, or else to api.openai.com, and to no
    other.

    Args:
        name: In one of these forms.
        what: The kind of model, for messages.

    Raises:
        ModelError: The name has neither form, or the server is api.openai.com and no key is set.
    """
    if name.startswith("openai:"):
        url, model = _meant(), name.removeprefix("openai:")
    else:
        url, _, model = name.partition("#")
    parts = address(url, name, what)
    if not model.strip():
        raise ModelError(f"{name!r} names no model. Use openai:MODEL or http://HOST/v1#MODEL")
    url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/') or '/v1'}"
    server = _server_with_key_here(url, model.strip())
    if server.key is None and origin(url) == origin(OPENAI):
        raise ModelError(f"{name} needs a key: set OPENAI_API_KEY")
    return server


def _server_with_key_here(url: str, model: str) -> Server:
    key = key_from("OPENAI_API_KEY") if origin(url) == origin(_meant()) else None
    return Server(url, model, key)


def _meant() -> str:
    """The server that the key is for."""
    return os.environ.get("OPENAI_BASE_URL") or OPENAI


def key_from(variable: str) -> str | None:
    """The key in an environment variable; None if it is not set or empty.

    Raises:
        ModelError: It holds non-ASCII or control characters.
    """
    key = os.environ.get(variable, "").strip() or None
    if key and not (key.isascii() and key.isprintable()):
        raise ModelError(f"{variable} holds non-ASCII or control characters, so it is not a key")
    return key


def address(url: str, name: str, what: str) -> SplitResult:
    """The parts of a server's address.

    Raises:
        ModelError: It is not a valid address, or holds a password or a query.
    """
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
    """How many seconds the server asks to wait before a retry; 0 if it does not say.

    Reads ``retry-after-ms``, and ``Retry-After`` as seconds or as a date.
    """
    found = {name.lower(): value.strip() for name, value in headers.items()}
    seconds = _number(found.get("retry-after-ms", "")) / 1000
    asked = found.get("retry-after", "")
    if not math.isfinite(seconds):
        seconds = _number(asked)
    if not math.isfinite(seconds):
        try:
            seconds = parsedate_to_datetime(asked).timestamp() - time.time()
        except ValueError:
            return 0.0
    return max(0.0, seconds)


def words_of(body: bytes) -> str:
    """The error message in a server's reply, unchanged; empty if none is found."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else ""


def scrubbed(text: str, *keys: str | None) -> str:
    """The text with whole keys, words that start like a key, and masked keys replaced by ``…``."""
    for key in filter(None, keys):
        text = text.replace(key, "…")
        # Servers may quote a truncated key; its first characters identify it.
        if len(key) >= LONG_KEY:
            before, *behind = text.split(key[:KEY_START])
            text = "…".join((before, *(KEY_REST.sub("", part, count=1) for part in behind)))
    return MASKED.sub("…", text)


def one_line(text: str, length: int = SHOWN) -> str:
    """The text as one short line; characters that cannot be encoded are replaced."""
    line = " ".join(text.encode(errors="replace").decode().split())
    return line if len(line) <= length else f"{line[:length]}…"


def _an(what: str) -> str:
    return f"{'An' if what[0] in 'aeiou' else 'A'} {what}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
