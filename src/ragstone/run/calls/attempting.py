"""One attempt: a question put to a model once, and what is to be made of what comes back."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragstone.judges.llm.asker import Outcome
from ragstone.judges.llm.question import Item, Question
from ragstone.judges.llm.reading import read_items
from ragstone.models.chat import ChatFailure, ChatModel, ChatReply, ChatRequest
from ragstone.models.chat.json_reply import Malformed, Unclosed
from ragstone.reason import reason

FINISHES = {
    "length": ("length", "the reply was longer than the model may write"),
    "filter": ("filtered", "a content filter stopped the reply"),
    "refusal": ("refusal", "the model declined to answer"),
}

EMPTY = "the reply holds nothing that was asked"

TOO_BIG = Outcome("truncated", reason=reason("in_halves"))
"""The outcome of a question that can be split; it is this one object."""


@dataclass(frozen=True, slots=True)
class QueuedQuestion:
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


@dataclass(slots=True)
class AttemptResult:
    """What came back from one attempt, or what went wrong.

    Attributes:
        reply: What came back.
        outcome: What it holds; None where it does not read.
        trouble: What went wrong, in one word; None where nothing did.
        words: More about that.
        http: The status, where the reply was no success.
        after: Seconds that the server wants to be left alone.
        body: What the server sent in place of a reply.
        final: No question will be answered.
    """

    reply: ChatReply | None = None
    outcome: Outcome | None = None
    trouble: str | None = None
    words: str | None = None
    http: int | None = None
    after: float = 0.0
    body: str = ""
    final: bool = False


async def attempted(
    model: ChatModel, asked: QueuedQuestion, seconds: float, limit: int | None = None
) -> AttemptResult:
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
        return AttemptResult(
            trouble=failure.trouble,
            words=str(failure).rstrip("."),
            http=failure.http,
            after=failure.after,
            body=failure.body,
            final=failure.final,
        )
    except TimeoutError:
        return AttemptResult(trouble="timeout", words=f"no reply within {seconds:g} s")
    result = AttemptResult(reply)
    if (
        reply.finish == "length"
        and limit is not None
        and (reply.usage.completion or limit) >= limit
    ):
        result.trouble = "capped"
        result.words = f"the reply was cut at the {limit:,} tokens set aside for it"
    elif reply.finish == "stop":
        _read(result, reply.text, asked)
    else:
        result.trouble, result.words = FINISHES[reply.finish]
    return result


def no_use(
    name: str, result: AttemptResult, refusals: int, asked: QueuedQuestion
) -> Outcome | None:
    """The outcome where asking again is of no use.

    Args:
        name: The model's.
        result: What came of it.
        refusals: How often the model declined.
        asked: What was asked.
    """
    match result.trouble:
        case "length" if len(asked.items) > 1:
            return TOO_BIG
        case "capped":
            return Outcome("truncated", reason=why(name, result))
        case "too_long" | "rejected":
            return Outcome("failed", reason=why(name, result))
        case "filtered":
            return Outcome("blocked", reason=why(name, result))
        case "refusal" if refusals > 1:
            return Outcome("blocked", reason=why(name, result))
    return None


def why(name: str, result: AttemptResult, **more: str) -> str:
    """What went wrong with a model, as a reason."""
    return reason(result.trouble or "failed", of=name, said=result.words, **more)


def settled_before(
    name: str, before: Sequence[str | None], asked: QueuedQuestion
) -> Outcome | None:
    """The outcome where the journal's attempts show that asking again is of no use."""
    result = AttemptResult(trouble=before[-1])
    if result.trouble in ("rejected", "capped"):
        return None
    for trouble, words in FINISHES.values():
        if trouble == result.trouble:
            result.words = words
    return no_use(name, result, before.count("refusal"), asked)


def _read(result: AttemptResult, text: str, asked: QueuedQuestion) -> None:
    """Read a reply; one without a single good item is as bad as one that does not read."""
    try:
        outcome = read_items(text, asked.items, asked.question.texts)
    except Unclosed:
        result.trouble, result.words = "truncated", "the reply was cut off"
        return
    except Malformed as error:
        result.trouble, result.words = "malformed", f"the reply cannot be read: {error}".rstrip(".")
        return
    if outcome.status != "ok":
        result.trouble = "incomplete"
        first = next(iter(outcome.lacking.items()), None)
        result.words = EMPTY + (f": {first[0]} {first[1]}" if first else "")
        return
    result.outcome = outcome
    if outcome.lacking:
        result.words = "; ".join(f"{name}: {fault}" for name, fault in outcome.lacking.items())
