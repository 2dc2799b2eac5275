"""Unit judge: judges the units of a streamed answer, such as sentences, in order.

Unless it has a new address, what claims nothing by its form passes, whatever it says: a heading of
a text or of a table, if it has no new number; a question ("Did you know that …?"); a courtesy of up
to 25 words ("I hope this helps, because …"); a line that ends in a colon or begins with "Source:";
a sentence that begins with what is not known and goes on ("The contexts do not say how long it is,
and …"); and what stands as a whole in square brackets, of up to five words without a stop, or in
round ones that end in a year. A sentence of more than 20,000 characters is ``not_judged``.

Two sentences that are read as one are judged as one, so that they can pass together where one alone
would not: behind a semicolon, `<br>`, or a stop with a lower-case letter or the mark of code, of
a formula or of the direction of writing behind it. A bare "Yes." at the beginning leaves with the
claim that follows it. Fences of tildes (`~~~`) are read as prose, line by line.
"""

import re
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from ragstone.guard import answer_checks
from ragstone.guard.answer_checks import Grounded
from ragstone.guard.assessment import (
    AnswerSpan,
    Assessment,
    CheckResult,
    CheckStatus,
    Contained,
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
from ragstone.judges.local.text_terms import terms

from .sentence_boundaries import StreamUnit, UnitKind

_UTF_8 = getincrementaldecoder("utf-8")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


Text = str | bytes | bytearray | memoryview


class ArrivingText:
    """Makes characters of pieces that may end inside of one.

    Bytes are UTF-8; what is not, and half characters of UTF-16, become U+FFFD. Nothing is raised.
    """

    def __init__(self) -> None:
        self._bytes = _UTF_8("replace")
        self._half = ""

    def feed(self, piece: Text) -> str:
        """The characters that are whole with this piece."""
        if not isinstance(piece, str):
            return self._whole(self._bytes.decode(piece))
        if self._bytes.getstate()[0]:
            piece = self._bytes.decode(b"", final=True) + piece
            self._bytes.reset()
        return self._whole(piece)

    def close(self) -> str:
        """Return what is left when nothing more comes."""
        text = self._half + self._bytes.decode(b"", final=True)
        self._half = ""
        return _HALVES.sub(_joined, text)

    def _whole(self, text: str) -> str:
        if not text or (not self._half and text.isascii()):
            return text
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _HALVES.sub(_joined, text)


def _joined(match: re.Match[str]) -> str:
    halves = match.group()
    if len(halves) == 1:
        return "\ufffd"
    return chr(0x10000 + ((ord(halves[0]) - 0xD800) << 10) + ord(halves[1]) - 0xDC00)


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Neighbouring units that are judged as one; nearly always a single one.

    Attributes:
        start: The place of the first one in the answer, in characters.
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

    def groups(self, units: Iterable[StreamUnit]) -> Iterator[UnitGroup]:
        """Yield the groups that these units complete."""
        for unit in units:
            if (group := self.add(unit)) is not None:
                yield group

    def add(self, unit: StreamUnit) -> UnitGroup | None:
        """Return the units that can be judged with this one; None if none can yet."""
        claims: list[LocatedClaim] = []
        for position, sentence in enumerate(unit.sentences(), len(self._claims)):
            claim = claim_of(unit.text, sentence, position)
            if claim is not None:
                start, end = self._length + claim.start, self._length + claim.end
                claim = replace(claim, start=start, end=end)
                claims.append(claim)
            self._claims.append(claim)
        self._units.append(unit)
        self._length += len(unit.text)
        if any(terms(claim.text) for claim in claims):
            self._has_content = True
        elif self._has_content:
            self._claims = [None] * len(self._claims)
        elif claims or self._bare:
            self._bare = True
            return None
        return self.close()

    def close(self) -> UnitGroup | None:
        """Return the units that still wait; None if none does."""
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
        start: Its place in the answer, in characters.
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
        """The place in the answer of its end."""
        return self.start + len(self.text)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; what is not there is null."""
        return asdict(self)


FAILED = "guard failed run_id=%r: %s"


@dataclass
class UnitJudge:
    """Judges the units of one answer by a guard, each within the guard's deadline."""

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
        with Contained() as reading:
            self._grounds = self.guard.read(self.contexts)
        if reading.error is not None:
            self._grounds = ReadContexts((), Passages(()), reading.reason("guard_failed"))
        self.seconds += time.monotonic() - begun

    def judge(self, group: UnitGroup) -> UnitVerdict:
        """Judge units that belong together. Nothing is raised."""
        begun = time.monotonic()
        with Contained(FAILED, self.run_id) as judging:
            verdict = self._judged(group)
        if judging.error is not None:
            verdict = self.left_open(group, judging.reason("guard_failed"))
        self.seconds += time.monotonic() - begun
        return verdict

    def left_open(self, group: UnitGroup, why: str) -> UnitVerdict:
        """Return the verdict on units that are not judged."""
        self._grounded.append((group.start, Grounded(fault=why, unseen=why)))
        return UnitVerdict(group.text, group.start, group.kind, "not_judged", reason=why)

    def conclude(self, answer: str, *notes: str) -> Assessment:
        """Assess the answer as far as it was read, by the claims of its units; raises nothing."""
        begun = time.monotonic()
        with Contained(FAILED, self.run_id) as judging:
            grounds = self.contexts if self._grounds is None else self._grounds
            answered = self.guard.answered(self.question, answer, grounds, self.scores)
            together = self._together(answered)
            assessment = self.guard.conclude(answered, together, self.run_id)
        if judging.error is not None:
            assessment = unjudged(judging.reason("guard_failed"), self.run_id)
        assessment = replace(assessment, notes=(*assessment.notes, *notes))
        self.seconds += time.monotonic() - begun
        tell(assessment, self.seconds, self.guard.listener)
        return assessment

    def _judged(self, group: UnitGroup) -> UnitVerdict:
        start = group.start
        part = self.guard.answered(self.question, group.text, self._grounds, (), self._so_far)
        is_plain = part.answer is part.written.text
        part = replace(part, stated=group.claims if is_plain else tuple(part.each_claim()))
        grounded = self.guard.ground(part)
        self._grounded.append((start, grounded))
        results = _checked(part, grounded)
        states = {check.status for check in results}
        order: tuple[CheckStatus, ...] = ("failed", "not_judged", "passed")
        status: CheckStatus = next((each for each in order if each in states), "not_applicable")

        if status == "passed":
            self._so_far.add(map(answer_checks.probability_of, grounded.claims))
        open_ = [check.reason for check in results if check.status == "not_judged"]
        issues = [issue for check in results for issue in check.issues]
        moved = (
            replace(issue, spans=tuple(_at(span, start) for span in issue.spans))
            for issue in issues
        )
        return UnitVerdict(
            group.text, start, group.kind, status, tuple(moved), _shifted(grounded, start).claims,
            open_[0] if status == "not_judged" else "", grounded.late is not None,
        )  # fmt: skip

    def _together(self, answered: Answered) -> Grounded:
        if (nothing := answer_checks.nothing_grounded(answered)) is not None:
            return nothing
        parts = [_shifted(grounded, start) for start, grounded in self._grounded]
        return Grounded(
            claims=tuple(claim for part in parts for claim in part.claims),
            seen=tuple(verdict for part in parts for verdict in part.seen),
            fault=_first(part.fault for part in parts),
            unseen=_first(part.unseen for part in parts),
            late=_first(part.late for part in parts),
            judge=_first(part.judge for part in parts if part.claims) or STRINGS,
        )


def _checked(part: Answered, grounded: Grounded) -> list[CheckResult]:
    checks = part.checks
    claimed = any(claim is not None and claim.factual for claim in part.stated or ())
    headed = grounded.fault is None and "#" in part.plain
    results = []
    if unreadable(part.written.text) is not None:
        results.append(answer_checks.of_answer(part))
    if claimed:
        results.append(answer_checks.of_contexts(part))
    results.append(answer_checks.of_cited_contexts(part))
    if claimed and checks.least_support is not None:
        results.append(answer_checks.of_groundedness(part, grounded))
    if checks.numbers and (claimed or headed):
        results.append(answer_checks.of_numbers(part, grounded))
    if claimed and checks.names:
        results.append(answer_checks.of_names(part, grounded))
    if checks.links:
        results.append(answer_checks.of_links(part))
    return results


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((why for why in reasons if why is not None), None)


def _shifted(grounded: Grounded, by: int) -> Grounded:
    claims = tuple(replace(claim, span=_at(claim.span, by)) for claim in grounded.claims)
    return replace(grounded, claims=claims)


def _at(span: AnswerSpan, by: int) -> AnswerSpan:
    return AnswerSpan(span.start + by, span.end + by, span.text)
