"""Stream: an answer judged and released while it is written; sync, async or pushed in pieces."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from inspect import GEN_SUSPENDED, getgeneratorstate, isawaitable
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import ref

from ragstone.guard.assessment import Contained
from ragstone.guard.guard import DecidesByConfidence, Guard, Listener, guard_of
from ragstone.guard.guard_input import Checks, ReadContexts

from .release import (
    IfNotJudgedUnit,
    Instead,
    Out,
    Policy,
    Release,
    ReleasePolicy,
    Signal,
    Step,
    Steps,
)
from .unit_judge import UnitJudge, UnitVerdict

if TYPE_CHECKING:
    from ragstone.run.judging.run_models import Named


class Stream(Release):
    """An answer that is given while it is written, as far as it is judged.

        stream = assess_stream(question, contexts, model(question))
        for text in stream:
            send(text)
        stream.assessment.ok

    Iterate it once: it gives texts, and ``NotJudged`` for what is not part of the answer. What the
    source raises is raised after what may leave has left. Whoever stops iterating closes the
    source.
    """

    _running: Callable[[], Generator[Out] | None] | None = None

    def __iter__(self) -> Iterator[Out]:
        if self._running is not None:
            return iter(())
        running = driven(self._steps_until_left(), self._chunks)
        # Held by whoever iterates alone, so that it ends where they stop.
        self._running = ref(running)
        return running

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading, close the source and assess what was read."""
        running = None if self._running is None else self._running()
        if running is not None:
            running.close()
        self._running = self._running or (lambda: None)
        if self._leave():
            _close(self._chunks)

    def _over(self, chunks: AsyncIterable[Any]) -> "AsyncStream":
        """Return a stream of the same settings over an asynchronous source."""
        return AsyncStream(self._judge, self._policy, self._on_unit, chunks)


