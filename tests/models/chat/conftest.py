"""A server on this machine that replies as it is told, and the question that the tests ask."""

import asyncio
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from ragstone.models.chat import ChatRequest

KEYS = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_API_VERSION",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "HTTP_PROXY",
    "http_proxy",
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the environment here is nobody's affair."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def question() -> ChatRequest:
    schema = {
        "type": "object",
        "properties": {"p01": {"type": "string"}},
        "required": ["p01"],
        "additionalProperties": False,
    }
    return ChatRequest("You judge.", ("CONTEXTS\n", "Is it so?"), schema, "support")


@pytest.fixture
def scripted() -> Iterator[SimpleNamespace]:
    """A server: ``replies`` is what it does next, ``otherwise`` what it does with all others.

    A reply is (status, headers, body). Every request is in ``asked``: path, headers, body.
    """
    script = SimpleNamespace(url="", replies=[], otherwise=(200, {}, {}), asked=[], wait=0.0)
    script.most = script.open = 0
    script.clients = set()
    started, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def post(request: web.Request) -> web.StreamResponse:
        asked: dict[str, Any] = {
            "path": str(request.rel_url),
            "headers": dict(request.headers),
            "body": json.loads(await request.read()),
        }
        script.asked.append(asked)
        if request.transport:
            script.clients.add(request.transport.get_extra_info("peername"))
        script.open += 1
        script.most = max(script.most, script.open)
        reply = script.replies.pop(0) if script.replies else script.otherwise
        await asyncio.sleep(script.wait)
        script.open -= 1
        if reply == "reset":
            assert request.transport
            request.transport.abort()
            return web.Response()
        status, headers, body = reply
        text = body if isinstance(body, str) else json.dumps(body)
        return web.Response(
            status=status, headers=headers, text=text, content_type="application/json"
        )

    async def serve() -> None:
        application = web.Application(client_max_size=1 << 26)
        application.router.add_post("/{path:.*}", post)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        script.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        started.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(10)
    yield script
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()
