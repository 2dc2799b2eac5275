"""Agreement: does an answer say what the reference says?

Only words of a reference that are not in the question count, without initials
and asides in brackets; those that occur in the answer are counted. Words may be spelled a
little differently, be written together or apart, numbers be rounded, and the day of a date may be
left out if the answer names no other day.

For a short statement, such as a name or a date, a logistic curve turns the counts into the
probability that the answer says it in full; from .5 it does. If strings leave it open and an
encoder is available, words are matched by their vectors too (``aligner.py``). A sentence is said
in full if two thirds of its words are, and all its numbers.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from ragstone.core.messages import reason

from .aligner import Likeness
from .claim_support import curve, on_curve
from .figures import is_number, rounded
from .text_terms import (
    LONGEST_SPELLED,
    SAME_OPENING,
    SHORTEST_SPELLED,
    as_written,
    close,
    names,
    stem_or_none,
    tokens,
)

AGREEMENT_VERSION = "ragstone-agreement/2"

STRINGS = "agreement/strings"
ENCODER = "agreement/encoder"

FULL = 0.5
# Between these probabilities strings leave it open.
LEAST_OPEN, MOST_OPEN = 0.35, 0.65

# Characters; what is longer is a sentence.
SHORT_STATEMENT = 60

SHORT = 6
FULL_SHORT = 0.5
FULL_LONG = 2 / 3
PARTIAL = 1 / 3
MATCHES = 0.5


@dataclass(frozen=True, slots=True)
class StatementMatch:
    """The verdict on one statement of the reference: does the answer say it?

    ``probability``, from 0 to 1, is that of being said in full.
    """

    verdict: Literal["full", "partial", "missing", "contradicted"]
    probability: float
    reason: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The features of one statement, before they are weighted.

    Args:
        stems: Its words that are not in the question.
        lost: Those of them that are missing from the answer.
        answer_words: The number of content words in the answer.
        enough: Half of them are in the answer (two thirds for a long statement), and all numbers.
        number_clash: Only a number is missing, and the answer has another one.
        verbatim: It is in the answer word for word, or its abbreviation is.
        lost_name: A capitalised word is missing.
        other_name: Part of a name is there, next to another capitalised word than in the reference.
        inside: Share of the answer's words, without the question's, that are in the statement too.
    """

    stems: tuple[str, ...]
    lost: tuple[str, ...]
    answer_words: int
    enough: bool
    number_clash: bool
    verbatim: bool
    lost_name: bool
    other_name: bool
    inside: float

    @property
    def share(self) -> float:
        """The share of wanted words that are in the answer."""
        return 1 - len(self.lost) / len(self.stems)

    @property
    def some(self) -> bool:
        """True if enough is in the answer to count as partial."""
        return len(self.stems) > 1 and self.share >= PARTIAL

    def features(self) -> dict[str, float]:
        return {"enough": float(self.enough), "share": self.share,
                "wanted": math.log(1 + len(self.stems)), "said": math.log(1 + self.answer_words),
                "lost_number": float(any(stem[0].isdigit() for stem in self.lost)),
                "number_clash": float(self.number_clash), "verbatim": float(self.verbatim),
                "lost_name": float(self.lost_name), "other_name": float(self.other_name),
                "inside": self.inside}  # fmt: skip


def statement_agreement(
    statement: str, answer: str, question: str | None = None, likeness: Likeness | None = None
) -> StatementMatch:
    """Look for one statement of the reference in the whole answer."""
    seen = wording(statement, answer, question)
    if seen is None:
        return _literal(repaired(statement), repaired(answer))
    if len(statement) > SHORT_STATEMENT:
        # Half if just enough of a sentence is said, less if a number is missing.
        probability = FULL * seen.share / (FULL_SHORT if len(seen.stems) <= SHORT else FULL_LONG)
        if not seen.enough:
            probability = min(probability, math.nextafter(FULL, 0))
    elif likeness is None:
        probability = on_curve(curve(STRINGS), seen.features())
    else:
        probability = on_curve(curve(ENCODER), seen.features() | likeness._asdict())
    why = _why("words_of_reference", len(seen.stems) - len(seen.lost), len(seen.stems),
               as_written(seen.lost[:4], repaired(statement)),
               None if likeness is None else f"{likeness.aligned:.2f}")  # fmt: skip
    if probability >= FULL:
        return StatementMatch("full", probability, why)
    if seen.number_clash:
        return StatementMatch("contradicted", probability, why)
    return StatementMatch("partial" if seen.some else "missing", probability, why)


def is_open(statement: str, match: StatementMatch) -> bool:
    """True if strings leave a short statement open, so that the encoder is needed."""
    return len(statement) <= SHORT_STATEMENT and LEAST_OPEN < match.probability < MOST_OPEN


