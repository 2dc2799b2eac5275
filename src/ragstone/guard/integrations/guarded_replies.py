"""Guarded replies: the header, note, JSON body or stream that a client gets for a judged answer."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.guard.assessment import Contained
from ragstone.guard.stream import PushedStream, ReleasePolicy
from ragstone.guard.stream.release import Policy, Signal, Steps, parts_of

from .request_guard import HELD, ContainedInRequest, Exchange, OnFail, RequestGuard, Ruling, Told
from .request_reading import (
    AnswerPath,
    BufferedRequest,
    ChatCompletions,
    Extraction,
    Undecodable,
    decoded,
    json_value,
)


def header_value(rulings: Sequence[Ruling], action: str) -> bytes:
    """Return the value of the header, a dictionary of structured fields (RFC 9651).

        ok=?0, decision=ask, action=replaced, id="7c1f", issues="unsupported_sentence"

    Of the rulings, one for each answer of the reply, the worst counts.
    """

    def order(ruling: Ruling) -> tuple[bool, int, bool]:
        way = ("block", "ask", "pass").index(ruling.assessment.decision)
        return not ruling.held, way, ruling.assessment.ok is not False

    worst = min(rulings, key=order)
    assessment = worst.assessment
    codes = dict.fromkeys(_codes(rulings))
    fields = [] if assessment.ok is None else [f"ok=?{int(assessment.ok)}"]
    fields += [f"decision={assessment.decision}", f"action={action}"]
    if assessment.run_id:
        fields.append(f'id="{_plain(assessment.run_id)}"')
    if codes:
        fields.append(f'issues="{" ".join(codes)}"')
    if worst.unjudged:
        fields.append(f"reason={worst.unjudged}")
    if assessment.late:
        fields.append("late")
    return ", ".join(fields).encode("ascii")


def stream_header(policy: str, run_id: str) -> bytes:
    """Return the value of the header of a stream, whose answer is not known yet."""
    return f'action=streamed, policy={policy}, id="{_plain(run_id)}"'.encode("ascii")


def _codes(rulings: Sequence[Ruling]) -> list[str]:
    return [issue.code for ruling in rulings for issue in ruling.assessment.issues]


def _plain(text: str) -> str:
    """Replace what a quoted string of a header may not hold."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "_" for c in text)[:100]


IN_FULL = ("passed", "marked")


def note_of(ruling: Ruling, action: str, beside: Collection[str] = ()) -> dict[str, Any]:
    """Say what came of an answer, as plain data.

    It quotes nothing: an answer that was held back must not get out by its note. Where the answer
    is given as it is, each issue has its places in it, as pairs of characters. ``beside`` names
    what the reply has beside the answer that is not judged.
    """
    assessment = ruling.assessment
    issues = [
        {"code": issue.code, "check": issue.check}
        | ({"spans": [[s.start, s.end] for s in issue.spans]} if action in IN_FULL else {})
        for issue in assessment.issues
    ]
    return {
        "ok": assessment.ok,
        "decision": assessment.decision,
        "action": action,
        "id": assessment.run_id,
        "issues": issues,
        "checks": {check.check: check.status for check in assessment.checks},
        "confidence": assessment.confidence,
        "judge": assessment.judge,
        "late": assessment.late,
        "not_judged": ruling.unjudged or None,
        "beside": sorted(beside),
    }


UNAVAILABLE = 503


# A reply as it is given: a ruling for each answer, or one if there is none; what was done:
# ``passed``, ``marked``, ``replaced`` or ``refused``; and body and status, None for those of the
# app.
JudgedReply = tuple[Sequence[Ruling], str, bytes | None, int | None]


@dataclass(frozen=True, slots=True)
class JsonReplies:
    """Judges JSON replies."""

    guard: RequestGuard
    extraction: Extraction
    places: AnswerPath | ChatCompletions
    on_fail: OnFail
    body_key: str | None
    most_bytes: int

    async def judged(
        self, body: bytes, encoding: str, request: BufferedRequest, facts: Told
    ) -> JudgedReply:
        """Return what is given in place of a whole body; ``facts`` went to ``tell_guard``."""
        with ContainedInRequest("guard failed", request.run_id) as judging:
            try:
                value = json_value(decoded(body, encoding, self.most_bytes))
                if answers := self.places.answers(value):
                    return self._given(value, await self._rulings(answers, value, request, facts))
                why = reason("nothing_at", path=self.places, part="reply")
            except Undecodable as error:
                why = error.why
            except (ValueError, RecursionError):
                why = reason("broken_json", part="reply")
        if judging.error is not None:
            why = judging.reason("guard_failed")
        return self.unseen(why, request, facts)

    def unseen(self, why: str, request: BufferedRequest, facts: Told) -> JudgedReply:
        """Return what is given in place of a reply in which no answer can be seen, and why."""
        ruling = self.guard.not_judged(why, facts.exchange.over(Exchange(run_id=request.run_id)))
        if ruling.held and self.on_fail is not None:
            status = self.on_fail if isinstance(self.on_fail, int) else UNAVAILABLE
            return self._refused([ruling], status)
        return [ruling], "marked" if ruling.held else "passed", None, None

    async def _rulings(
        self, answers: Sequence[str | None], reply: Any, request: BufferedRequest, facts: Told
    ) -> list[Ruling]:
        known, why = await self.extraction.exchange(request, facts, reply)
        rulings = []
        for answer in answers:
            if answer is None:
                rulings.append(self.guard.not_judged(reason("no_text"), known, passes=True))
            elif why is not None:
                rulings.append(self.guard.not_judged(why, known))
            else:
                rulings.append(await self.guard.aruling(answer, known))
        return rulings

    def _given(self, value: Any, rulings: Sequence[Ruling]) -> JudgedReply:
        held = any(ruling.held for ruling in rulings)
        if held and isinstance(self.on_fail, int):
            return self._refused(rulings, self.on_fail)
        action, changed = "marked" if held else "passed", value
        if held and isinstance(self.on_fail, str):
            texts = [self.on_fail if ruling.held else None for ruling in rulings]
            action, changed = "replaced", self.places.replaced(value, texts)
        if self.body_key is not None and isinstance(changed, dict):
            beside = self.places.beside(value)
            notes = [
                note_of(ruling, action if ruling.held else "passed", beside) for ruling in rulings
            ]
            changed = {**changed, self.body_key: notes[0] if len(notes) == 1 else notes}
        return rulings, action, None if changed is value else _written(changed), None

    def _refused(self, rulings: Sequence[Ruling], status: int) -> JudgedReply:
        codes = _codes(rulings) + [ruling.unjudged for ruling in rulings if ruling.unjudged]
        error = {
            "message": self.on_fail if isinstance(self.on_fail, str) else HELD,
            "type": "answer_held",
            "code": codes[0] if codes else None,
        }
        return rulings, "refused", _written({"error": error}), status


