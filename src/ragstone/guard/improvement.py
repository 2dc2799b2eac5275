"""Improve: asks the system's own model for a better answer, and returns the best of all."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from threading import Semaphore
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import Displayable, reason, worded

from .assessment import Assessment, Contained
from .claim_judges import in_time
from .guard import Guard
from .guard_input import ReadContexts
from .visible_text import as_text

# Makes what the model is told of a revision.
Prompt = Callable[["Revision"], str]

Generate = Callable[[str], str]
AsyncGenerate = Callable[[str], Awaitable[str]]

# Answers that are waited for at the same time.
AT_ONCE = 64

_free = Semaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Revision:
    """The facts that a model needs to write an answer anew.

    Attributes:
        question: What was asked.
        answer: The best answer so far.
        contexts: The texts it should rest on, in rank order.
        assessment: What is wrong with that answer.
    """

    question: str
    answer: str
    contexts: tuple[str, ...]
    assessment: Assessment


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that was tried.

    Attributes:
        answer: As the model gave it; None if it gave none.
        assessment: What is known of it; None without an answer.
        fault: Why there is none, as a code with facts; None if there is one.
    """

    answer: str | None
    assessment: Assessment | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Improvement(Displayable):
    """The best of all answers that were tried.

    Attributes:
        answer: The answer to give.
        assessment: What is known of it.
        improved: Whether it is another one than was given.
        trail: Every answer in the order they were tried, the given one first.
        fault: Why the model gave no further answer, as a code with facts; None if it gave all
            that it was asked for.
    """

    answer: str
    assessment: Assessment
    improved: bool
    trail: tuple[Candidate, ...]
    fault: str | None = None


def improve(
    question: str | None,
    answer: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    *,
    generate: Generate,
    max_passes: int = 1,
    timeout: float = 30.0,
    prompt: Prompt | None = None,
    guard: Guard | None = None,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
) -> Improvement:
    """Ask a model for a better answer where checks failed, and return the best of all.

        improve(question, answer, contexts, generate=lambda prompt: my_model(prompt)).answer

    Every answer is assessed in the same way. A new one takes the place of the old one only if it
    is better: it says something at all, then fewer checks failed, then fewer left unjudged, then
    fewer sentences that fail, then more confidence. If the model raises, is too late or gives
    nothing, the old one stays.

    Args:
        question: What was asked.
        answer: What would be answered.
        contexts: As for ``assess``.
        generate: Your model: takes a prompt, returns an answer.
        max_passes: How often it is asked at most, from 0; it ends when an answer is ok.
        timeout: Seconds that it may take each time.
        prompt: Makes the prompt of a ``Revision``; None: one that names the failed checks.
        guard: The settings; None: those of ``Guard()``.
        retrieval_scores: As for ``assess``.
        run_id: As for ``assess``.

    Raises:
        InputError: A setting that cannot be used.
    """
    if inspect.iscoroutinefunction(generate):
        raise InputError("generate is an async function: use aimprove.")
    passes = _Passes(question, answer, contexts, timeout, max_passes, prompt, guard,
                     retrieval_scores=retrieval_scores, run_id=run_id)  # fmt: skip
    while (asking := passes.next()) is not None:
        with Contained() as generating:
            text: object = in_time(_free, partial(generate, asking), timeout)
        passes.tried(text if generating.error is None else generating.error)
    return passes.best()


async def aimprove(
    question: str | None,
    answer: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    *,
    generate: AsyncGenerate | Generate,
    timeout: float = 30.0,
    **settings: Any,
) -> Improvement:
    """Improve as ``improve`` does, with an async model; a model that is not runs in a thread."""
    passes = await asyncio.to_thread(_Passes, question, answer, contexts, timeout, **settings)
    while (asking := passes.next()) is not None:
        with Contained() as generating:
            async with asyncio.timeout(timeout):
                if inspect.iscoroutinefunction(generate):
                    text: object = await generate(asking)
                else:
                    # Not in a thread of the loop, which would wait for one that hangs at its end.
                    work = partial(generate, asking)
                    text = await asyncio.to_thread(in_time, _free, work, timeout)
                    if inspect.isawaitable(text):
                        text = await text
        tried = text if generating.error is None else generating.error
        await asyncio.to_thread(passes.tried, tried)
    return passes.best()


