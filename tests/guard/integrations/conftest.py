"""A guard that does as it is told, and a server in miniature that calls an ASGI app."""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.guard.assessment import Assessment, CheckResult, Issue, WayOut

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # It is read when haystack is imported.

RIGHT, WRONG, DOUBTED = "It is right.", "It is wrong.", "It is doubted."


@dataclass
class TwoWords:
    """Takes an answer with "wrong" in it for unsupported, and cannot judge one with "doubted"."""

    deadline: float = 1.0
    error: Exception | None = None
    seconds: float = 0.0
    seen: list[tuple[Any, ...]] = field(default_factory=list)
    block: bool = False

    def assess(
        self,
        question: str | None,
        answer: str | None,
        contexts: Any,
        *,
        retrieval_scores: Sequence[float | None] | None = None,
        run_id: str | None = None,
    ) -> Assessment:
        self.seen.append((question, answer, contexts, retrieval_scores, run_id))
        if self.seconds:
            time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return assessment(answer or "", run_id, "block" if self.block else "ask")

    async def aassess(
        self,
        question: str | None,
        answer: str | None,
        contexts: Any,
        *,
        retrieval_scores: Sequence[float | None] | None = None,
        run_id: str | None = None,
    ) -> Assessment:
        return await asyncio.to_thread(
            self.assess, question, answer, contexts, retrieval_scores=retrieval_scores,
            run_id=run_id,
        )  # fmt: skip


def saying(returned: Any) -> Callable[..., Any]:
    """A function of a question and contexts that returns this."""

    def answer(question: str, contexts: Any) -> Any:
        return returned if (question, contexts) else None

    return answer


def assessment(answer: str, run_id: str | None, fails: WayOut = "ask") -> Assessment:
    """What is known of an answer by the words in it."""
    check, why = "groundedness", "claims_not_supported"
    if "doubted" in answer:
        checks = (CheckResult(check, "not_judged", None, 0.5, "no_time"),)
        return Assessment(None, "ask", checks, (), (), None, run_id, "two words")
    if "wrong" in answer:
        issues = (Issue("unsupported_sentence", check, why),)
        checks = (CheckResult(check, "failed", 0.1, 0.5, why, issues=issues),)
        return Assessment(False, fails, checks, issues, (), 0.1, run_id, "two words")
    checks = (CheckResult(check, "passed", 0.9, 0.5),)
    return Assessment(True, "pass", checks, (), (), 0.9, run_id, "two words")


@dataclass
class Reply:
    """What a server got of an app."""

    messages: list[dict[str, Any]]

    @property
    def status(self) -> int:
        found: int = self.start["status"]
        return found

    @property
    def start(self) -> dict[str, Any]:
        (found,) = [one for one in self.messages if one["type"] == "http.response.start"]
        return found

    @property
    def headers(self) -> dict[str, str]:
        names = [name for name, _ in self.start["headers"]]
        assert len(names) == len(set(names)), names
        return {name.decode(): value.decode() for name, value in self.start["headers"]}

    @property
    def body(self) -> bytes:
        bodies = [one for one in self.messages if one["type"] == "http.response.body"]
        assert not any(one.get("more_body") for one in bodies[-1:])
        assert all(one.get("more_body") for one in bodies[:-1])
        return b"".join(one.get("body", b"") for one in bodies)

    @property
    def json(self) -> Any:
        if "content-length" in self.headers:
            assert int(self.headers["content-length"]) == len(self.body)
        return json.loads(self.body)

    @property
    def told(self) -> dict[str, str]:
        """The fields of the guard's header."""
        fields = [one.partition("=") for one in self.headers["ragstone-guard"].split(", ")]
        return {name: value.strip('"') for name, _, value in fields}


App = Callable[[Any, Any, Any], Awaitable[None]]


def ask(
    app: App,
    body: Any = None,
    *,
    path: str = "/ask",
    root_path: str = "",
    method: str = "POST",
    headers: Sequence[tuple[bytes, bytes]] = (),
    pieces: Sequence[bytes] | None = None,
) -> Reply:
    """Call an app as a server does."""
    sent: list[dict[str, Any]] = []
    if pieces is None:
        pieces = [b"" if body is None else json.dumps(body).encode()]
    requests = [
        {"type": "http.request", "body": one, "more_body": number < len(pieces)}
        for number, one in enumerate(pieces, start=1)
    ]

    async def receive() -> dict[str, Any]:
        return requests.pop(0) if requests else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "root_path": root_path,
             "headers": list(headers), "query_string": b"key=hidden"}  # fmt: skip
    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    return Reply(sent)


def replying(
    value: Any,
    *,
    status: int = 200,
    kind: str = "application/json",
    headers: Sequence[tuple[bytes, bytes]] = (),
    pieces: int = 1,
    reads: bool = True,
) -> App:
    """An app that reads the request and replies with this, JSON unless it is bytes."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()

    async def app(_: Any, receive: Any, send: Any) -> None:
        while reads and (await receive()).get("more_body"):
            pass
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": status,
                    "headers": [(b"content-type", kind.encode()), length, *headers]})  # fmt: skip
        step = -(-len(body) // pieces) or 1
        for at in range(0, max(len(body), 1), step):
            more = at + step < len(body)
            await send({"type": "http.response.body", "body": body[at : at + step],
                        "more_body": more})  # fmt: skip

    return app
