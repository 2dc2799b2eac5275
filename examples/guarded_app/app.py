"""A FastAPI app that answers questions, with a guard before what it says.

It speaks as OpenAI's chat completions do, streamed and not. Its model is a script, so that it runs
anywhere: it answers the first question rightly, makes up half of the second answer, and the third
rests on so many passages that the guard cannot read them in time.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from ragstone.guard import Checks, Guard
from ragstone.guard.integrations import GuardMiddleware, tell_guard

PIER = "How long is the pier?"
BUILT = "When was the pier built?"
ARCHIVE = "What does the archive say about the pier?"

PASSAGES = {
    PIER: ["The pier at Penmarrow is 90 metres long and made of granite."],
    BUILT: ["The pier at Penmarrow was built in 1859 for the fishing fleet."],
    ARCHIVE: ["The minutes of the harbour board mention the pier at Penmarrow. " * 20] * 20_000,
}
ANSWERS = {
    PIER: "The pier at Penmarrow is 90 metres long. It is made of granite.",
    BUILT: "The pier at Penmarrow was built in 1859. It was paid for by the East India Company.",
    ARCHIVE: "The minutes of the harbour board mention the pier.",
}


class Message(BaseModel):
    """One message of a chat."""

    role: str
    content: str


class Chat(BaseModel):
    """What a client asks for."""

    messages: list[Message]
    stream: bool = False


app = FastAPI()
app.add_middleware(
    GuardMiddleware,
    guard=Guard(Checks(citations=False)),
    paths=["/v1/chat/completions"],
    body_key="ragstone_guard",
)

HEAD = {"id": "chatcmpl-1", "created": 0, "model": "script"}


@app.post("/v1/chat/completions")
async def complete(chat: Chat) -> Any:
    """Retrieve, tell the guard, and answer."""
    question = chat.messages[-1].content
    tell_guard(contexts=PASSAGES.get(question, []))
    answer = ANSWERS.get(question, "I do not know.")
    if chat.stream:
        return StreamingResponse(events(answer), media_type="text/event-stream")
    message = {"role": "assistant", "content": answer}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**HEAD, "object": "chat.completion", "choices": [choice]}


async def events(answer: str) -> AsyncIterator[str]:
    """The answer word by word, as a model writes it."""
    for number, word in enumerate(answer.split(" ")):
        yield event({"content": f" {word}" if number else word}, None)
        await asyncio.sleep(0.01)
    yield event({}, "stop")
    yield "data: [DONE]\n\n"


def event(delta: dict[str, str], finish: str | None) -> str:
    """One event of a streamed completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {**HEAD, "object": "chat.completion.chunk", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n"
