"""Connections: the pool of HTTP connections that all models of a run share."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .failure import ChatFailure

if TYPE_CHECKING:
    from aiohttp import ClientSession

KEPT = 60.0
"""Seconds after which an idle connection is closed."""

CONNECT = 30.0
"""Connect timeout in seconds."""


class Connections:
    """A pool of HTTP connections, created by the first request, in that request's event loop.

    It follows no redirects, keeps no cookies and reads no ~/.netrc. It limits neither concurrency
    nor the duration of a request: callers do that, by waiting or cancelling.
    """

    def __init__(self) -> None:
        self._session: ClientSession | None = None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, proxy: str | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the reply to a request.

        Raises:
            ChatFailure: The server was not reached, or closed the connection early.
        """
        return await self.request("POST", url, headers, body, proxy)

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None = None,
        proxy: str | None = None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """As ``post``, by any method; a body may be sent piece by piece."""
        session = self._session or self._opened()
        with _faults():
            async with session.request(
                method, url, data=body, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                return response.status, response.headers, await response.read()

    async def pieces(
        self, url: str, headers: Mapping[str, str], proxy: str | None = None
    ) -> AsyncIterator[tuple[int, Mapping[str, str], bytes]]:
        """The body of a reply piece by piece, each with status and headers; for long ones.

        Raises:
            ChatFailure: The server was not reached, or closed the connection early.
        """
        session = self._session or self._opened()
        with _faults():
            async with session.get(
                url, headers=headers, proxy=proxy, allow_redirects=False
            ) as response:
                async for piece in response.content.iter_any():
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
    """Turn what the library raises into ``ChatFailure``."""
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
