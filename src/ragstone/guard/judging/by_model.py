"""By model: chat models as judges inside a request, each question once and within its deadline.

Nothing is kept of what is asked, neither in a journal nor in a cache.
"""

import asyncio
import weakref
from collections.abc import Coroutine
from threading import TIMEOUT_MAX, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.core.messages import reason
from ragstone.guard.deadline import Deadline
from ragstone.judges import fingerprint
from ragstone.judges.llm.questions import Question, key
from ragstone.judges.llm.replies import Outcome
from ragstone.models.chat import ChatModel
from ragstone.run.calls.attempt import QueuedQuestion, attempted, why

from .by_rows import SUPPORT, RowsJudge

if TYPE_CHECKING:
    from ragstone.models.chat.http_transport import Connections
    from ragstone.run.judging.chat_judge import ChatJudge

Result = TypeVar("Result")

TRIES = 2
"""A reply that cannot be read is asked for once more, if there is time."""


class RequestAsker:
    """Asks models about one answer, until its deadline.

    Args:
        deadline: When the last reply must be there.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:
        """Ask a question."""
        request = question.request()
        asked = QueuedQuestion(
            key(request, model.identity, question.vote), question, request, question.items, turn
        )
        outcome = Outcome("failed", reason=reason("too_late", of=model.name))
        for _ in range(TRIES):
            left = self._deadline.left
            if not left:
                break
            result = await attempted(model, asked, left)
            if result.outcome is not None:
                return result.outcome
            outcome = Outcome("failed", reason=why(model.name, result))
            if result.final:
                break
        return outcome

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine that asks to its end, or until the deadline.

        Raises:
            TimeoutError: The deadline has passed.
        """
        begun = asyncio.run_coroutine_threadsafe(work, _loop())
        try:
            return begun.result(min(self._deadline.left, TIMEOUT_MAX))
        except TimeoutError:
            begun.cancel()
            raise


def model_judge(name: str, judge: "ChatJudge", pool: "Connections | None") -> RowsJudge:
    """A chat model, or several that vote, as a judge of claims."""
    models = [model.identity for model in judge.judge.models]
    identity = fingerprint(models, judge.judge.prompts.versions())
    found = RowsJudge(
        name, identity, lambda deadline: judge.able_to_ask(RequestAsker(deadline), [SUPPORT], {})
    )
    if pool is not None:
        weakref.finalize(found, _close, pool)
    return found


_STARTING = Lock()
_running: list[asyncio.AbstractEventLoop] = []


def _loop() -> asyncio.AbstractEventLoop:
    """The event loop in which all models are asked, in a thread of its own."""
    with _STARTING:
        if not _running:
            _running.append(asyncio.new_event_loop())
            Thread(target=_running[0].run_forever, name="guard models", daemon=True).start()
        return _running[0]


def _close(pool: "Connections") -> None:
    if _running and _running[0].is_running():
        asyncio.run_coroutine_threadsafe(pool.close(), _running[0])
