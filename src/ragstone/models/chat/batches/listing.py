"""Listing: the provider's list of batches, in which one is looked for that may have been made.

Whoever does not find a batch sends it again, so a list that cannot be read to its end is none.
"""

from collections.abc import AsyncIterator, Callable, Sequence

from ragstone.models.chat.failure import ChatFailure
from ragstone.models.chat.wire import Body, word

from .server import BatchServer, in_path

PAGES = 200
"""The most pages of a list that are read."""
EARLIER = 86_400.0
"""Seconds that the server's clock may be behind."""


async def pages(
    server: BatchServer, url: str, following: Callable[[Body, Sequence[Body]], str]
) -> AsyncIterator[list[Body]]:
    """The batches of a list, page by page.

    Args:
        server: The server.
        url: Of the first page.
        following: What is added to it for the page after a page of such batches; empty after the
            last.

    Raises:
        ChatFailure: It cannot be read, or does not end.
    """
    more = ""
    for _ in range(PAGES):
        page = await server.get(f"{url}{more}")
        listed = page.get("data") or page.get("operations") or page.get("batches")
        found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        yield found
        more = following(page, found)
        if not more:
            return
    raise ChatFailure("bad_reply", f"{server.host}: the list of batches does not end")


def after_last(parameter: str) -> Callable[[Body, Sequence[Body]], str]:
    """Of lists in which the last id leads to the next page, by this parameter."""

    def following(page: Body, found: Sequence[Body]) -> str:
        last = word(found[-1].get("id")) if found else ""
        return f"&{parameter}={in_path(last)}" if page.get("has_more") and last else ""

    return following


def ends_before(times: Sequence[float], since: float) -> bool:
    """Whether a list has only older batches after a page of these times, newest first."""
    return bool(times) and times[0] > times[-1] and times[-1] < since - EARLIER