def is_settled(matches: Sequence[StatementMatch]) -> bool:
    """True if strings find every statement of a reference, so that no other one matters."""
    return bool(matches) and all(match.probability >= MOST_OPEN for match in matches)


def wording(statement: str, answer: str, question: str | None = None) -> Wording | None:
    """Compute the features of a statement; None if it has no content word."""
    statement, answer = repaired(statement), repaired(answer)
    plain = _without_aside(statement)
    stems = list(_kept(plain, question))
    read = _read(answer)
    if not stems:
        return None
    lost = _lost(stems, plain, read)
    lost_number = any(stem[0].isdigit() for stem in lost)
    share = 1 - len(lost) / len(stems)
    present = [stem for stem in stems if stem not in lost]
    lost_names = set(names(f"x {plain}")) & set(lost)
    clash = lost_number
    if lost_number:
        known = {*stems, *(_read(question).distinct if question else ())}
        words = [stem for stem in stems if not stem[0].isdigit()]
        agreeing = sum(not stem[0].isdigit() for stem in present)
        enough = agreeing >= FULL_SHORT * len(words)
        clash = enough and not known.issuperset(read.numbers)
    return Wording(
        stems=tuple(stems),
        lost=tuple(lost),
        answer_words=len(read.stems),
        enough=share >= (FULL_SHORT if len(stems) <= SHORT else FULL_LONG) and not lost_number,
        number_clash=clash,
        verbatim=read.has(_read(plain))
        or any(
            read.has(_read(short))
            for short in _SHORT_FORM.findall(statement)
            if statement.strip() != f"({short})"
        ),
        lost_name=bool(lost_names),
        other_name=bool(lost_names) and _other_name(plain, answer, present, lost_names, question),
        inside=_inside(answer, plain, question),
    )


def _inside(answer: str, statement: str, question: str | None) -> float:
    words = _kept(answer, question)
    return len(words.keys() & _read(statement).distinct) / len(words) if words else 0.0


def repaired(text: str) -> str:
    """Undo UTF-8 that was once read as Windows-1252, such as `10â€“12` for `10–12`."""
    if text.isascii() or not _GARBLED.search(text):
        return text
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text


