"""Gemini: the Batch API, with requests in its message or in a file."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ragstone.models.chat.failure import ChatFailure
from ragstone.models.chat.wire import Body, encoded, inside, no_reply, word

from .format import BatchResult, BatchStatus
from .listing import pages
from .server import BatchServer, pieces_of

INLINE = 15 * 10**6
"""Bytes up to which the requests are sent in the message, which may have 20 MB."""

ENDED = ("SUCCEEDED", "EXPIRED", "CANCELLED")
HTTP = {1: None, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}
"""The HTTP status of an RPC code; 1 is a request that was cancelled."""


class GeminiBatches:
    """A batch has a display name, by which it is found."""

    most_requests = 100_000
    most_bytes = 2 * 10**9
    by_name = True

    def line(self, custom: str, body: Body) -> Body:
        """A line of the file."""
        return {"key": custom, "request": body}

    async def upload(self, server: BatchServer, file: Path, tag: str) -> str:
        """The name of the uploaded file; empty if the requests fit into the message."""
        size = file.stat().st_size
        if size <= INLINE:
            return ""
        start = {
            "Content-Type": "application/json",
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": "application/jsonl",
        }
        named = json.dumps({"file": {"display_name": tag}}).encode()
        root, version = _root(server)
        headers, _ = await server.send(f"{root}/upload/{version}/files", start, named)
        place = next(
            (of for name, of in headers.items() if name.lower() == "x-goog-upload-url"), ""
        )
        if not place:
            raise no_reply("named no place for the file", b"")
        whole = {
            "Content-Length": str(size),
            "X-Goog-Upload-Offset": "0",
            "X-Goog-Upload-Command": "upload, finalize",
        }
        _, made = await server.send(place, whole, pieces_of(file), signed=False)
        return _name(inside(made, "file"))

    async def create(self, server: BatchServer, file: Path, uploaded: str, tag: str) -> str:
        """The batch of the uploaded file, or of the requests themselves."""
        model = quote(server.model, safe="/")
        path = model if "/" in model else f"models/{model}"
        url = f"{_base(server)}/{path}:batchGenerateContent"
        if uploaded:
            given: Body = {"file_name": uploaded}
            made = await server.post(url, {"batch": {"display_name": tag, "input_config": given}})
        else:
            kind = {"Content-Type": "application/json"}
            _, made = await server.send(url, kind, _inlined(file, tag))
        return _name(made)

    async def find(self, server: BatchServer, tag: str, since: float, count: int) -> list[str]:  # noqa: ARG002
        """By its display name."""

        def following(page: Body, _: Sequence[Body]) -> str:
            token = word(page.get("nextPageToken"))
            return f"&pageToken={quote(token, safe='')}" if token else ""

        async for page in pages(server, f"{_base(server)}/batches?pageSize=100", following):
            for one in page:
                if (inside(one, "metadata") or one).get("displayName") == tag:
                    return [_name(one)]
        return []

    async def status(self, server: BatchServer, batch: str) -> BatchStatus:
        """How far it is."""
        found = await server.get(f"{_base(server)}/{_path(batch)}")
        about = inside(found, "metadata") or found
        said = word(about.get("state"))
        state = said.rpartition("STATE_")[2]
        counts = inside(about, "batchStats")
        answered = _count(counts.get("successfulRequestCount"))
        failed = _count(counts.get("failedRequestCount"))
        error = word(inside(found, "error").get("message"))
        failing = state == "FAILED" or (error and state not in ENDED)
        return BatchStatus(
            "failed" if failing else "ended" if found.get("done") or state in ENDED else "open",
            state.lower(),
            _count(counts.get("requestCount")),
            answered,
            failed,
            (batch,),
            error,
        )

    async def results(self, server: BatchServer, found: BatchStatus) -> AsyncIterator[BatchResult]:
        """Those in the message of the batch, or in its file."""
        for batch in found.places:
            made = await server.get(f"{_base(server)}/{_path(batch)}")
            about = inside(made, "response") or inside(inside(made, "metadata"), "output")
            listed = inside(about, "inlinedResponses").get("inlinedResponses")
            for one in listed if isinstance(listed, list) else ():
                if isinstance(one, dict):
                    yield _result(word(inside(one, "metadata").get("key")), one)
            file = word(about.get("responsesFile"))
            if file:
                root, version = _root(server)
                url = f"{root}/download/{version}/{_path(file)}:download?alt=media"
                async for line in server.lines(url):
                    yield _result(word(line.get("key")), line)


def _result(custom: str, one: Body) -> BatchResult:
    error = inside(one, "error")
    if not error:
        return BatchResult(custom, 200, json.dumps(inside(one, "response")).encode())
    code = error.get("code")
    status = HTTP.get(code, 500) if isinstance(code, int) else 500
    if isinstance(code, int) and 400 <= code < 600:
        status = code
    body = {"error": {**error, "code": status}}
    return BatchResult(custom, status, json.dumps(body).encode())


def _inlined(file: Path, tag: str) -> bytes:
    """The lines of the file as one message."""
    requests = []
    with file.open("rb") as lines:
        for line in lines:
            made = json.loads(line)
            requests.append({"request": made["request"], "metadata": {"key": made["key"]}})
    config = {"requests": {"requests": requests}}
    return encoded({"batch": {"display_name": tag, "input_config": config}})


def _base(server: BatchServer) -> str:
    return "/".join(_root(server))


def _root(server: BatchServer) -> tuple[str, str]:
    """The address without its version, and the version."""
    for version in ("v1beta", "v1"):
        if server.url.endswith(f"/{version}"):
            return server.url.removesuffix(f"/{version}"), version
    return server.url, "v1beta"


def _path(name: str) -> str:
    """A name of the server's, such as ``batches/1``, as a path of two parts."""
    parts = name.split("/")
    if len(parts) != 2 or not all(part.strip(".") for part in parts):
        raise ChatFailure("bad_reply", f"named {name!r}, which is no name")
    return "/".join(quote(part, safe="") for part in parts)


def _name(made: Body) -> str:
    found = word(made.get("name"))
    if not found:
        raise no_reply("sent no name", json.dumps(made).encode())
    return found


def _count(value: object) -> int:
    """A count, which the format writes as a string."""
    try:
        return max(0, int(value)) if isinstance(value, int | str) else 0
    except ValueError:
        return 0


GEMINI_BATCHES = GeminiBatches()
