"""Contradiction: do the contexts contradict a proposition where most of its words occur?

In contrast to absence, a proposition is contradicted if a window of the contexts holds most of
its words, but in the same place another number, a denial, an opposite or another name.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.reason import reason

from .evidence import EvidenceCounts
from .held import numbers_of
from .passages import Passages
from .words import as_written, denied, stem, stem_or_none

VERSION = "ragstone-contradiction/1"

STRONG = 0.7
ALMOST_ALL = 0.8
LEAST_WORDS = 4

LOOKED_THROUGH = 100
"""Sentences that are looked through for one proposition: contexts that say the same over and over
are not read to their end for each."""


@dataclass(frozen=True, slots=True)
class ContradictingSentence:
    """What the contexts say instead, as a reason, and in which sentence."""

    says: str
    sentence: int


def contradiction(seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """The first of these: another number, a one-sided negation, an opposite, another name."""
    if not seen.sentences:
        return None
    return (
        _other_number(seen, passages)
        or _denial(seen, passages)
        or _opposite(seen, passages)
        or _other_name(seen, passages)
    )


def _other_number(seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """A number of the claim that is in no context, where a context has another one.

    In the same place: a neighbouring content word is the same, and both are years or both are not.
    """
    new = {token for token in seen.new_numbers if _is_plain_number(token)}
    if not new:
        return None
    claim = seen.tokens
    near = _near(seen, seen.content_words - len(seen.new_numbers))
    for place in (i for i, token in enumerate(claim) if token in new):
        beside = _beside(claim, place)
        for sentence in near:
            words = passages.tokens_of[sentence]
            for other, number in enumerate(words):
                if (
                    _is_plain_number(number)
                    and number not in claim
                    and _is_year(number) == _is_year(claim[place])
                    and beside & _beside(words, other)
                ):
                    return _says(number, sentence, passages)
    return None


def _denial(seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """Only one of claim and sentence negates a word that both hold."""
    sentence = _fullest(seen)
    if sentence is None:
        return None
    claim, said = list(seen.tokens), passages.tokens_of[sentence]
    claim_denies, said_denies = denied(claim), denied(said)
    if (claim_denies is None) == (said_denies is None):
        return None
    both = {stem_or_none(token) for token in claim} & {stem_or_none(token) for token in said}
    if both.isdisjoint((claim_denies or set()) | (said_denies or set())):
        return None
    return ContradictingSentence("only_one_denies", sentence)


def _opposite(seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """A word of the claim is in no context; its opposite is in the sentence, not in the claim."""
    said = {stem(token) for token in seen.tokens}
    new = [
        place
        for place, token in enumerate(seen.tokens)
        if stem(token) in OPPOSITES and not passages.holds(token)
    ]
    for place in new:
        opposites = OPPOSITES[stem(seen.tokens[place])] - said
        beside = _beside(seen.tokens, place)
        for sentence in _near(seen, seen.content_words - 1):
            words = passages.tokens_of[sentence]
            for other, token in enumerate(words):
                if stem(token) in opposites and beside & _beside(words, other):
                    return _says(token, sentence, passages)
    return None


def _other_name(seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """All words except one new name are in one sentence, with the same neighbours."""
    if len(seen.new_names) != 1 or seen.content_words < LEAST_WORDS:
        return None
    [name] = seen.new_names
    stems = [stem_or_none(token) for token in seen.tokens]
    if stems.count(name) != 1:
        return None
    place = stems.index(name)
    before, after = _sides(seen.tokens, place)
    for sentence in _near(seen, seen.content_words - 1, ALMOST_ALL):
        words = passages.tokens_of[sentence]
        quote = passages.quotes[sentence]
        for other, token in enumerate(words):
            said = stem_or_none(token)
            if (
                said is None
                or said in stems
                or token[0].isdigit()
                or f" {token.capitalize()}" not in f" {quote}"
            ):
                continue
            if _sides(words, other) == (before, after) and (before or after):
                return _says(token, sentence, passages)
    return None


def _says(token: str, sentence: int, passages: Passages) -> ContradictingSentence:
    said = as_written([token], passages.quotes[sentence])
    return ContradictingSentence(reason("context_says", word=said), sentence)


def _near(seen: EvidenceCounts, least: int, share: float = STRONG) -> list[int]:
    """The first sentences of the windows that hold most of the words."""
    enough = math.ceil(share * max(least, 1))
    return list(numbers_of(seen.held.in_windows_with(enough), LOOKED_THROUGH))


def _fullest(seen: EvidenceCounts) -> int | None:
    first = seen.sentences[0]
    enough = seen.held.of(first).bit_count() >= ALMOST_ALL * seen.content_words
    return first if enough and seen.content_words >= LEAST_WORDS else None


def _is_plain_number(token: str) -> bool:
    return token != "1" and token.replace(".", "", 1).isdecimal()


def _is_year(token: str) -> bool:
    return len(token) == 4 and token.isdigit()


def _sides(words: tuple[str, ...] | list[str], place: int) -> tuple[str | None, str | None]:
    """The nearest content words on both sides, at most four words away, skipping numbers."""
    before = reversed(words[max(0, place - 4) : place])
    return _first_word(before), _first_word(words[place + 1 : place + 5])


def _beside(words: tuple[str, ...] | list[str], place: int) -> set[str]:
    return {stem for stem in _sides(words, place) if stem}


def _first_word(side: Iterable[str]) -> str | None:
    stems = (stem_or_none(token) for token in side)
    return next((stem for stem in stems if stem and not stem[0].isdigit()), None)


def _opposites() -> dict[str, set[str]]:
    pairs = (
        "increase/decrease rise/fall raise/lower grow/shrink gain/lose win/lose more/fewer "
        "more/less higher/lower high/low larger/smaller large/small big/small longer/shorter "
        "long/short "
        "older/younger old/young old/new early/late earlier/later before/after first/last "
        "north/south east/west northern/southern eastern/western upper/lower above/below "
        "left/right front/back inside/outside internal/external import/export buy/sell "
        "accept/reject accept/refuse agree/disagree allow/forbid allow/prohibit permit/prohibit "
        "include/exclude open/close open/shut start/end start/stop begin/end begin/finish "
        "arrive/leave enter/leave enter/exit join/leave birth/death born/died marry/divorce "
        "male/female man/woman men/women boy/girl father/mother son/daughter brother/sister "
        "husband/wife king/queen public/private rural/urban civil/military legal/illegal "
        "true/false possible/impossible likely/unlikely able/unable safe/dangerous "
        "positive/negative success/failure succeed/fail maximum/minimum major/minor "
        "majority/minority most/least always/never all/none hot/cold warm/cool wet/dry "
        "strong/weak fast/slow hard/soft light/dark light/heavy deep/shallow wide/narrow "
        "thick/thin rich/poor cheap/expensive easy/difficult simple/complex active/inactive "
        "active/passive "
        "alive/dead attack/defend attack/defense offense/defense ally/enemy friend/enemy "
        "day/night summer/winter odd/even plus/minus credit/debit asset/liability "
        "borrow/lend employer/employee teacher/student parent/child ancient/modern "
        "guilty/innocent victory/defeat profit/loss sunrise/sunset vertical/horizontal"
    )
    found: dict[str, set[str]] = {}
    for pair in pairs.split():
        one, other = (stem(word) for word in pair.split("/"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


OPPOSITES = _opposites()
"""Stems of words that exclude each other in one place."""
