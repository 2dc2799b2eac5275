"""A judge server on this machine that answers every task, and ragstone as a process of its own."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from ragstone.judges.llm.questions import SCHEMA
from ragstone.models.chat import ChatRequest
from ragstone.testing import asked, reply_to
from tests.forked import COMMAND, Forked

Reply = dict[str, Any]


def reply(prompt: str) -> Reply:
    """An item for every id: the first of the verdicts that are allowed, and one detail.

    The claim of an answer is its first sentence, for a claim of other words is none of it.
    """
    request = ChatRequest("", (prompt,), {}, "")
    last = prompt.rpartition("\nThe texts end here")[2]
    verdict = re.findall(r"^verdict: ([\w]+)", last, re.MULTILINE)
    sentence = re.search(r"^\[s1\] ([^\[\n]+)", prompt, re.MULTILINE)
    claim = f"s1: {sentence[1].strip()}" if sentence else "s1: The pier is 90 m."
    detail = {"c": "s1", "p": "c01: The pier"}
    said = {
        one: {
            "reason": "It is so.",
            "verdict": verdict[0] if verdict else "",
            "details": [detail.get(one[0], claim)] * (3 if one[0] == "n" else 1),
        }
        for one in asked(request)
    }
    return reply_to(request, said)


class Server:
    """Speaks OpenAI's format.

    Attributes:
        asked: The schema names of the questions, in order.
        hang: Whether it never replies.
        wait: Seconds before a reply.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.hang = False
        self.wait = 0.0
        self.open = 0
        self.keys: set[str] = set()
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.keys.add(request.headers.get("Authorization", ""))
        wanted = body["response_format"]["json_schema"]
        prompt = body["messages"][-1]["content"]
        self.asked.append("_and_".join(re.findall(r"^Task (\w+),", prompt, re.MULTILINE)))
        self.open += 1
        try:
            await asyncio.sleep(3_600 if self.hang else self.wait)
        finally:
            self.open -= 1
        assert wanted["schema"] == SCHEMA
        said = json.dumps(reply(prompt))
        usage = {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100}
        choice = {"index": 0, "message": {"content": said}, "finish_reason": "stop"}
        return web.json_response({"model": "m-1", "choices": [choice], "usage": usage})

    def start(self) -> None:
        started = threading.Event()

        async def serve() -> None:
            app = web.Application(client_max_size=2**24)
            app.router.add_post("/v1/chat/completions", self.chat)
            self._runner = web.AppRunner(app, shutdown_timeout=0.1)
            await self._runner.setup()
            site = web.TCPSite(self._runner, "127.0.0.1", 0)
            await site.start()
            port = self._runner.addresses[0][1]
            self.url = f"http://127.0.0.1:{port}/v1"
            started.set()

        def run() -> None:
            self._loop.run_until_complete(serve())
            self._loop.run_forever()
            self._loop.close()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        started.wait(10)

    def stop(self) -> None:
        assert self._runner is not None
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def judge(self) -> str:
        return f"{self.url}#m"


@pytest.fixture
def server() -> Iterator[Server]:
    """A judge that answers."""
    made = Server()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def command(
    ragstone: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Runs ``ragstone`` in this process, where ``process`` would; gives status and what it said."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            patch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
            patch.chdir(tmp_path)
            outcome = ragstone(*arguments)
        return outcome.status, outcome.out, outcome.err

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Forked]:
    """Runs ``ragstone`` as a process of its own."""
    own = {"RAGSTONE_CACHE": str(tmp_path / "cache"), "NO_PROXY": "127.0.0.1"}
    return partial(Forked, COMMAND, cwd=tmp_path, **own)


@pytest.fixture
def metrics() -> Sequence[str]:
    """Options that need seven tasks but for one."""
    names = ("faithfulness", "context_precision", "context_recall", "answer_coverage")
    return [word for name in names for word in ("-m", name)]
