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
from .held_words import numbers_of
from .quantities import MONTHS, QUANTITIES_VERSION, quantities
from .sentences import OTHER_STOPS
from .text_terms import alike, as_written, name_runs, stem, stem_or_none, tokens

CONTRADICTION_VERSION = f"ragstone-contradiction/2({QUANTITIES_VERSION})"

ALMOST_ALL = 0.75
"""Share of the claim's other words that the sentence holds."""

LEAST_OTHERS = 2
LEAST_BESIDE_NAME = 3
"""Words, besides what differs, without which nothing shows that both speak of the same."""


LONGEST_SENTENCE = 2_000
"""Characters. What is longer is no sentence, but a page without full stops."""


@dataclass(frozen=True, slots=True)
class ContradictingSentence:
    """A sentence of the contexts that says something else, and what it says, as a reason."""

    says: str
    sentence: int


def contradiction(
    claim: str, seen: EvidenceCounts, passages: Passages
) -> ContradictingSentence | None:
    """The first of these: another date or amount, a one-sided denial, an opposite, another name.

    Args:
        claim: The proposition without its citations.
        seen: Its evidence.
        passages: The contexts.
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


def _other_quantity(
    claim: str, seen: EvidenceCounts, passages: Passages
) -> ContradictingSentence | None:
    """A new date or amount; the sentence has one of the same kind in the same place instead."""
    new = {*seen.new_numbers, *seen.new_names}
    if not new:
        return None
    mine = quantities(_core(claim))
    for said in mine:
        if said.stems.isdisjoint(new):
            continue
        instead = []
        for sentence in _same_otherwise(claim, seen, passages, said.stems):
            theirs = [one for one in quantities(passages.quotes[sentence]) if one.same_kind(said)]
            agreeing = [one for one in theirs if one.agrees(said)]
            if any(one.as_exact_as(said) for one in agreeing):
                break
            others = [
                one.instead_of(said)
                for one in theirs
                if one.same_place(said)
                and (not agreeing or one.as_exact_as(said))
                and not any(one.same_kind(own) and one.agrees(own) for own in mine)
                and not all(word in seen.tokens for word in one.instead_of(said))
            ]
            instead += [(sentence, others)] if others else []
        else:
            if told := _agreed(instead, passages):
                return told
    return None


def _denial(claim: str, seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """Only one of the two negates, and the other says of the same subject what is negated."""
    said = _without_asides(claim)
    claim_negates = _NEGATION.search(said) is not None
    if not claim_negates and _CONDITION.search(said):
        return None
    own = set(filter(None, map(stem_or_none, seen.tokens)))
    for sentence in _same_otherwise(claim, seen, passages, ()):
        quote = _without_asides(passages.quotes[sentence])
        if claim_negates == (_NEGATION.search(quote) is not None):
            continue
        denying, other = (said, quote) if claim_negates else (quote, said)
        if _IF.search(other):
            continue
        words = tokens(other)
        for denial in _denials(denying):
            enough = 0 if claim_negates else ALMOST_ALL * len(own)
            if not denial.subject and not set(map(stem, words)) >= own:
                continue
            if len(own & denial.words) >= enough and denial.of(words):
                return ContradictingSentence("only_one_denies", sentence)
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
        for place, one in enumerate(stems):
            behind = stems[place + 1 : place + 1 + BESIDE]
            if self.negated[0] in behind and (
                one == self.subject or (self.subject in PRONOUNS and words[place] in AUXILIARIES)
            ):
                between = words[place + 1 : place + 1 + behind.index(self.negated[0])]
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
                said = frozenset({stem(subject), *first, *negated})
                yield _Denial(stem(subject), first, tuple(negated[:2]), said)
        start = border.end() if border else end


def _stems(text: str) -> list[str]:
    return [one for one in map(stem_or_none, tokens(text)) if one]


def _opposite(claim: str, seen: EvidenceCounts, passages: Passages) -> ContradictingSentence | None:
    """A word that no context has; the sentence has its opposite between the same words instead.

    What opens a sentence, as in `Before you start`, is a condition and left out.
    """
    for place, token in enumerate(seen.tokens):
        one = stem(token)
        if one not in OPPOSITES or passages.holds(token):
            continue
        opposites = OPPOSITES[one].difference(map(stem, seen.tokens))
        sides = _sides(seen.tokens, place)
        if sides[0] is None:
            continue
        instead = []
        for sentence in _same_otherwise(claim, seen, passages, (one,)):
            words = passages.tokens_of[sentence]
            found = [
                (word,)
                for other, word in enumerate(words)
                if stem(word) in opposites and _sides(words, other) == sides
            ]
            instead += [(sentence, found)] if found else []
        if told := _agreed(instead, passages):
            return told
    return None


def _other_name(
    claim: str, seen: EvidenceCounts, passages: Passages
) -> ContradictingSentence | None:
    """One new name; the sentence has another one between the same words instead."""
    if len(seen.new_names) != 1 or not EXAMPLES.isdisjoint(seen.tokens):
        return None
    [name] = seen.new_names
    stems = [stem_or_none(token) for token in seen.tokens]
    written = as_written([name], claim)
    if stems.count(name) != 1 or (len(written) > 1 and written.isupper()):
        return None
    sides = _sides(seen.tokens, stems.index(name))
    if sides == (None, None):
        return None
    instead = []
    for sentence in _same_otherwise(claim, seen, passages, (name,), LEAST_BESIDE_NAME):
        words = passages.tokens_of[sentence]
        quote = passages.quotes[sentence]
        found = [
            (word,)
            for place, word in enumerate(words)
            if word.isalpha()
            and f" {word.capitalize()}" in f" {quote}"
            and f" {word}" not in quote
            and stem_or_none(word) not in (None, *stems)
            and not alike(stem(word), name)
            and word not in MONTHS
            and _sides(words, place) == sides
        ]
        instead += [(sentence, found)] if found and EXAMPLES.isdisjoint(words) else []
    return _agreed(instead, passages)


def _same_otherwise(
    claim: str,
    seen: EvidenceCounts,
    passages: Passages,
    apart: Collection[str],
    least: int = LEAST_OTHERS,
) -> Iterator[int]:
    """The sentences that hold the claim's words, but for those that differ: ``apart``.

    Nearly all of them, of numbers and last names all. A sentence that begins with a pronoun has
    its subject from the one before it. A claim of names alone says nothing, nor does a question.
    """
    stems = dict.fromkeys(filter(None, map(stem_or_none, seen.tokens)))
    core = _core(claim)
    kept = stems.keys() if core is claim else set(_stems(core))
    others = {one: 1 << bit for bit, one in enumerate(stems) if one in kept and one not in apart}
    words = {one for one in others if len(one) > 1 and not one[0].isdigit()}
    if len(words) < least:
        return
    enough = math.ceil(ALMOST_ALL * len(others))
    near = seen.held.in_windows_with(enough)
    if not near:
        return
    runs = list(_names(core, others))
    if words.issubset(chain.from_iterable(run for run, _ in runs)):
        return
    wanted = sum(others.values())
    needed = sum(bit for one, bit in others.items() if one[0].isdigit())
    needed |= reduce(or_, (others[run[-1]] for run, certain in runs if certain), 0)
    for sentence in numbers_of(near, LOOKED_THROUGH):
        held = seen.held.of(sentence)
        if sentence and passages.tokens_of[sentence][0] in PRONOUNS:
            held |= seen.held.of(sentence - 1)
        if needed & ~held or (held & wanted).bit_count() < enough:
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
        found = [one for one in map(stem_or_none, words) if one and one in known]
        if found:
            yield found, len(words) > 1 or not opens


def _agreed(
    instead: Sequence[tuple[int, Sequence[tuple[str, ...]]]], passages: Passages
) -> ContradictingSentence | None:
    if not instead:
        return None
    sentence, found = instead[0]
    common = set(found).intersection(*(others for _, others in instead[1:]))
    first = next((one for one in found if one in common), None)
    if first is None:
        return None
    said = " ".join(as_written([word], passages.quotes[sentence]) for word in first)
    return ContradictingSentence(reason("context_says", word=said), sentence)


def _sides(words: Sequence[str], place: int) -> tuple[str | None, str | None]:
    """The nearest content words on both sides, at most four words away, skipping numbers."""
    before = reversed(words[max(0, place - BESIDE) : place])
    return _first_word(before), _first_word(words[place + 1 : place + 1 + BESIDE])


def _first_word(side: Iterable[str]) -> str | None:
    stems = (stem_or_none(token) for token in side)
    return next((stem for stem in stems if stem and not stem[0].isdigit()), None)


BESIDE = 4
"""Words away that still stand beside."""

BEFORE = 80
"""Characters before a negation in which its subject stands."""

PRONOUNS = frozenset("it its he his she her they their".split())  # noqa: SIM905
EXAMPLES = frozenset(
    "include includes included including such example examples among also another besides".split()  # noqa: SIM905
)
"""Words beside which a name is one of several, so that another one does not exclude it."""

AUXILIARIES = frozenset(
    "is are was were be been has have had do does did ca can could wo will would must shall should "  # noqa: SIM905
    "there also still currently officially actually".split()
)
LEAST_VERB = 3
_STOP = re.compile(rf"[.!?…{OTHER_STOPS}][\"'”’»)\]*_ ]*\Z")
_CLAUSE = re.compile(r"[,;:()—–]|\b(?:but|although|though|while|whereas|because|and|or)\b")
_BRACKETS = re.compile(r"\([^()]*\)")
_ASIDE = re.compile(r"[“\"][^“”\"]*[”\"]|\([^()]*\)")
"""Brackets and quotations."""
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
