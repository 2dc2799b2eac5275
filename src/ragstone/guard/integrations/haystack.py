"""Haystack: a component that judges the replies of a pipeline. Needs the extra ``haystack``."""

from typing import Any

from ragstone.core.errors import MissingDependency
from ragstone.core.messages import reason
from ragstone.guard.guard import Guard
from ragstone.guard.guard_input import Checks

from .request_guard import HELD, Exchange, IfNotJudged, RequestGuard, Ruling

try:
    from haystack import Document, component
    from haystack.dataclasses import ChatMessage
except ImportError as error:
    raise MissingDependency("A guard for Haystack", "haystack") from error


@component
class AnswerGuard:
    """Judges the replies of a generator by the documents they rest on.

        pipeline.connect("retriever.documents", "guard.documents")
        pipeline.connect("llm.replies", "guard.replies")

    A pipeline with it is loaded with ``allowed_modules=["ragstone.guard.integrations.haystack"]``.

    A reply that is held back is replaced. What a generator streams to a callback is gone before it
    is judged; stream with the middleware or with ``assess_stream`` instead.
    """

    def __init__(
        self,
        checks: dict[str, Any] | None = None,
        judge: str | None = None,
        deadline: float = 1.0,
        abstain_ok: bool = False,
        on_fail: str | None = HELD,
        if_not_judged: IfNotJudged = "closed",
    ) -> None:
        """Make one; all is plain data, so that a pipeline can be saved.

        Args:
            checks: The settings of ``Checks`` that differ, by name.
            judge: Who judges, as for ``Guard``.
            deadline: Seconds for each reply.
            abstain_ok: Whether a reply that says it does not know is as good as any.
            on_fail: The text in place of a reply that is held back; None: the reply all the same,
                and only the assessment tells.
            if_not_judged: Whether a reply that could not be judged is held back ("closed") or
                given ("open"), which is no barrier: whoever asks may bring it about.

        Raises:
            InputError: A setting that cannot be used.
        """
        self.checks = checks
        self.judge = judge
        self.deadline = deadline
        self.abstain_ok = abstain_ok
        self.on_fail = on_fail
        self.if_not_judged = if_not_judged
        settings = Checks(**(checks or {}))
        judges = Guard(settings, judge=judge, deadline=deadline, abstain_ok=abstain_ok)
        self._guard = RequestGuard(judges, if_not_judged=if_not_judged)

    @component.output_types(
        replies=list[str | ChatMessage], assessments=list[dict[str, Any]], held=list[bool]
    )
    def run(
        self, query: str, replies: list[str | ChatMessage], documents: list[Document]
    ) -> dict[str, Any]:
        """Judge each reply.

        Args:
            query: What was asked.
            replies: Texts or messages. One without text, such as a call of a tool, passes.
            documents: What they rest on.

        Returns:
            ``replies``, ``assessments`` as plain data and ``held``, one of each for every reply.
        """
        by = Exchange(query, contexts_of(documents))
        rulings = [self._ruling(one, by) for one in replies]
        return self._given(replies, rulings)

    @component.output_types(
        replies=list[str | ChatMessage], assessments=list[dict[str, Any]], held=list[bool]
    )
    async def run_async(
        self, query: str, replies: list[str | ChatMessage], documents: list[Document]
    ) -> dict[str, Any]:
        """The same, beside other work of an event loop."""
        by = Exchange(query, contexts_of(documents))
        rulings = []
        for one in replies:
            text = _text(one)
            if text is None:
                rulings.append(self._ruling(one, by))
            else:
                rulings.append(await self._guard.aruling(text, by))
        return self._given(replies, rulings)

    def _ruling(self, reply: str | ChatMessage, by: Exchange) -> Ruling:
        text = _text(reply)
        if text is None:
            return self._guard.not_judged(reason("no_text"), by, passes=True)
        return self._guard.ruling(text, by)

    def _given(self, replies: list[str | ChatMessage], rulings: list[Ruling]) -> dict[str, Any]:
        given = [
            _replaced(one, self.on_fail) if ruling.held and self.on_fail is not None else one
            for one, ruling in zip(replies, rulings, strict=True)
        ]
        return {
            "replies": given,
            "assessments": [one.assessment.to_dict() for one in rulings],
            "held": [one.held for one in rulings],
        }


def contexts_of(documents: list[Document]) -> list[dict[str, Any]]:
    """Documents as contexts, with their ids and scores."""
    return [{"id": one.id, "text": one.content, "score": one.score} for one in documents]


def _text(reply: str | ChatMessage) -> str | None:
    if isinstance(reply, str):
        return reply
    return "".join(reply.texts) if reply.texts else None


def _replaced(reply: str | ChatMessage, text: str) -> str | ChatMessage:
    if isinstance(reply, str):
        return text
    # Log-probabilities spell out what was held back.
    meta = {name: one for name, one in reply.meta.items() if name != "logprobs"}
    return ChatMessage.from_assistant(
        text, meta=meta, name=reply.name, tool_calls=reply.tool_calls, reasoning=reply.reasoning
    )
