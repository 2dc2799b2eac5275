"""Provider batches: the batch APIs of OpenAI and compatible servers, Anthropic and Gemini."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from .batch_server import (
    EARLIER,
    BatchResult,
    BatchStatus,
    ChatBatches,
    after_last,
    ends_before,
    in_path,
    pieces_of,
)
from .http_transport import objects_in
from .model import ChatFailure
from .wire_format import Body, encoded, inside, no_reply, word

OPENAI_ENDED = frozenset({"completed", "expired", "cancelled"})
# Codes of requests that were never put to the model.
OPENAI_UNANSWERED = frozenset({"batch_expired", "batch_cancelled", "request_cancelled"})

LABEL = "ragstone"


class OpenAiBatches(ChatBatches):
    """A file of requests is uploaded, then a batch is made of it."""

    most_requests = 50_000
    most_bytes = 200 * 10**6

    def _line(self, custom: str, body: Body) -> Body:
        return {"custom_id": custom, "method": "POST", "url": "/v1/chat/completions", "body": body}

    async def upload(self, file: Path, tag: str) -> str:
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
        _, reply = await self.send(f"{self.url}/files", headers, body)
        return _name_in(reply)

    async def _create(self, file: Path, uploaded: str, tag: str) -> str:  # noqa: ARG002
        reply = await self.post(
            f"{self.url}/batches",
            {
                "input_file_id": uploaded,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {LABEL: tag},
            },
        )
        return _name_in(reply)

    async def _find(self, tag: str, since: float, count: int) -> list[str]:  # noqa: ARG002
        url = f"{self.url}/batches?limit=100"
        async for page in self.pages(url, after_last("after")):
            for batch in page:
                if await self._is_it(batch, tag):
                    return [_name_in(batch)]
            if ends_before([_openai_seconds(batch.get("created_at")) for batch in page], since):
                break
        return []

    async def _is_it(self, batch: Body, tag: str) -> bool:
        labels = inside(batch, "metadata")
        if labels or not (file := word(batch.get("input_file_id"))):
            return labels.get(LABEL) == tag
        try:
            about = await self.get(f"{self.url}/files/{in_path(file)}")
        except ChatFailure as failure:
            if failure.trouble in ("not_found", "not_allowed"):
                return False  # Others delete their files, and ours was uploaded just before.
            raise
        return about.get("filename") == _file_name(tag)

    async def status(self, batch: str) -> BatchStatus:
        reply = await self.get(f"{self.url}/batches/{in_path(batch)}")
        state = word(reply.get("status"))
        counts = inside(reply, "request_counts")
        places = (word(reply.get(name)) for name in ("output_file_id", "error_file_id"))
        words = [
            word(fault.get("message")) for fault in objects_in(inside(reply, "errors").get("data"))
        ]
        return BatchStatus(
            "ended" if state in OPENAI_ENDED else "failed" if state == "failed" else "open",
            state,
            _count(counts.get("total")),
            _count(counts.get("completed")),
            _count(counts.get("failed")),
            tuple(path for path in places if path),
            "; ".join(words[:3]),
        )

    async def results(self, ended: BatchStatus) -> AsyncIterator[BatchResult]:
        for file in ended.places:
            async for line in self.lines(f"{self.url}/files/{in_path(file)}/content"):
                custom = word(line.get("custom_id"))
                response, error = inside(line, "response"), inside(line, "error")
                body = response.get("body")
                status = response.get("status_code")
                if isinstance(body, dict) and isinstance(status, int) and 100 <= status < 600:
                    yield BatchResult(custom, status, json.dumps(body).encode())
                elif error.get("code") in OPENAI_UNANSWERED or not error:
                    yield BatchResult(custom, None)
                else:
                    yield BatchResult(custom, 500, json.dumps({"error": error}).encode())


def _name_in(reply: Body, field: str = "id") -> str:
    name = word(reply.get(field))
    if not name:
        raise no_reply(f"sent no {field}", json.dumps(reply).encode())
    return name


def _file_name(tag: str) -> str:
    return f"ragstone-{tag}.jsonl"


def _openai_seconds(value: object) -> float:
    return value if isinstance(value, int | float) else float("inf")


OPENING, CLOSING = b'{"requests":[', b"]}"
# The HTTP status that an error of a type has outside of a batch; others 500.
ANTHROPIC_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}


class AnthropicBatches(ChatBatches):
    """The requests are sent with the batch. It has no name: count, time and results tell it."""

    most_requests = 100_000
    most_bytes = 256 * 10**6
    by_name = False

    def _line(self, custom: str, body: Body) -> Body:
        return {"custom_id": custom, "params": body}

    async def upload(self, file: Path, tag: str) -> str:  # noqa: ARG002
        return ""

    async def _create(self, file: Path, uploaded: str, tag: str) -> str:  # noqa: ARG002
        # One line feed less and a comma more a line, and what is around the list.
        length = file.stat().st_size + len(OPENING) - 1 + len(CLOSING)
        headers = {"Content-Type": "application/json", "Content-Length": str(length)}
        _, reply = await self.send(self._url(), headers, _listed(file))
        return _name_in(reply)

    async def _find(self, tag: str, since: float, count: int) -> list[str]:  # noqa: ARG002
        ids: list[str] = []
        async for page in self.pages(f"{self._url()}?limit=100", after_last("after_id")):
            times = [_anthropic_seconds(word(batch.get("created_at"))) for batch in page]
            ids += [
                _name_in(batch)
                for batch, at in zip(page, times, strict=True)
                if at >= since - EARLIER and sum(_anthropic_counts(batch).values()) == count
            ]
            if ends_before(times, since):
                break
        return ids

    async def status(self, batch: str) -> BatchStatus:
        reply = await self.get(f"{self._url()}/{in_path(batch)}")
        state = word(reply.get("processing_status"))
        counts = _anthropic_counts(reply)
        answered = counts.pop("succeeded", 0)
        waiting = counts.pop("processing", 0)
        failed = sum(counts.values())
        return BatchStatus(
            "ended" if state == "ended" else "open",
            state,
            answered + waiting + failed,
            answered,
            failed,
            (batch,),
        )

    async def results(self, ended: BatchStatus) -> AsyncIterator[BatchResult]:
        for batch in ended.places:
            async for line in self.lines(f"{self._url()}/{in_path(batch)}/results"):
                custom, result = word(line.get("custom_id")), inside(line, "result")
                if result.get("type") == "succeeded":
                    body = json.dumps(inside(result, "message")).encode()
                    yield BatchResult(custom, 200, body)
                elif result.get("type") == "errored":
                    error = inside(result, "error")
                    kind = word(inside(error, "error").get("type")) or word(error.get("type"))
                    status = ANTHROPIC_STATUSES.get(kind, 500)
                    yield BatchResult(custom, status, json.dumps(error).encode())
                else:
                    yield BatchResult(custom, None)

    def _url(self) -> str:
        return f"{self.url.removesuffix('/v1')}/v1/messages/batches"


async def _listed(file: Path) -> AsyncIterator[bytes]:
    lead = OPENING
    with file.open("rb") as lines:
        for line in lines:
            yield lead + line.rstrip(b"\n")
            lead = b","
    yield CLOSING


def _anthropic_counts(reply: Body) -> dict[str, int]:
    counts = inside(reply, "request_counts")
    return {name: of for name, of in counts.items() if isinstance(of, int) and of >= 0}


def _anthropic_seconds(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return float("inf")


# Bytes up to which the requests are sent in the message, which may have 20 MB.
INLINE = 15 * 10**6

GEMINI_ENDED = ("SUCCEEDED", "EXPIRED", "CANCELLED")
# The HTTP status of an RPC code; 1 is a request that was cancelled.
GEMINI_STATUSES = {1: None, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}


class GeminiBatches(ChatBatches):
    """A batch has a display name, by which it is found."""

    most_requests = 100_000
    most_bytes = 2 * 10**9

    def _line(self, custom: str, body: Body) -> Body:
        return {"key": custom, "request": body}

    async def upload(self, file: Path, tag: str) -> str:
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
        about = json.dumps({"file": {"display_name": tag}}).encode()
        root, version = self._root()
        headers, _ = await self.send(f"{root}/upload/{version}/files", start, about)
        url = next((of for name, of in headers.items() if name.lower() == "x-goog-upload-url"), "")
        if not url:
            raise no_reply("named no place for the file", b"")
        whole = {
            "Content-Length": str(size),
            "X-Goog-Upload-Offset": "0",
            "X-Goog-Upload-Command": "upload, finalize",
        }
        _, reply = await self.send(url, whole, pieces_of(file), signed=False)
        return _name_in(inside(reply, "file"), "name")

    async def _create(self, file: Path, uploaded: str, tag: str) -> str:
        model = quote(self.model, safe="/")
        path = model if "/" in model else f"models/{model}"
        url = f"{self._url()}/{path}:batchGenerateContent"
        if uploaded:
            source: Body = {"file_name": uploaded}
            reply = await self.post(url, {"batch": {"display_name": tag, "input_config": source}})
        else:
            kind = {"Content-Type": "application/json"}
            _, reply = await self.send(url, kind, _inlined(file, tag))
        return _name_in(reply, "name")

    async def _find(self, tag: str, since: float, count: int) -> list[str]:  # noqa: ARG002

        def following(page: Body, _: Sequence[Body]) -> str:
            token = word(page.get("nextPageToken"))
            return f"&pageToken={quote(token, safe='')}" if token else ""

        async for page in self.pages(f"{self._url()}/batches?pageSize=100", following):
            for batch in page:
                if (inside(batch, "metadata") or batch).get("displayName") == tag:
                    return [_name_in(batch, "name")]
        return []

    async def status(self, batch: str) -> BatchStatus:
        reply = await self.get(f"{self._url()}/{_gemini_path(batch)}")
        about = inside(reply, "metadata") or reply
        state = word(about.get("state")).rpartition("STATE_")[2]
        counts = inside(about, "batchStats")
        error = word(inside(reply, "error").get("message"))
        failing = state == "FAILED" or (error and state not in GEMINI_ENDED)
        return BatchStatus(
            "failed"
            if failing
            else "ended"
            if reply.get("done") or state in GEMINI_ENDED
            else "open",
            state.lower(),
            _count(counts.get("requestCount")),
            _count(counts.get("successfulRequestCount")),
            _count(counts.get("failedRequestCount")),
            (batch,),
            error,
        )

    async def results(self, ended: BatchStatus) -> AsyncIterator[BatchResult]:
        for batch in ended.places:
            reply = await self.get(f"{self._url()}/{_gemini_path(batch)}")
            about = inside(reply, "response") or inside(inside(reply, "metadata"), "output")
            listed = inside(about, "inlinedResponses").get("inlinedResponses")
            for record in objects_in(listed):
                yield _result(word(inside(record, "metadata").get("key")), record)
            file = word(about.get("responsesFile"))
            if file:
                root, version = self._root()
                url = f"{root}/download/{version}/{_gemini_path(file)}:download?alt=media"
                async for line in self.lines(url):
                    yield _result(word(line.get("key")), line)

    def _url(self) -> str:
        return "/".join(self._root())

    def _root(self) -> tuple[str, str]:
        for version in ("v1beta", "v1"):
            if self.url.endswith(f"/{version}"):
                return self.url.removesuffix(f"/{version}"), version
        return self.url, "v1beta"


def _result(custom: str, batch: Body) -> BatchResult:
    error = inside(batch, "error")
    if not error:
        return BatchResult(custom, 200, json.dumps(inside(batch, "response")).encode())
    code = error.get("code")
    status = GEMINI_STATUSES.get(code, 500) if isinstance(code, int) else 500
    if isinstance(code, int) and 400 <= code < 600:
        status = code
    body = {"error": {**error, "code": status}}
    return BatchResult(custom, status, json.dumps(body).encode())


def _inlined(file: Path, tag: str) -> bytes:
    requests = []
    with file.open("rb") as lines:
        for line in lines:
            reply = json.loads(line)
            requests.append({"request": reply["request"], "metadata": {"key": reply["key"]}})
    config = {"requests": {"requests": requests}}
    return encoded({"batch": {"display_name": tag, "input_config": config}})


def _gemini_path(name: str) -> str:
    parts = name.split("/")
    if len(parts) != 2 or not all(part.strip(".") for part in parts):
        raise ChatFailure("bad_reply", f"named {name!r}, which is no name")
    return "/".join(quote(part, safe="") for part in parts)


def _count(value: object) -> int:
    try:
        return max(0, int(value)) if isinstance(value, int | str) else 0
    except ValueError:
        return 0