def claim_agreement(
    claim: str, reference: str, question: str | None = None
) -> tuple[Literal["matches", "contradicts", "extra"], str]:
    """Look for one claim of the answer in the whole reference: the verdict with its reason.

    Contradicts only if the reference is a sentence that shares at least two thirds of the
    claim's words and every number of the claim differs from its numbers.
    """
    claim, reference = repaired(claim), repaired(reference)
    stems = _kept(claim, question)
    known = _read(reference)
    if not stems:
        return "extra", "nothing_beyond_question"
    shared = [stem for stem in stems if stem in known.distinct]
    share = len(shared) / len(stems)
    why = _why("words_in_reference", len(shared), len(stems))
    words = [stem for stem in stems if not stem[0].isdigit()]
    numbers = {stem for stem in stems if stem[0].isdigit()}
    reference_stems, known_numbers = _kept(reference, question), _kept_numbers(reference, question)
    if (
        len(words) >= 3
        and numbers
        and known_numbers
        and not numbers & known.distinct
        and not any(rounded(number, other) for number in numbers for other in known_numbers)
        and sum(stem in known.distinct for stem in words) >= FULL_LONG * len(words)
    ):
        other = reason(
            "words_in_reference", n=len(shared), words=len(stems),
            other_number=as_written([min(numbers)], claim),
        )  # fmt: skip
        return "contradicts", other
    claimed = _read(claim).distinct
    if 0 < len(reference_stems) <= SHORT and len(
        reference_stems.keys() & claimed
    ) >= FULL_SHORT * len(reference_stems):
        if claimed.issuperset(known_numbers):
            return "matches", why
    elif share >= MATCHES:
        return "matches", why
    return "extra", why


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, processed once.

    Args:
        line: Its words with a space on either side, for word sequences to be found in it.
        solid: Its words written together.
        numbers: Those of ``distinct`` that begin with a digit, the first 100.
        alike: Those of ``distinct`` that another word may be a spelling of, by their opening,
            the first 100 of each.
    """

    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    distinct: frozenset[str]
    line: str
    solid: str
    numbers: tuple[str, ...]
    alike: dict[str, list[str]]

    def has(self, other: "_Text") -> bool:
        return bool(other.tokens) and other.line in self.line


_GARBLED = re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac")
_SHORT_FORM = re.compile(r"\(([A-Z][A-Z0-9.&-]{1,9})\)")
_NAME = re.compile(r"(?<![\w'’.-])(?:(?![A-Z])[\w'’.-])*+([A-Z][\w'’.-]*+(?: [A-Z][\w'’.-]*+)+)")
_ASIDE = re.compile(r"\([^()]*\)")
_YEAR = re.compile(r"[12]\d{3}")
_WORD = re.compile(r"[^\W_]")


def _without_aside(text: str) -> str:
    shorter = _ASIDE.sub(" ", text) if "(" in text else text
    return shorter if _WORD.search(shorter) else text


def _lost(stems: list[str], statement: str, answer: _Text) -> list[str]:
    lost = [stem for stem in stems if stem not in answer.distinct]
    if not lost:
        return lost
    if not any(stem[0].isdigit() for stem in lost):
        run = _read(statement).solid
        if len(run) >= 6 and run in answer.solid:
            return []
    if any(map(_YEAR.fullmatch, stems)) and not any(
        _is_day(stem) and stem not in stems for stem in answer.numbers
    ):
        lost = [stem for stem in lost if not _is_day(stem)]
    return [
        stem
        for stem in lost
        if not any(close(stem, other) for other in answer.alike.get(stem[:SAME_OPENING], ()))
        and not (is_number(stem) and any(rounded(stem, other) for other in answer.numbers))
    ]


def _is_day(stem: str) -> bool:
    return stem.isdecimal() and len(stem) <= 2 and int(stem) <= 31


# Words of one opening, numbers and names of a text that are compared with another's, at most.
LOOKED_AT = 100


# One is made for every claim and statement, and nearly all of them are among the last few thousand.
@lru_cache(maxsize=4096)
def _why(code: str, n: int, words: int, lost: str = "", aligned: str | None = None) -> str:
    return reason(code, n=n, words=words, lost=lost, aligned=aligned)


@lru_cache(maxsize=256)
def _read(text: str) -> _Text:
    words = tokens(text)
    stems = [stem for token in words if (stem := stem_or_none(token))]
    distinct = dict.fromkeys(stems)
    alike: dict[str, list[str]] = {}
    for stem in distinct:
        if SHORTEST_SPELLED <= len(stem) <= LONGEST_SPELLED and not stem[0].isdigit():
            same = alike.setdefault(stem[:SAME_OPENING], [])
            if len(same) < LOOKED_AT:
                same.append(stem)
    return _Text(tokens=tuple(words), stems=tuple(stems), distinct=frozenset(distinct),
                 line=f" {' '.join(words)} ", solid="".join(words), numbers=_numbers(distinct),
                 alike=alike)  # fmt: skip


def _numbers(stems: Iterable[str]) -> tuple[str, ...]:
    return tuple(islice((stem for stem in stems if stem[0].isdigit()), LOOKED_AT))


@lru_cache(maxsize=256)
def _kept(text: str, question: str | None) -> dict[str, None]:
    """Distinct stems that are not in the question; all of them if all are."""
    stems = dict.fromkeys(_read(text).stems)
    known = _read(question).distinct if question else frozenset[str]()
    beyond = [stem for stem in stems if stem not in known] or list(stems)
    long = [stem for stem in beyond if len(stem) > 1 or not stem.isascii() or stem.isdigit()]
    return dict.fromkeys(long or beyond)


@lru_cache(maxsize=256)
def _kept_numbers(text: str, question: str | None) -> tuple[str, ...]:
    return _numbers(_kept(text, question))


def _other_name(
    statement: str, answer: str, present: list[str], lost: set[str], question: str | None
) -> bool:
    """Only part of a name is in the text, next to another capitalised word."""
    asked_stems = _read(question).distinct if question else frozenset[str]()
    known = set(present)
    halves = (name for name in _names(statement) if name & lost and name & known)
    answer_names = _names_with(answer)
    return any(other - name - asked_stems for name in islice(halves, LOOKED_AT) for stem in name
               for other in answer_names.get(stem, ()))  # fmt: skip


def _names(text: str) -> dict[frozenset[str], None]:
    runs = (map(stem_or_none, tokens(run)) for run in _NAME.findall(text))
    return dict.fromkeys(frozenset(filter(None, run)) for run in runs)


@lru_cache(maxsize=256)
def _names_with(text: str) -> dict[str, list[frozenset[str]]]:
    by_stem: dict[str, list[frozenset[str]]] = {}
    for name in _names(text):
        for stem in name:
            by_stem.setdefault(stem, []).append(name)
    return by_stem


def _literal(statement: str, answer: str) -> StatementMatch:
    """A statement of stop words only, such as `no` or `The Who`: word for word."""
    words, answer_words = _read(statement).tokens, _read(answer).tokens
    if not words:
        return StatementMatch("missing", 0.0, "reference_without_words")
    if words in (("yes",), ("no",)):
        first = answer_words[:1]
        if first == words:
            return StatementMatch("full", 1.0, "opens_alike")
        if first in (("yes",), ("no",)):
            return StatementMatch("contradicted", 0.0, "opens_otherwise")
        return StatementMatch("missing", 0.0, reason("does_not_open_with", word=words[0]))
    if _read(answer).has(_read(statement)):
        return StatementMatch("full", 1.0, "word_for_word")
    return StatementMatch("missing", 0.0, "not_word_for_word")
