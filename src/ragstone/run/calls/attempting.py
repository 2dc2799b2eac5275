"""One attempt: sends a question to a model once and interprets the result."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragstone.core.messages import reason
from ragstone.judges.llm.questions import Item, Question
from ragstone.judges.llm.replies import Outcome, read_items
from ragstone.models.chat import ChatFailure, ChatModel, ChatReply, ChatRequest
from ragstone.models.chat.model import MalformedReply, Unclosed

FINISHES = {
    "length": ("length", reason("reply_too_long")),
    "filter": ("filtered", reason("reply_filtered")),
    "refusal": ("refusal", reason("model_declined")),
}

TOO_BIG = Outcome("truncated", reason=reason("in_halves"))
"""The outcome of a question that should be split; recognised by identity."""


@dataclass(frozen=True, slots=True)
class QueuedQuestion:
    """A question to be asked.

    Args:
        key: Its key in the journal.
        question: The question.
        request: The question as sent to the model.
        items: The items that the reply must hold.
        turn: Its priority; lower ones go first.
        tries: Maximum attempts; None: the usual number. For items missing from an earlier reply,
            the attempts that were left for that question.
    """

    key: str
    question: Question
    request: ChatRequest
    items: Mapping[str, type[Item]]
    turn: int
    tries: int | None = None


@dataclass(slots=True)
class AttemptResult:
    """The result of one attempt: a reply, or what went wrong.

    Attributes:
        reply: The reply; None if there was none.
        outcome: Its items; None if the reply is invalid.
        trouble: The type of failure, in one word; None if there was none.
        words: Details of the failure: a reason, or what the server or its library said.
        http: The HTTP status of an error reply.
        after: Seconds that the server asks to wait.
        body: The body of an error reply.
        final: Whether every other question would fail too.
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
    """Send a question once, and read the reply.

    Args:
        model: The model to ask.
        asked: The question.
        seconds: Timeout.
        limit: Maximum tokens of the reply; None: the model's own.
    """
    try:
        async with asyncio.timeout(seconds):
            reply = await model.reply(replace(asked.request, limit=limit))
    except ChatFailure as failure:
        return without_reply(failure)
    except TimeoutError:
        return AttemptResult(
            trouble="timeout", words=reason("no_reply_within", seconds=f"{seconds:g}")
        )
    return interpreted(reply, asked, limit)


def without_reply(failure: ChatFailure) -> AttemptResult:
    """The result of an attempt that failed."""
    return AttemptResult(
        trouble=failure.trouble,
        words=str(failure).rstrip("."),
        http=failure.http,
        after=failure.after,
        body=failure.body,
        final=failure.final,
    )


def interpreted(reply: ChatReply, asked: QueuedQuestion, limit: int | None = None) -> AttemptResult:
    """The result of an attempt that brought a reply.

    Args:
        reply: The reply.
        asked: The question.
        limit: Maximum tokens of the reply that were allowed; None: the model's own.
    """
    result = AttemptResult(reply)
    if (
        reply.finish == "length"
        and limit is not None
        and (reply.usage.completion or limit) >= limit
    ):
        result.trouble = "capped"
        result.words = reason("reply_cut_at", tokens=limit)
    elif reply.finish == "stop":
        _read(result, reply.text, asked)
    else:
        result.trouble, result.words = FINISHES[reply.finish]
    return result


def no_use(
    name: str, result: AttemptResult, refusals: int, asked: QueuedQuestion
) -> Outcome | None:
    """The outcome if a retry would be of no use; otherwise None.

    Args:
        name: The model's.
        result: The result of the attempt.
        refusals: How often the model has declined.
        asked: The question.
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
    """The failure of an attempt as a reason code with its facts."""
    return reason(result.trouble or "failed", of=name, said=result.words, **more)


def settled_before(
    name: str, before: Sequence[str | None], asked: QueuedQuestion
) -> Outcome | None:
    """The outcome if the journal shows that a retry would be of no use; otherwise None."""
    result = AttemptResult(trouble=before[-1])
    # Asked again on resume: the server may accept it by then, or the budget allow a longer reply.
    if result.trouble in ("rejected", "capped"):
        return None
    for trouble, words in FINISHES.values():
        if trouble == result.trouble:
            result.words = words
    return no_use(name, result, before.count("refusal"), asked)


def _read(result: AttemptResult, text: str, asked: QueuedQuestion) -> None:
    """Read a reply; one without a single valid item counts as invalid."""
    try:
        outcome = read_items(text, asked.items, asked.question.texts)
    except Unclosed:
        result.trouble, result.words = "truncated", reason("reply_cut_off")
        return
    except MalformedReply as error:
        result.trouble, result.words = (
            "malformed",
            reason("reply_unreadable", fault=str(error).rstrip(".")),
        )
        return
    if outcome.status != "ok":
        result.trouble = "incomplete"
        first = next(iter(outcome.lacking.items()), None)
        result.words = reason("nothing_asked", fault=" ".join(first) if first else "")
        return
    result.outcome = outcome
    if outcome.lacking:
        result.words = "; ".join(f"{name}: {fault}" for name, fault in outcome.lacking.items())
