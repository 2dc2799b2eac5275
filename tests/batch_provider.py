"""A provider on this machine that answers single questions and batches, in the formats of three."""

import asyncio
import json
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from ragstone.core.files import RunEntry
from ragstone.models.chat import ChatRequest
from ragstone.testing import asked, reply_to

Body = dict[str, Any]
KEYS = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "gemini": "GOOGLE_GEMINI"}
GIVEN = ["answered: the length", "directness: 4", "focus: 4", "consistency: 4", "on_topic: yes",
         "proper_action: yes", "incomplete: no", "unsafe_content: no"]  # fmt: skip


def said_to(prompt: str) -> str:
    """An item for every id: the first of the verdicts that are allowed, and its details."""
    request = ChatRequest("", (prompt,), {}, "")
    last = prompt.rpartition("\nThe texts end here")[2]
    verdict = re.findall(r"^verdict: ([\w]+)", last, re.MULTILINE)
    sentence = re.search(r"^\[s1\] ([^\[\n]+)", prompt, re.MULTILINE)
    claim = f"s1: {sentence[1].strip()}" if sentence else "s1: The pier is 90 m."
    detail = {"c": ["s1"], "p": ["c01: The pier"], "q": GIVEN}
    items = {
        one: {
            "reason": "It is so.",
            "verdict": verdict[0] if verdict else "",
            "details": detail.get(one[0], [claim]),
        }
        for one in asked(request)
    }
    return json.dumps(reply_to(request, items))