class AsyncStream(Release):
    """A ``Stream`` over what comes asynchronously. Units are judged in a thread of their own.

    Whoever stops before the end closes the source with ``aclose``, or by leaving ``async with``.
    """

    _running: AsyncGenerator[Out] | None = None

    def __aiter__(self) -> AsyncIterator[Out]:
        if self._running is None:
            self._running = adriven(self._steps_until_left(), self._chunks)
        return self._running

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop reading, close the source and assess what was read."""
        aiter(self)
        if self._running is not None:
            await self._running.aclose()
        if self._leave():
            await _aclose(self._chunks)


class PushedStream(Release):
    """A ``Stream`` for code that is given the pieces rather than reads them.

        pushed = pushed_stream(guard, policy, question, contexts)
        for piece in pieces:
            send(pushed.feed(piece))
        send(pushed.close())

    Both judge, which may take time: call them in a thread where others wait.
    """

    def __init__(
        self,
        judge: UnitJudge,
        policy: ReleasePolicy,
        on_unit: Callable[[UnitVerdict], object] | None = None,
    ) -> None:
        super().__init__(judge, policy, on_unit)
        self._running = self._steps()
        self._waiting: list[Out] = []
        self._on(None)

    @property
    def stopped(self) -> bool:
        """``True`` if nothing more is read: it ended, or a unit failed and it stops early."""
        return self.assessment is not None

    def feed(self, piece: object) -> list[Out]:
        """Return what leaves with this piece; nothing once it stopped.

        Raises:
            InputError: No text is known in the piece. What may leave is then in ``released``.
        """
        return [] if self.stopped else self._on(piece)

    def close(self, error: Exception | None = None) -> list[Out]:
        """Return what leaves when nothing more comes, or because the source failed."""
        if self.stopped:
            return []
        if error is None:
            return self._on(Signal.END)
        try:
            return self._on(None, error)
        except Exception as raised:
            if raised is not error:
                raise
            return self._taken()

    def _on(self, sent: object, error: Exception | None = None) -> list[Out]:
        with suppress(StopIteration):
            step = self._running.send(sent) if error is None else self._running.throw(error)
            while step is not Signal.NEXT:
                if isinstance(step, list):
                    self._waiting += step
                step = self._running.send(step() if callable(step) else None)
        return self._taken()

    def _taken(self) -> list[Out]:
        out, self._waiting = self._waiting, []
        return out


def driven(
    steps: Steps,
    chunks: Iterable[Any],
    within: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Generator[Any]:
    """Yield what leaves of a source by steps; ``within`` is entered around each reading.

    If the caller stops iterating early, the source is closed, so that nobody writes on,
    and then the steps, which may judge.
    """
    source: Iterator[Any] | None = None
    go_on: Callable[[], Step] = partial(steps.send, None)
    try:
        with suppress(StopIteration):
            while True:
                step, go_on = go_on(), partial(steps.send, None)
                if step is Signal.NEXT:
                    with Contained() as reading, within():
                        source = iter(chunks) if source is None else source
                        go_on = partial(steps.send, next(source, Signal.END))
                    if reading.error is not None:
                        go_on = partial(steps.throw, reading.error)
                elif step is Signal.CLOSE:
                    _close(source, chunks)
                elif isinstance(step, list):
                    yield from step
                elif callable(step):
                    go_on = partial(steps.send, step())
    finally:
        if getgeneratorstate(steps) == GEN_SUSPENDED:
            _close(source, chunks)
            steps.close()


async def adriven(
    steps: Steps,
    chunks: AsyncIterable[Any],
    within: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> AsyncGenerator[Any]:
    """Yield as ``driven`` does, over an asynchronous source; what takes time runs in a thread."""
    source: AsyncIterator[Any] | None = None
    go_on: Callable[[], Step] = partial(steps.send, None)
    try:
        with suppress(StopIteration):
            while True:
                step, go_on = go_on(), partial(steps.send, None)
                if step is Signal.NEXT:
                    with Contained() as reading, within():
                        source = aiter(chunks) if source is None else source
                        go_on = partial(steps.send, await anext(source, Signal.END))
                    if reading.error is not None:
                        go_on = partial(steps.throw, reading.error)
                elif step is Signal.CLOSE:
                    await _aclose(source, chunks)
                elif isinstance(step, list):
                    for part in step:
                        yield part
                elif callable(step):
                    go_on = partial(steps.send, await asyncio.to_thread(step))
    finally:
        if getgeneratorstate(steps) == GEN_SUSPENDED:
            try:
                await _aclose(source, chunks)
            finally:
                steps.close()


def _close(*sources: object) -> None:
    for close in _closers(sources, ("close",)):
        with suppress(Exception):
            close()


async def _aclose(*sources: object) -> None:
    for close in _closers(sources, ("aclose", "close")):
        with suppress(Exception):
            closing = close()
            if isawaitable(closing):
                await closing


def _closers(sources: Iterable[object], names: Iterable[str]) -> Iterator[Callable[[], Any]]:
    """Yield the first of these methods that each source has; one that is two is closed once."""
    for source in {id(source): source for source in sources if source is not None}.values():
        methods = (getattr(source, name, None) for name in names)
        yield from islice(filter(callable, methods), 1)


def assess_stream(
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    chunks: Iterable[Any],
    *,
    policy: Policy = "hold_sentence",
    stop_early: bool = False,
    instead: Instead = None,
    if_not_judged: IfNotJudgedUnit = "hold",
    on_unit: Callable[[UnitVerdict], object] | None = None,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
    guard: Guard | None = None,
    checks: Checks = Checks(),  # noqa: B008
    abstain_ok: bool = False,
    judge: "Named | None" = None,
    gate: DecidesByConfidence | None = None,
    deadline: float = 1.0,
    offline: bool = False,
    listener: Listener | None = None,
) -> Stream:
    """Judge an answer while it is being written, and let through what passes.

        stream = assess_stream(question, contexts, model(question), instead="[not supported]")
        for text in stream:
            send(text)
        stream.assessment.ok

    Args:
        question: What was asked.
        contexts: What the answer should rest on; see ``Guard.assess``.
        chunks: The answer in pieces: texts, UTF-8 bytes, deltas of chat models, and ``NotJudged``
            for what is not part of it.
        policy: ``hold_all``: nothing leaves before the whole answer is assessed, and only if it
            passes. ``hold_sentence``: each sentence, row of a table or block of code leaves once it
            is judged, unless it fails. ``flag_after``: all leaves at once.
        stop_early: Whether reading stops at the first unit that fails.
        instead: What leaves in place of what is held: a text, once an answer; or a function of the
            unit that is held, called for each. It is not judged.
        if_not_judged: Whether to ``hold`` or ``release`` what could not be judged.
        on_unit: Called with each unit as soon as it is judged. What it raises is logged.
        retrieval_scores: See ``Guard.assess``.
        run_id: Your name for the request; it stands in the log.
        guard: Settings that hold for many answers, in place of those that follow.
        checks: See ``Guard``, as for all that follow. The deadline holds for each unit.
        abstain_ok: Of the whole answer.
        judge: Who judges the claims.
        gate: Decides about the whole answer, and so in ``hold_all`` whether it leaves.
        deadline: Seconds for each unit, and for reading the contexts.
        offline: Use no server except on this machine.
        listener: Is told of the assessment.

    Returns:
        What gives the text that may leave, once it is iterated.

    Raises:
        InputError: A setting that cannot be used.
    """
    guard = guard or guard_of(
        checks, abstain_ok=abstain_ok, judge=judge, gate=gate, deadline=deadline, offline=offline,
        listener=listener,
    )  # fmt: skip
    unit_judge = UnitJudge(guard, question, contexts, retrieval_scores, run_id)
    release = ReleasePolicy(policy, stop_early, instead, if_not_judged)
    return Stream(unit_judge, release, on_unit, chunks)


def aassess_stream(
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    chunks: AsyncIterable[Any],
    **settings: Any,
) -> AsyncStream:
    """Judge as ``assess_stream`` does, over an asynchronous source, for ``async for``."""
    return assess_stream(question, contexts, (), **settings)._over(chunks)


def pushed_stream(
    guard: Guard,
    release: ReleasePolicy,
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    *,
    on_unit: Callable[[UnitVerdict], object] | None = None,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
) -> PushedStream:
    """Judge as ``assess_stream`` does, for code that is given the pieces."""
    unit_judge = UnitJudge(guard, question, contexts, retrieval_scores, run_id)
    return PushedStream(unit_judge, release, on_unit)
