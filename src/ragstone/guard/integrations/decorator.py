"""Decorator: judges a function's answers before the caller gets them, or assesses retrieval."""

import copy
import inspect
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    MutableMapping,
)
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar, cast

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.guard.assessment import WayOut
from ragstone.guard.claim_judges import Circuit
from ragstone.guard.guard import Guard
from ragstone.guard.stream import ReleasePolicy
from ragstone.guard.stream.release import Policy
from ragstone.guard.stream.stream import adriven, driven

from .guarded_replies import GuardedPieces, piecewise, release_of
from .request_guard import (
    HELD,
    HOLD,
    Assessing,
    ContainedInRequest,
    Exchange,
    IfNotJudged,
    RequestGuard,
    Ruling,
    Told,
    listening,
)

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """One call of a guarded function.

    Attributes:
        arguments: By the names of its parameters, defaults too.
        returned: The value that it returned.
    """

    arguments: Mapping[str, Any]
    returned: Any


# The name of a parameter or, if there is none, of a key or an attribute of what is returned; the
# number of an element of a tuple that is returned; or a function.
Place = str | int | Callable[[GuardedCall], Any]


def guarded(
    guard: Assessing | None = None,
    *,
    question: Place = "question",
    contexts: Place = "contexts",
    answer: Place = "answer",
    retrieval_scores: Place | None = None,
    on_fail: str | Callable[[Ruling], Any] | None = HELD,
    policy: Policy = "hold_sentence",
    stop_early: bool = False,
    if_not_judged: IfNotJudged = "closed",
    hold: Collection[WayOut] = HOLD,
    timeout: float | None = None,
    circuit: Circuit | None = None,
    on_ruling: Callable[[Ruling], object] | None = None,
) -> Callable[[F], F]:
    """Guard a function that answers questions: plain or async, at once or piece by piece.

        @guarded(Guard(), contexts="sources")
        def ask(question: str) -> dict[str, Any]:
            return {"answer": …, "sources": […]}

    The caller gets what the function returned, with the answer replaced if it is held back. What
    the function raises is raised; nothing else is.

    A generator, or a function that returns an iterator, is a stream: its texts are the answer, and
    leave as far as they are judged. Question and contexts are then arguments, or told by
    ``tell_guard`` before the first piece.

    Args:
        guard: Judges the answers; None: ``Guard()``.
        question: The place of the question: the name of a parameter or, if the function has none of
            that name, of a key or an attribute of what it returns; the number of an element of a
            returned tuple; or a function of a ``GuardedCall``.
        contexts: The same for the contexts. The function can also call ``tell_guard``.
        answer: The same for the answer, which is always returned. Where a text is returned, it is
            the answer.
        retrieval_scores: The same for the retrieval scores; None: those of the contexts, if any.
        on_fail: What takes the place of an answer that is held back: a text; a function of the
            ruling, which gives what is returned or raises, for a stream at its end; or None: the
            answer all the same, and only ``on_ruling`` tells.
        policy: What leaves of a stream, and when; see ``assess_stream``.
        stop_early: Whether nothing more leaves of a stream behind what is held back.
        if_not_judged: See ``RequestGuard``, as for all that follow.
        hold: The decisions by which an answer is held back.
        timeout: For an async function; a plain one waits for the guard's deadline.
        circuit: When to stop asking a guard that fails.
        on_ruling: Called with every ruling.

    Raises:
        InputError: A setting that cannot be used.
    """
    if inspect.isfunction(guard):
        raise InputError("Write @guarded() with parentheses.")
    if callable(answer) and isinstance(on_fail, str):
        raise InputError(
            "answer= is a function, so a text cannot be put in its place; give on_fail= a function "
            "that makes what is returned instead."
        )
    judge = RequestGuard(
        Guard() if guard is None else guard, if_not_judged=if_not_judged, hold=hold,
        timeout=timeout, circuit=circuit, on_ruling=on_ruling,
    )  # fmt: skip
    release = release_of(judge, on_fail, policy, stop_early=stop_early)

    def decorate(function: F) -> F:
        places = (question, contexts, answer, retrieval_scores)
        inside = _Guarded(function, inspect.signature(function), judge, *places, on_fail, release)

        @wraps(function)
        def plain(*args: Any, **kwargs: Any) -> Any:
            return inside.call(args, kwargs)

        @wraps(function)
        async def later(*args: Any, **kwargs: Any) -> Any:
            return await inside.call(args, kwargs)

        return cast("F", later if inspect.iscoroutinefunction(function) else plain)

    return decorate


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A function with its guard, and with the places of what it is judged by."""

    function: Callable[..., Any]
    signature: inspect.Signature
    judge: RequestGuard
    question: Place
    contexts: Place
    answer: Place
    retrieval_scores: Place | None
    on_fail: str | Callable[[Ruling], Any] | None
    release: ReleasePolicy

    def call(self, args: Any, kwargs: Any) -> Any:
        with listening() as facts:
            returned = self.function(*args, **kwargs)
        if inspect.isawaitable(returned):
            return self._awaited(returned, args, kwargs, facts)
        if (stream := self._stream(returned, args, kwargs, facts)) is not None:
            return stream
        answer, by, why = self._known(args, kwargs, returned, facts)
        ruling = self.judge.ruling(answer, by) if why is None else self.judge.not_judged(why, by)
        return self._given(returned, ruling)

    async def _awaited(self, returning: Awaitable[Any], args: Any, kwargs: Any, facts: Told) -> Any:
        with listening(facts):
            returned = await returning
        if (stream := self._stream(returned, args, kwargs, facts)) is not None:
            return stream
        answer, by, why = self._known(args, kwargs, returned, facts)
        if why is not None:
            return self._given(returned, self.judge.not_judged(why, by))
        return self._given(returned, await self.judge.aruling(answer, by))

    def _stream(self, returned: Any, args: Any, kwargs: Any, facts: Told) -> Any:
        begin = partial(self._begun, args, kwargs, facts)
        steps, within = piecewise(begin, self._at_the_end), partial(listening, facts)
        if isinstance(returned, AsyncIterator):
            return adriven(steps, returned, within)
        if isinstance(returned, Iterator):
            return driven(steps, returned, within)
        return None

    def _begun(self, args: Any, kwargs: Any, facts: Told) -> GuardedPieces:
        _, by, why = self._known(args, kwargs, "", facts)
        return GuardedPieces(self.judge, self.release, by, why)

    def _at_the_end(self, pieces: GuardedPieces) -> Iterator[Any]:
        if pieces.action == "replaced" and callable(self.on_fail):
            last = self.on_fail(pieces.ruling)
            if last is not None:
                yield last

    def _known(
        self, args: Any, kwargs: Any, returned: Any, facts: Told
    ) -> tuple[str, Exchange, str | None]:
        by = facts.exchange
        with ContainedInRequest("extract failed", by.run_id) as extracting:
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            by = self._exchange(GuardedCall(bound.arguments, returned), by)
            answer = returned
            if not isinstance(returned, str):
                answer = _at(self.answer, GuardedCall({}, returned))
        if extracting.error is not None:
            return "", by, extracting.reason("extract_failed")
        if isinstance(answer, str):
            return answer, by, None
        return "", by, reason("no_text")

    def _exchange(self, call: GuardedCall, facts: Exchange) -> Exchange:
        scores = None if self.retrieval_scores is None else _at(self.retrieval_scores, call)
        question = facts.question if facts.question is not None else _at(self.question, call)
        contexts = facts.contexts if facts.contexts is not None else _at(self.contexts, call)
        return facts.over(Exchange(question, contexts, scores))

    def _given(self, returned: Any, ruling: Ruling) -> Any:
        if not ruling.held or self.on_fail is None:
            return returned
        if callable(self.on_fail):
            return self.on_fail(ruling)
        with ContainedInRequest("answer not replaced", ruling.assessment.run_id):
            return self._replaced(returned, self.on_fail)
        return self.on_fail

    def _replaced(self, returned: Any, text: str) -> Any:
        if isinstance(returned, str):
            return text
        if isinstance(self.answer, int):
            parts = [*returned]
            parts[self.answer] = text
            return getattr(returned, "_make", type(returned))(parts)
        if isinstance(returned, MutableMapping):
            mapping = copy.copy(returned)
            mapping[self.answer] = text
            return mapping
        if isinstance(returned, Mapping):
            return {**returned, self.answer: text}
        other = copy.copy(returned)
        # Also of a class that is frozen: the copy is ours, and nobody has it yet.
        object.__setattr__(other, str(self.answer), text)
        return other


def _at(where: Place, call: GuardedCall) -> Any:
    if callable(where):
        return where(call)
    if isinstance(where, int):
        if not isinstance(call.returned, tuple | list):
            raise TypeError("not a tuple")
        return call.returned[where]
    if where in call.arguments:
        return call.arguments[where]
    if isinstance(call.returned, Mapping):
        return call.returned.get(where)
    return getattr(call.returned, where, None)
