"""Guarded replies: the header, note, JSON body or stream that a client gets for a judged answer."""

import asyncio
import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from time import monotonic
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.guard.stream import PushedStream, ReleasePolicy
from ragstone.guard.stream.release import Policy, parts_of

from .request_guard import HELD, Exchange, OnFail, RequestGuard, Ruling, Told, listening, log_error
from .request_reading import (
    AnswerPlaces,
    BufferedRequest,
    Extraction,
    NotFound,
    Undecodable,
    decoded,
    json_value,
)


def header_value(rulings: Sequence[Ruling], action: str) -> bytes:
    """The value of the header, a dictionary of structured fields (RFC 9651).

        ok=?0, decision=ask, action=replaced, id="7c1f", issues="unsupported_sentence"

    Args:
        rulings: One for each answer of the reply, at least one. Of several the worst counts.
        action: What was done: ``passed``, ``marked``, ``replaced`` or ``refused``.
    """
    worst = min(rulings, key=_order)
    found = worst.assessment
    codes = dict.fromkeys(issue.code for one in rulings for issue in one.assessment.issues)
    fields = [] if found.ok is None else [f"ok=?{int(found.ok)}"]
    fields += [f"decision={found.decision}", f"action={action}"]
    if found.run_id:
        fields.append(f'id="{_plain(found.run_id)}"')
    if codes:
        fields.append(f'issues="{" ".join(codes)}"')
    if worst.unjudged:
        fields.append(f"reason={worst.unjudged}")
    if found.late:
        fields.append("late")
    return ", ".join(fields).encode("ascii")


def stream_header(policy: str, run_id: str) -> bytes:
    """The value of the header of a stream, whose answer is not known yet.

    action=streamed, policy=hold_sentence, id="7c1f"
    """
    return f'action=streamed, policy={policy}, id="{_plain(run_id)}"'.encode("ascii")


def _order(ruling: Ruling) -> tuple[bool, int, int]:
    found = ruling.assessment
    return (not ruling.held, ("block", "ask", "pass").index(found.decision), found.ok is not False)


def _plain(text: str) -> str:
    """What a quoted string of a header may hold."""
    return "".join(one if " " <= one <= "~" and one not in '"\\' else "_" for one in text)[:100]


IN_FULL = ("passed", "marked")


def note_of(ruling: Ruling, action: str, beside: Collection[str] = ()) -> dict[str, Any]:
    """What came of an answer, as plain data.

    It quotes nothing: an answer that was held back must not get out by its note. Where the answer
    is given as it is, each issue has its places in it, as pairs of characters.

    Args:
        ruling: On the answer.
        action: What was done: ``passed``, ``marked``, ``replaced`` or ``refused``.
        beside: What the reply has beside the answer that is not judged.
    """
    found = ruling.assessment
    issues = [
        {"code": one.code, "check": one.check}
        | ({"spans": [[s.start, s.end] for s in one.spans]} if action in IN_FULL else {})
        for one in found.issues
    ]
    return {
        "ok": found.ok,
        "decision": found.decision,
        "action": action,
        "id": found.run_id,
        "issues": issues,
        "checks": {one.check: one.status for one in found.checks},
        "confidence": found.confidence,
        "judge": found.judge,
        "late": found.late,
        "not_judged": ruling.unjudged or None,
        "beside": sorted(beside),
    }


UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """What is given.

    Attributes:
        rulings: One for each answer of the reply, or one for a reply without an answer.
        action: ``passed``, ``marked``, ``replaced`` or ``refused``.
        body: The bytes to give; None: those of the app.
        status: The status to give; None: that of the app.
    """

    rulings: Sequence[Ruling]
    action: str
    body: bytes | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class JsonReplies:
    """Judges JSON replies.

    Attributes:
        guard: What judges.
        extraction: Where question and contexts are found.
        places: Where the answers stand.
        on_fail: What is given in place of an answer that is held back.
        body_key: Key under which a note of each answer is added.
        most_bytes: A longer reply is not judged.
    """

    guard: RequestGuard
    extraction: Extraction
    places: AnswerPlaces
    on_fail: OnFail
    body_key: str | None
    most_bytes: int

    async def judged(
        self, body: bytes, encoding: str, request: BufferedRequest, told: Exchange
    ) -> JudgedReply:
        """What is given in place of a body.

        Args:
            body: All of it.
            encoding: The header ``content-encoding``.
            request: What was asked.
            told: By ``tell_guard``.
        """
        try:
            value = json_value(decoded(body, encoding, self.most_bytes))
            answers = self.places.answers(value)
            if not answers:
                why = reason("nothing_at", path=self.places, part="reply")
                return self.unseen(why, request, told)
            return self._given(value, await self._rulings(answers, value, request, told))
        except Undecodable as error:
            return self.unseen(error.why, request, told)
        except (ValueError, RecursionError):
            return self.unseen(reason("broken_json", part="reply"), request, told)
        except Exception as error:
            log_error("guard failed", error, request.run_id)
            why = reason("guard_failed", error=type(error).__name__)
            return self.unseen(why, request, told)

    def unseen(self, why: str, request: BufferedRequest, told: Exchange) -> JudgedReply:
        """What is given in place of a reply in which no answer can be seen.

        Args:
            why: The reason, as a code with its facts.
            request: What was asked.
            told: By ``tell_guard``.
        """
        ruling = self.guard.not_judged(why, told.over(Exchange(run_id=request.run_id)))
        if ruling.held and self.on_fail is not None:
            status = self.on_fail if isinstance(self.on_fail, int) else UNAVAILABLE
            return self._refused([ruling], status)
        return JudgedReply([ruling], "marked" if ruling.held else "passed")

    async def _rulings(
        self, answers: Sequence[str | None], reply: Any, request: BufferedRequest, told: Exchange
    ) -> list[Ruling]:
        known, why = told.over(Exchange(run_id=request.run_id)), None
        try:
            known = await self.extraction.exchange(request, told, reply)
        except NotFound as error:
            why = error.why
        found = []
        for answer in answers:
            if answer is None:
                found.append(self.guard.not_judged(reason("no_text"), known, passes=True))
            elif why is not None:
                found.append(self.guard.not_judged(why, known))
            else:
                found.append(await self.guard.aruling(answer, known))
        return found

    def _given(self, value: Any, rulings: Sequence[Ruling]) -> JudgedReply:
        held = any(one.held for one in rulings)
        if held and isinstance(self.on_fail, int):
            return self._refused(rulings, self.on_fail)
        action, changed = "marked" if held else "passed", value
        if held and isinstance(self.on_fail, str):
            texts = [self.on_fail if one.held else None for one in rulings]
            action, changed = "replaced", self.places.replaced(value, texts)
        if self.body_key is not None and isinstance(changed, dict):
            beside = self.places.beside(value)
            told = [note_of(one, action if one.held else "passed", beside) for one in rulings]
            changed = {**changed, self.body_key: told[0] if len(told) == 1 else told}
        return JudgedReply(rulings, action, None if changed is value else _written(changed))

    def _refused(self, rulings: Sequence[Ruling], status: int) -> JudgedReply:
        codes = [issue.code for one in rulings for issue in one.assessment.issues]
        codes += [one.unjudged for one in rulings if one.unjudged]
        error = {
            "message": self.on_fail if isinstance(self.on_fail, str) else HELD,
            "type": "answer_held",
            "code": codes[0] if codes else None,
        }
        return JudgedReply(rulings, "refused", _written({"error": error}), status)


def _written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def release_of(
    guard: RequestGuard, on_fail: object, policy: Policy, *, stop_early: bool
) -> ReleasePolicy:
    """What leaves of a stream: all at once, where nothing is given in place of what is held.

    Raises:
        InputError: There is no such policy.
    """
    if on_fail is None:
        policy = "flag_after"
    instead = on_fail if isinstance(on_fail, str) and policy != "flag_after" else None
    unjudged = "release" if guard.if_not_judged == "open" else "hold"
    return ReleasePolicy(policy, stop_early, instead, unjudged)  # type: ignore[arg-type]


