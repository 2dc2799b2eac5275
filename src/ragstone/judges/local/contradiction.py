"""Contradiction: does a sentence of the contexts say the claim with one thing otherwise?

In contrast to absence, a claim is contradicted if a sentence says the same of the same subject,
but with another date or amount, a denial, an opposite or another name. So the sentence must hold
nearly all other words of the claim, and every other number and name. Where several do, they must
agree on what they say instead: a list has many that differ in one thing from each other.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_

from ragstone.core.messages import reason

from .claims_and_evidence import LOOKED_THROUGH, EvidenceCounts, Passages
from .held_words import in_windows_with, numbers_of, words_of
from .quantities import MONTHS, QUANTITIES_VERSION, quantities
from .sentences import OTHER_STOPS
from .text_terms import (
    alike,
    as_written,
    name_runs,
    stem,
    stem_or_none,
    tokens,
    word_lists,
    word_set,
)

CONTRADICTION_VERSION = f"ragstone-contradiction/2({QUANTITIES_VERSION})"

# Share of the claim's other words that the sentence holds.
ALMOST_ALL = 0.75

LEAST_OTHERS = 2
# Words, besides what differs, without which nothing shows that both speak of the same.
LEAST_BESIDE_NAME = 3


# Characters. What is longer is no sentence, but a page without full stops.
LONGEST_SENTENCE = 2_000


# What a sentence of the contexts says instead, as a reason, and its number.
Contradiction = tuple[str, int]


def contradiction(claim: str, seen: EvidenceCounts, passages: Passages) -> Contradiction | None:
    """Find the first of these: another date or amount, a one-sided denial, an opposite, another
    name.

    The claim is the proposition without its citations, ``seen`` its evidence.
    """
    if not seen.sentences or len(claim) > LONGEST_SENTENCE or _is_heading(claim, seen.tokens):
        return None
    return (
        _other_quantity(claim, seen, passages)
        or _denial(claim, seen, passages)
        or _opposite(claim, seen, passages)
        or _other_name(claim, seen, passages)
    )


def _is_heading(claim: str, words: Sequence[str]) -> bool:
    """A heading or an item of a list has neither a full stop nor a form of a verb."""
    return not _STOP.search(claim) and not any(
        word in AUXILIARIES or (len(word) > LEAST_VERB and word.endswith("ed")) for word in words
    )


def _other_quantity(claim: str, seen: EvidenceCounts, passages: Passages) -> Contradiction | None:
    """A new date or amount; the sentence has one of the same kind in the same place instead."""
    new = {*seen.new_numbers, *seen.new_names}
    if not new:
        return None
    mine = quantities(_core(claim))
    for claimed in mine:
        if claimed.stems.isdisjoint(new):
            continue
        instead = []
        for sentence in _same_otherwise(claim, seen, passages, claimed.stems):
            same_kind = [quantity for quantity in quantities(passages.quotes[sentence])
                         if quantity.same_kind(claimed)]  # fmt: skip
            agreeing = [quantity for quantity in same_kind if quantity.agrees(claimed)]
            if any(quantity.as_exact_as(claimed) for quantity in agreeing):
                break
            others = [
                quantity.instead_of(claimed)
                for quantity in same_kind
                if quantity.same_place(claimed)
                and (not agreeing or quantity.as_exact_as(claimed))
                and not any(
                    quantity.same_kind(another) and quantity.agrees(another) for another in mine
                )
                and not all(word in seen.tokens for word in quantity.instead_of(claimed))
            ]
            instead += [(sentence, others)] if others else []
        else:
            if contradicting := _agreed(instead, passages):
                return contradicting
    return None


def _denial(claim: str, seen: EvidenceCounts, passages: Passages) -> Contradiction | None:
    """Only one of the two negates, and the other says of the same subject what is negated."""
    plain = _without_asides(claim)
    claim_negates = _NEGATION.search(plain) is not None
    if not claim_negates and _CONDITION.search(plain):
        return None
    stems = set(filter(None, map(stem_or_none, seen.tokens)))
    for sentence in _same_otherwise(claim, seen, passages, ()):
        quote = _without_asides(passages.quotes[sentence])
        if claim_negates == (_NEGATION.search(quote) is not None):
            continue
        denying, other = (plain, quote) if claim_negates else (quote, plain)
        if _IF.search(other):
            continue
        words = tokens(other)
        for denial in _denials(denying):
            enough = 0 if claim_negates else ALMOST_ALL * len(stems)
            if not denial.subject and not set(map(stem, words)) >= stems:
                continue
            if len(stems & denial.words) >= enough and denial.of(words):
                return "only_one_denies", sentence
    return None


def _without_asides(text: str) -> str:
    return _ASIDE.sub(
        lambda aside: (
            " " if aside.group()[0] == "(" or _NEGATION.search(aside.group()) else aside.group()
        ),
        text,
    )


@dataclass(frozen=True, slots=True)
class _Denial:
    """A negated clause: its subject, empty for `there is no`; the stems before the negation; the
    first of what is negated; all its stems.
    """

    subject: str
    before: frozenset[str]
    negated: tuple[str, ...]
    words: frozenset[str]

    def of(self, words: Sequence[str]) -> bool:
        """True if words say of the same subject, in the same order, what this negates."""
        stems = [stem(word) for word in words]
        if not self.before.union(self.negated) <= set(stems):
            return False
        if not self.subject:
            return True
        for position, word_stem in enumerate(stems):
            behind = stems[position + 1 : position + 1 + BESIDE]
            if self.negated[0] in behind and (
                word_stem == self.subject
                or (self.subject in PRONOUNS and words[position] in AUXILIARIES)
            ):
                between = words[position + 1 : position + 1 + behind.index(self.negated[0])]
                if sum(stem_or_none(word) is not None for word in between) <= 1:
                    return True
        return False


def _denials(text: str) -> Iterator[_Denial]:
    """The clauses that are negated, without conditions; a `no` that opens the text is an answer."""
    start = 0
    for border in (*_CLAUSE.finditer(text), None):
        end = border.start() if border else len(text)
        sign = _NEGATION.search(text, start, end)
        apart = sign and (
            _CONDITION.search(text, start, end) or _RELATIVE.search(text, start, sign.start())
        )
        if sign and not apart:
            before = tokens(text[max(0, sign.start() - BEFORE) : sign.start()])
            subject = next((word for word in reversed(before) if word not in AUXILIARIES), "")
            negated = _stems(text[sign.end() : end])
            if negated and (subject or sign.group() == "no"):
                first = frozenset(_stems(text[start : sign.start()]))
                every = frozenset({stem(subject), *first, *negated})
                yield _Denial(stem(subject), first, tuple(negated[:2]), every)
        start = border.end() if border else end


def _stems(text: str) -> list[str]:
    return [word for word in map(stem_or_none, tokens(text)) if word]


def _opposite(claim: str, seen: EvidenceCounts, passages: Passages) -> Contradiction | None:
    """A word that no context has; the sentence has its opposite between the same words instead.

    What opens a sentence, as in `Before you start`, is a condition and left out.
    """
    for position, token in enumerate(seen.tokens):
        word_stem = stem(token)
        if word_stem not in OPPOSITES or passages.holds(token):
            continue
        opposites = OPPOSITES[word_stem].difference(map(stem, seen.tokens))
        neighbours = _sides(seen.tokens, position)
        if neighbours[0] is None:
            continue
        instead = []
        for sentence in _same_otherwise(claim, seen, passages, (word_stem,)):
            words = passages.tokens_of[sentence]
            opposed = [
                (word,)
                for other, word in enumerate(words)
                if stem(word) in opposites and _sides(words, other) == neighbours
            ]
            instead += [(sentence, opposed)] if opposed else []
        if contradicting := _agreed(instead, passages):
            return contradicting
    return None


def _other_name(claim: str, seen: EvidenceCounts, passages: Passages) -> Contradiction | None:
    """One new name; the sentence has another one between the same words instead."""
    if len(seen.new_names) != 1 or not EXAMPLES.isdisjoint(seen.tokens):
        return None
    [name] = seen.new_names
    stems = [stem_or_none(token) for token in seen.tokens]
    written = as_written([name], claim)
    if stems.count(name) != 1 or (len(written) > 1 and written.isupper()):
        return None
    neighbours = _sides(seen.tokens, stems.index(name))
    if neighbours == (None, None):
        return None
    instead = []
    for sentence in _same_otherwise(claim, seen, passages, (name,), LEAST_BESIDE_NAME):
        words = passages.tokens_of[sentence]
        quote = passages.quotes[sentence]
        others = [
            (word,)
            for position, word in enumerate(words)
            if word.isalpha()
            and f" {word.capitalize()}" in f" {quote}"
            and f" {word}" not in quote
            and stem_or_none(word) not in (None, *stems)
            and not alike(stem(word), name)
            and word not in MONTHS
            and _sides(words, position) == neighbours
        ]
        instead += [(sentence, others)] if others and EXAMPLES.isdisjoint(words) else []
    return _agreed(instead, passages)


def _same_otherwise(claim: str, seen: EvidenceCounts, passages: Passages, apart: Collection[str],
                    least: int = LEAST_OTHERS) -> Iterator[int]:  # fmt: skip
    """The sentences that hold the claim's words, but for those that differ: ``apart``.

    Nearly all of them, of numbers and last names all. A sentence that begins with a pronoun has
    its subject from the one before it. A claim of names alone says nothing, nor does a question.
    """
    stems = dict.fromkeys(filter(None, map(stem_or_none, seen.tokens)))
    core = _core(claim)
    core_stems = stems.keys() if core is claim else set(_stems(core))
    others = {
        word: 1 << bit for bit, word in enumerate(stems) if word in core_stems and word not in apart
    }
    words = {word for word in others if len(word) > 1 and not word[0].isdigit()}
    if len(words) < least:
        return
    enough = math.ceil(ALMOST_ALL * len(others))
    near = in_windows_with(seen.held, enough)
    if not near:
        return
    runs = list(_names(core, others))
    if words.issubset(chain.from_iterable(run for run, _ in runs)):
        return
    every = sum(others.values())
    needed = sum(bit for word, bit in others.items() if word[0].isdigit())
    needed |= reduce(or_, (others[run[-1]] for run, certain in runs if certain), 0)
    for sentence in numbers_of(near, LOOKED_THROUGH):
        held = words_of(sentence, seen.held)
        if sentence and passages.tokens_of[sentence][0] in PRONOUNS:
            held |= words_of(sentence - 1, seen.held)
        if needed & ~held or (held & every).bit_count() < enough:
            continue
        quote = passages.quotes[sentence]
        if len(quote) > LONGEST_SENTENCE or quote.endswith("?") or _CASE.match(quote):
            continue
        yield sentence


def _core(claim: str) -> str:
    """The claim without what stands in brackets and, if it says something, what follows a colon."""
    if "(" not in claim and ":" not in claim:
        return claim
    core = _BRACKETS.sub(" ", claim)
    head = core.partition(":")[0]
    return core if _is_heading(head, tokens(head)) else head


def _names(claim: str, known: Collection[str]) -> Iterator[tuple[list[str], bool]]:
    """The known stems of each run of capitalised words, and whether it is a name for certain.

    It is not if it is a single word that opens a sentence.
    """
    for run, opens in name_runs(claim):
        words = tokens(run)
        stems = [word for word in map(stem_or_none, words) if word and word in known]
        if stems:
            yield stems, len(words) > 1 or not opens


def _agreed(
    instead: Sequence[tuple[int, Sequence[tuple[str, ...]]]], passages: Passages
) -> Contradiction | None:
    if not instead:
        return None
    sentence, said_instead = instead[0]
    common = set(said_instead).intersection(*(others for _, others in instead[1:]))
    first = next((words for words in said_instead if words in common), None)
    if first is None:
        return None
    text = " ".join(as_written([word], passages.quotes[sentence]) for word in first)
    return reason("context_says", word=text), sentence


def _sides(words: Sequence[str], position: int) -> tuple[str | None, str | None]:
    """The nearest content words on both sides, at most four words away, skipping numbers."""
    before = reversed(words[max(0, position - BESIDE) : position])
    return _first_word(before), _first_word(words[position + 1 : position + 1 + BESIDE])


def _first_word(side: Iterable[str]) -> str | None:
    stems = (stem_or_none(token) for token in side)
    return next((stem for stem in stems if stem and not stem[0].isdigit()), None)


# Words away that still stand beside.
BESIDE = 4

# Characters before a negation in which its subject stands.
BEFORE = 80

PRONOUNS = frozenset("it its he his she her they their".split())  # noqa: SIM905
# Words beside which a name is one of several, so that another one does not exclude it.
EXAMPLES = word_set("examples")

AUXILIARIES = word_set("auxiliaries")
LEAST_VERB = 3
_STOP = re.compile(rf"[.!?…{OTHER_STOPS}][\"'”’»)\]*_ ]*\Z")
_CLAUSE = re.compile(r"[,;:()—–]|\b(?:but|although|though|while|whereas|because|and|or)\b")
_BRACKETS = re.compile(r"\([^()]*\)")
# Brackets and quotations.
_ASIDE = re.compile(r"[“\"][^“”\"]*[”\"]|\([^()]*\)")

_NEGATION = re.compile(
    r"(?:\b(?:not|never|cannot|no)\b|n['’]t\b)(?! (?:only|just|merely|simply|necessarily)\b)"
)
_CASE = re.compile(r"(?:if|unless|when) ", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless|whether|when|where)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:when|where|who|whose|which|that)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|except|only|otherwise|some|sometimes|may|might)\b", re.IGNORECASE
)


def _opposites() -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for pair in word_lists()["opposites"].split():
        left, right = map(stem, pair.split("/"))
        opposites.setdefault(left, set()).add(right)
        opposites.setdefault(right, set()).add(left)
    return opposites


# Stems of words that exclude each other in one place.
OPPOSITES = _opposites()
