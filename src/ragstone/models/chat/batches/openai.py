"""OpenAI: batches of chat completions, of OpenAI and of servers with its API."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

from ragstone.models.chat.failure import ChatFailure
from ragstone.models.chat.wire import Body, inside, no_reply, word

from .format import BatchResult, BatchStatus
from .listing import after_last, ends_before, pages
from .server import BatchServer, in_path, pieces_of

ENDED = frozenset({"completed", "expired", "cancelled"})
UNANSWERED = frozenset({"batch_expired", "batch_cancelled", "request_cancelled"})
"""Codes of requests that were never put to the model."""
LABEL = "ragstone"


class OpenAiBatches:
    """A file of requests is uploaded, then a batch is made of it."""

    most_requests = 50_000
    most_bytes = 200 * 10**6
    by_name = True

    def line(self, custom: str, body: Body) -> Body:
        """A line of the file."""
        return {"custom_id": custom, "method": "POST", "url": "/v1/chat/completions", "body": body}

    async def upload(self, server: BatchServer, file: Path, tag: str) -> str:
        """The id of the uploaded file."""
        edge = f"ragstone-{tag}"
        disposition = "Content-Disposition: form-data; name="
        before = (
            f'--{edge}\r\n{disposition}"purpose"\r\n\r\nbatch\r\n--{edge}\r\n'
            f'{disposition}"file"; filename="{_file_name(tag)}"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        ).encode()
        after = f"\r\n--{edge}--\r\n".encode()
        length = len(before) + file.stat().st_size + len(after)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Content-Length": str(length),
        }
        body = pieces_of(file, before, after)
        _, made = await server.send(f"{server.url}/files", headers, body)
        return _id(made)

    async def create(self, server: BatchServer, file: Path, uploaded: str, tag: str) -> str:  # noqa: ARG002
        """The batch of the uploaded file."""
        made = await server.post(
            f"{server.url}/batches",
            {
                "input_file_id": uploaded,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {LABEL: tag},
            },
        )
        return _id(made)

    async def find(self, server: BatchServer, tag: str, since: float, count: int) -> list[str]:  # noqa: ARG002
        """By the metadata; on a server that keeps none, by the name of its file."""
        url = f"{server.url}/batches?limit=100"
        async for page in pages(server, url, after_last("after")):
            for one in page:
                if await self._is_it(server, one, tag):
                    return [_id(one)]
            if ends_before([_seconds(one.get("created_at")) for one in page], since):
                break
        return []

    async def _is_it(self, server: BatchServer, one: Body, tag: str) -> bool:
        labels = inside(one, "metadata")
        if labels or not (file := word(one.get("input_file_id"))):
            return labels.get(LABEL) == tag
        try:
            about = await server.get(f"{server.url}/files/{in_path(file)}")
        except ChatFailure as failure:
            if failure.trouble in ("not_found", "not_allowed"):
                return False  # Others delete their files, and ours was uploaded just before.
            raise
        return about.get("filename") == _file_name(tag)

    async def status(self, server: BatchServer, batch: str) -> BatchStatus:
        """How far it is."""
        found = await server.get(f"{server.url}/batches/{in_path(batch)}")
        said = word(found.get("status"))
        counts = inside(found, "request_counts")
        places = (word(found.get(name)) for name in ("output_file_id", "error_file_id"))
        faults = inside(found, "errors").get("data")
        words = [
            word(one.get("message")) for one in faults or () if isinstance(one, dict)
        ] if isinstance(faults, list) else []  # fmt: skip
        return BatchStatus(
            "ended" if said in ENDED else "failed" if said == "failed" else "open",
            said,
            _count(counts.get("total")),
            _count(counts.get("completed")),
            _count(counts.get("failed")),
            tuple(place for place in places if place),
            "; ".join(words[:3]),
        )

    async def results(self, server: BatchServer, found: BatchStatus) -> AsyncIterator[BatchResult]:
        """Those of its output file and of its error file."""
        for place in found.places:
            async for line in server.lines(f"{server.url}/files/{in_path(place)}/content"):
                custom = word(line.get("custom_id"))
                response, error = inside(line, "response"), inside(line, "error")
                body = response.get("body")
                status = response.get("status_code")
                if isinstance(body, dict) and isinstance(status, int) and 100 <= status < 600:
                    yield BatchResult(custom, status, json.dumps(body).encode())
                elif error.get("code") in UNANSWERED or not error:
                    yield BatchResult(custom, None)
                else:
                    yield BatchResult(custom, 500, json.dumps({"error": error}).encode())


def _file_name(tag: str) -> str:
    return f"ragstone-{tag}.jsonl"


def _id(made: Body) -> str:
    found = word(made.get("id"))
    if not found:
        raise no_reply("sent no id", json.dumps(made).encode())
    return found


def _seconds(value: object) -> float:
    """Seconds since 1970; infinite where it is no time, so that the list is read on."""
    return value if isinstance(value, int | float) else float("inf")


def _count(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


OPENAI_BATCHES = OpenAiBatches()