def _written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def release_of(
    guard: RequestGuard, on_fail: object, policy: Policy, *, stop_early: bool
) -> ReleasePolicy:
    """Return what leaves of a stream: all at once where nothing replaces what is held."""
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
        """Begin; ``why`` says why the answer cannot be judged ``by`` what is known."""
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
        self._passes = release.gives_unjudged
        if why is None:
            self._contained(self._begin)

    def feed(self, piece: Any) -> list[Any]:
        """Return what leaves with a piece: texts, and ``NotJudged`` for what is no answer."""
        self._fed = True
        if isinstance(piece, str):
            self._written += piece
        stream = self._stream
        if stream is not None and _is_known(piece):
            return self._contained(partial(stream.feed, piece))
        return [piece] if self._passes else []

    def close(self, error: Exception | None = None) -> list[Any]:
        """Return what leaves when no more comes, or because the source failed."""
        if self._ruling is not None:
            return []
        left: list[Any] = []
        stream, instead = self._stream, self._release.instead
        if stream is not None:
            left = self._contained(partial(stream.close, error))
        elif not self._passes and isinstance(instead, str) and self._fed:
            left = [instead]
        self._ruling = self._ruled()
        return left

    @property
    def ruling(self) -> Ruling:
        """The ruling on the answer; after ``close``."""
        assert self._ruling is not None
        return self._ruling

    def _ruled(self) -> Ruling:
        guard, stream = self._guard, self._stream
        if not self._fed or (stream is not None and not stream.units):
            return guard.not_judged(reason("no_text"), self._by, passes=True)
        if stream is None or stream.assessment is None:
            self.action = "passed" if self._passes else "replaced"
            why = self._why or ""
            return guard.not_judged(why, self._by, began=self._began, passes=self._passes)
        assessment = stream.assessment
        held = any(not unit.released for unit in stream.units)
        marked = not assessment.ok and assessment.decision in guard.hold
        self.action = "replaced" if held else "marked" if marked else "passed"
        return guard.streamed(assessment, held=held, began=self._began)

    def _begin(self) -> list[Any]:
        stream = self._guard.stream(self._by, self._release)
        if isinstance(stream, str):
            self._why = stream
        else:
            self._stream = stream
        return []

    def _contained(self, judging: Callable[[], list[Any]]) -> list[Any]:
        """Return what leaves; if it breaks, what the stream still held where that is the policy."""
        with ContainedInRequest("guard failed", self._by.run_id) as broken:
            return judging()
        self._why = broken.reason("guard_failed")
        released = "" if self._stream is None else self._stream.released
        self._stream = None
        if self._passes and self._written.startswith(released):
            return [self._written[len(released) :]]
        return []


def _is_known(piece: Any) -> bool:
    try:
        list(parts_of(piece))
    except InputError:
        return False
    return True


def piecewise(
    begin: Callable[[], GuardedPieces], last: Callable[[GuardedPieces], Iterable[Any]]
) -> Steps:
    """Yield the steps by which an answer leaves; what its source raises is raised after that.

    Args:
        begin: Called with the first piece, when all is told that the answer is judged by.
        last: Gives what comes behind the answer.
    """
    pieces: GuardedPieces | None = None
    try:
        with Contained() as reading:
            while True:
                piece = yield Signal.NEXT
                if pieces is None:
                    pieces = yield begin
                if piece is Signal.END:
                    break
                leaving = yield partial(pieces.feed, piece)
                yield leaving
        if pieces is None:
            pieces = yield begin
        leaving = yield partial(pieces.close, reading.error)
        yield leaving
        if reading.error is not None:
            raise reading.error
        yield from ([part] for part in last(pieces))
    finally:
        if pieces is not None:
            pieces.close(ConnectionError())
