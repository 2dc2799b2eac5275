"""New facts: the names, numbers and addresses of an answer that no source of it has.

A source is what the answer may rest on: the contexts, and the question.

Numbers are those in digits, and words from eleven on, of sentences and headings. They are compared
by value, dates too; 45 percent is not $45. A number is known if a source has it more exactly (2.46
for 2.5), glued to letters (401k) or in words. What counts up from 1 (`2.` behind `1.`, `step 2`
behind `step 1`) and the numeral of a heading (`## 2.`, `## 3.1`) are no numbers.

Names are capitalised words. The first word of a sentence or a cell is skipped; so are lines in
capitals, headings, code, months, days, titles, units of a number (`20 Kilometres`), and words in
title case of a label: what opens a sentence in bold or in capitals up to a colon. Even there, two
or more bold words are a name if all are new and none ends like a common word (`**Sofia
Lindqvist**:`); beside a known word a name is not seen (`**Visit Dorchester**:`). A name is known by
its stem, by its parts (`Harbour-Trust`), written together, from a small word of the answer, as the
initials of words of the contexts, as the words for an acronym in them, or as an acronym that the
answer explains (`tax identification number (TIN)`).

In German, where all nouns have capitals, a name is two new words side by side (`von Sofia
Lindqvist`) or a word that is not in title case (`NMA`). So a surname alone is not seen, nor are
nouns behind `eine`, `viele`, `weil` and the like. A sentence is German by its small words, or by
those of the contexts unless it is English.

In scripts without capitals (Chinese, Japanese, Korean, Thai, Khmer, Lao, Burmese, Arabic, Hebrew,
Georgian, Amharic, and those of India) only names in Latin, Greek or Cyrillic letters are looked
for. A word that is in no context does not show a wrong name there: 48 of 84 true sentences in
seven such languages have one. A sentence with another person's name passed in five of the seven.

Links are the targets of links and images, attributes, addresses with and without `https://`, and
mail. An address is the same without protocol, `www.` and a slash at its end; another path or query
makes it another one. Scripts, frames, forms and attributes such as `onerror=` count as links.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise, takewhile
from math import floor, log10

from ragstone.judges.local.claims_and_evidence import Passages, without_citations
from ragstone.judges.local.dates import dates
from ragstone.judges.local.figure_words import named
from ragstone.judges.local.figures import figures, is_number, rounded
from ragstone.judges.local.languages import language_of
from ragstone.judges.local.quantities import MONTHS
from ragstone.judges.local.text_terms import as_written, fold, name_runs, stem, stem_or_none, tokens

from .addresses import Place, address_key, addresses


@dataclass(frozen=True)
class KnownText:
    """Texts that an answer may rest on.

    Attributes:
        names: What the texts are called, such as an address.
    """

    texts: Sequence[str]
    passages: Passages
    names: Sequence[str] = ()

    @classmethod
    def of(cls, text: str) -> "KnownText":
        """Return a single text as a known text."""
        return cls((text,), Passages((text,)))

    def has_word(self, word: str) -> bool:
        """Tell whether a folded word stands there, also in two parts."""
        passages = self.passages
        return stem(word) in passages.where or word in passages.vocabulary or word in self._pairs

    def has_acronym(self, letters: str) -> bool:
        """Tell whether neighbouring words begin with these letters, the first a capital."""
        return any(
            initials[at : at + 1].isupper()
            for initials in self._initials
            for at in _places(letters.lower(), initials.lower())
        )

    def has_number(self, number: str, *, share: bool) -> bool:
        """Tell whether a number stands there, also glued to letters or less rounded.

        Args:
            number: In digits.
            share: Whether it is a share of a hundred, as which it has to stand there too.
        """
        if number in self.passages.where or number in self._figures:
            return not share or number in self._percent
        return self._rounds_to(number)

    def _rounds_to(self, number: str) -> bool:
        if not is_number(number) or not float(number):
            return False
        value, digits = float(number), _digits(number)
        unit = 10.0 ** (floor(log10(value)) + 1 - digits)
        near = islice(self._by_value, bisect_left(self._by_value, (value - unit, "")), None)
        return any(
            _digits(figure) > digits and rounded(number, figure)
            for _, figure in takewhile(lambda entry: entry[0] < value + unit, near)
        )

    def has_address(self, key: str) -> bool:
        """Tell whether an address stands there, as ``addresses`` reads it."""
        return key in self._addresses

    @cached_property
    def language(self) -> str | None:
        """The language of the first text that tells."""
        return next(filter(None, (language_of(text) for text in self.texts)), None)

    @cached_property
    def acronyms(self) -> frozenset[str]:
        """The words in capitals alone."""
        words = (word for text in self.texts for word in _WORD.findall(text))
        return frozenset(word for word in words if len(word) > 1 and word.isupper())

    @cached_property
    def _pairs(self) -> frozenset[str]:
        return frozenset(
            first + second for words in self.passages.tokens_of for first, second in pairwise(words)
        )

    @cached_property
    def _figures(self) -> frozenset[str]:
        return frozenset(
            _plain_number(figure)
            for word in self.passages.vocabulary
            for figure in _FIGURE.findall(word)
        )

    @cached_property
    def _by_value(self) -> list[tuple[float, str]]:
        return sorted((float(figure), figure) for figure in self._figures if is_number(figure))

    @cached_property
    def _percent(self) -> frozenset[str]:
        return frozenset(number for text in self.texts for both in _shares(text) for number in both)

    @cached_property
    def _initials(self) -> tuple[str, ...]:
        """The initials of all words, and of all content words."""
        words = [word for text in self.texts for word in _WORD.findall(text)]
        content = (word for word in words if stem_or_none(word.lower()) is not None)
        return "".join(word[0] for word in words), "".join(word[0] for word in content)

    @cached_property
    def _addresses(self) -> frozenset[str]:
        keys = {key for text in self.texts for _, key in addresses(text)}
        return frozenset(keys | {address_key(text) for text in self.names})


# Characters of an answer that are looked through, so that no answer takes long.
LONGEST = 200_000

_FIGURE = re.compile(r"\d+(?:\.\d+)*")
_WORD = re.compile(r"[^\W_]+")


class AnswerSoFar:
    """Facts of an answer that is read from its beginning, whole or in parts.

    Attributes:
        small: Stems of the words that it has written with a small letter, outside of code, and
            of the acronyms that it has explained, such as `tax identification number (TIN)`.
        n_claims: Claims of the parts that passed.
        support: The sum of their probabilities.
    """

    def __init__(self) -> None:
        self.small: set[str] = set()
        self.n_claims, self.support = 0, 0.0
        self._counted: dict[str, int] = {}
        self._last = "\n"

    def add(self, probabilities: Iterable[float]) -> None:
        """Count the claims of a part that passed."""
        for probability in probabilities:
            self.n_claims += 1
            self.support += probability

    def read(self, part: str) -> tuple[str, tuple[tuple[Place, str], ...], bool]:
        """Read on.

        Returns:
            The part with spaces for citations, addresses and what counts up from 1, up to
            ``LONGEST``; each address with its place and its key; whether the part is longer.
        """
        cut, part = len(part) > LONGEST, part[:LONGEST]
        small = {word for word in _WORD.findall(_CODE.sub("", part)) if word[0].islower()}
        small |= {short[1] for short in _IN_BRACKETS.finditer(part) if _explained(short)}
        self.small.update(stem(fold(word)) for word in small)
        located = tuple(addresses(part))
        text = without_citations(_without([span for span, _ in located], part))
        text = _COUNTED.sub(self._without_count, self._last + text)[1:]
        self._last = part[-1:] or self._last
        return text, located, cut

    def _without_count(self, counted: re.Match[str]) -> str:
        """`2.` behind `1.`, `step 2` behind `step 1`: a place in a list, and no fact."""
        if counted["always"]:
            return _spaces(counted)
        label = stem_or_none((counted["label"] or "item").lower())
        number = int(counted["label_number"] or counted["item"])
        if label is None or number != self._counted.get(label, 0) + 1:
            return counted.group()
        self._counted[label] = number
        return counted.group().replace(str(number), " " * len(str(number)))


def _explained(short: re.Match[str]) -> bool:
    """Tell whether the words before an acronym in brackets have its letters, in order.

    Source: Schwartz & Hearst (2003), "A simple algorithm for identifying abbreviation definitions
    in biomedical text".
    """
    letters = [letter for letter in short[1].lower() if letter.isalpha()]
    words = short.string[max(0, short.start() - 100) : short.start()].lower().split()
    words = words[-min(len(letters) + 5, 2 * len(letters)) :]
    long = iter(" ".join(words[next((n for n, word in enumerate(words)
                                     if word[0] == letters[0]), len(words)) :]))  # fmt: skip
    return all(letter in long for letter in letters)


def _without(places: Iterable[Place], text: str) -> str:
    parts, last = [], 0
    for start, end in places:
        parts += [text[last:start], " " * (end - start)]
        last = end
    return "".join(parts) + text[last:]


_IN_BRACKETS = re.compile(r"(?<=\w[ ])\(((?=[^\W\d_])[A-Z0-9]{2,8})s?\)")
_COUNTED = re.compile(
    r"(?<![\w.,])(?:(?P<label>[^\W\d_]{3,20}) (?P<label_number>\d{1,2})(?![\w%/]|[.,]\d| ?%)"
    r"|(?<!\w )\(?(?P<item>\d{1,2})[.)](?=\s))|(?<!\d)(?P<always>24/7)(?!\d)"
)


def _spaces(matched: re.Match[str]) -> str:
    return " " * len(matched.group())


def new_numbers(claim: str, sources: Sequence[KnownText]) -> Iterator[Place]:
    """Yield the numbers of a claim that no source has, in these digits or by value, else its dates
    whose day a source has in another month.

    Passed over are words below eleven, 1, and the ``00`` that says how exact a time is.
    """
    new = list(_new_in_digits(claim, sources))
    if new:  # To read all figures by value takes long, so only then.
        known = [figure for source in sources for figure in source.passages.known(claim)]
        for start, end in new:
            if not any(figure.start < end and start < figure.end for figure in known):
                yield start, end
        return
    for date in dates(claim):
        if any(source.passages.has_date_in_another_month(date) for source in sources) and not any(
            source.passages.has_date(date) for source in sources
        ):
            yield date.start, date.end


def new_numbers_of_headings(text: str, sources: Sequence[KnownText]) -> Iterator[Place]:
    """Yield the new numbers in the headings of a text, without the numerals that open them."""
    for head in _HEADING.finditer(_CODE.sub(_spaces, text)):
        for start, end in new_numbers(head["words"][:LONGEST_HEADING], sources):
            yield head.start("words") + start, head.start("words") + end


# Characters of a heading that are looked through.
LONGEST_HEADING = 1_000


def _new_in_digits(claim: str, sources: Sequence[KnownText]) -> Iterator[Place]:
    percent = {number for _, number in _shares(claim)}
    in_digits = set(map(_plain_number, _FIGURE.findall(claim)))
    for token in dict.fromkeys(tokens(claim)):
        figure = _FIGURE.match(token)
        if figure is None or figure.group() in ("1", "00"):
            continue
        number = _plain_number(figure.group())
        if number in _SMALL_NUMBERS and number not in in_digits:
            continue
        if not any(source.has_number(number, share=number in percent) for source in sources):
            yield _place_of(token, claim)


def _shares(text: str) -> Iterator[tuple[str, str]]:
    for share in _SHARE.finditer(fold(text)):
        yield _plain_number(share[1] or share[2]), _plain_number(share[2])


def _plain_number(figure: str) -> str:
    """Take away the zeros that do not change a number."""
    if figure.count(".") == 1:
        figure = figure.rstrip("0").rstrip(".")
    return figure.lstrip("0") or "0"


def _digits(number: str) -> int:
    return len(number.replace(".", "").strip("0"))


_SMALL_NUMBERS = frozenset(map(str, range(11)))
_SHARE = re.compile(
    r"(?<![\d.])(?:(\d+(?:\.\d+)*)%? ?(?:-|–|to|and|or) ?)?"
    r"(\d+(?:\.\d+)*)[\s-]?(?:%|per ?cent|pct\b)"
)


def _place_of(token: str, claim: str) -> Place:
    written = as_written([token], claim)
    places = (at for at in _places(written, claim) if not claim[at - 1 : at].isalnum())
    start = next(places, None)
    return (0, len(claim)) if start is None else (start, start + len(written))


def _places(part: str, text: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def new_names(claim: str, sources: Sequence[KnownText], small: set[str]) -> Iterator[Place]:
    """Yield the capitalised words of a claim that no source has.

    Passed over are code, words in title case of a label, lines in capitals, months, days, units
    and the word that opens a sentence. A word is known by its stem, by its parts, as a small word
    of the answer, as an acronym of what a source has or as the words of one. German writes every
    noun with a capital: there only two new words side by side are a name, and what is not in title
    case, such as `NMA`.

    Args:
        claim: As ``AnswerSoFar.read`` gives it.
        small: Stems of the words that the answer writes with a small letter.
    """
    language = language_of(claim)
    capital_nouns = _has_capital_nouns(language, sources)
    text = _CODE.sub(_spaces, claim)
    bold, head = _BOLD.match(text), _HEAD.match(text)
    if bold and not capital_nouns and _is_name(bold[0], sources, small):
        head = None
    elif label := bold or (head if head and _capitals(head[0]) == 1 else None):
        text = _CAPITALISED.sub(_without_title_case, label[0]) + text[label.end() :]
    if not text.rstrip(_CLOSING).endswith(_STOPS) and _capitals(text) >= TITLE:
        return
    at, measured = 0, list[Place]()
    for run, opens in name_runs(text):
        at = text.index(run, at)
        words = [word for word in _NAME.finditer(run) if word[0][0].isupper()]
        opens = opens or _OPENING.search(text, max(0, at - 8), at) is not None
        opens = opens and not _QUOTED_NAME.match(text, max(0, at - 1))
        initials = "".join(word[0][0] for word in words)
        new = [
            (at + word.start(), at + word.end())
            for word in words[opens:]
            if _is_new(word[0], sources, small)
            and not any({initials, initials[opens:]} & source.acronyms for source in sources)
        ]
        if any(named(text[start:end])[0] for start, end in new):
            measured = measured or [(figure.start, figure.end) for figure in figures(claim)]
            new = [span for span in new if not _is_unit(span, text, measured)]
        part = language_of(_between_citations(claim, at)) if new else None
        if _has_capital_nouns(part or language, sources):
            new = list(_names_among_nouns(new, text))
        yield from new
        at += len(run)


def _has_capital_nouns(language: str | None, sources: Sequence[KnownText]) -> bool:
    """Whether all nouns have a capital in a text of this language, or of none that is known."""
    return language in CAPITAL_NOUNS or (
        # A short sentence may look like one of many languages.
        language != ENGLISH and any(source.language in CAPITAL_NOUNS for source in sources)
    )


def _between_citations(claim: str, at: int) -> str:
    """The part of a claim at a place, for another language may follow a citation."""
    gaps = [match.span() for match in _GAP.finditer(claim)]
    start = max((end for _, end in gaps if end <= at), default=0)
    return claim[start : min((begin for begin, _ in gaps if begin >= at), default=None)]


# What stands in place of a citation.
_GAP = re.compile(r" {3,}")


ENGLISH = "English"
# Languages that write all nouns with a capital.
CAPITAL_NOUNS = frozenset({"German"})


def _names_among_nouns(new: Sequence[Place], text: str) -> Iterator[Place]:
    """Yield the new words that are in no title case, or stand side by side where a name may."""
    pairs = [
        (left, right)
        for left, right in pairwise(new)
        if left[1] + 1 == right[0] and not _BEFORE_NOUNS.search(text, max(0, left[0] - 9), left[0])
    ]
    for span in new:
        if any(span in pair for pair in pairs) or not text[span[0] : span[1]].istitle():
            yield span


def _is_unit(span: Place, text: str, measured: Iterable[Place]) -> bool:
    """Tell whether a word such as Watt is a unit here, as after a number or ``in``, not a name."""
    if not named(text[span[0] : span[1]])[0]:
        return False
    return _BEFORE_UNIT.search(text, max(0, span[0] - 5), span[0]) is not None or any(
        start <= span[0] < end for start, end in measured
    )


def _is_name(label: str, sources: Sequence[KnownText], small: set[str]) -> bool:
    """Tell whether a label looks like a name: new words alone, none with a common ending."""
    words = _WORD.findall(label)
    return len(words) > 1 and all(
        word.istitle() and not _COMMON_ENDING.search(word) and _is_new(word, sources, small)
        for word in words
    )


def _without_title_case(word: re.Match[str]) -> str:
    return _spaces(word) if word[0].istitle() else word[0]


def _is_new(word: str, sources: Sequence[KnownText], small: set[str]) -> bool:
    """Tell whether a part of a capitalised word is known nowhere."""
    parts = [part for part in tokens(word) if len(part) > 1 and part[0].isalpha()]
    parts = [part for part in parts if stem_or_none(part)]
    if all(
        part in _NO_NAMES or stem(part) in small or any(source.has_word(part) for source in sources)
        for part in parts
    ):
        return False
    if any(source.has_word("".join(parts)) for source in sources):
        return False
    letters = word.removesuffix("s")
    return not (
        2 <= len(letters) <= 8
        and letters.isalpha()
        and letters.isupper()
        and any(source.has_acronym(letters) for source in sources)
    )


def _capitals(text: str) -> float:
    words = [word for word in _WORD.findall(text) if stem_or_none(word.lower())]
    return sum(word[0].isupper() for word in words) / len(words) if words else 1.0


# The share of capitalised content words from which on a line without a stop is a title.
TITLE = 0.6

_STOPS = (".", "!", "?", "…", "。", "！", "？", ";", ":")
_CLOSING = " \t\"'”’»)]*_"
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_BOLD = re.compile(
    r"\A[\s\d.()*_>#•-]*?(?:\*\*[^*\n]+\*\*|__[^_\n]+__)"
    r"(?:(?<=:\*\*|:__)|(?=[ \t]*(?:[:–—-]|\Z)))"
)
_HEAD = re.compile(r"\A[\s\d.()*_>#•-]*[^\W_][^.!?:;,\n]{0,60}:(?=[\s*_])")
_HEADING = re.compile(
    r"(?m)^[ \t]*#{1,6}[ \t]+(?:\(?\d{1,2}(?:[.)]|(?:\.\d{1,2})+[.)]?)(?=\s))?(?P<words>.*)$"
)
_CAPITALISED = re.compile(r"[^\W\d_]+")
_BEFORE_NOUNS = re.compile(
    r"(?<!\w)(?:ein|eine[mnrs]?|keine?[mnrs]?|viele[nr]?|mehrere[nr]?|einige[nr]?|wenige[nr]?"
    r"|weil|dass|wenn|ob|obwohl|damit|falls|bevor|nachdem|sobald) \Z"
)
_BEFORE_UNIT = re.compile(r"(?<!\w)(?:in|per|pro|par|por) \Z")
_COMMON_ENDING = re.compile(r"(?:s|ing|ed|ion|ment|ity|ness|al|ly|ive|ance|ence|ble|ry)\Z")
_NAME = re.compile(r"[^\W_][^\s]*")
_OPENING = re.compile(
    r"(?:\A|[.!?:|]|\s[-*+•–—>](?=\s)|\n|[\"“‘«]|(?<!\w)\(?\d{1,2}[.)])[\s\"'“‘«(*_]{0,8}\Z"
)
_QUOTED_NAME = re.compile(r"[«„][^\W\d_]+[»“”]")
_NO_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mr mrs ms miss mx dr prof professor "  # noqa: SIM905
    "sir dame lord lady saint st president king queen prince princess captain general senator "
    "minister celsius fahrenheit".split()
) | frozenset(MONTHS)
