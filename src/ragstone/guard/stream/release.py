"""Stream release: the policy and the steps by which parts of a streamed answer may leave."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, Literal, get_args

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.data.thoughts import ThoughtFilter
from ragstone.guard.assessment import Assessment, CheckStatus, Contained

from .sentence_boundaries import Units
from .unit_judge import ArrivingText, Grouping, Text, UnitGroup, UnitJudge, UnitVerdict

NotJudgedKind = Literal["tool_call", "reasoning"]

_NOT_JUDGED: Mapping[NotJudgedKind, tuple[str, ...]] = {
    "tool_call": ("tool", "function"), "reasoning": ("reasoning", "thinking")
}  # fmt: skip
_TOOL_CALLS = ("tool_calls", "tool_call_chunks", "function_call")
_REASONED = ("reasoning_content", "reasoning")
_CONTENT = ("content", "text")


@dataclass(frozen=True, slots=True)
class NotJudged:
    """A piece of a stream that is not part of the answer: it passes at once and is not judged.

    Attributes:
        kind: ``tool_call`` or ``reasoning``.
        payload: The piece as it came; of one that holds text of the answer too, its tool calls or
            its reasoning alone.
    """

    kind: NotJudgedKind
    payload: Any


def parts_of(piece: object) -> Iterator[Text | NotJudged]:
    """Yield what a piece of a stream holds: text of the answer, and what is not judged.

    Known are texts, UTF-8 bytes, ``NotJudged``, None, and mappings or objects that name themselves
    by ``type`` or ``kind``, or have ``content`` or ``text``, ``tool_calls`` or
    ``reasoning_content``, as the deltas of chat models do.

    Raises:
        InputError: It is none of these: text in it would leave without being judged.
    """
    if isinstance(piece, Text | NotJudged):
        yield piece
        return
    name = _first(piece, ("type", "kind"))
    for kind, words in _NOT_JUDGED.items() if isinstance(name, str) else ():
        if any(word in name.lower() for word in words):
            yield NotJudged(kind, piece)
            return
    if piece is None or (isinstance(piece, Mapping) and not set(piece) - {"role"}):
        return  # It only says whose turn it is.
    content = _first(piece, _CONTENT)
    reasoned, calls = _first(piece, _REASONED), _first(piece, _TOOL_CALLS)
    names = (*_CONTENT, *_REASONED, *_TOOL_CALLS)
    has = piece.__contains__ if isinstance(piece, Mapping) else partial(hasattr, piece)
    if not (content is None or isinstance(content, Text)) or not any(map(has, names)):
        raise InputError(
            f"The stream gave a {type(piece).__name__} in which no text is known. Give text or "
            "bytes, and NotJudged(kind, payload) for what is not part of the answer."
        )
    if reasoned is not None:
        yield NotJudged("reasoning", reasoned)
    if content is not None:
        yield content
    if calls is not None:
        yield NotJudged("tool_call", calls)


def _first(piece: object, names: Iterable[str]) -> Any:
    if isinstance(piece, Mapping):
        return next(filter(None, map(piece.get, names)), None)
    return next(filter(None, (getattr(piece, name, None) for name in names)), None)


# ``hold_all``: nothing leaves before the whole answer is assessed, and only if it passes.
# ``hold_sentence``: each unit leaves once it is judged, unless it fails.
# ``flag_after``: everything leaves at once, and what is judged is told after.
Policy = Literal["hold_all", "hold_sentence", "flag_after"]

IfNotJudgedUnit = Literal["hold", "release"]

Instead = str | Callable[[UnitVerdict], str | None] | None


@dataclass(frozen=True, slots=True)
class ReleasePolicy:
    """The rule by which parts of a stream leave.

    Args:
        policy: ``hold_all``, ``hold_sentence`` or ``flag_after``.
        stop_early: Whether reading stops at the first unit that fails.
        instead: What leaves in place of what is held: a text, once an answer, where the first unit
            is held; or a function that is called with each unit that is held, in ``hold_all`` with
            the whole answer, and gives a text or None. It is not judged.
        if_not_judged: What becomes of what could not be judged, in time or at all.

    Raises:
        InputError: Settings that cannot be used.
    """

    policy: Policy = "hold_sentence"
    stop_early: bool = False
    instead: Instead = None
    if_not_judged: IfNotJudgedUnit = "hold"

    def __post_init__(self) -> None:
        for name, known in (("policy", Policy), ("if_not_judged", IfNotJudgedUnit)):
            if getattr(self, name) not in get_args(known):
                values = ", ".join(get_args(known))
                raise InputError(f"{name} is {getattr(self, name)!r}; it is one of {values}.")
        if not (self.instead is None or isinstance(self.instead, str) or callable(self.instead)):
            raise InputError(f"instead is {self.instead!r}; it is a text, a function or None.")
        if self.policy == "flag_after" and self.instead is not None:
            raise InputError(
                "policy='flag_after' holds nothing back, so nothing can leave instead; leave "
                "instead= out, or take policy='hold_sentence'."
            )

    @property
    def gives_unjudged(self) -> bool:
        """``True`` if what is not judged leaves."""
        return self.if_not_judged == "release" or self.policy == "flag_after"

    def releases(self, status: CheckStatus) -> bool:
        """Return whether a unit of this status leaves, where units are held to be judged."""
        if status == "not_judged":
            return self.if_not_judged == "release"
        return status != "failed"


class Signal(Enum):
    """Signals between the steps of a ``Release`` and the code that drives it."""

    NEXT = "the next piece of the source"
    CLOSE = "to close the source"
    END = "sent in place of a piece when there is none"


Out = str | NotJudged
# A list leaves. A callable is work that takes time: it is to be called, and its result sent.
Step = Signal | Callable[[], Any] | list[Any]

Steps = Generator[Step, Any, None]


class Release:
    """Decides what leaves of one stream.

    Its steps say what is to be done next; the driver reads, waits and passes pieces on.
    """

    def __init__(
        self,
        judge: UnitJudge,
        policy: ReleasePolicy,
        on_unit: Callable[[UnitVerdict], object] | None = None,
        chunks: Any = (),
    ) -> None:
        """Begin; ``chunks`` are the source, unless its pieces are pushed."""
        self._assessment: Assessment | None = None
        self._cut: str | None = None
        self._judge, self._policy, self._on_unit = judge, policy, on_unit
        self._chunks = chunks
        self._units: list[UnitVerdict] = []
        self._thoughts = None if judge.guard.checks.keep_thoughts else ThoughtFilter()
        self._arriving = ArrivingText()
        self._cutter = Units()
        self._grouping = Grouping()
        self._written: list[str] = []
        self._released: list[str] = []
        self._replaced = False
        self._stopped = False

    @property
    def assessment(self) -> Assessment | None:
        """The assessment of the answer without thoughts in think tags; None before the end."""
        return self._assessment

    @property
    def cut(self) -> str | None:
        """Why not all of the answer was read, as a code with facts; None if all was."""
        return self._cut

    @property
    def released(self) -> str:
        """The text that left so far, with what was put in place of some."""
        return "".join(self._released)

    @property
    def units(self) -> tuple[UnitVerdict, ...]:
        """The units judged so far, in the order of the answer, and what was done with them."""
        return tuple(self._units)

    def _steps(self) -> Steps:
        """Yield what is to be done, from the first piece to the assessment.

        Raises:
            Exception: What the source raised, after all else is done.
        """
        yield self._judge.read
        with Contained() as reading:
            yield from self._reading()
        if reading.error is not None:
            self._cut = reading.reason("stream_failed")
        if reading.error is not None or self._stopped:
            yield Signal.CLOSE
        if not self._stopped:
            yield from self._ending()
        self._assessment = yield self._conclude
        if self._policy.policy == "hold_all":
            yield from self._all()
        if reading.error is not None:
            raise reading.error

    def _steps_until_left(self) -> Steps:
        """Yield as ``_steps``, and conclude where whoever drives them leaves before the end."""
        try:
            yield from self._steps()
        finally:
            self._leave()

    def _leave(self) -> bool:
        """Conclude where the reader left before the end, and return whether it did."""
        if self._assessment is not None:
            return False
        self._cut = self._cut or reason("stream_left")
        if not self._stopped:
            self._written.append(self._rest())
            start = self._units[-1].end if self._units else 0
            rest = "".join(self._written)[start:]
            if rest:
                left = self._judge.left_open(UnitGroup(rest, start, "rest"), reason("unit_cut"))
                self._keep(left)
        self._assessment = self._conclude()
        return True

    def _reading(self) -> Steps:
        while not self._stopped:
            piece = yield Signal.NEXT
            if piece is Signal.END:
                return
            for part in parts_of(piece):
                if isinstance(part, NotJudged):
                    yield [part]
                    continue
                if text := self._answer(self._arriving.feed(part)):
                    self._written.append(text)
                    if self._policy.policy == "flag_after":
                        yield self._out(text)
                    yield from self._groups(self._grouping.groups(self._cutter.feed(text)))
                if self._stopped:
                    return

    def _answer(self, text: str) -> str:
        return text if self._thoughts is None else self._thoughts.feed(text)

    def _rest(self) -> str:
        rest = self._answer(self._arriving.close())
        return rest if self._thoughts is None else rest + self._thoughts.close()

    def _ending(self) -> Steps:
        rest = self._rest()
        self._written.append(rest)
        groups = list(self._grouping.groups(self._cutter.close(rest)))
        if last := self._grouping.close():
            groups.append(last)
        # What was held of a character that never became whole.
        held = "".join(self._written)[sum(map(len, self._released)) :]
        if held and self._cut is None and self._policy.policy == "flag_after":
            yield self._out(held)
        for group in groups:
            if self._cut is None or group.kind == "rest":
                yield from self._groups([group])
            else:
                # Where it ends was still to come.
                yield from self._settled(self._judge.left_open(group, reason("unit_cut")))
            if self._stopped:
                return

    def _groups(self, groups: Iterable[UnitGroup]) -> Steps:
        for group in groups:
            judged: UnitVerdict = yield partial(self._judge.judge, group)
            yield from self._settled(judged)
            if judged.status == "failed" and self._policy.stop_early:
                self._stopped = True
                self._cut = reason("stream_stopped")
                self._written = [unit.text for unit in self._units]
                return

    def _settled(self, judged: UnitVerdict) -> Steps:
        policy = self._policy.policy
        if policy == "flag_after":
            self._keep(replace(judged, released=True))
        elif policy == "hold_all":
            self._keep(judged)
        elif self._policy.releases(judged.status):
            self._keep(replace(judged, released=True))
            yield self._out(judged.text)
        else:
            instead = self._instead(judged)
            self._keep(replace(judged, instead=instead))
            if instead is not None:
                yield self._out(instead)

    def _all(self) -> Steps:
        assessment = self._assessment
        assert assessment is not None
        whole = "".join(self._written)
        state: CheckStatus = "failed" if assessment.ok is False else "not_judged"
        passes = self._policy.releases("passed" if assessment.decision == "pass" else state)
        if passes and (self._cut is None or self._policy.if_not_judged == "release"):
            self._units[:] = [replace(unit, released=True) for unit in self._units]
            if whole:
                yield self._out(whole)
            return
        unit = UnitVerdict(whole, 0, "answer", state, assessment.issues, assessment.judged)
        if (instead := self._instead(unit)) is not None:
            yield self._out(instead)

    def _instead(self, unit: UnitVerdict) -> str | None:
        instead = self._policy.instead
        if instead is None or (isinstance(instead, str) and self._replaced):
            return None
        self._replaced = True
        text = self._called(instead, unit) if callable(instead) else instead
        gap = unit.text[: len(unit.text) - len(unit.text.lstrip())] if self._released else ""
        return None if text is None else gap + str(text)

    def _keep(self, unit: UnitVerdict) -> None:
        self._units.append(unit)
        if self._on_unit is not None:
            self._called(self._on_unit, unit)

    def _called(self, function: Callable[[UnitVerdict], Any], unit: UnitVerdict) -> Any:
        """Call a function of the user's; None if it raises, which is logged."""
        with Contained("a function of the stream failed: %s"):
            return function(unit)
        return None

    def _out(self, text: str) -> list[str]:
        self._released.append(text)
        return [text]

    def _conclude(self) -> Assessment:
        notes = [] if self._cut is None else [self._cut]
        if self._thoughts is not None and self._thoughts.thoughts:
            notes.append(reason("thoughts_taken_off"))
        return self._judge.conclude("".join(self._written), *notes)
