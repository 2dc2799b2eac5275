"""Unit judge: splits a streamed answer into units, such as sentences, and judges them in order."""

import re
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from logging import getLogger
from typing import Any, Literal

from ragstone.core.messages import reason
from ragstone.guard import answer_checks
from ragstone.guard.answer_checks import Grounded
from ragstone.guard.assessment import (
    AnswerSpan,
    Assessment,
    CheckResult,
    CheckStatus,
    Issue,
    JudgedClaim,
    tell,
)
from ragstone.guard.guard import Guard, unjudged
from ragstone.guard.guard_input import Answered, ReadContexts
from ragstone.guard.new_facts import AnswerSoFar
from ragstone.guard.visible_text import unreadable
from ragstone.judges.judge import STRINGS
from ragstone.judges.local.claims_and_evidence import LocatedClaim, Passages, claim_of
from ragstone.judges.local.sentences import Sentence, each_sentence, trimmed
from ragstone.judges.local.text_terms import terms

from .sentence_boundaries import Boundary, SentenceBoundaries, UnitKind

_UTF_8 = getincrementaldecoder("utf-8")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


Text = str | bytes | bytearray | memoryview


class ArrivingText:
    """Characters out of pieces that may end inside of one.

    Bytes are UTF-8; what is not, and half characters of UTF-16, become U+FFFD. Nothing is raised.
    """

    def __init__(self) -> None:
        self._bytes = _UTF_8("replace")
        self._half = ""

    def feed(self, piece: Text) -> str:
        """The characters that are whole with this piece."""
        if not isinstance(piece, str):
            return self._whole(self._bytes.decode(piece))
        begun = self._bytes.decode(b"", final=True)
        self._bytes.reset()
        return self._whole(begun + piece)

    def close(self) -> str:
        """What is left when nothing more comes."""
        text = self._half + self._bytes.decode(b"", final=True)
        self._half = ""
        return _HALVES.sub(_one, text)

    def _whole(self, text: str) -> str:
        if not text or (not self._half and text.isascii()):
            return text
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _HALVES.sub(_one, text)


def _one(found: re.Match[str]) -> str:
    halves = found.group()
    if len(halves) == 1:
        return "\ufffd"
    return chr(0x10000 + ((ord(halves[0]) - 0xD800) << 10) + ord(halves[1]) - 0xDC00)


@dataclass(frozen=True, slots=True)
class StreamUnit:
    """A sentence, a row of a table or a block of code, with the white space and marks before it.

    Attributes:
        text: As the model wrote it.
        start: Where it stands in the answer, in characters.
        kind: ``sentence``, ``row``, ``code``, or ``rest`` for what is left at the end and holds no
            word.
        said: Where in ``text`` the sentence begins, after the white space and marks before it.
        lower_case_only: Whether the answer is taken to have no capital, by which sentences in rows
            and code are told.
    """

    text: str
    start: int
    kind: UnitKind
    said: int = 0
    lower_case_only: bool = False

    @property
    def end(self) -> int:
        """Where it ends in the answer."""
        return self.start + len(self.text)

    def sentences(self) -> Iterator[Sentence]:
        """Its sentences, by their places in ``text``."""
        if self.kind == "sentence":
            yield trimmed(self.text, self.said, len(self.text))
        elif self.kind != "rest":
            yield from each_sentence(self.text, self.lower_case_only)


