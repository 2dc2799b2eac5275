"""Support: do the contexts hold the words of a proposition?

What is counted:

* the share of all its words, however small, that stand anywhere in the contexts,
* the share of its stemmed content words that stand together in a window of three sentences,
* the share of its pairs of neighbouring content words that stand side by side in a context,
* numbers and capitalised names that no context holds,
* whether it speaks of `I` or `we` where no context does.

A proposition is contradicted if most of its words stand in one window, but where it has a number
the context has another one, or only one of the two denies a word that both hold.

A logistic curve turns the counts into a probability. It ranks well; its level moves from data
set to data set, so a share of supported claims needs calibration against labelled rows. Blind to
paraphrase, to inference and to translations.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .sentences import sentences
from .words import denied, names, numbers, stem_or_none, tokens

VERSION = "ragstone-support/1"

WINDOW = 3

# Fitted by benchmarks/fit_support.py, each set and each class with the same weight, on MTRAG
# (Katsis et al., Apache-2.0), WiCE (Kamoi et al., annotations ODC-BY) and the Wizard-of-Wikipedia
# and CMU-DoG parts of BEGIN (Dziri et al., CC BY 4.0).
INTERCEPT = -4.29
WEIGHTS: dict[str, float] = {
    "words": 3.78,
    "window": 2.67,
    "pairs": 1.24,
    "new_numbers": -1.85,
    "new_names": -0.89,
    "first_person": -1.62,
}


@dataclass(frozen=True, slots=True)
class SupportVerdict:
    """Whether the contexts back up one proposition.

    ``probability`` is that of `supported`, from 0 to 1. ``evidence`` holds the positions of the
    contexts the verdict rests on, empty where it is absent; ``quote`` a sentence of the first of
    them, word for word.
    """

    verdict: Literal["supported", "contradicted", "absent"]
    probability: float
    evidence: tuple[int, ...]
    quote: str | None
    reason: str


class Passages:
    """The contexts of one example, read once for all its propositions.

    Windows go across the border of two contexts, for some sets cut their pages into a context a
    sentence.
    """

    __slots__ = ("context_of", "pairs", "places", "quotes", "tokens_of", "vocabulary")

    def __init__(self, texts: Sequence[str]) -> None:
        self.context_of: list[int] = []
        self.quotes: list[str] = []
        self.tokens_of: list[list[str]] = []
        self.places: dict[str, list[int]] = {}
        self.pairs: set[tuple[str, str]] = set()
        self.vocabulary: set[str] = set()
        for position, text in enumerate(texts):
            for sentence in sentences(text):
                self._read(position, sentence.text)

    def _read(self, position: int, text: str) -> None:
        number = len(self.quotes)
        words = tokens(text)
        stems = [stem for token in words if (stem := stem_or_none(token))]
        self.context_of.append(position)
        self.quotes.append(text)
        self.tokens_of.append(words)
        self.pairs.update(pairwise(stems))
        self.vocabulary.update(words)
        for stem in set(stems):
            self.places.setdefault(stem, []).append(number)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was counted for one proposition, before it is weighed.

    ``words``, ``window`` and ``pairs`` are shares from 0 to 1, the others as in the head of this
    file. ``other_number`` is the number in the place of a new one, and its sentence.
    ``sentences`` are those of the best window that hold a word of the proposition, the fullest
    first.
    """

    content_words: int
    words: float
    window: float
    pairs: float
    new_numbers: tuple[str, ...]
    new_names: tuple[str, ...]
    negation: bool
    first_person: bool
    other_number: tuple[str, int] | None
    sentences: tuple[int, ...]

    def features(self) -> dict[str, float]:
        """The counts that ``WEIGHTS`` weighs, by the same names."""
        return {
            "words": self.words,
            "window": self.window,
            "pairs": self.pairs,
            "new_numbers": float(min(2, len(self.new_numbers))),
            "new_names": float(min(2, len(self.new_names))),
            "first_person": float(self.first_person),
        }


def support(proposition: str, passages: Passages, question: str | None = None) -> SupportVerdict:
    """Judge one proposition against the contexts of its example.

    The question helps only where the proposition has no content word of its own, such as a bare
    `Yes.`: that is absent, with half the probability that the question's own words would have,
    for strings cannot tell a yes from a no.
    """
    if not passages.quotes:
        return SupportVerdict("absent", 0.0, (), None, "no contexts")
    seen = gather(proposition, passages)
    if seen is None:
        asked = gather(question, passages) if question and tokens(proposition) else None
        probability = 0.0 if asked is None else probability_of(asked) / 2
        return SupportVerdict("absent", probability, (), None, "no content words to look for")
    probability = probability_of(seen)
    reason = _reason(seen, passages)
    if seen.negation or seen.other_number is not None:
        probability = min(probability, CONTRADICTED)
        rests_on = seen.sentences
        if seen.other_number is not None:
            rests_on = (seen.other_number[1], *rests_on)
        contexts, quote = _quoted(rests_on, passages)
        return SupportVerdict("contradicted", probability, contexts, quote, reason)
    if probability >= 0.5:
        contexts, quote = _quoted(seen.sentences, passages)
        return SupportVerdict("supported", probability, contexts, quote, reason)
    return SupportVerdict("absent", probability, (), None, reason)


def probability_of(seen: Evidence) -> float:
    """The logistic curve over the counts."""
    score = INTERCEPT + sum(WEIGHTS[name] * value for name, value in seen.features().items())
    return 1 / (1 + math.exp(-score))


