"""Claim judges: local, table or chat model judges of an answer's claims, within a deadline.

Questions to chat models are stored nowhere, neither in a journal nor in a cache.
"""

import asyncio
import weakref
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from threading import TIMEOUT_MAX, Lock, Semaphore, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import argument, reason
from ragstone.core.python_runtime import in_daemon
from ragstone.data import Example, to_frame
from ragstone.judgements import Claim, Support, Tables
from ragstone.judges import Block, Judge, fingerprint
from ragstone.judges.judge import LOCAL, NLI, STRINGS, RowBuilder
from ragstone.judges.llm.questions import Question, key
from ragstone.judges.llm.replies import Outcome
from ragstone.judges.local.aligner import Aligner, AlignmentInput
from ragstone.judges.local.claim_support import support
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.models import CachedEncoder, Encoder
from ragstone.models.chat import ChatModel
from ragstone.models.download import BUILTIN
from ragstone.run.calls.attempt import QueuedQuestion, attempted, why
from ragstone.run.judging.judge_blocks import resolve

from .answer_checks import ClaimsJudge, ClaimVerdict, ClaimVerdicts, local_verdict
from .assessment import LOGGER
from .guard_input import Answered, Deadline

if TYPE_CHECKING:
    from ragstone.models.chat.http_transport import Connections
    from ragstone.run.judging.run_models import Named


CircuitState = Literal["closed", "open", "half_open"]
Meanwhile = Literal["open", "closed", "local"]


class Circuit:
    """Stops calls to a judge after several failures in a row, and tries one again later.

        closed ── failures in a row ──▶ open ── after retry_after ──▶ half_open
           ▲                             ▲                                │
           └──────── the try succeeds ───┼────────────────────────────────┤
                                         └──────── the try fails ─────────┘

    Closed, every call is allowed. Open, none is. Half-open, one call is allowed as a try; if its
    caller never says how it went, another is after ``retry_after``. Each change of state is logged
    at WARNING and counted. One object may be shared by threads and by event loops.

    Attributes:
        changes: How often each state was entered.
        refused: Calls that were not allowed.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        retry_after: float = 30.0,
        meanwhile: Meanwhile = "local",
        name: str = "judge",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Make a circuit that is closed.

        Args:
            failures: Failures in a row that open it, at least 1. A time-out is a failure.
            retry_after: Seconds until a call is tried again, at least 0.
            meanwhile: What its owner does while no call is allowed: let answers pass ("open"),
                hold them back ("closed"), or ask the local judge ("local"). Part of the reason.
            name: What the log calls the judge.
            clock: Gives seconds that never go back.

        Raises:
            InputError: A number is out of its range.
        """
        if failures < 1:
            raise InputError(f"failures={failures}: give 1 or more.")
        if not retry_after >= 0:
            raise InputError(f"retry_after={retry_after}: give 0 seconds or more.")
        self.failures = failures
        self.retry_after = retry_after
        self.meanwhile: Meanwhile = meanwhile
        self.name = name
        self.changes: dict[CircuitState, int] = {"closed": 0, "open": 0, "half_open": 0}
        self.refused = 0
        self._clock = clock
        self._lock = Lock()
        self._state: CircuitState = "closed"
        self._in_a_row = 0
        self._since = 0.0

    @property
    def state(self) -> CircuitState:
        """The state, half-open only once a call was tried again."""
        return self._state

    @property
    def reason(self) -> str:
        """The reason that no call is made, as a code with its facts."""
        return reason("circuit_open", judge=self.name, n=self._in_a_row, meanwhile=self.meanwhile)

    def allow(self) -> bool:
        """Tell whether the judge may be called now; whoever is allowed says how it went."""
        with self._lock:
            if self._state == "closed":
                return True
            if self._clock() - self._since < self.retry_after:
                self.refused += 1
                return False
            # The try that is under way may have been given up: the next one is due as late again.
            self._since = self._clock()
            if self._state == "open":
                self._enter("half_open")
            return True

    def ok(self) -> None:
        """Note that a call succeeded. One from before it opened does not close it."""
        with self._lock:
            if self._state == "open":
                return
            self._in_a_row = 0
            if self._state == "half_open":
                self._enter("closed")

    def failed(self) -> None:
        """Note that a call failed or timed out. Once it is open, that changes nothing."""
        with self._lock:
            if self._state == "open":
                return
            self._in_a_row += 1
            if self._in_a_row >= self.failures:
                self._since = self._clock()
                self._enter("open")

    def _enter(self, state: CircuitState) -> None:
        LOGGER.warning(
            "guard.circuit judge=%s state=%s before=%s failures=%d retry_after=%gs meanwhile=%s",
            self.name, state, self._state, self._in_a_row, self.retry_after, self.meanwhile,
        )  # fmt: skip
        self._state = state
        self.changes[state] += 1