class Units:
    """The units of one answer that comes in pieces of text or of UTF-8 bytes.

    Their texts, one after the other, are the answer; they are the same however it is cut.
    """

    def __init__(self) -> None:
        self._arriving = ArrivingText()
        self._ends = SentenceBoundaries()
        self._held: list[str] = []
        self._start = 0
        self._closed = False

    def feed(self, piece: Text) -> list[StreamUnit]:
        """The units that are complete with this piece."""
        return self.add(self.text(piece))

    def close(self) -> list[StreamUnit]:
        """The units that are left when nothing more comes."""
        return self.end(self.rest())

    def text(self, piece: Text) -> str:
        """The characters that are whole with this piece."""
        return self._arriving.feed(piece)

    def rest(self) -> str:
        """What is left of characters that never became whole."""
        return self._arriving.close()

    def add(self, text: str) -> list[StreamUnit]:
        """The units that are complete with these characters."""
        if not text:
            return []
        self._held.append(text)
        ends = self._ends.feed(text)
        return self._complete(ends) if ends else []

    def end(self, rest: str) -> list[StreamUnit]:
        """The units that are left when nothing comes behind these characters."""
        if self._closed:
            return []
        self._closed = True
        self._held.append(rest)
        found = self._complete([*self._ends.feed(rest), *self._ends.close()])
        left = "".join(self._held)
        if left:
            found.append(StreamUnit(left, self._start, "rest", len(left)))
        return found

    def _complete(self, ends: Iterable[Boundary]) -> list[StreamUnit]:
        found = []
        text = ""
        for number, one in enumerate(ends):
            if number == 0:
                text = "".join(self._held)
                base = self._start
            piece = text[self._start - base : one.end - base]
            said = max(one.first - self._start, 0)
            found.append(StreamUnit(piece, self._start, one.kind, said, one.lower_case_only))
            self._start = one.end
        if found:
            self._held = [text[self._start - base :]]
        return found


def units_of(text: str) -> list[StreamUnit]:
    """The units of a text that is complete."""
    units = Units()
    return [*units.feed(text), *units.close()]