@dataclass
class MadeBatch:
    """A batch as the provider keeps it."""

    id: str
    tag: str
    file: str
    requests: list[tuple[str, Body]]
    at: float
    state: str = "open"
    results: list[Body] = field(default_factory=list)
    faults: list[Body] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class BatchProvider:
    """Speaks one format.

    Attributes:
        does: What becomes of a request in a batch, by the number of its batch and its place in it:
            ``ok``, ``malformed``, ``errored``, ``expired``, ``canceled``, ``lost``, ``twice``.
        ready: Whether batches end when they are looked at.
        ends: How a batch ends.
        hang: After a batch was made, nothing is replied.
        hang_before: It is not even made.
        looks: How often the state of a batch was looked at.
        broken: After so many creations the connection breaks.
        creates: Whether a creation that breaks makes a batch.
        before_look: Called before the state of a batch is looked at.
        refuse_known: The status of the state of a batch, if that is refused.
        refuse: The status and words of every call about batches, if it is refused.
        pause: Seconds that a refusal asks to wait.
        labelled: Whether metadata of batches are kept.
        strangers: Other people's batches, as the list has them before ours.
        oldest_first: Whether the list begins with the oldest.
        behind: By how many seconds its clock is behind.
        overlooks: Batches that its list does not have yet.
        garbage: Lines before the results of every batch.
        slow: Gives the seconds from what a call does to its reply.
        paid: How often each question was answered, singly or in a batch.
        single: Questions that were asked singly.
        made: The batches, in order.
        calls: Method and path of every request.
        keys: What was sent as key.
    """

    def __init__(self, speaks: str) -> None:
        self.speaks = speaks
        self.does: Callable[[int, int], str] = lambda _batch, _place: "ok"
        self.ready = True
        self.ends = "completed"
        self.hang = False
        self.hang_before = False
        self.looks = 0
        self.broken = 0
        self.creates = True
        self.before_look: Callable[[], None] = lambda: None
        self.refuse: tuple[int, str] | None = None
        self.pause = 0
        self.refuse_known: int | None = None
        self.labelled = True
        self.strangers: list[Body] = []
        self.oldest_first = False
        self.behind = 0.0
        self.overlooks = False
        self.garbage: list[Body] = []
        self.slow: Callable[[], float] = lambda: 0.0
        self.shuffled = True
        self.paid: Counter[str] = Counter()
        self.single = 0
        self.made: dict[str, MadeBatch] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.calls: list[tuple[str, str]] = []
        self.keys: set[str] = set()
        self.page = 2
        self.url = ""

    def reset(self) -> None:
        """Return to the first state, at the same address."""
        speaks, url = self.speaks, self.url
        vars(self).clear()
        self.__init__(speaks)  # type: ignore[misc]
        self.url = url

    @property
    def judge(self) -> str:
        """Its name as a judge, with ``environment`` in place."""
        return f"{self.url}/v1#m" if self.speaks == "openai" else f"{self.speaks}:m"

    @property
    def environment(self) -> dict[str, str]:
        """Where it is."""
        return {f"{KEYS[self.speaks]}_BASE_URL": self.url + "/v1" * (self.speaks == "openai")}

    @property
    def creations(self) -> int:
        """How often a batch was to be made."""
        ends = ("/v1/batches", "/v1/messages/batches", ":batchGenerateContent")
        return sum(method == "POST" and path.endswith(ends) for method, path in self.calls)

    # -- answers ------------------------------------------------------------------------------

    def _prompt(self, body: Body) -> str:
        if self.speaks == "openai":
            return str(body["messages"][-1]["content"])
        if self.speaks == "anthropic":
            return "".join(one["text"] for one in body["messages"][0]["content"])
        return str(body["contents"][0]["parts"][0]["text"])

    def _reply(self, body: Body, what: str = "ok") -> Body:
        prompt = self._prompt(body)
        self.paid[prompt] += 1
        text = "no judgement" if what == "malformed" else said_to(prompt)
        if self.speaks == "openai":
            usage = {"prompt_tokens": 1_000, "completion_tokens": 100}
            choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
            return {"model": "m-1", "choices": [choice], "usage": usage}
        if self.speaks == "anthropic":
            usage = {"input_tokens": 1_000, "output_tokens": 100}
            content = [{"type": "text", "text": text}]
            return {"type": "message", "model": "m-1", "content": content,
                    "stop_reason": "end_turn", "usage": usage}  # fmt: skip
        usage = {"promptTokenCount": 1_000, "candidatesTokenCount": 100}
        candidate = {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1"}

    def _end(self, batch: MadeBatch) -> None:
        self.looks += 1
        self.before_look()
        if batch.state != "open" or not self.ready:
            return
        batch.state = self.ends
        number = list(self.made).index(batch.id)
        for place, (custom, body) in enumerate(batch.requests):
            what = self.does(number, place)
            counted = {"ok": "succeeded", "malformed": "succeeded", "twice": "succeeded"}
            batch.counts[counted.get(what, what)] += 1
            if what == "lost":
                continue
            line = getattr(self, f"_{self.speaks}_line")(custom, body, what)
            failed = self.speaks == "openai" and what in ("errored", "expired", "canceled")
            place_of = batch.faults if failed else batch.results
            place_of.append(line)
            if what == "twice":
                place_of.append(line)
        if self.shuffled:
            batch.results.reverse()
        batch.results[:0] = self.garbage

    def _openai_line(self, custom: str, body: Body, what: str) -> Body:
        line: Body = {"id": f"r-{custom}", "custom_id": custom, "response": None, "error": None}
        if what in ("expired", "canceled"):
            code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[what]
            return line | {"error": {"code": code, "message": "Too late."}}
        error = {"error": {"message": "The server had an error", "type": "server_error"}}
        status, said = (500, error) if what == "errored" else (200, self._reply(body, what))
        return line | {"response": {"status_code": status, "request_id": "r", "body": said}}

    def _anthropic_line(self, custom: str, body: Body, what: str) -> Body:
        if what in ("expired", "canceled"):
            return {"custom_id": custom, "result": {"type": what}}
        if what == "errored":
            error = {"type": "error", "error": {"type": "api_error", "message": "Overloaded"}}
            return {"custom_id": custom, "result": {"type": "errored", "error": error}}
        message = self._reply(body, what)
        return {"custom_id": custom, "result": {"type": "succeeded", "message": message}}

    def _gemini_line(self, custom: str, body: Body, what: str) -> Body:
        codes = {"expired": 1, "canceled": 1, "errored": 13}
        if what in codes:
            return {"key": custom, "error": {"code": codes[what], "message": "It failed"}}
        return {"key": custom, "response": self._reply(body, what)}

    # -- endpoints ----------------------------------------------------------------------------

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path, method = request.path, request.method
        self.calls.append((method, request.rel_url.raw_path))
        names = ("Authorization", "x-api-key", "x-goog-api-key")
        self.keys |= {value for name in names if (value := request.headers.get(name))}
        sent = await request.read()
        about_batches = "atch" in path or "/files" in path
        if about_batches and self.refuse:
            status, words = self.refuse
            said, headers = {"error": {"message": words}}, {"Retry-After": str(self.pause)}
            return web.json_response(said, status=status, headers=headers)
        try:
            return await self._answered(request, method, path, sent)
        except ConnectionResetError:
            assert request.transport
            request.transport.abort()
            return web.Response()

    async def _answered(
        self, request: web.Request, method: str, path: str, sent: bytes
    ) -> web.StreamResponse:
        answer: web.StreamResponse = await getattr(self, f"_{self.speaks}")(
            request, method, path, sent
        )
        await asyncio.sleep(self.slow())
        return answer

    async def _made(self, tag: str, file: str, requests: list[tuple[str, Body]]) -> MadeBatch:
        name = (
            f"batches/{len(self.made) + 1}"
            if self.speaks == "gemini"
            else f"b-{len(self.made) + 1}"
        )
        at = datetime.now(UTC).timestamp() - self.behind
        made = MadeBatch(name, tag, file, requests, at)
        if self.hang_before:
            await asyncio.sleep(3_600)
        if self.broken and not self.creates:
            self.broken -= 1
            raise ConnectionResetError
        self.made[name] = made
        if self.broken:
            self.broken -= 1
            raise ConnectionResetError
        if self.hang:
            await asyncio.sleep(3_600)
        return made

    def _listed(self, shown: Callable[[MadeBatch], Body]) -> list[Body]:
        mine = [] if self.overlooks else [shown(one) for one in reversed(self.made.values())]
        return [*self.strangers, *(reversed(mine) if self.oldest_first else mine)]

    def _page(self, shown: Callable[[MadeBatch], Body], after: str | None) -> web.Response:
        listed = self._listed(shown)
        ids = [one.get("id") for one in listed]
        first = 0 if after is None else ids.index(after) + 1
        page = listed[first : first + self.page]
        return web.json_response({"data": page, "has_more": first + self.page < len(listed)})

    async def _openai(
        self, request: web.Request, method: str, path: str, sent: bytes
    ) -> web.StreamResponse:
        if path == "/v1/chat/completions":
            self.single += 1
            return web.json_response(self._reply(json.loads(sent)))
        if path == "/v1/files" and method == "POST":
            head, _, rest = sent.partition(b"application/jsonl\r\n\r\n")
            named = re.search(rb'filename="([^"]+)"', head)
            assert named
            assert b'name="purpose"\r\n\r\nbatch\r\n' in head
            name = f"file-{len(self.files) + 1}"
            self.files[name] = named[1].decode(), rest.rpartition(b"\r\n--")[0]
            return web.json_response({"id": name, "filename": named[1].decode()})
        if path == "/v1/batches" and method == "POST":
            body = json.loads(sent)
            assert body["completion_window"] == "24h"
            lines = list(map(json.loads, self.files[body["input_file_id"]][1].splitlines()))
            requests = [(one["custom_id"], one["body"]) for one in lines]
            made = await self._made(body["metadata"]["ragstone"], body["input_file_id"], requests)
            return web.json_response(self._openai_batch(made))
        if path == "/v1/batches":
            return self._page(self._openai_batch, request.query.get("after"))
        if found := re.fullmatch(r"/v1/batches/(.+)", path):
            if self.refuse_known:
                return web.json_response({"error": {"message": "No"}}, status=self.refuse_known)
            if found[1] not in self.made:
                return web.json_response({"error": {"message": "Not found"}}, status=404)
            made = self.made[found[1]]
            self._end(made)
            return web.json_response(self._openai_batch(made))
        if found := re.fullmatch(r"/v1/files/(out|err)-(.+)/content", path):
            made = self.made[found[2]]
            lines = made.results if found[1] == "out" else made.faults
            return web.Response(body="".join(json.dumps(one) + "\n" for one in lines).encode())
        if (found := re.fullmatch(r"/v1/files/(.+)", path)) and found[1] in self.files:
            return web.json_response({"id": found[1], "filename": self.files[found[1]][0]})
        return web.json_response({"error": {"message": "Not found"}}, status=404)

    def _openai_batch(self, made: MadeBatch) -> Body:
        counts = {"total": len(made.requests), "completed": made.counts["succeeded"],
                  "failed": len(made.faults)}  # fmt: skip
        return {
            "id": made.id,
            "status": "in_progress" if made.state == "open" else made.state,
            "created_at": int(made.at),
            "input_file_id": made.file,
            "metadata": {"ragstone": made.tag} if self.labelled else None,
            "request_counts": counts,
            "output_file_id": f"out-{made.id}" if made.results else None,
            "error_file_id": f"err-{made.id}" if made.faults else None,
        }

    async def _anthropic(
        self, request: web.Request, method: str, path: str, sent: bytes
    ) -> web.StreamResponse:
        base = "/v1/messages/batches"
        if path == "/v1/messages":
            self.single += 1
            return web.json_response(self._reply(json.loads(sent)))
        if path == base and method == "POST":
            listed = json.loads(sent)["requests"]
            requests = [(one["custom_id"], one["params"]) for one in listed]
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", custom) for custom, _ in requests)
            return web.json_response(self._anthropic_batch(await self._made("", "", requests)))
        if path == base:
            return self._page(self._anthropic_batch, request.query.get("after_id"))
        if found := re.fullmatch(rf"{base}/([^/]+)/results", path):
            lines = self.made[found[1]].results
            return web.Response(body="".join(json.dumps(one) + "\n" for one in lines).encode())
        if found := re.fullmatch(rf"{base}/([^/]+)", path):
            if self.refuse_known:
                return web.json_response({"error": {"message": "No"}}, status=self.refuse_known)
            if found[1] not in self.made:
                return web.json_response({"error": {"message": "Not found"}}, status=404)
            made = self.made[found[1]]
            self._end(made)
            return web.json_response(self._anthropic_batch(made))
        return web.json_response({"error": {"message": "Not found"}}, status=404)

    def _anthropic_batch(self, made: MadeBatch) -> Body:
        open_ = made.state == "open"
        names = ("succeeded", "errored", "expired", "canceled")
        counts = {name: made.counts[name] for name in names}
        counts["errored"] += made.counts["lost"]
        counts["processing"] = len(made.requests) if open_ else 0
        return {
            "id": made.id,
            "type": "message_batch",
            "processing_status": "in_progress" if open_ else "ended",
            "request_counts": counts,
            "created_at": datetime.fromtimestamp(made.at, UTC).isoformat(),
        }

    async def _gemini(
        self,
        request: web.Request,
        method: str,  # noqa: ARG002
        path: str,
        sent: bytes,
    ) -> web.StreamResponse:
        if path == "/v1beta/models/m:generateContent":
            self.single += 1
            return web.json_response(self._reply(json.loads(sent)))
        if path == "/upload/v1beta/files":
            assert request.headers["X-Goog-Upload-Command"] == "start"
            return web.Response(headers={"X-Goog-Upload-URL": f"{self.url}/put-files"})
        if path == "/put-files":
            assert "x-goog-api-key" not in request.headers
            name = f"files/f{len(self.files) + 1}"
            self.files[name] = name, sent
            return web.json_response({"file": {"name": name}})
        if path == "/v1beta/models/m:batchGenerateContent":
            batch = json.loads(sent)["batch"]
            config, file = batch["input_config"], ""
            if "requests" in config:
                listed = config["requests"]["requests"]
                requests = [(one["metadata"]["key"], one["request"]) for one in listed]
            else:
                file = config["file_name"]
                lines = list(map(json.loads, self.files[file][1].splitlines()))
                requests = [(one["key"], one["request"]) for one in lines]
            made = await self._made(batch["display_name"], file, requests)
            return web.json_response(self._gemini_batch(made))
        if path == "/v1beta/batches":
            listed = self._listed(self._gemini_batch)
            first = int(request.query.get("pageToken", 0))
            page: Body = {"operations": listed[first : first + self.page]}
            if first + self.page < len(listed):
                page["nextPageToken"] = str(first + self.page)
            return web.json_response(page)
        if found := re.fullmatch(r"/v1beta/(batches/.+)", path):
            if self.refuse_known:
                return web.json_response({"error": {"message": "No"}}, status=self.refuse_known)
            if found[1] not in self.made:
                return web.json_response({"error": {"message": "Not found"}}, status=404)
            made = self.made[found[1]]
            self._end(made)
            return web.json_response(self._gemini_batch(made))
        if found := re.fullmatch(r"/download/v1beta/files/out-(\d+):download", path):
            lines = self.made[f"batches/{found[1]}"].results
            return web.Response(body="".join(json.dumps(one) + "\n" for one in lines).encode())
        return web.json_response({"error": {"message": "Not found"}}, status=404)

    def _gemini_batch(self, made: MadeBatch) -> Body:
        state = {"open": "RUNNING", "completed": "SUCCEEDED"}.get(made.state, made.state.upper())
        failed = sum(made.counts[name] for name in ("errored", "expired", "canceled"))
        about = {
            "displayName": made.tag,
            "state": f"BATCH_STATE_{state}",
            "batchStats": {"requestCount": str(len(made.requests)),
                           "successfulRequestCount": str(made.counts["succeeded"]),
                           "failedRequestCount": str(failed)},
        }  # fmt: skip
        found: Body = {"name": made.id, "metadata": about, "done": made.state != "open"}
        if made.state == "open":
            return found
        if made.file:
            return found | {"response": {"responsesFile": f"files/out-{made.id.split('/')[1]}"}}
        inlined = [
            {"metadata": {"key": one.get("key")}}
            | {name: of for name, of in one.items() if name != "key"}
            for one in made.results
        ]
        return found | {"response": {"inlinedResponses": {"inlinedResponses": inlined}}}


def long_ago(run: Path, seconds: float = 3_600.0) -> None:
    """As if the batches of a run had been sent earlier."""
    with closing(sqlite3.connect(run / RunEntry.BATCHES)) as connection, connection:
        connection.execute("UPDATE batches SET at = at - ?", (seconds,))


@contextmanager
def provider(speaks: str) -> Iterator[BatchProvider]:
    """A provider that is there."""
    made = BatchProvider(speaks)
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        application = web.Application(client_max_size=1 << 28)
        application.router.add_route("*", "/{path:.*}", made.serve)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        started.set()
        await stop.wait()
        await runner.cleanup()
        # What a killed client asked may still be answered.
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in left:
                task.cancel()
            await asyncio.wait(left)

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(10)
    yield made
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()
