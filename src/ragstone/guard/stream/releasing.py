"""Releasing: what leaves of one stream, step by step, whoever reads it and however."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from enum import Enum
from functools import partial
from logging import getLogger
from typing import Any

from ragstone.core.messages import reason
from ragstone.guard.assessment import Assessment, CheckStatus

from .grouping import Grouping, UnitGroup
from .not_judged import NotJudged, parts_of
from .release_policy import ReleasePolicy
from .unit_judge import UnitJudge
from .unit_verdict import UnitVerdict
from .units import StreamUnit, Units

LOGGER = getLogger("ragstone.guard")


class Signal(Enum):
    """What whoever drives is asked for, and tells."""

    NEXT = "the next piece of the source"
    CLOSE = "to close the source"
    END = "sent in place of a piece when there is none"


Out = str | NotJudged
Step = Signal | Callable[[], Any] | Out
"""A callable is work that takes time: it is to be called, and its result sent."""

Steps = Generator[Step, Any, None]


class Releasing:
    """What leaves of one stream.

    ``steps`` says what is to be done next; what drives it reads, waits and gives on.

    Attributes:
        units: What was judged, in the order of the answer.
        assessment: Of the answer; None before the end.
        cut: Why not all of the answer was read, as a code with facts; None if all was.
    """

    def __init__(
        self,
        judge: UnitJudge,
        policy: ReleasePolicy,
        on_unit: Callable[[UnitVerdict], object] | None = None,
    ) -> None:
        self.units: list[UnitVerdict] = []
        self.assessment: Assessment | None = None
        self.cut: str | None = None
        self._judge = judge
        self._policy = policy
        self._on_unit = on_unit
        self._cutter = Units()
        self._grouping = Grouping()
        self._written: list[str] = []
        self._released: list[str] = []
        self._replaced = False
        self._stopped = False

    @property
    def released(self) -> str:
        """The text that left, with what was put in place of some."""
        return "".join(self._released)

    def steps(self) -> Steps:
        """What is to be done, from the first piece to the assessment.

        Raises:
            Exception: What the source raised, after all else is done.
        """
        error: Exception | None = None
        yield self._judge.read
        try:
            yield from self._reading()
        except Exception as raised:
            error = raised
            self.cut = reason("stream_failed", error=type(raised).__name__)
        if error is not None or self._stopped:
            yield Signal.CLOSE
        if not self._stopped:
            yield from self._ending()
        self.assessment = yield self._conclude
        if self._policy.policy == "hold_all":
            yield from self._all()
        if error is not None:
            raise error

    def leave(self) -> None:
        """Conclude where the reader left before the end."""
        if self.assessment is not None:
            return
        self.cut = self.cut or reason("stream_left")
        if not self._stopped:
            self._written.append(self._cutter.rest())
            start = self.units[-1].end if self.units else 0
            rest = "".join(self._written)[start:]
            if rest:
                left = self._judge.left_open(UnitGroup(rest, start, "rest"), reason("unit_cut"))
                self._keep(left)
        self.assessment = self._conclude()

    def _reading(self) -> Steps:
        while not self._stopped:
            piece = yield Signal.NEXT
            if piece is Signal.END:
                return
            for part in parts_of(piece):
                if isinstance(part, NotJudged):
                    yield part
                    continue
                if text := self._cutter.text(part):
                    yield from self._text(text)
                if self._stopped:
                    return

    def _text(self, text: str) -> Steps:
        self._written.append(text)
        if self._policy.policy == "flag_after":
            yield self._out(text)
        if units := self._cutter.add(text):
            yield from self._groups(self._grouped(units))

    def _ending(self) -> Steps:
        groups = self._last_groups()
        if self.cut is None:
            yield from self._flagged()
        for group in groups:
            if self.cut is None or group.kind == "rest":
                yield from self._groups([group])
            else:
                # Where it ends was still to come.
                yield from self._settled(self._judge.left_open(group, reason("unit_cut")))
            if self._stopped:
                return

    def _flagged(self) -> Steps:
        """What was held of a character that never became whole."""
        released = sum(map(len, self._released))
        rest = "".join(self._written)[released:]
        if rest and self._policy.policy == "flag_after":
            yield self._out(rest)

    def _last_groups(self) -> list[UnitGroup]:
        rest = self._cutter.rest()
        self._written.append(rest)
        groups = list(self._grouped(self._cutter.end(rest)))
        last = self._grouping.close()
        return [*groups, last] if last else groups

    def _grouped(self, units: Iterable[StreamUnit]) -> Iterable[UnitGroup]:
        return (group for unit in units if (group := self._grouping.add(unit)) is not None)

    def _groups(self, groups: Iterable[UnitGroup]) -> Steps:
        for group in groups:
            judged: UnitVerdict = yield partial(self._judge.judge, group)
            yield from self._settled(judged)
            if judged.status == "failed" and self._policy.stop_early:
                self._stopped = True
                self.cut = reason("stream_stopped")
                self._written = [unit.text for unit in self.units]
                return

    def _settled(self, judged: UnitVerdict) -> Steps:
        """Let a judged unit leave, or what is in its place."""
        policy = self._policy.policy
        if policy == "flag_after":
            self._keep(replace(judged, released=True))
        elif policy == "hold_all":
            self._keep(judged)
        elif self._leaves(judged.status):
            self._keep(replace(judged, released=True))
            yield self._out(judged.text)
        else:
            instead = self._instead(judged)
            self._keep(replace(judged, instead=instead))
            if instead is not None:
                yield self._out(instead)

    def _all(self) -> Steps:
        """Let the whole answer leave, or what is in its place."""
        found = self.assessment
        assert found is not None
        whole = "".join(self._written)
        state: CheckStatus = "failed" if found.ok is False else "not_judged"
        passes = self._leaves("passed" if found.decision == "pass" else state)
        if passes and (self.cut is None or self._policy.if_not_judged == "release"):
            self.units[:] = [replace(unit, released=True) for unit in self.units]
            if whole:
                yield self._out(whole)
            return
        unit = UnitVerdict(whole, 0, "answer", state, found.issues, found.judged)
        instead = self._instead(unit)
        if instead is not None:
            yield self._out(instead)

    def _leaves(self, status: CheckStatus) -> bool:
        if status == "not_judged":
            return self._policy.if_not_judged == "release"
        return status != "failed"

    def _instead(self, unit: UnitVerdict) -> str | None:
        instead = self._policy.instead
        if instead is None or (isinstance(instead, str) and self._replaced):
            return None
        self._replaced = True
        if callable(instead):
            text = self._called(instead, unit)
            if text is None:
                return None
        else:
            text = instead
        gap = unit.text[: len(unit.text) - len(unit.text.lstrip())] if self._released else ""
        return gap + str(text)

    def _keep(self, unit: UnitVerdict) -> None:
        self.units.append(unit)
        if self._on_unit is not None:
            self._called(self._on_unit, unit)

    def _called(self, function: Callable[[UnitVerdict], Any], unit: UnitVerdict) -> Any:
        """What a function of the user's says; None if it raises, which is logged."""
        try:
            return function(unit)
        except Exception as error:
            LOGGER.error("a function of the stream failed: %s", type(error).__name__)
            return None

    def _out(self, text: str) -> str:
        self._released.append(text)
        return text

    def _conclude(self) -> Assessment:
        return self._judge.conclude("".join(self._written), self.cut)