@dataclass(frozen=True)
class AnsweredPart(Answered):
    """A part of an answer. Whether the answer as a whole says anything cannot be told from it.

    Attributes:
        stated: For each of its sentences the claim, None if it makes none.
    """

    stated: tuple[LocatedClaim | None, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether it says that it does not know: not known of a part."""
        return False

    @cached_property
    def failure(self) -> bool:
        """Whether it is nothing but a failure message: not known of a part."""
        return False

    def each_claim(self) -> Iterator[LocatedClaim | None]:
        """For each of its sentences the claim, None if it makes none."""
        yield from self.stated


def claims_of(unit: StreamUnit, place: int = 0, number: int = 0) -> Iterator[LocatedClaim | None]:
    """For each sentence of a unit the claim; ``place`` characters, ``number`` sentences precede."""
    for position, sentence in enumerate(unit.sentences(), number):
        claim = claim_of(unit.text, sentence, position)
        yield claim and replace(claim, start=place + claim.start, end=place + claim.end)


def has_content(claim: LocatedClaim) -> bool:
    """Whether a claim has a content word of its own, unlike a bare `Yes.`"""
    return bool(terms(claim.text))


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Neighbouring units that are judged as one; nearly always a single one.

    Attributes:
        text: Of all of them.
        start: Where it stands in the answer, in characters.
        kind: Of the last one.
        claims: For each sentence the claim, by its place in ``text``; None if it makes none.
    """

    text: str
    start: int
    kind: UnitKind
    claims: tuple[LocatedClaim | None, ...] = ()


class Grouping:
    """Puts units together.

    A bare `Yes.` before any other claim says what the next claim says: it is judged with it. Behind
    another claim it says nothing, and alone it is a claim of its own.
    """

    def __init__(self) -> None:
        self._has_content = self._bare = False
        self._units: list[StreamUnit] = []
        self._claims: list[LocatedClaim | None] = []
        self._length = 0

    def add(self, unit: StreamUnit) -> UnitGroup | None:
        """The units that can be judged with this one; None: none yet."""
        claims = list(claims_of(unit, self._length, len(self._claims)))
        self._units.append(unit)
        self._claims += claims
        self._length += len(unit.text)
        made = [claim for claim in claims if claim is not None]
        if any(map(has_content, made)):
            self._has_content = True
        elif self._has_content:
            self._claims = [None] * len(self._claims)
        elif made or self._bare:
            self._bare = True
            return None
        return self.close()

    def close(self) -> UnitGroup | None:
        """The units that still wait; None: none does."""
        if not self._units:
            return None
        units, claims = self._units, tuple(self._claims)
        self._units, self._claims, self._length, self._bare = [], [], 0, False
        text = "".join(unit.text for unit in units)
        return UnitGroup(text, units[0].start, units[-1].kind, claims)


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """A part of an answer that was judged for itself, and what was done with it.

    Attributes:
        text: As the model wrote it, with the white space and marks before it.
        start: Where it stands in the answer, in characters.
        kind: ``sentence``, ``row``, ``code``, ``rest`` for what holds no word, or ``answer`` for
            the whole.
        status: ``passed``; ``failed``; ``not_judged``; ``not_applicable`` if it claims nothing,
            such as a heading.
        issues: What failed; places are those in the answer.
        claims: What it claims; places are those in the answer.
        reason: Why it was not judged, as a code with facts; empty if it was.
        late: Whether another judge answered in the place of the one that was asked for.
        released: Whether it left as it was written.
        instead: What left in its place; None if nothing did.
    """

    text: str
    start: int
    kind: UnitKind | Literal["answer"]
    status: CheckStatus
    issues: tuple[Issue, ...] = ()
    claims: tuple[JudgedClaim, ...] = ()
    reason: str = ""
    late: bool = False
    released: bool = False
    instead: str | None = None

    @property
    def end(self) -> int:
        """Where it ends in the answer."""
        return self.start + len(self.text)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON; what is not there is null."""
        return asdict(self)


LOGGER = getLogger("ragstone.guard")


@dataclass
class UnitJudge:
    """Judges the units of one answer by a guard, each within the guard's deadline.

    Args:
        guard: The settings.
        question: What was asked.
        contexts: What the answer should rest on.
        scores: The retrieval scores; None: those of the contexts, if they carry any.
        run_id: The caller's name for the request.
    """

    guard: Guard
    question: str | None
    contexts: object
    scores: object = None
    run_id: str | None = None
    seconds: float = 0.0
    _grounds: ReadContexts | None = None
    _grounded: list[tuple[int, Grounded]] = field(default_factory=list)
    _so_far: AnswerSoFar = field(default_factory=AnswerSoFar)

    def read(self) -> None:
        """Read the contexts."""
        begun = time.monotonic()
        try:
            self._grounds = self.guard.read(self.contexts)
        except Exception as error:
            fault = reason("guard_failed", error=type(error).__name__)
            self._grounds = ReadContexts((), Passages(()), fault)
        self.seconds += time.monotonic() - begun

    def judge(self, group: UnitGroup) -> UnitVerdict:
        """Judge units that belong together. Nothing is raised."""
        begun = time.monotonic()
        try:
            return self._judged(group)
        except Exception as error:
            # Inside a user's request nothing may break; what broke is told, without any text.
            name = type(error).__name__
            LOGGER.error("guard failed run_id=%r: %s", self.run_id, name)
            return self.left_open(group, reason("guard_failed", error=name))
        finally:
            self.seconds += time.monotonic() - begun

    def left_open(self, group: UnitGroup, why: str) -> UnitVerdict:
        """Units that are not judged."""
        self._grounded.append((group.start, Grounded(fault=why, unseen=why)))
        return UnitVerdict(group.text, group.start, group.kind, "not_judged", reason=why)

    def conclude(self, answer: str, *notes: str) -> Assessment:
        """The assessment of the answer, by the claims of its units. Nothing is raised.

        Args:
            answer: As the model wrote it, as far as it was read.
            notes: What else is to be known of it.
        """
        begun = time.monotonic()
        try:
            grounds = self.contexts if self._grounds is None else self._grounds
            one = self.guard.answered(self.question, answer, grounds, self.scores)
            found = self.guard.conclude(one, self._together(one), self.run_id)
        except Exception as error:
            name = type(error).__name__
            LOGGER.error("guard failed run_id=%r: %s", self.run_id, name)
            found = unjudged(reason("guard_failed", error=name), self.run_id)
        found = replace(found, notes=(*found.notes, *notes))
        self.seconds += time.monotonic() - begun
        tell(found, self.seconds, self.guard.listener)
        return found

    def _judged(self, group: UnitGroup) -> UnitVerdict:
        start = group.start
        whole = self.guard.answered(self.question, group.text, self._grounds, ())
        settings = {one.name: getattr(whole, one.name) for one in fields(whole)}
        settings |= {"so_far": self._so_far, "read": self._so_far.read(whole.answer)}
        is_plain = whole.answer is whole.written.text
        stated = group.claims if is_plain else tuple(whole.each_claim())
        one = AnsweredPart(**settings, stated=stated)
        found = self.guard.ground(one)
        self._grounded.append((start, found))
        results = _checked(one, found)
        status = _status(results)
        if status == "passed":
            self._so_far.add(map(answer_checks.probability_of, found.claims))
        open_ = [check.reason for check in results if check.status == "not_judged"]
        return UnitVerdict(
            group.text,
            start,
            group.kind,
            status,
            tuple(_moved(issue, start) for check in results for issue in check.issues),
            _shifted(found, start).claims,
            open_[0] if status == "not_judged" else "",
            found.late is not None,
        )

    def _together(self, one: Answered) -> Grounded:
        """The claims of the whole answer, as its units were judged."""
        if one.empty or one.failure or one.silent:
            return Grounded()
        if one.grounds.unread is not None or not one.grounds.given:
            return Grounded(fault=one.grounds.unread, unseen=one.grounds.unread)
        parts = [_shifted(found, start) for start, found in self._grounded]
        return Grounded(
            claims=tuple(claim for part in parts for claim in part.claims),
            seen=tuple(verdict for part in parts for verdict in part.seen),
            fault=_first(part.fault for part in parts),
            unseen=_first(part.unseen for part in parts),
            late=_first(part.late for part in parts),
            judge=_first(part.judge for part in parts if part.claims) or STRINGS,
        )


def _checked(one: AnsweredPart, found: Grounded) -> list[CheckResult]:
    """The checks that can be made of a part."""
    checks = one.checks
    claimed = any(claim is not None and claim.factual for claim in one.stated)
    switched: tuple[tuple[bool, Callable[[], CheckResult]], ...] = (
        (unreadable(one.written.text) is not None, lambda: answer_checks.of_answer(one)),
        (claimed, lambda: answer_checks.of_contexts(one)),
        (True, lambda: answer_checks.of_cited_contexts(one)),
        (
            claimed and checks.least_support is not None,
            lambda: answer_checks.of_groundedness(one, found),
        ),
        (
            checks.numbers and (claimed or (found.fault is None and "#" in one.read.plain)),
            lambda: answer_checks.of_numbers(one, found),
        ),
        (claimed and checks.names, lambda: answer_checks.of_names(one, found)),
        (checks.links, lambda: answer_checks.of_links(one)),
    )
    return [check() for on, check in switched if on]


def _first(told: Iterable[str | None]) -> str | None:
    return next((one for one in told if one is not None), None)


def _status(results: Sequence[CheckResult]) -> CheckStatus:
    found = {check.status for check in results}
    order: tuple[CheckStatus, ...] = ("failed", "not_judged", "passed")
    return next((one for one in order if one in found), "not_applicable")


def _shifted(found: Grounded, by: int) -> Grounded:
    return replace(
        found, claims=tuple(replace(claim, span=_at(claim.span, by)) for claim in found.claims)
    )


def _moved(issue: Issue, by: int) -> Issue:
    return replace(issue, spans=tuple(_at(span, by) for span in issue.spans))


def _at(span: AnswerSpan, by: int) -> AnswerSpan:
    return AnswerSpan(span.start + by, span.end + by, span.text)
