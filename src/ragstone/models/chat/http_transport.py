"""HTTP transport: connections that a run's chat models share, error replies, and keys to hide.

The error bodies of OpenAI, Azure, Anthropic, Gemini, Bedrock, vLLM, Ollama, LM Studio and
llama.cpp are read in the same way, because gateways relay a provider's message in another
provider's format.
"""

import json
import os
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from itertools import compress
from typing import TYPE_CHECKING, Any

from ragstone.models.embedding_api import one_line, retry_after, scrubbed

from .model import ChatFailure, Trouble

if TYPE_CHECKING:
    from aiohttp import ClientSession


NAMED = re.compile(r"(?:^|_)(?:API_KEY|KEY|TOKEN|SECRET|ACCESS_KEY|PASSWORD)(?:_|$)", re.IGNORECASE)
SHORTEST = 12


def secrets() -> list[str]:
    """Return the values of environment variables that are named like keys, the longest first.

    For adapters, where it is not known which key the other library sends.
    """
    values = {
        value.strip()
        for name, value in os.environ.items()
        if NAMED.search(name) and len(value.strip()) >= SHORTEST
    }
    return sorted(values, key=len, reverse=True)


BODY_SHOWN = 500
# Only this many characters of an error message are searched for a parameter's name: some servers
# repeat the request further on.
HEAD = 300

INVALID_REQUEST = {400, 413, 422, 501}

NO_CREDIT = re.compile(
    r"insufficient_quota|insufficient.balance|billing_(?:error|not_active|hard_limit)|"
    r"credit_balance|credit balance is too low|specified api usage limits|spend_limit_reached"
)
TOO_LONG = re.compile(
    r"context[ _](?:length|window|size|limit)|prompt is too long|input is too long|"
    r"maximum number of tokens|too many (?:input |total )?tokens|input tokens exceeded|"
    r"exceeds? the (?:maximum )?(?:allowed )?(?:number of )?(?:input )?tokens|"
    r"max_new_tokens. must be <=|expected maxlength|longer than the maximum model length|"
    r"string_above_max_length|request_too_large"
)
NEVER_FITS = re.compile(r"request too large for")
FILTERED = re.compile(
    r"content_filter|responsibleaipolicyviolation|content_policy_violation|"
    r"content management policy|content filtering policy|invalid_prompt|was flagged|"
    r"prohibited_content|guardrail"
)
BAD_KEY = re.compile(
    r"api[ _]key not valid|api_key_invalid|invalid_api_key|invalid api key|"
    r"incorrect api key|location is not supported|unrecognizedclientexception"
)
NO_MODEL = re.compile(
    r"model_not_found|model identifier is invalid|invalid model|unknown model|"
    r"model.{0,80}(?:not found|does not exist|is not a valid model)"
)
# Features that a server may not support, and the patterns of its error messages.
FEATURES = {
    name: re.compile(words)
    for name, words in {
        "effort": r"reasoning_effort|reasoning\.effort|output_?config\.effort|\beffort\b|"
        r"thinking(?:_|config|level|budget|\b)|\bbudget \d+ is invalid",
        "schema": r"response_?format|json[_ ]schema|response_?json_?schema|response_?schema|"
        r"output_?config(?!\.effort)|output_?format|response_?mime_?type|structured output|"
        r"json mode|\bgrammar\b|\bschema\b|textformat",
        "temperature": r"\btemperature\b",
        "top_p": r"\btop_?p\b",
        "seed": r"\bseed\b",
        "max_completion_tokens": r"\bmax_completion_tokens\b",
        "max_tokens": r"\bmax_?tokens\b|\bmax_?output_?tokens\b",
        "system": r"system role|system_?instruction|developer instruction|roles must alternate|"
        r"only user and assistant roles|system messages? (?:is|are) not supported",
    }.items()
}


