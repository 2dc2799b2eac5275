"""One attempt: a question put to a model once, and what is to be made of what comes back."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragstone.judges.llm.question import Item, Question
from ragstone.judges.llm.reading import Reading, read_items
from ragstone.models.chat import ChatFailure, ChatModel, ChatReply, ChatRequest
from ragstone.models.chat.json_reply import Malformed, Unclosed

from .budget import BUDGET

FINISHES = {
    "length": ("length", "the reply was longer than the model may write"),
    "filter": ("filtered", "a content filter stopped the reply"),
    "refusal": ("refusal", "the model declined to answer"),
}

NEXT = "the same command asks again"
ANOTHER = "another --judge may answer it"
EMPTY = "the reply holds nothing that was asked"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on its way.

    Args:
        key: Under which the journal has it.
        question: The question.
        request: The same as the model sees it.
        items: What the reply must hold.
        turn: Its place in line.
        tries: How often it may be put; None: as often as any question. Of what an earlier reply
            lacked, as often as that question might have been put again.
    """

    key: str
    question: Question
    request: ChatRequest
    items: Mapping[str, type[Item]]
    turn: int
    tries: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    Args:
        reading: What the reply holds; None where none reads.
        status: ``too_big``: the reply did not fit, the question can be split. ``unsent``: nothing
            is sent any more.
        reason: Why there is nothing.
        failures: How often it was put in vain before.
    """

    reading: Reading | None = None
    status: Literal["ok", "failed", "blocked", "truncated", "too_big", "unsent"] = "ok"
    reason: str | None = None
    failures: int = 0


@dataclass(slots=True)
class Sent:
    """What came back, or what went wrong."""

    reply: ChatReply | None = None
    reading: Reading | None = None
    trouble: str | None = None
    words: str | None = None
    http: int | None = None
    after: float = 0.0
    body: str = ""
    final: bool = False


async def attempted(
    model: ChatModel, asked: Asked, seconds: float, limit: int | None = None
) -> Sent:
    """Put a question once, and read the reply.

    Args:
        model: Whom.
        asked: What.
        seconds: How long it may take.
        limit: Tokens that the reply may have.
    """
    try:
        async with asyncio.timeout(seconds):
            reply = await model.reply(replace(asked.request, limit=limit))
    except ChatFailure as failure:
        return Sent(
            trouble=failure.trouble,
            words=str(failure).rstrip("."),
            http=failure.http,
            after=failure.after,
            body=failure.body,
            final=failure.final,
        )
    except TimeoutError:
        return Sent(trouble="timeout", words=f"no reply within {seconds:g} s")
    sent = Sent(reply)
    if (
        reply.finish == "length"
        and limit is not None
        and (reply.usage.completion or limit) >= limit
    ):
        sent.trouble = "capped"
        sent.words = f"{BUDGET}: the reply was cut at the {limit:,} tokens set aside for it"
    elif reply.finish == "stop":
        _read(sent, reply.text, asked)
    else:
        sent.trouble, sent.words = FINISHES[reply.finish]
    return sent


def no_use(name: str, sent: Sent, refusals: int, asked: Asked) -> Answer | None:
    """The answer where asking again is of no use.

    Args:
        name: The model's.
        sent: What came of it.
        refusals: How often the model declined.
        asked: What was asked.
    """
    match sent.trouble:
        case "length" if len(asked.items) > 1:
            return Answer(status="too_big")
        case "capped":
            return Answer(status="truncated", reason=f"{name}: {sent.words}; {NEXT}")
        case "too_long":
            return Answer(status="failed", reason=sent.trouble)
        case "filtered":
            return Answer(status="blocked", reason=f"{name}: {sent.words}; {ANOTHER}")
        case "refusal" if refusals > 1:
            return Answer(status="blocked", reason=f"{name}: {sent.words}; {ANOTHER}")
        case "rejected":
            return Answer(status="failed", reason=f"{name}: {sent.words}; {NEXT}")
    return None


def settled(name: str, before: Sequence[str | None], asked: Asked) -> Answer | None:
    """What the journal knows to be of no use."""
    sent = Sent(trouble=before[-1])
    if sent.trouble in ("rejected", "capped"):
        return None
    for trouble, words in FINISHES.values():
        if trouble == sent.trouble:
            sent.words = words
    return no_use(name, sent, before.count("refusal"), asked)


def _read(sent: Sent, text: str, asked: Asked) -> None:
    """Read a reply; one without a single good item is as bad as one that does not read."""
    try:
        reading = read_items(text, asked.items, asked.question.texts)
    except Unclosed:
        sent.trouble, sent.words = "truncated", "the reply was cut off"
        return
    except Malformed as error:
        sent.trouble, sent.words = "malformed", f"the reply cannot be read: {error}".rstrip(".")
        return
    if asked.items and not reading.items:
        sent.trouble = "incomplete"
        why = next(iter(reading.faults.items()), None)
        sent.words = EMPTY + (f": {why[0]} {why[1]}" if why else "")
        return
    sent.reading = reading
    if reading.faults:
        sent.words = "; ".join(f"{name}: {fault}" for name, fault in reading.faults.items())
