"""Folded: what a trace says, once its parts are put together."""

from dataclasses import dataclass
from typing import Literal

from ragstone.data import Example

Content = Literal["there", "ids_only", "none"]


@dataclass(frozen=True, slots=True)
class TracedExample:
    """One answer that was given, as its trace tells it.

    Attributes:
        id: ``TRACE``, or ``TRACE:SPAN`` where a trace holds several answers.
        trace: The id of the trace.
        span: The span that gave the answer as a whole; empty for an example that was sent as one.
        at: When it began, in seconds since the epoch.
        ended: When it ended, in the same.
        example: Question, contexts, answer and history.
        session: The conversation that it belongs to.
        user: Who asked, as the system names them.
        version: The deployed version that answered.
        system: The system that answered.
        model: The model that wrote the answer.
        input_tokens: Tokens that all calls of models read.
        output_tokens: Tokens that they wrote.
        latency: Seconds from the beginning to the end.
        error: What went wrong, where the answer failed.
    """

    id: str
    trace: str
    span: str
    at: float
    ended: float
    example: Example
    session: str | None = None
    user: str | None = None
    version: str | None = None
    system: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """All that is known of a trace.

    Attributes:
        rooted: Whether its root is there, so that all of it may be.
        examples: The answers in it; none where nobody was answered, or content is missing.
        content: Whether texts are there, ids of contexts without their texts, or neither.
        spans: How many there are, each counted once.
        calls: Those of them that call a model or retrieve: 0 means that the trace is not about
            answers, and that nothing is missing.
    """

    rooted: bool
    examples: tuple[TracedExample, ...]
    content: Content
    spans: int
    calls: int