class Unsupported(ChatFailure):
    """The server does not support a feature of the request.

    Attributes:
        features: Which it may be; keys of ``FEATURES``.
    """

    def __init__(self, features: tuple[str, ...], words: str, *, http: int, body: str) -> None:
        self.features = features
        super().__init__("rejected", words, http=http, body=body)


def objects_in(listed: object) -> list[dict[str, Any]]:
    """Return the objects in a list; none if it is no list."""
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def refused(status: int, headers: Mapping[str, str], body: bytes) -> ChatFailure:
    """Return an error reply as a ``ChatFailure``."""
    message, codes, parameter, after = _error_of(body)
    if 300 <= status < 400:
        message = "a redirect, which is not followed"
    line = one_line(message)
    words = f"replied {status}{': ' if line else ''}{line}"
    sent = one_line(body.decode(errors="replace"), BODY_SHOWN)
    trouble = _trouble(status, f"{codes} {message}".lower())
    may_lack = trouble == "rejected" and status in INVALID_REQUEST
    features = _features(parameter or message[:HEAD]) if may_lack else ()
    if features:
        return Unsupported(features, words, http=status, body=sent)
    after = max(retry_after(headers), after)
    return ChatFailure(trouble, words, after=after, http=status, body=sent)


def _trouble(status: int, text: str) -> Trouble:
    if status == 402 or (status < 500 and NO_CREDIT.search(text)):
        return "no_credit"
    if status in INVALID_REQUEST or status == 403:
        if FILTERED.search(text):
            return "filtered"
        if TOO_LONG.search(text):
            return "too_long"
    if status == 413 or (status == 429 and NEVER_FITS.search(text)):
        return "too_long"
    if status in (401, 403) or (status == 400 and BAD_KEY.search(text)):
        return "not_allowed"
    if status in (404, 405, 410) or status < 400:
        return "not_found"
    if status == 400 and NO_MODEL.search(text):
        return "not_found"
    if status == 429:
        return "rate_limit"
    if status in (408, 409, 425) or (status >= 500 and status != 501):
        return "server_error"
    return "rejected"


def _features(text: str) -> tuple[str, ...]:
    """The features named in a text, which the server may not support."""
    return tuple(name for name, words in FEATURES.items() if words.search(text.lower()))


def _error_of(body: bytes) -> tuple[str, str, str, float]:
    """The words of an error reply, its codes, the parameter that it names, and seconds to wait."""
    text = body.decode(errors="replace")
    try:
        reply: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ("" if text.lstrip().startswith("<") else text), "", "", 0.0
    if isinstance(reply, list) and reply:
        reply = reply[0]
    if not isinstance(reply, dict):
        return (reply if isinstance(reply, str) else ""), "", "", 0.0
    error = reply.get("error", reply)
    if not isinstance(error, dict):
        return str(error), _codes(reply), "", 0.0
    words = next((error[name] for name in ("message", "Message", "detail") if error.get(name)), "")
    inner = error.get("innererror")
    details = objects_in(error.get("details"))
    codes = [_codes(part) for part in (reply, error, inner, *details) if isinstance(part, dict)]
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    parameter = error.get("param")
    return (
        _sentence(words) + _filters(inner) + (f" ({raw})" if isinstance(raw, str) else ""),
        " ".join(codes),
        parameter if isinstance(parameter, str) else "",
        max((_delay(detail.get("retryDelay")) for detail in details), default=0.0),
    )


def _codes(part: Mapping[str, Any]) -> str:
    names = ("type", "code", "status", "reason", "error_type", "__type")
    return " ".join(str(part[name]) for name in names if part.get(name))


def _sentence(words: object) -> str:
    if isinstance(words, str):
        return words
    faults = words if isinstance(words, list) else [words]
    listed = []
    for fault in faults:
        if isinstance(fault, dict):
            location = fault.get("loc")
            where = ".".join(map(str, location)) if isinstance(location, list) else ""
            listed.append(f"{where}: {fault.get('msg') or fault.get('message') or ''}")
    return "; ".join(listed)


