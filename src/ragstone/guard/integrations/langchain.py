"""LangChain: a runnable that judges the answer of a chain. Needs the extra ``langchain``."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from ragstone.core.errors import InputError, MissingDependency
from ragstone.core.messages import reason
from ragstone.guard.stream.release import Policy

from .guarded_replies import GuardedPieces, release_of
from .request_guard import HELD, Assessing, Exchange, RequestGuard, Ruling, request_guard

try:
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from langchain_core.runnables import AddableDict, Runnable, RunnableConfig
except ImportError as error:
    raise MissingDependency("A guard for LangChain", "langchain") from error


class GuardRunnable(Runnable[dict[str, Any], dict[str, Any]]):
    """Judges the answer in the dict that a chain gives, and replaces one that is held back.

        chain = retrieve | RunnablePassthrough.assign(answer=prompt | model) | GuardRunnable()

    The dict has the question, the documents (or texts) and the answer, a text or a message. It
    gets the assessment as a further key, which quotes the answer as the model wrote it. A message
    without text, such as one that only calls tools, passes as not judged. Streamed, the answer
    leaves sentence by sentence, as far as it passes; question and documents must come before it.
    """

    def __init__(
        self,
        guard: Assessing | RequestGuard | None = None,
        *,
        question: str = "question",
        contexts: str = "context",
        answer: str = "answer",
        assessment: str = "assessment",
        on_fail: str | None = HELD,
        policy: Policy = "hold_sentence",
        stop_early: bool = False,
    ) -> None:
        """Make one.

        Args:
            guard: What judges; a ``RequestGuard`` with a policy of yours. None: ``Guard()``.
            question: Key of the question.
            contexts: Key of the documents.
            answer: Key of the answer.
            assessment: Key under which the assessment is added, as plain data.
            on_fail: The text in place of an answer that is held back; None: the answer all the
                same, and only the assessment tells.
            policy: What leaves where the chain is streamed, and when; see ``assess_stream``.
            stop_early: Whether nothing more leaves of a stream behind what is held back.

        Raises:
            InputError: A setting that cannot be used.
        """
        self.guard = request_guard(guard)
        self.question = question
        self.contexts = contexts
        self.answer = answer
        self.assessment = assessment
        self.on_fail = on_fail
        self.release = release_of(self.guard, on_fail, policy, stop_early=stop_early)

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The dict with the assessment.

        Raises:
            InputError: What comes in is no dict.
        """
        return self._call_with_config(self._judged, input, config, **kwargs)

    async def ainvoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The same, beside other work of an event loop."""
        return await self._acall_with_config(self._ajudged, input, config, **kwargs)

    def transform(
        self,
        input: Iterator[dict[str, Any]],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """The dict in pieces, of whose answer leaves what passes; the assessment comes last."""
        yield from self._transform_stream_with_config(input, self._through, config, **kwargs)

    def stream(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[dict[str, Any]]:
        """As ``transform``, of a single dict."""
        yield from self.transform(iter([input]), config, **kwargs)

    async def atransform(
        self,
        input: AsyncIterator[dict[str, Any]],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[dict[str, Any]]:
        """As ``transform``, beside other work of an event loop."""
        found = self._atransform_stream_with_config(input, self._athrough, config, **kwargs)
        async for one in found:
            yield one

    async def astream(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[dict[str, Any]]:
        """As ``atransform``, of a single dict."""

        async def alone() -> AsyncIterator[dict[str, Any]]:
            yield input

        async for one in self.atransform(alone(), config, **kwargs):
            yield one

    def _through(self, chunks: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        whole = _Whole(self)
        try:
            for chunk in chunks:
                yield from whole.take(chunk)
            yield from whole.end()
        finally:
            whole.leave()

    async def _athrough(
        self, chunks: AsyncIterator[dict[str, Any]]
    ) -> AsyncIterator[dict[str, Any]]:
        whole = _Whole(self)
        try:
            async for chunk in chunks:
                for one in await asyncio.to_thread(whole.take, chunk):
                    yield one
            for one in await asyncio.to_thread(whole.end):
                yield one
        finally:
            whole.leave()

    def _judged(self, given: dict[str, Any]) -> dict[str, Any]:
        answer, by = self.known(given)
        if answer is None:
            return self._given(given, self.guard.not_judged(reason("no_text"), by, passes=True))
        return self._given(given, self.guard.ruling(answer, by))

    async def _ajudged(self, given: dict[str, Any]) -> dict[str, Any]:
        answer, by = self.known(given)
        if answer is None:
            return self._given(given, self.guard.not_judged(reason("no_text"), by, passes=True))
        return self._given(given, await self.guard.aruling(answer, by))

    def known(self, given: Any) -> tuple[str | None, Exchange]:
        """The answer, None if it has no text, and what it is judged by."""
        if not isinstance(given, Mapping):
            raise InputError(
                f"GuardRunnable takes a dict with {self.question!r}, {self.contexts!r} and "
                f"{self.answer!r}, not {type(given).__name__}. Build it with "
                "RunnablePassthrough.assign(…)."
            )
        answer = given.get(self.answer)
        text = answer.text if isinstance(answer, BaseMessage) else answer
        known = isinstance(text, str) and (text or not isinstance(answer, BaseMessage))
        by = Exchange(_text(given.get(self.question)), contexts_of(given.get(self.contexts)))
        return str(text) if known else None, by

    def _given(self, given: dict[str, Any], ruling: Ruling) -> dict[str, Any]:
        told = {**given, self.assessment: ruling.assessment.to_dict()}
        if ruling.held and self.on_fail is not None:
            told[self.answer] = _replaced(given[self.answer], self.on_fail)
        return told


class _Whole:
    """A dict that comes in pieces."""

    def __init__(self, runnable: GuardRunnable) -> None:
        self._runnable = runnable
        self._known = AddableDict()
        self._pieces: GuardedPieces | None = None

    def take(self, chunk: dict[str, Any]) -> list[dict[str, Any]]:
        """What leaves with a piece of it."""
        key = self._runnable.answer
        others = {name: one for name, one in chunk.items() if name != key}
        self._known = self._known + AddableDict(others)
        found = [others] if others else []
        if chunk.get(key) is not None:
            piece = chunk[key]
            if isinstance(piece, BaseMessage) and not piece.text:
                return [*found, {key: piece}]
            if getattr(piece, "tool_calls", None) or getattr(piece, "tool_call_chunks", None):
                found.append({key: piece.model_copy(update={"content": ""})})
            text = piece.text if isinstance(piece, BaseMessage) else piece
            found += [{key: _like(piece, one)} for one in self._begun().feed(str(text))]
        return found

    def end(self) -> list[dict[str, Any]]:
        """What leaves at the end."""
        pieces = self._begun()
        found: list[dict[str, Any]] = [{self._runnable.answer: one} for one in pieces.close()]
        return [*found, {self._runnable.assessment: pieces.ruling.assessment.to_dict()}]

    def leave(self) -> None:
        """Nobody waits for the rest, if there is any."""
        if self._pieces is not None:
            self._pieces.close(ConnectionError())

    def _begun(self) -> GuardedPieces:
        if self._pieces is None:
            runnable = self._runnable
            _, by = runnable.known({**self._known})
            self._pieces = GuardedPieces(runnable.guard, runnable.release, by)
        return self._pieces


def contexts_of(given: Any) -> Any:
    """Documents as contexts, with their ids where they have some; anything else as it is."""
    if isinstance(given, Document):
        given = [given]
    if not isinstance(given, list | tuple):
        return given
    return [_context(one) if isinstance(one, Document) else one for one in given]


def _context(document: Document) -> dict[str, Any]:
    named = {"id": document.id} if document.id else {}
    return {**named, "text": document.page_content}


def _text(given: Any) -> str | None:
    if isinstance(given, BaseMessage):
        return str(given.text)
    return given if isinstance(given, str) else None


def _like(piece: Any, text: Any) -> Any:
    if isinstance(piece, BaseMessage) and isinstance(text, str):
        return AIMessageChunk(content=text, id=piece.id)
    return text


def _replaced(answer: Any, text: str) -> Any:
    if not isinstance(answer, BaseMessage):
        return text
    # Log-probabilities spell out what was held back.
    told = {name: one for name, one in answer.response_metadata.items() if name != "logprobs"}
    return answer.model_copy(update={"content": text, "response_metadata": told})
