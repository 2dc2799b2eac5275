"""Server: where a model is asked over HTTP, which key goes there, and what it says of itself."""

import json
import math
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from ragstone.errors import ModelError

OPENAI = "https://api.openai.com/v1"
TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
SURROGATE = re.compile("[\ud800-\udfff]")
MASKED = re.compile(r"(?<!\S)\S*?\*{3}\S*")
KEY_REST = re.compile(r"[^\s\"'<>]*")
LONG_KEY, KEY_START = 16, 8
SHOWN = 200


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask, and for which model.

    Args:
        url: Without a slash at the end: ``https://HOST/v1``.
        model: As the server calls it.
        key: Sent with every request; None where the server gets none. Never shown.
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
        """Whether it is on this machine, so that no text leaves it."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")

    @property
    def proxy(self) -> str | None:
        """This system's proxy on the way there; aiohttp's own look would read ~/.netrc too."""
        parts = urlsplit(self.url)
        if self.is_local or proxy_bypass(parts.netloc):
            return None
        proxy = getproxies().get(parts.scheme)
        return f"http://{proxy}" if proxy and "://" not in proxy else proxy

    def __repr__(self) -> str:
        return f"Server({self.url!r}, {self.model!r})"


def openai_server(name: str, what: str = "model") -> Server:
    """The server and the model of ``openai:MODEL`` or ``http(s)://HOST[/v1]#MODEL``.

    OPENAI_API_KEY goes to the server of OPENAI_BASE_URL, or else to api.openai.com, and to no
    other.

    Args:
        name: In one of these forms.
        what: Is meant, for messages.

    Raises:
        ModelError: The name is not of these forms, or api.openai.com is meant and no key is set.
    """
    meant = os.environ.get("OPENAI_BASE_URL") or OPENAI
    if name.startswith("openai:"):
        url, model = meant, name.removeprefix("openai:")
    else:
        url, _, model = name.partition("#")
    parts = address(url, name, what)
    if not model.strip():
        raise ModelError(f"{name!r} names no model. Write openai:MODEL or http://HOST/v1#MODEL")
    url = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/') or '/v1'}"
    key = key_from("OPENAI_API_KEY") if origin(url) == origin(meant) else None
    if key is None and origin(url) == origin(OPENAI):
        raise ModelError(f"{name} needs a key: set OPENAI_API_KEY")
    return Server(url, model.strip(), key)


def key_from(variable: str) -> str | None:
    """The key that an environment variable holds; None where it holds none.

    Raises:
        ModelError: It holds characters that no key has.
    """
    key = os.environ.get(variable, "").strip() or None
    if key and not (key.isascii() and key.isprintable()):
        raise ModelError(f"{variable} holds characters that no key has")
    return key


def address(url: str, name: str, what: str) -> SplitResult:
    """The parts of a server's address.

    Raises:
        ModelError: It is no address, or holds a password or a query.
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
            f"{_an(what)}'s address must not hold a password: it would be kept in runs"
        )
    if not usable:
        raise ModelError(f"{name!r} holds no usable address. Write http://HOST/v1#MODEL")
    if not whole:
        raise ModelError(
            f"{name!r}: {_an(what).lower()}'s address has no ?… and one #MODEL at most"
        )
    return parts


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: a key is sent to one of these only."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that a server asks to be left alone; 0 where it does not.

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
    """What a server says of its error, as it came; empty where that is not to be found."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else ""


def scrubbed(text: str, *keys: str | None) -> str:
    """The text without the keys, without what begins like one, and without masked ones."""
    for key in filter(None, keys):
        text = text.replace(key, "…")
        if len(key) >= LONG_KEY:
            before, *behind = text.split(key[:KEY_START])
            text = "…".join((before, *(KEY_REST.sub("", part, count=1) for part in behind)))
    return MASKED.sub("…", text)


def one_line(text: str, length: int = SHOWN) -> str:
    """The text as one short line, with what cannot be encoded replaced."""
    line = " ".join(text.encode(errors="replace").decode().split())
    return line if len(line) <= length else f"{line[:length]}…"


def _an(what: str) -> str:
    return f"{'An' if what[0] in 'aeiou' else 'A'} {what}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
