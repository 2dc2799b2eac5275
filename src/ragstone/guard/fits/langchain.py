"""LangChain: a runnable that judges the answer of a chain. Needs the extra ``langchain``."""

from collections.abc import Mapping
from typing import Any

from ragstone.errors import InputError, MissingDependency
from ragstone.reason import reason

from .exchange import Exchange
from .on_fail import HELD
from .request_guard import Assessing, RequestGuard, request_guard
from .ruling import Ruling

try:
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig
except ImportError as error:
    raise MissingDependency("A guard for LangChain", "langchain") from error


class GuardRunnable(Runnable[dict[str, Any], dict[str, Any]]):
    """Judges the answer in the dict that a chain gives, and replaces one that is held back.

        chain = retrieve | RunnablePassthrough.assign(answer=prompt | model) | GuardRunnable()

    The dict has the question, the documents (or texts) and the answer, a text or a message. It
    gets the assessment as a further key. A message without text, such as one that only calls tools,
    passes as not judged.
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

        Raises:
            InputError: Answers that are not judged are to be held back, and nothing is to be given.
        """
        self.guard = request_guard(guard, on_fail)
        self.question = question
        self.contexts = contexts
        self.answer = answer
        self.assessment = assessment
        self.on_fail = on_fail

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

    def _judged(self, given: dict[str, Any]) -> dict[str, Any]:
        answer, by = self._known(given)
        if answer is None:
            return self._given(given, self.guard.not_judged(reason("no_text"), by, passes=True))
        return self._given(given, self.guard.ruling(answer, by))

    async def _ajudged(self, given: dict[str, Any]) -> dict[str, Any]:
        answer, by = self._known(given)
        if answer is None:
            return self._given(given, self.guard.not_judged(reason("no_text"), by, passes=True))
        return self._given(given, await self.guard.aruling(answer, by))

    def _known(self, given: Any) -> tuple[str | None, Exchange]:
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


def _replaced(answer: Any, text: str) -> Any:
    if not isinstance(answer, BaseMessage):
        return text
    # Log-probabilities spell out what was held back.
    told = {name: one for name, one in answer.response_metadata.items() if name != "logprobs"}
    return answer.model_copy(update={"content": text, "response_metadata": told})