def gather(proposition: str, passages: Passages) -> Evidence | None:
    """Count the evidence for one proposition; None if it has no content word."""
    words = tokens(_CITATION.sub(" ", proposition))
    stems = [stem for token in words if (stem := stem_or_none(token))]
    if not stems:
        return None
    distinct = list(dict.fromkeys(stems))
    places = passages.places
    held: dict[int, int] = {}
    for bit, stem in enumerate(distinct):
        for number in places.get(stem, ()):
            held[number] = held.get(number, 0) | 1 << bit
    best, together = _best_window(held)
    pairs = set(pairwise(stems))
    shared = sum(pair in passages.pairs for pair in pairs)
    window = together / len(distinct)
    new_numbers = sorted(number for number in numbers(distinct) if number not in places)
    first = best[0] if best else None
    return Evidence(
        content_words=len(distinct),
        words=sum(token in passages.vocabulary for token in words) / len(words),
        window=window,
        pairs=shared / len(pairs) if pairs else window,
        new_numbers=tuple(new_numbers),
        new_names=tuple(dict.fromkeys(n for n in names(proposition) if n not in places)),
        negation=first is not None
        and len(distinct) >= LEAST_WORDS
        and held[first].bit_count() >= ALMOST_ALL * len(distinct)
        and _denies_the_other(words, passages.tokens_of[first]),
        first_person=not FIRST_PERSON.isdisjoint(words)
        and FIRST_PERSON.isdisjoint(passages.vocabulary),
        other_number=_other_number(words, held, passages, len(distinct) - len(new_numbers))
        if new_numbers
        else None,
        sentences=best,
    )


_CITATION = re.compile(r"\[[\d\s,;^–-]{1,40}\]|\[Data:[^\]]{0,200}\]")
STRONG = 0.7
CONTRADICTED = 0.25
ALMOST_ALL = 0.8
LEAST_WORDS = 4
FIRST_PERSON = frozenset({"i", "me", "my", "we", "our"})


def _quoted(rests_on: tuple[int, ...], passages: Passages) -> tuple[tuple[int, ...], str | None]:
    contexts = dict.fromkeys(passages.context_of[number] for number in rests_on)
    return tuple(contexts), passages.quotes[rests_on[0]] if rests_on else None


def _best_window(held: dict[int, int]) -> tuple[tuple[int, ...], int]:
    """The window with most words: its sentences, the fullest first, and how many words."""
    best: tuple[int, ...] = ()
    most = 0
    for number in held:
        count = _in_window(held, number)
        if count > most:
            window = range(number, number + WINDOW)
            best, most = tuple(s for s in window if s in held), count
    ranked = sorted(best, key=lambda s: (-held[s].bit_count(), s))
    kept: list[int] = []
    words = 0
    for sentence in ranked:
        if held[sentence] & ~words:
            kept.append(sentence)
            words |= held[sentence]
    return tuple(kept), most


def _in_window(held: dict[int, int], first: int) -> int:
    """How many words the window that opens with sentence ``first`` holds."""
    words = 0
    for sentence in range(first, first + WINDOW):
        words |= held.get(sentence, 0)
    return words.bit_count()


def _denies_the_other(claim: list[str], sentence: list[str]) -> bool:
    """Whether only one of the two holds a denial, and of a word that both hold."""
    claim_denies, sentence_denies = denied(claim), denied(sentence)
    if (claim_denies is None) == (sentence_denies is None):
        return False
    both = {stem_or_none(token) for token in claim} & {stem_or_none(token) for token in sentence}
    return not both.isdisjoint((claim_denies or set()) | (sentence_denies or set()))


def _other_number(
    claim: list[str], held: dict[int, int], passages: Passages, least: int
) -> tuple[str, int] | None:
    """The number, and its sentence, that a context has where the claim has a new one.

    Looked for in windows that hold most of the claim's words but numbers. Same place: a
    neighbouring content word is the same, and both are years or both are not.
    """
    new = [
        place
        for place, token in enumerate(claim)
        if _is_plain_number(token) and token not in passages.vocabulary
    ]
    near = sorted(
        {
            sentence
            for number in held
            if _in_window(held, number) >= STRONG * least
            for sentence in range(number, number + WINDOW)
            if sentence in held
        }
    )
    for place in new:
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
                    return number, sentence
    return None


def _is_plain_number(token: str) -> bool:
    return token != "1" and token.replace(".", "", 1).isdecimal()


def _is_year(token: str) -> bool:
    return len(token) == 4 and token.isdigit()


def _beside(words: list[str], place: int) -> set[str]:
    """The nearest content word on either side, at most four words away, numbers passed over."""
    before = reversed(words[max(0, place - 4) : place])
    after = words[place + 1 : place + 5]
    return {stem for side in (before, after) if (stem := _first_word(side))}


def _first_word(side: Iterable[str]) -> str | None:
    stems = (stem_or_none(token) for token in side)
    return next((stem for stem in stems if stem and not stem[0].isdigit()), None)


def _reason(seen: Evidence, passages: Passages) -> str:
    if not seen.sentences:
        return f"none of {seen.content_words} content words in the contexts"
    contexts = sorted({passages.context_of[number] + 1 for number in seen.sentences})
    place = "context" if len(contexts) == 1 else "contexts"
    where = " and ".join(map(str, contexts))
    together = round(seen.window * seen.content_words)
    said = [f"{together} of {seen.content_words} content words in {place} {where}"]
    if seen.new_numbers:
        said.append(f"new number {', '.join(seen.new_numbers[:3])}")
    if seen.other_number is not None:
        said.append(f"the context says {seen.other_number[0]}")
    if seen.new_names:
        said.append(f"new name {', '.join(seen.new_names[:3])}")
    if seen.negation:
        said.append("only one of the two denies")
    return "; ".join(said)