def _filters(inner: object) -> str:
    """The content filters of Azure that applied."""
    results = inner.get("content_filter_result") if isinstance(inner, dict) else None
    if not isinstance(results, dict):
        return ""
    filtered = (isinstance(result, dict) and result.get("filtered") for result in results.values())
    which = list(compress(results, filtered))
    return f" ({', '.join(which)})" if which else ""


def _delay(text: object) -> float:
    """Seconds, from Gemini's form ``34.07s``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)s", text) if isinstance(text, str) else None
    return float(match[1]) if match else 0.0


# Bytes of a reply that are read.
MOST_BODY = 64 << 20

# Bytes of a file of replies that are read: 40 kB for each of 100,000 questions of a batch.
MOST_PIECES = 4 << 30

# Seconds after which an idle connection is closed.
KEPT = 60.0

# Connect timeout in seconds.
CONNECT = 30.0


class Connections:
    """A pool of HTTP connections, created by the first request, in that request's event loop.

    It follows no redirects, keeps no cookies and reads no ~/.netrc. It limits neither concurrency
    nor the duration of a request: callers do that, by waiting or cancelling.
    """

    def __init__(self) -> None:
        self._session: ClientSession | None = None

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None = None,
        proxy: str | None = None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the reply to a request; a body may be sent piece by piece.

        Raises:
            ChatFailure: The server was not reached, closed the connection early, or sent too much.
        """
        pieces = self.pieces(method, url, headers, body, proxy, most=MOST_BODY)
        received = [part async for part in pieces]
        status, back, _ = received[-1]
        return status, back, b"".join(piece for *_, piece in received)

    async def pieces(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None = None,
        proxy: str | None = None,
        *,
        most: int,
    ) -> AsyncIterator[tuple[int, Mapping[str, str], bytes]]:
        """Yield a reply of at most so many bytes piece by piece, each with status and headers.

        The last piece is empty.
        """
        session = self._session or self._opened()
        with _faults():
            async with session.request(
                method, url, data=body, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                size = 0
                async for piece in response.content.iter_any():
                    size += len(piece)
                    if size > most:
                        words = f"sent more than {most:,} bytes"
                        raise ChatFailure("bad_reply", words, http=response.status)
                    yield response.status, response.headers, piece
                yield response.status, response.headers, b""

    async def close(self) -> None:
        """Close all connections; a further request would open new ones."""
        session, self._session = self._session, None
        if session:
            await session.close()

    def _opened(self) -> "ClientSession":
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

        self._session = ClientSession(
            headers={"User-Agent": "ragstone", "Accept-Encoding": "identity"},
            timeout=ClientTimeout(total=None, sock_connect=CONNECT),
            connector=TCPConnector(limit=0, keepalive_timeout=KEPT),
            cookie_jar=DummyCookieJar(),
            trust_env=False,
        )
        return self._session


@contextmanager
def _faults() -> Iterator[None]:
    from aiohttp import ClientConnectorError, ClientError

    try:
        yield
    except ClientConnectorError as error:
        reason = error.os_error.strerror or error
        raise ChatFailure("unreachable", f"cannot be reached: {reason}. Is it running?") from error
    except TimeoutError as error:
        words = f"accepted no connection within {CONNECT:g} s"
        raise ChatFailure("timeout", words) from error
    except (ClientError, OSError) as error:
        words = f"broke off: {error or type(error).__name__}"
        raise ChatFailure("connection", words) from error


@contextmanager
def blaming(host: str, key: str | None, variable: str, hint: str = "") -> Iterator[None]:
    """Put the host before what a ``ChatFailure`` says, take out the key, and add the hint."""
    try:
        yield
    except ChatFailure as failure:
        words = f"{host} {scrubbed(str(failure), key)}"
        if failure.trouble == "not_allowed":
            words += f". The key of {variable} was sent" if key else ". No key was sent"
        if failure.trouble == "not_found":
            words += hint
        failure.args = (words,)
        failure.body = scrubbed(failure.body, key)
        raise