class GuardedPieces:
    """The pieces of one answer. No error of the guard's leaves it.

    Making it reads the contexts, and ``feed`` and ``close`` judge: call them in a thread where
    others wait.

    Attributes:
        action: What was done, after ``close``: ``passed``, ``marked`` or ``replaced``.
    """

    def __init__(
        self, guard: RequestGuard, release: ReleasePolicy, by: Exchange, why: str | None = None
    ) -> None:
        """Begin.

        Args:
            guard: What judges.
            release: What leaves, and when.
            by: What the answer is judged by.
            why: Why it cannot be, as a code with its facts.
        """
        self.action = "passed"
        self._guard = guard
        self._release = release
        self._by = by
        self._why = why
        self._began = monotonic()
        self._written = ""
        self._fed = False
        self._ruling: Ruling | None = None
        self._stream: PushedStream | None = None
        if why is None:
            try:
                found = guard.stream(by, release)
            except Exception as error:
                self._broke(error)
            else:
                if isinstance(found, str):
                    self._why = found
                else:
                    self._stream = found

    @property
    def passes(self) -> bool:
        """Whether what is not judged is given."""
        return self._release.gives_unjudged

    def feed(self, piece: Any) -> list[Any]:
        """What leaves with a piece: texts, and ``NotJudged`` for what is not part of the answer.

        Args:
            piece: Text, UTF-8 bytes, a delta of a chat model or ``NotJudged``.
        """
        self._fed = True
        if isinstance(piece, str):
            self._written += piece
        stream = self._stream
        if stream is not None and _is_known(piece):
            try:
                return [*stream.feed(piece)]
            except Exception as error:
                return self._broke(error, stream)
        return [piece] if self.passes else []

    def close(self, error: Exception | None = None) -> list[Any]:
        """What leaves when no more comes, or because the source failed."""
        if self._ruling is not None:
            return []
        left: list[Any] = []
        stream, instead = self._stream, self._release.instead
        if stream is not None:
            try:
                left = [*stream.close(error)]
            except Exception as broken:
                left = self._broke(broken, stream)
        elif not self.passes and isinstance(instead, str) and self._fed:
            left = [instead]
        self._ruling = self._ruled()
        return left

    @property
    def ruling(self) -> Ruling:
        """What came of the answer; after ``close``."""
        assert self._ruling is not None
        return self._ruling

    def _ruled(self) -> Ruling:
        guard, stream = self._guard, self._stream
        if not self._fed or (stream is not None and not stream.units):
            return guard.not_judged(reason("no_text"), self._by, passes=True)
        if stream is None or stream.assessment is None:
            passes = self.passes
            self.action = "passed" if passes else "replaced"
            return guard.not_judged(self._why or "", self._by, began=self._began, passes=passes)
        found = stream.assessment
        held = any(not unit.released for unit in stream.units)
        marked = not found.ok and found.decision in guard.hold
        self.action = "replaced" if held else "marked" if marked else "passed"
        return guard.streamed(found, held=held, began=self._began)

    def _broke(self, error: Exception, stream: PushedStream | None = None) -> list[Any]:
        """Go on without the stream; what it still held is given where that is the policy."""
        log_error("guard failed", error, self._by.run_id)
        self._why = reason("guard_failed", error=type(error).__name__)
        self._stream = None
        given = "" if stream is None else stream.released
        if self.passes and self._written.startswith(given):
            return [self._written[len(given) :]]
        return []


def _is_known(piece: Any) -> bool:
    """Whether it is known what text the piece has; what is not known cannot be judged."""
    try:
        list(parts_of(piece))
    except InputError:
        return False
    return True


_END = object()

Begin = Callable[[], GuardedPieces]
"""Begins an answer; called with the first piece, when all is told that it is judged by."""

Last = Callable[[GuardedPieces], Iterable[Any]]
"""What is given behind an answer."""


def through(
    source: Iterator[Any], begin: Begin, last: Last, told: Told | None = None
) -> Generator[Any]:
    """What leaves of a source. What it raises is raised, after what may leave has left.

    Args:
        source: Of texts, UTF-8 bytes, deltas of chat models or ``NotJudged``.
        begin: Begins the answer.
        last: What is given behind it.
        told: Hears what the source tells the guard.
    """
    pieces: GuardedPieces | None = None
    error: Exception | None = None
    try:
        while True:
            with listening(told):
                piece = next(source, _END)
            if pieces is None:
                pieces = begin()
            if piece is _END:
                break
            yield from pieces.feed(piece)
    except Exception as raised:
        error = raised
    except GeneratorExit:
        if isinstance(source, Generator):
            source.close()
        _left(pieces)
        raise
    if pieces is None:
        pieces = begin()
    yield from pieces.close(error)
    if error is not None:
        raise error
    yield from last(pieces)


async def athrough(
    source: AsyncIterator[Any], begin: Begin, last: Last, told: Told | None = None
) -> AsyncGenerator[Any]:
    """As ``through``, over an asynchronous source; judges in a thread."""
    pieces: GuardedPieces | None = None
    error: Exception | None = None
    try:
        while True:
            with listening(told):
                piece = await anext(source, _END)
            if pieces is None:
                pieces = await asyncio.to_thread(begin)
            if piece is _END:
                break
            for one in await asyncio.to_thread(pieces.feed, piece):
                yield one
    except Exception as raised:
        error = raised
    except (GeneratorExit, asyncio.CancelledError):
        if isinstance(source, AsyncGenerator):
            await source.aclose()
        _left(pieces)
        raise
    if pieces is None:
        pieces = await asyncio.to_thread(begin)
    for one in await asyncio.to_thread(pieces.close, error):
        yield one
    if error is not None:
        raise error
    for one in last(pieces):
        yield one


def _left(pieces: GuardedPieces | None) -> None:
    """Nobody reads on."""
    if pieces is not None:
        pieces.close(ConnectionError())
