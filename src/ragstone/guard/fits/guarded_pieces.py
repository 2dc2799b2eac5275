"""Guarded pieces: one streamed answer, of which what may leave leaves, whatever goes wrong."""

from time import monotonic
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.guard.stream import PushedStream, ReleasePolicy
from ragstone.guard.stream.not_judged import parts_of
from ragstone.guard.stream.release_policy import Policy

from .exchange import Exchange
from .request_guard import RequestGuard, log_error
from .ruling import Ruling


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
        release = self._release
        return release.if_not_judged == "release" or release.policy == "flag_after"

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
