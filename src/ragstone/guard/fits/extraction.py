"""Extraction: what an answer is judged by, found in request, reply and what was told."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ragstone.core.messages import reason

from .answer_places import text_of
from .exchange import Exchange
from .heard_request import HeardRequest
from .json_path import JsonPath
from .request_guard import log_error

Extracted = tuple[str | None, Any]
Extract = Callable[[HeardRequest, Any], Extracted | Awaitable[Extracted]]
"""From the request and its JSON (None if it has none) to the question and the contexts."""


class NotFound(Exception):
    """What an answer is judged by cannot be found; ``why`` is the reason, as a code with facts."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Extraction:
    """Where the question and the contexts of an answer are found.

    What was told by ``tell_guard`` is taken first, then what ``extract`` gives, then the paths.

    Attributes:
        extract: A function of the user's.
        question: Where it stands in the request.
        contexts: Where they stand in the request.
        reply_contexts: Where they stand in the reply.
    """

    extract: Extract | None
    question: JsonPath | None
    contexts: JsonPath | None
    reply_contexts: JsonPath | None

    async def exchange(self, request: HeardRequest, told: Exchange, reply: Any) -> Exchange:
        """What an answer is judged by.

        Args:
            request: Read by the app.
            told: By ``tell_guard``.
            reply: The JSON of the reply, or of the events before the answer.

        Raises:
            NotFound: Something is not where it should be.
        """
        known = told.over(Exchange(run_id=request.run_id))
        if known.contexts is None and self.reply_contexts is not None:
            known = known.over(Exchange(contexts=_at(self.reply_contexts, reply)))
        lacks_question = known.question is None and (self.extract or self.question) is not None
        lacks_contexts = known.contexts is None and (self.extract or self.contexts) is not None
        if lacks_question or lacks_contexts:
            body, why = request.body()
            if why is not None:
                raise NotFound(why)
            known = known.over(await self._extracted(request, body, known))
        if known.contexts is None and self.reply_contexts is not None:
            raise NotFound(reason("nothing_at", path=self.reply_contexts, part="reply"))
        return known

    async def _extracted(self, request: HeardRequest, body: Any, known: Exchange) -> Exchange:
        if self.extract is not None:
            try:
                found = self.extract(request, body)
                question, contexts = await found if inspect.isawaitable(found) else found
            except Exception as error:
                log_error("extract failed", error, known.run_id)
                raise NotFound(reason("extract_failed", error=type(error).__name__)) from error
            known = known.over(Exchange(question, contexts))
        if known.question is None and self.question is not None:
            text = text_of((self.question.values(body) or [None])[-1])
            if text is None:
                raise NotFound(reason("nothing_at", path=self.question, part="request"))
            known = known.over(Exchange(text))
        if known.contexts is None and self.contexts is not None:
            contexts = _at(self.contexts, body)
            if contexts is None:
                raise NotFound(reason("nothing_at", path=self.contexts, part="request"))
            known = known.over(Exchange(contexts=contexts))
        return known


def _at(path: JsonPath, value: Any) -> list[Any] | None:
    """The contexts at a path; None if there is no such place."""
    found = path.values(value)
    if found is None or path.several:
        return found
    return found[0] if isinstance(found[0], list) else None if found[0] is None else found
