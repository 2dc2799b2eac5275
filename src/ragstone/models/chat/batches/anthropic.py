"""Anthropic: the Message Batches API."""

import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

from ragstone.models.chat.wire import Body, inside, no_reply, word

from .format import BatchResult, BatchStatus
from .listing import EARLIER, after_last, ends_before, pages
from .server import BatchServer, in_path

OPENING, CLOSING = b'{"requests":[', b"]}"
STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""The HTTP status that an error of a type has outside of a batch; others 500."""


class AnthropicBatches:
    """The requests are sent with the batch. It has no name: count, time and results tell it."""

    most_requests = 100_000
    most_bytes = 256 * 10**6
    by_name = False

    def line(self, custom: str, body: Body) -> Body:
        """A request of the list."""
        return {"custom_id": custom, "params": body}

    async def upload(self, server: BatchServer, file: Path, tag: str) -> str:  # noqa: ARG002
        """Nothing is uploaded before the batch."""
        return ""

    async def create(self, server: BatchServer, file: Path, uploaded: str, tag: str) -> str:  # noqa: ARG002
        """The batch with all its requests."""
        # One line feed less and a comma more a line, and what is around the list.
        length = file.stat().st_size + len(OPENING) - 1 + len(CLOSING)
        headers = {"Content-Type": "application/json", "Content-Length": str(length)}
        _, made = await server.send(_base(server), headers, _listed(file))
        return _id(made)

    async def find(self, server: BatchServer, tag: str, since: float, count: int) -> list[str]:  # noqa: ARG002
        """Those of the same count made since then."""
        found: list[str] = []
        async for page in pages(server, f"{_base(server)}?limit=100", after_last("after_id")):
            times = [_seconds(word(one.get("created_at"))) for one in page]
            found += [
                _id(one)
                for one, at in zip(page, times, strict=True)
                if at >= since - EARLIER and sum(_counts(one).values()) == count
            ]
            if ends_before(times, since):
                break
        return found

    async def status(self, server: BatchServer, batch: str) -> BatchStatus:
        """How far it is."""
        found = await server.get(f"{_base(server)}/{in_path(batch)}")
        said = word(found.get("processing_status"))
        counts = _counts(found)
        answered = counts.pop("succeeded", 0)
        waiting = counts.pop("processing", 0)
        failed = sum(counts.values())
        return BatchStatus(
            "ended" if said == "ended" else "open",
            said,
            answered + waiting + failed,
            answered,
            failed,
            (batch,),
        )

    async def results(self, server: BatchServer, found: BatchStatus) -> AsyncIterator[BatchResult]:
        """Messages, errors, and what was cancelled or expired."""
        for batch in found.places:
            async for line in server.lines(f"{_base(server)}/{in_path(batch)}/results"):
                custom, result = word(line.get("custom_id")), inside(line, "result")
                if result.get("type") == "succeeded":
                    body = json.dumps(inside(result, "message")).encode()
                    yield BatchResult(custom, 200, body)
                elif result.get("type") == "errored":
                    error = inside(result, "error")
                    kind = word(inside(error, "error").get("type")) or word(error.get("type"))
                    status = STATUSES.get(kind, 500)
                    yield BatchResult(custom, status, json.dumps(error).encode())
                else:
                    yield BatchResult(custom, None)


async def _listed(file: Path) -> AsyncIterator[bytes]:
    """The lines of the file as one JSON object."""
    lead = OPENING
    with file.open("rb") as lines:
        for line in lines:
            yield lead + line.rstrip(b"\n")
            lead = b","
    yield CLOSING


def _base(server: BatchServer) -> str:
    return f"{server.url.removesuffix('/v1')}/v1/messages/batches"


def _counts(made: Body) -> dict[str, int]:
    counts = inside(made, "request_counts")
    return {name: of for name, of in counts.items() if isinstance(of, int) and of >= 0}


def _seconds(text: str) -> float:
    """Seconds since 1970; infinite where the text is no time, so that it is looked at."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return float("inf")


def _id(made: Body) -> str:
    found = word(made.get("id"))
    if not found:
        raise no_reply("sent no id", json.dumps(made).encode())
    return found


ANTHROPIC_BATCHES = AnthropicBatches()