def usual_prompt(revision: Revision) -> str:
    """Return the prompt that names question, contexts, old answer, and what is wrong with it."""
    contexts = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(revision.contexts, 1))
    wrong = []
    for issue in revision.assessment.issues:
        places = "".join(f'\n  "{span.text}"' for span in issue.spans[:MOST_PLACES])
        wrong.append(f"- {worded(issue.reason)}{places}")
    return (
        "Write the answer below anew, so that none of the faults listed remains. Use only what "
        "the passages say, and leave out what they do not say. If they do not answer the "
        "question, say so. Reply with the new answer alone.\n\n"
        f"# Question\n{revision.question}\n\n"
        f"# Passages\n{contexts or 'none'}\n\n"
        f"# Answer\n{revision.answer}\n\n"
        "# Faults\n" + ("\n".join(wrong) or "- not everything could be checked")
    )


# Places of one fault that the model is told.
MOST_PLACES = 20


class _Passes:
    def __init__(
        self,
        question: str | None,
        answer: str | None,
        contexts: Sequence[Any] | ReadContexts | None,
        timeout: float,
        max_passes: int = 1,
        prompt: Prompt | None = None,
        guard: Guard | None = None,
        **known: Any,
    ) -> None:
        if isinstance(max_passes, bool) or not isinstance(max_passes, int) or max_passes < 0:
            raise InputError(f"max_passes is {max_passes!r}; it is a whole number from 0.")
        if not (isinstance(timeout, int | float) and isfinite(timeout) and timeout > 0):
            raise InputError(f"timeout is {timeout!r}; it is a time in seconds, above 0.")
        if guard is not None and not isinstance(guard, Guard):
            raise InputError(f"guard is {guard!r}; it must be a Guard.")
        self._guard = guard or Guard()
        self._question = question or ""
        self._contexts = self._guard.read(contexts)
        self._known = known
        self._prompt = prompt or usual_prompt
        self._left, self._seconds = max_passes, timeout
        self._fault: str | None = None
        first = as_text(answer)
        self._best = first, self._assess(first)
        self._trail = [Candidate(*self._best)]

    def next(self) -> str | None:
        if not self._left or self._fault is not None or self._best[1].ok:
            return None
        self._left -= 1
        answer, assessment = self._best
        with Contained() as writing:
            return self._prompt(Revision(self._question, answer, self._contexts.texts, assessment))
        self.tried(writing.error)
        return None

    def tried(self, text: object) -> None:
        fault = self._fault_of(text)
        if fault is not None or not isinstance(text, str):
            self._fault = fault
            self._trail.append(Candidate(None, None, fault))
            return
        assessment = self._assess(text)
        self._trail.append(Candidate(text, assessment))
        if _worth(assessment) > _worth(self._best[1]):
            self._best = text, assessment

    def best(self) -> Improvement:
        answer, assessment = self._best
        first = self._trail[0].answer
        return Improvement(answer, assessment, answer != first, tuple(self._trail), self._fault)

    def _assess(self, answer: str) -> Assessment:
        return self._guard.assess(self._question, answer, self._contexts, **self._known)

    def _fault_of(self, text: object) -> str | None:
        if isinstance(text, TimeoutError):
            return reason("generator_too_late", seconds=f"{self._seconds:g}")
        if isinstance(text, Exception):
            return reason("generator_failed", error=type(text).__name__)
        if not isinstance(text, str):
            return reason("generator_no_text", said=type(text).__name__)
        if not text.strip():
            return reason("generator_empty")
        if any(text == candidate.answer for candidate in self._trail):
            return reason("generator_same")
        return None


def _worth(assessment: Assessment) -> tuple[float, ...]:
    """Rate an answer: the larger the better, the first difference decides."""
    says_nothing = any(
        check.check in ("answer", "failure_phrases") and check.status == "failed"
        for check in assessment.checks
    )
    states = [check.status for check in assessment.checks]
    failing = sum(len(issue.spans) for issue in assessment.issues)
    confidence = -1.0 if assessment.confidence is None else assessment.confidence
    worse = (states.count("failed"), states.count("not_judged"), failing)
    return (float(not says_nothing), *(-count for count in worse), confidence)
