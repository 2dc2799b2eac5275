"""Agreement: does an answer say what the reference says?

Of each reference the words are kept that the question does not already give, without initials
and asides in brackets. A short reference is said in full if at least half of them stand in the
answer and every number does; a long one, of more than six such words, needs two thirds. Words
may be spelled a little differently, be written together or apart, and the day of a date may be
left out where the answer names no other day.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .words import stem_or_none, tokens

VERSION = "ragstone-agreement/1"

SHORT = 6
FULL_SHORT = 0.5
FULL_LONG = 2 / 3
PARTIAL = 1 / 3
MATCHES = 0.5


@dataclass(frozen=True, slots=True)
class StatementAgreement:
    """Whether the answer says one statement of the reference."""

    verdict: Literal["full", "partial", "missing", "contradicted"]
    reason: str


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    """Whether the reference says one claim of the answer."""

    verdict: Literal["matches", "contradicts", "extra"]
    reason: str


def statement_agreement(
    statement: str, answer: str, question: str | None = None
) -> StatementAgreement:
    """Look for one statement of the reference in the whole answer."""
    wanted = _kept(_without_aside(statement), question)
    said = _read(answer)
    if not wanted:
        return _literal(statement, answer)
    lost = _lost(wanted, statement, said)
    found = [stem for stem in wanted if stem not in lost]
    lost_numbers = [stem for stem in lost if stem[0].isdigit()]
    share = len(found) / len(wanted)
    reason = f"{len(found)} of {len(wanted)} words of the reference"
    if lost:
        reason += f"; not {', '.join(lost[:4])}"
    enough = FULL_SHORT if len(wanted) <= SHORT else FULL_LONG
    if share >= enough and not lost_numbers:
        return StatementAgreement("full", reason)
    if lost_numbers and _other_numbers(said, wanted, question) and _words_agree(found, wanted):
        return StatementAgreement("contradicted", reason)
    if found and share >= PARTIAL and len(wanted) > 1:
        return StatementAgreement("partial", reason)
    return StatementAgreement("missing", reason)


def claim_agreement(claim: str, reference: str, question: str | None = None) -> ClaimAgreement:
    """Look for one claim of the answer in the whole reference.

    Contradicts only where the reference is a sentence that shares at least two thirds of the
    claim's words and every number of the claim differs from its numbers.
    """
    said = _kept(claim, question)
    known = _read(reference)
    wanted = _kept(reference, question)
    if not said:
        return ClaimAgreement("extra", "nothing beyond the question")
    found = [stem for stem in said if stem in known.distinct]
    share = len(found) / len(said)
    reason = f"{len(found)} of {len(said)} words in the reference"
    words = [stem for stem in said if not stem[0].isdigit()]
    numbers = {stem for stem in said if stem[0].isdigit()}
    known_numbers = {stem for stem in wanted if stem[0].isdigit()}
    if (
        len(words) >= 3
        and numbers
        and known_numbers
        and not numbers & known.distinct
        and sum(stem in known.distinct for stem in words) >= FULL_LONG * len(words)
    ):
        return ClaimAgreement("contradicts", reason + f"; {min(numbers)} is not its number")
    covered = [stem for stem in wanted if stem in _read(claim).distinct]
    if wanted and len(wanted) <= SHORT and len(covered) >= FULL_SHORT * len(wanted):
        if known_numbers <= _read(claim).distinct:
            return ClaimAgreement("matches", reason)
    elif share >= MATCHES:
        return ClaimAgreement("matches", reason)
    return ClaimAgreement("extra", reason)


@dataclass(frozen=True, slots=True)
class _Text:
    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    distinct: frozenset[str]


_ASIDE = re.compile(r"\([^()]*\)")
_YEAR = re.compile(r"[12]\d{3}")
_WORD = re.compile(r"[^\W_]")


def _without_aside(text: str) -> str:
    shorter = _ASIDE.sub(" ", text) if "(" in text else text
    return shorter if _WORD.search(shorter) else text


def _lost(wanted: list[str], statement: str, said: _Text) -> list[str]:
    """The words that are not said, neither in another spelling nor written together or apart."""
    lost = [stem for stem in wanted if stem not in said.distinct]
    if not lost:
        return lost
    if not any(stem[0].isdigit() for stem in lost):
        run = "".join(_read(statement).tokens)
        if len(run) >= 6 and run in "".join(said.tokens):
            return []
    if any(map(_YEAR.fullmatch, wanted)) and not any(
        _is_day(stem) and stem not in wanted for stem in said.distinct
    ):
        lost = [stem for stem in lost if not _is_day(stem)]
    return [stem for stem in lost if not any(_close(stem, other) for other in said.distinct)]


def _is_day(stem: str) -> bool:
    return stem.isdecimal() and len(stem) <= 2 and int(stem) <= 31


def _close(one: str, other: str) -> bool:
    """Whether two words are spellings of one: the same opening, hardly different ends."""
    least, most = sorted((len(one), len(other)))
    if one[:3] != other[:3] or least < 5 or most - least > 3 or one[0].isdigit():
        return False
    if least >= 6 and one[: least - 1] == other[: least - 1]:
        return True
    return _distance(one, other) <= (1 if most < 10 else 2)


def _distance(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


@lru_cache(maxsize=256)
def _read(text: str) -> _Text:
    words = tokens(text)
    stems = [stem for token in words if (stem := stem_or_none(token))]
    return _Text(tuple(words), tuple(stems), frozenset(stems))


def _kept(text: str, question: str | None) -> list[str]:
    """Distinct stems that the question does not give; all of them if it gives all."""
    stems = list(dict.fromkeys(_read(text).stems))
    given = _read(question).distinct if question else frozenset[str]()
    kept = [stem for stem in stems if stem not in given] or stems
    return [stem for stem in kept if len(stem) > 1 or not stem.isascii() or stem.isdigit()] or kept


def _literal(statement: str, answer: str) -> StatementAgreement:
    """A statement of stop words only, such as `no` or `The Who`: word for word."""
    wanted, said = _read(statement).tokens, _read(answer).tokens
    if not wanted:
        return StatementAgreement("missing", "the reference holds no words")
    n = len(wanted)
    if wanted in (("yes",), ("no",)):
        first = said[:1]
        if first == wanted:
            return StatementAgreement("full", "the answer opens with the same word")
        if first in (("yes",), ("no",)):
            return StatementAgreement("contradicted", "the answer opens with the other word")
        return StatementAgreement("missing", f"the answer does not open with {wanted[0]}")
    if any(said[i : i + n] == wanted for i in range(len(said) - n + 1)):
        return StatementAgreement("full", "word for word")
    return StatementAgreement("missing", "not word for word")


def _other_numbers(said: _Text, wanted: list[str], question: str | None) -> bool:
    given = _read(question).distinct if question else frozenset[str]()
    return any(
        stem[0].isdigit() and stem not in wanted and stem not in given for stem in said.distinct
    )


def _words_agree(found: list[str], wanted: list[str]) -> bool:
    words = [stem for stem in wanted if not stem[0].isdigit()]
    return sum(not stem[0].isdigit() for stem in found) >= FULL_SHORT * len(words)