Result = TypeVar("Result")


def in_time(free: Semaphore, function: Callable[[], Result], seconds: float) -> Result:
    """Return the result of a function, run in a thread of its own if one is free.

    A function that is too late runs on to its end, and nobody waits for it; so only a few may run,
    or a judge that hangs would use up the machine.

    Raises:
        TimeoutError: It takes longer than this, or no thread becomes free in that time.
        Exception: What the function raised.
    """
    seconds = min(max(0.0, seconds), TIMEOUT_MAX)
    if not free.acquire(timeout=seconds):
        raise TimeoutError
    # A daemon, for the program may end while a judge still hangs.
    done = in_daemon(function, "guard")
    done.add_done_callback(lambda _: free.release())
    return done.result(seconds)


# Of contexts that are read token by token: more takes longer than any request may.
MOST_CHARACTERS = 200_000


def encoder_judge(encoder: Encoder, name: str) -> ClaimsJudge:
    """Return the local judge by strings and by the alignment of tokens by an encoder.

    The vectors of the contexts of the last requests are kept, so that further answers by the same
    contexts take only the time of their claims.
    """
    # Of requests, unlike of runs, nothing is kept on disk.
    aligner = Aligner(encoder.uncached if isinstance(encoder, CachedEncoder) else encoder)

    def verdicts(answered: Answered, claims: Sequence[LocatedClaim]) -> ClaimVerdicts:
        grounds = answered.grounds
        if sum(map(len, grounds.texts)) > MOST_CHARACTERS:
            return reason("too_much_for_encoder", most=MOST_CHARACTERS)
        texts = tuple(claim.text for claim in claims)
        [matches] = aligner.align([AlignmentInput(grounds.texts, grounds.passages, texts)])
        return [
            local_verdict(
                support(text, grounds.passages, answered.question or None, match), answered
            )
            for text, match in zip(texts, matches, strict=True)
        ]

    return ClaimsJudge(name, LocalJudge(encoder).parts, verdicts)


SUPPORT = Support.ask("claim").name
LOCAL_JUDGE = LocalJudge()


def rows_judge(name: str, identity: str, judge_until: Callable[[Deadline], Judge]) -> ClaimsJudge:
    """Return a judge of support, asked about the claims that the local judge finds.

    Args:
        name: As the user wrote it.
        identity: Everything its verdicts depend on, without any key.
        judge_until: Gives the judge for one answer, which has until this deadline.
    """

    def verdicts(answered: Answered, claims: Sequence[LocatedClaim]) -> ClaimVerdicts:
        example = Example(
            "1", "1", "", question=answered.question or None, answer=answered.answer,
            contexts=answered.grounds.contexts,
        )  # fmt: skip
        judge = judge_until(answered.deadline)
        filled = judge.fill(SUPPORT, _block(example, claims), [0])
        by_judge = pl.col("judge") == judge.name
        entry = next(filled.ledger.filter(by_judge).iter_rows(named=True), None)
        if entry is None or entry["status"] != "ok":
            return (entry and entry["reason"]) or reason("claims_left_open")
        rows = {row["index"]: row for row in filled.rows.filter(by_judge).iter_rows(named=True)}
        return [_verdict(rows.get(index)) for index in range(len(claims))]

    return ClaimsJudge(name, (identity,), verdicts)


def _block(example: Example, claims: Sequence[LocatedClaim]) -> Block:
    [ask] = Claim.asks
    sheet = RowBuilder(ask.name, LOCAL_JUDGE.name)
    sheet.done(0, "1")
    for index, claim in enumerate(claims):
        sheet.add(
            "1", index=index, text=claim.text, sentence=claim.sentence, factual=True,
            start=claim.start, end=claim.end,
        )  # fmt: skip
    filled = sheet.filled()
    frame = to_frame([example])
    tables = resolve(Tables(frame), ask.name, filled.ledger, filled.rows, [LOCAL_JUDGE])
    return Block([example], frame, tables)


def _verdict(row: dict[str, object] | None) -> ClaimVerdict:
    if row is None or row["verdict"] is None:
        return ClaimVerdict(None, None, str((row and row["reason"]) or reason("claims_left_open")))
    probability, evidence, quote = row["probability"], row["evidence"], row["quote"]
    return ClaimVerdict(
        str(row["verdict"]),
        probability if isinstance(probability, float) else None,
        str(row["reason"] or ""),
        tuple(map(str, evidence)) if isinstance(evidence, list) else (),
        None if quote is None else str(quote),
    )


# A reply that cannot be read is asked for once more, if there is time.
TRIES = 2


