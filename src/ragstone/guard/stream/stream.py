"""Stream: an answer judged and released while it is written; sync, async or pushed in pieces."""

import asyncio
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import suppress
from inspect import isawaitable
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import ref

from ragstone.guard.assessment import Assessment, Contained
from ragstone.guard.guard import DecidesByConfidence, Guard, Listener, guard_of
from ragstone.guard.guard_input import Checks, ReadContexts

from .release import (
    IfNotJudgedUnit,
    Instead,
    NotJudged,
    Out,
    Policy,
    Release,
    ReleasePolicy,
    Signal,
)
from .unit_judge import UnitJudge, UnitVerdict

if TYPE_CHECKING:
    from ragstone.run.judging.run_models import Named


class _Judged:
    def __init__(self, releasing: Release) -> None:
        self.releasing = releasing

    @property
    def assessment(self) -> Assessment | None:
        """The assessment of the answer as it was written and read; None before the end."""
        return self.releasing.assessment

    @property
    def units(self) -> tuple[UnitVerdict, ...]:
        """The units judged so far, in the order of the answer, and what was done with them."""
        return tuple(self.releasing.units)

    @property
    def released(self) -> str:
        """The text that left so far, with what was put in place of some."""
        return self.releasing.released

    @property
    def cut(self) -> str | None:
        """The reason that not all of the answer was read, as a code; None if all was."""
        return self.releasing.cut


class Stream(_Judged):
    """An answer that is given while it is written, as far as it is judged.

        stream = assess_stream(question, contexts, model(question))
        for text in stream:
            send(text)
        stream.assessment.ok

    Iterate it once: it gives texts, and ``NotJudged`` for what is not part of the answer. What the
    source raises is raised after what may leave has left. Whoever stops iterating closes the
    source.
    """

    def __init__(self, releasing: Release, chunks: Iterable[Any]) -> None:
        super().__init__(releasing)
        self._chunks = chunks
        self._running: Callable[[], Generator[Out] | None] | None = None

    def __iter__(self) -> Iterator[Out]:
        if self._running is not None:
            return iter(())
        running = self._run()
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
        self._left(None)

    def _run(self) -> Generator[Out]:
        source: Iterator[Any] | None = None
        steps = self.releasing.steps()
        sent: Any = None
        raised: Exception | None = None
        try:
            while True:
                try:
                    step = steps.send(sent) if raised is None else steps.throw(raised)
                except StopIteration:
                    return
                sent = raised = None
                if step is Signal.NEXT:
                    with Contained() as reading:
                        source = iter(self._chunks) if source is None else source
                        sent = next(source, Signal.END)
                    raised = reading.error
                elif step is Signal.CLOSE:
                    _close(source, self._chunks)
                elif isinstance(step, str | NotJudged):
                    yield step
                else:
                    assert callable(step)
                    sent = step()
        finally:
            self._left(source)

    def _left(self, source: Iterator[Any] | None) -> None:
        if self.assessment is None:
            _close(source, self._chunks)
            self.releasing.leave()


class AsyncStream(_Judged):
    """A ``Stream`` over what comes asynchronously. Units are judged in a thread of their own.

    Whoever stops before the end closes the source with ``aclose``, or by leaving ``async with``.
    """

    def __init__(self, releasing: Release, chunks: AsyncIterable[Any]) -> None:
        super().__init__(releasing)
        self._chunks = chunks
        self._running: Any = None

    def __aiter__(self) -> AsyncIterator[Out]:
        if self._running is None:
            self._running = self._run()
        running: AsyncIterator[Out] = self._running
        return running

    async def __aenter__(self) -> "AsyncStream":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop reading, close the source and assess what was read."""
        if self._running is None:
            self._running = self._run()
        await self._running.aclose()
        await self._left(None)

    async def _run(self) -> AsyncIterator[Out]:
        source: AsyncIterator[Any] | None = None
        steps = self.releasing.steps()
        sent: Any = None
        raised: Exception | None = None
        try:
            while True:
                try:
                    step = steps.send(sent) if raised is None else steps.throw(raised)
                except StopIteration:
                    return
                sent = raised = None
                if step is Signal.NEXT:
                    with Contained() as reading:
                        source = aiter(self._chunks) if source is None else source
                        sent = await anext(source, Signal.END)
                    raised = reading.error
                elif step is Signal.CLOSE:
                    await _aclose(source, self._chunks)
                elif isinstance(step, str | NotJudged):
                    yield step
                else:
                    assert callable(step)
                    sent = await asyncio.to_thread(step)
        finally:
            await self._left(source)

    async def _left(self, source: AsyncIterator[Any] | None) -> None:
        if self.assessment is None:
            self.releasing.leave()
            await _aclose(source, self._chunks)


class PushedStream(_Judged):
    """A ``Stream`` for code that is given the pieces rather than reads them.

        pushed = PushedStream(releasing)
        for piece in pieces:
            send(pushed.feed(piece))
        send(pushed.close())

    Both judge, which may take time: call them in a thread where others wait.
    """

    def __init__(self, releasing: Release) -> None:
        super().__init__(releasing)
        self._steps = releasing.steps()
        self._out: list[Out] = []
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
        try:
            step = self._steps.send(sent) if error is None else self._steps.throw(error)
            while step is not Signal.NEXT:
                result = None
                if isinstance(step, str | NotJudged):
                    self._out.append(step)
                elif callable(step):
                    result = step()
                step = self._steps.send(result)
        except StopIteration:
            pass
        return self._taken()

    def _taken(self) -> list[Out]:
        out, self._out = self._out, []
        return out


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
    return Stream(Release(unit_judge, release, on_unit), chunks)


def aassess_stream(
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    chunks: AsyncIterable[Any],
    **settings: Any,
) -> AsyncStream:
    """Judge as ``assess_stream`` does, over an asynchronous source, for ``async for``."""
    return AsyncStream(assess_stream(question, contexts, (), **settings).releasing, chunks)


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
    return PushedStream(Release(unit_judge, release, on_unit))