class RequestAsker:
    """Asks models about one answer, until its deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:
        """Ask a question."""
        request = question.request()
        name = key(request, model.identity, question.vote)
        queued = QueuedQuestion(name, question, request, question.items, turn)
        outcome = Outcome("failed", reason=reason("too_late", of=model.name))
        for _ in range(TRIES):
            left = self._deadline.left
            if not left:
                break
            result = await attempted(model, queued, left)
            if result.outcome is not None:
                return result.outcome
            outcome = Outcome("failed", reason=why(model.name, result))
            if result.final:
                break
        return outcome

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine that asks to its end; raises ``TimeoutError`` at the deadline."""
        begun = asyncio.run_coroutine_threadsafe(work, _loop())
        try:
            return begun.result(min(self._deadline.left, TIMEOUT_MAX))
        except TimeoutError:
            begun.cancel()
            raise


_STARTING = Lock()
_running: list[asyncio.AbstractEventLoop] = []


def _loop() -> asyncio.AbstractEventLoop:
    with _STARTING:
        if not _running:
            _running.append(asyncio.new_event_loop())
            Thread(target=_running[0].run_forever, name="guard models", daemon=True).start()
        return _running[0]


def _close(pool: "Connections") -> None:
    if _running and _running[0].is_running():
        asyncio.run_coroutine_threadsafe(pool.close(), _running[0])


# Answers that a judge may have in hand at the same time.
ON_THIS_MACHINE, BY_MODELS = 2, 64

TOO_MUCH = "too_much_for_encoder"


def timed(judge: ClaimsJudge, most: int, circuit: Circuit | None = None) -> ClaimsJudge:
    """Return a judge with an answer's deadline that is not called while its circuit is open.

    Args:
        most: Answers that it may have in hand at the same time.
    """
    free, breaker = Semaphore(most), circuit or Circuit(name=judge.name)

    def verdicts(answered: Answered, claims: Sequence[LocatedClaim]) -> ClaimVerdicts:
        if not breaker.allow():
            return breaker.reason
        judging = partial(judge.verdicts, answered, claims)
        try:
            verdicts = in_time(free, judging, answered.deadline.left)
        except TimeoutError:
            breaker.failed()
            return reason("judge_too_late", judge=judge.name)
        except Exception as error:
            breaker.failed()
            LOGGER.error("judge=%s failed: %s", judge.name, type(error).__name__)
            return reason("judge_failed", judge=judge.name, error=type(error).__name__)
        if not isinstance(verdicts, str):
            breaker.ok()
        elif not verdicts.startswith(TOO_MUCH):
            breaker.failed()
        return verdicts

    return ClaimsJudge(judge.name, judge.parts, verdicts)


def open_claims_judge(judge: "Named | None", *, offline: bool = False) -> ClaimsJudge | None:
    """Open the judge of this name; None for the local judge by strings, which is always there."""
    if judge is None or judge == STRINGS:
        return None
    if judge in (LOCAL, BUILTIN):
        from ragstone.models import open_encoder
        from ragstone.models.model_store import find

        # As ``local`` it goes without its encoder where that is not stored.
        if judge == LOCAL and find(BUILTIN) is None:
            return None
        encoder = open_encoder(BUILTIN, offline=offline or judge == LOCAL)
        return timed(encoder_judge(encoder, f"{LOCAL}:{BUILTIN}"), ON_THIS_MACHINE)
    if isinstance(judge, str) and judge.partition(":")[0] == NLI:
        from ragstone.judges.judge_names import parse_judges

        first = parse_judges([judge], offline=offline).judges[0]
        identity = f"{first.name} {first.about}"
        return timed(rows_judge(judge, identity, lambda _: first), ON_THIS_MACHINE)
    usable = isinstance(judge, str | Sequence) or hasattr(judge, "name") or callable(judge)
    if not usable or isinstance(judge, bytes):
        raise InputError(f"judge is {judge!r}; it must be a name, a model or an async function.")
    from ragstone.run import Instructions
    from ragstone.run.judging.run_models import chat_judges

    opened = chat_judges([judge], Instructions(), (), "", offline=offline)
    if not opened.judges:
        local = f"{STRINGS}, {LOCAL}, {BUILTIN}"
        forms = f"{local}, {NLI}:NAME, openai:MODEL or http://HOST/v1#MODEL"
        raise InputError(
            f"{argument('judge', judge)} cannot judge inside a request; these can: {forms}."
        )
    [(name, chat)] = opened.judges.items()
    models = [model.identity for model in chat.judge.models]
    identity = fingerprint(models, chat.judge.prompts.versions())
    asking = rows_judge(
        name, identity, lambda deadline: chat.able_to_ask(RequestAsker(deadline), [SUPPORT], {})
    )
    in_requests = timed(asking, BY_MODELS)
    if opened.pool is not None:
        weakref.finalize(in_requests, _close, opened.pool)
    return in_requests
