"""Claims and evidence: the claims of an answer, and counts of their words in the contexts.

Without a model, a claim is a sentence. Sentences that assert nothing are left out: questions,
greetings, offers of help, headings, also those of a table, fences of code, announcements that end
in a colon, lone citations. After an opening such as ``Yes, I heard that`` or ``The context states
that``, only the rest is the assertion that contexts can support.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, islice, pairwise
from operator import and_

from ragstone.judges.markers import INTRODUCERS, NO_POWER
from ragstone.judges.text_counts import disorder, longest_common_subsequence

from .dates import CalendarDate, dates
from .figures import FIGURES_VERSION, Figure, Style, by_value, figures, style_of, those_like
from .held_words import best_window, numbers_of
from .response_type import says_unable, told_from
from .sentences import GREEK_QUESTION, Sentence, each_sentence, sentences
from .text_terms import names, numbers, stem_or_none, terms, tokens, word_set

FRAMES_VERSION = "ragstone-frames/1"


def frame_end(text: str) -> int:
    """Return the start of the assertion, after the frames; 0 if there is none.

    A frame is removed only if at least two content words follow it.
    """
    opening = _FRAMES.match(text)
    if opening is None or len(terms(text[opening.end() :])) < LEAST_LEFT:
        return 0
    return opening.end()


LEAST_LEFT = 2

_INTERJECTIONS = (
    "yes|yeah|yep|yup|no|nope|oh|ah|hmm|well|sure|ok|okay|right|exactly|hi|hello|hey|wow|haha|lol|"
    "cool|nice|great|true|absolutely|definitely|certainly|of course|indeed|also|actually|and|but|"
    "so|too|interesting|agreed|unfortunately|fortunately|i see"
)
_SPEAKING = (
    r"(?:i|we)(?:'m| am)? ?(?:also |really |just |do |did |can |would |only |have |'ve |n't |not )*"
    r"(?:think|know|believe|heard|hear|read|guess|learn|learned|learnt|understand|tell you|say|"
    r"sure|aware|agree(?: with (?:you|that))?(?: on this)?|bet|found out|find out|remember|"
    r"don't but|do n't but|do but)(?: about)?(?: is| was)?(?: that)?(?: it is| it's)?"
)
_SOURCES = r"(?:contexts?|passages?|documents?|texts?|information|sources?|articles?)"
_ATTRIBUTION = (
    r"did you know(?: that)?|it is true that|do n't but|don't but|"
    rf"(?:according to|based on) (?:the|these|this|my) (?:\w+ ){{0,3}}{_SOURCES}(?: provided)?|"
    rf"(?:the|these) (?:\w+ )?{_SOURCES} (?:says?|states?|mentions?|notes?|explains?)(?: that)?"
)
_FRAMES = re.compile(
    rf"(?:\s*(?:{_INTERJECTIONS}|{_SPEAKING}|{_ATTRIBUTION})(?![\w'’])[\s,.!:;…-]*)+", re.IGNORECASE
)


CLAIMS_VERSION = "ragstone-claims/5"

# Replies that make no claim, by their type.
NO_CLAIMS = ("abstain", "refuse")


@dataclass(frozen=True, slots=True)
class LocatedClaim:
    """One assertion of an answer and its position: ``text == answer[start:end]``.

    ``sentence`` is its index among all sentences of the answer. ``factual`` is False if the
    sentence only says what the answer or its sources cannot tell.
    """

    text: str
    start: int
    end: int
    sentence: int
    factual: bool


def claims(answer: str) -> list[LocatedClaim]:
    """The assertions of an answer, in order; none for text that asserts nothing.

    A sentence without a content word, such as `Yes.` or `Me too!`, counts only if it is alone.
    """
    every = [claim for claim in each_claim(answer) if claim is not None]
    with_content = [claim for claim in every if terms(claim.text)]
    return with_content or every


def each_claim(answer: str) -> Iterator[LocatedClaim | None]:
    """For each sentence of an answer its claim, with or without a content word; None if it has
    none.
    """
    for position, sentence in enumerate(each_sentence(answer)):
        yield claim_of(answer, sentence, position)


def claim_of(text: str, sentence: Sentence, position: int) -> LocatedClaim | None:
    """The claim of a sentence of a text; None if it asserts nothing."""
    if not _asserts(text, sentence.start, sentence.text):
        return None
    unable = says_unable(sentence.text)
    rest = told_from(sentence.text) if unable else None
    start = sentence.start + (rest or 0)
    factual = not unable or rest is not None
    return LocatedClaim(text[start : sentence.end], start, sentence.end, position, factual)


def statements(reference: str) -> list[str]:
    """The statements of a reference, sentence by sentence; a short reference is one statement."""
    if len(reference) <= SHORT_REFERENCE and "\n" not in reference.strip():
        return [reference.strip()] if reference.strip() else []
    parts = sentences(reference)
    asserting = [part.text for part in parts if _asserts(reference, part.start, part.text)]
    return asserting or [part.text for part in parts]


SHORT_REFERENCE = 60

# In square brackets five words at most that end with no stop, for more of them may be a claim.
_LONE_CITATION = re.compile(
    r"\[(?:Data:[^\]]{0,200}|[^\]\s]{0,40}(?: [^\]\s]{0,40}){0,4}(?<![.!?]))\]"
    r"|\((?:see |source:? )?[^()]{0,60}\d{4}\)|https?://\S+"
)

_COURTESY = re.compile(
    r"(?:hello|hi|hey|greetings|dear|sure|certainly|of course|absolutely|great question|"
    r"good question|thanks?|thank you|you're welcome|you are welcome|happy to help|glad to help|"
    r"i'?m (?:happy|glad) to|i hope (?:this|that|it)|hope (?:this|that) helps|let me know|"
    r"please let me know|feel free|please feel free|if you (?:have|need|would like|want|'d like) "
    r"(?:any|more|further|additional|me)|is there anything|would you like|do you (?:want|need)|"
    r"don't hesitate|please (?:note that i|see below)|here (?:is|are|'s) (?:the|a|an|some|my)"
    r"(?: \w+){0,4}[:.]?\Z)\b",
    re.IGNORECASE,
)
_WORDS_OF_COURTESY = 25
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+\Z")
_REFERENCE_LINE = re.compile(r"(?:sources?|references?|citations?|see also)\s*:", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")


_FENCE = re.compile(r"(?:`{3,}|~{3,})[^`\n]{0,40}")
# A row with a row of dashes below it.
_HEADS_A_TABLE = re.compile(r"[^\n]*\n[ \t|:]*-[-:| \t]*(?:\n|\r|\Z)")


def _asserts(text: str, start: int, sentence: str) -> bool:
    bare = sentence.rstrip("\"'”’)]*_ ")
    if bare.endswith(("?", "？", "؟")) or GREEK_QUESTION.search(bare, max(0, len(bare) - 2)):
        return False
    if not _WORD.search(_LONE_CITATION.sub("", sentence)) or _REFERENCE_LINE.match(sentence):
        return False
    words = sentence.split()
    if sentence.rstrip("*_ ").endswith((":", "：")):
        return False
    if len(words) <= _WORDS_OF_COURTESY and _COURTESY.match(sentence):
        return False
    if _FENCE.fullmatch(sentence) or (sentence[0] == "|" and _HEADS_A_TABLE.match(text, start)):
        return False
    if "#" in text[max(0, start - 8) : start]:
        line = text.rfind("\n", 0, start) + 1
        return _HEADING.match(text[line:start]) is None
    return True


class Passages:
    """The sentences of the contexts in order, and which words are in which.

    Windows go across the border of two contexts, for some sets cut their pages into a context a
    sentence.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.places: list[tuple[int, int, int]] = []
        """Context, start and end of each sentence: ``contexts[context][start:end]``."""
        self.quotes: list[str] = []
        self.tokens_of: list[list[str]] = []
        self.where: dict[str, list[int]] = defaultdict(list)
        self.vocabulary: set[str] = set()
        self._bits: dict[str, int] = {}
        self._style: Style | None = None
        self._figures: dict[str, list[Figure]] | None = None
        self._dates: list[CalendarDate] | None = None
        for position, text in enumerate(texts):
            for _ in self.reading(position, text):
                pass

    def reading(self, position: int, text: str) -> Iterator[None]:
        """Read one more context, a sentence at each turn, so that it can be left unfinished."""
        for sentence in each_sentence(text):
            self.places.append((position, sentence.start, sentence.end))
            self._read(sentence.text)
            yield

    def _read(self, text: str) -> None:
        number = len(self.quotes)
        words = tokens(text)
        self.quotes.append(text)
        self.tokens_of.append(words)
        self.vocabulary.update(words)
        for stem in set(map(stem_or_none, words)):
            if stem:
                self.where[stem].append(number)

    def sentences_with(self, stem: str) -> int:
        """The sentences with a stem, as bits."""
        if stem not in self._bits:
            numbers = self.where.get(stem, ())
            bits = bytearray((len(self.quotes) >> 3) + 1)
            for number in numbers:
                bits[number >> 3] |= 1 << (number & 7)
            self._bits[stem] = int.from_bytes(bits, "little")
        return self._bits[stem]

    def figures_of(self, sentence: int) -> tuple[Figure, ...]:
        if self._style is None:
            self._style = style_of(" ".join(islice(self.quotes, READ_FOR_STYLE)))
        return figures(self.quotes[sentence], self._style)

    def written_like(self, figure: Figure | CalendarDate) -> str | None:
        """Return a figure or a date as the sentences write it first; None if none has it."""
        if isinstance(figure, CalendarDate):
            return next((date.text for date in self._all_dates() if figure.is_same(date)), None)
        if self._figures is None:
            by_sentence = map(self.figures_of, range(len(self.quotes)))
            self._figures = by_value(chain.from_iterable(by_sentence))
        return next((like.text for like in those_like(figure, self._figures)), None)

    def has_date(self, date: CalendarDate) -> bool:
        """True if the sentences have a date, more or less exactly."""
        return any(map(date.agrees, self._all_dates())) or (
            not date.has_day and self.together(date.text) != 0
        )

    def has_date_in_another_month(self, date: CalendarDate) -> bool:
        """True if the sentences have the same date but for its month."""
        return any(map(date.has_another_month, self._all_dates())) and not self.has_date(date)

    def _all_dates(self) -> list[CalendarDate]:
        if self._dates is None:
            self._dates = list(chain.from_iterable(map(dates, self.quotes)))
        return self._dates

    def together(self, text: str) -> int:
        """The sentences with all content words of a text, as bits; none if it has no such word."""
        held = [self.sentences_with(stem) for stem in terms(text)]
        return reduce(and_, held) if held else 0

    def known(self, text: str) -> Iterator[Figure | CalendarDate]:
        """The figures and dates of a text that the sentences have by value.

        If they lack a date, its day and year do not count as known because other dates have them.
        """
        unknown = []
        for date in dates(text):
            if self.written_like(date) is not None:
                yield date
            elif not self.has_date(date):
                unknown.append(date)
        for figure in figures(text):
            if not _is_of(unknown, figure) and self.written_like(figure) is not None:
                yield figure

    def holds(self, token: str) -> bool:
        """True if a folded word, or another form of it, is in any context."""
        if token in self.vocabulary:
            return True
        stem = stem_or_none(token)
        return stem is not None and stem in self.where


EVIDENCE_VERSION = f"ragstone-evidence/3({FIGURES_VERSION})"


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """The counts for one proposition, before they are weighted.

    Args:
        content_words: Number of its distinct content words.
        words: Share of all its words, including stop words, that are anywhere in the contexts.
        window: Share of its content words within three neighbouring sentences.
        in_order: Share of its words that are in that window in the same order: the longest
            common subsequence.
        disorder: Share of its neighbouring words that stand the other way round in the best
            sentence, of those that both hold once; 0 if the sentence holds too few of its words.
        new_small_words: Share of its words that are stop words and in no context.
        new_numbers: Its numbers that are in no context.
        new_names: Stems of its capitalised words that are in no context.
        first_person: Share of its words such as `I` or `we`, if no context has such words.
        framed: True if a frame such as `I heard that` was removed.
        opinion: True if it has a word of liking or doubting that is in no context.
        sentences: Sentences of the best window with words of the proposition, most words first.
        held: For each of its content words the sentences that hold it, as bits.
        text: The proposition without citations, its figures written as the contexts write them.
        unknown_figures: Its figures in digits that no context has by value.
    """

    content_words: int
    words: float
    window: float
    in_order: float
    disorder: float
    new_small_words: float
    new_numbers: tuple[str, ...]
    new_names: tuple[str, ...]
    first_person: float
    framed: bool
    opinion: bool
    tokens: tuple[str, ...]
    sentences: tuple[int, ...]
    held: tuple[int, ...]
    text: str = field(compare=False)
    unknown_figures: tuple[str, ...]

    def features(self) -> dict[str, float]:
        return {"words": self.words, "window": self.window, "in_order": self.in_order,
                "new_small_words": self.new_small_words,
                "new_numbers": float(min(2, len(self.new_numbers))),
                "new_names": float(min(2, len(self.new_names))), "first_person": self.first_person,
                "framed": float(self.framed), "opinion": float(self.opinion)}  # fmt: skip


def gather(proposition: str, passages: Passages) -> EvidenceCounts | None:
    """Count the evidence for one proposition; None if it has no content word."""
    unnumbered = without_numeral(without_citations(proposition), passages)
    text, unknown = as_contexts_write(unnumbered, passages)
    begin = frame_end(text)
    plain = text[begin:]
    words = tokens(plain)
    distinct = list(dict.fromkeys(filter(None, map(stem_or_none, words))))
    if not distinct:
        return None
    held = tuple(map(passages.sentences_with, distinct))
    best, together = best_window(held)
    window = [token for number in sorted(best) for token in passages.tokens_of[number]]
    vocabulary = passages.vocabulary
    new = [token for token in words if token not in vocabulary]
    impersonal = FIRST_PERSON.isdisjoint(vocabulary)
    lost = dict.fromkeys(sorted(n for n in numbers(distinct) if n not in passages.where)).keys()
    return EvidenceCounts(
        content_words=len(distinct),
        words=(len(words) - len(new)) / len(words),
        window=together / len(distinct),
        in_order=longest_common_subsequence(words, window) / len(words) if window else 0.0,
        disorder=disorder(words, passages.tokens_of[best[0]]) if best else 0.0,
        new_small_words=sum(stem_or_none(token) is None for token in new) / len(words),
        new_numbers=(*lost, *(figure for figure in unknown if lost.isdisjoint(terms(figure)))),
        new_names=tuple(dict.fromkeys(n for n in names(plain) if n not in passages.where)),
        first_person=sum(token in FIRST_PERSON for token in words) / len(words)
        if impersonal
        else 0.0,
        framed=begin > 0,
        opinion=not OPINION.isdisjoint(new),
        tokens=tuple(words),
        sentences=best,
        held=held,
        text=text,
        unknown_figures=unknown,
    )


def as_contexts_write(text: str, passages: Passages) -> tuple[str, tuple[str, ...]]:
    """The text with its figures written as in the contexts, and those that no context has by value.

    Numerals of a list and digits in a name, such as `B12`, are none of the latter.
    """
    for date in sorted(dates(text), key=lambda date: date.start, reverse=True):
        if like := passages.written_like(date):
            text = f"{text[: date.start]}{like}{text[date.end :]}"
    new_dates = [date for date in dates(text) if not passages.has_date(date)]
    written = text
    unknown = [date.text for date in new_dates if passages.has_date_in_another_month(date)]
    for figure in reversed(figures(text)):
        if any(
            figure.agrees(known)
            for sentence in numbers_of(passages.together(figure.text), LOOKED_THROUGH)
            for known in passages.figures_of(sentence)
        ):
            continue
        if not _is_of(new_dates, figure) and (like := passages.written_like(figure)):
            written = f"{written[: figure.start]}{like}{written[figure.end :]}"
        elif figure.is_exact and not _no_amount(text, figure):
            unknown.append(figure.text)
    return written, tuple(reversed(unknown))


def _is_of(written: Iterable[CalendarDate], figure: Figure) -> bool:
    return any(date.start <= figure.start < date.end for date in written)


def _no_amount(text: str, figure: Figure) -> bool:
    if figure.text == "1" or _NAME.match(text, max(0, figure.start - 2), figure.start):
        return True
    numeral = _NUMERAL.match(text)
    if numeral is not None and figure.end <= numeral.end():
        return True
    if figure.start <= 1 or not _NEXT_NUMERAL.match(text, figure.start - 1):
        return False
    before = tokens(text[max(0, figure.start - LONGEST_WORD) : figure.start])
    return bool(before) and stem_or_none(before[-1]) is not None


LONGEST_WORD = 40
_NAME = re.compile(r".?[A-Za-z]\Z|[A-Za-z]-\Z")
# That of the next item of a list within a line, behind a content word: `Radiation 5.`
_NEXT_NUMERAL = re.compile(r" \d{1,2}\.\s*\Z")
# That of an item of a list, or of a step: `2.`, `Step 3:`.
_NUMERAL = re.compile(r"\W{0,3}(?:([^\W\d_]{3,20}) )?\(?\d{1,2}[.):]\s")

# Sentences that are looked through for one word or figure: contexts that say the same over and
# over are not read to their end for each.
LOOKED_THROUGH = 100

# Sentences that tell how the contexts write numbers.
READ_FOR_STYLE = 100


def without_numeral(text: str, passages: Passages) -> str:
    """The text with spaces in place of the number of a list item that it begins with.

    The number stays if the contexts have the word before it, as `Step`, or if it may be a day or a
    rank, as in `5. Mai 1980` and `2. Platz`: a number follows the next word, or precedes that word
    in a context.
    """
    numeral = _NUMERAL.match(text)
    if numeral is None or any(stem in passages.where for stem in terms(numeral[1] or "")):
        return text
    following = tokens(text[numeral.end() : numeral.end() + LONGEST_WORD])[:2]
    if not numeral[1] and following and _may_be_counted(*following, passages=passages):
        return text
    return " " * numeral.end() + text[numeral.end() :]


def _may_be_counted(word: str, behind: str = "", *, passages: Passages) -> bool:
    held = passages.sentences_with(stem_or_none(word) or word)
    return behind.isdecimal() or any(
        before.isdecimal() and token == word
        for sentence in numbers_of(held, LOOKED_THROUGH)
        # A sentence may have been ended at the number.
        for before, token in pairwise(
            [*passages.tokens_of[sentence - 1][-1:], *passages.tokens_of[sentence]]
        )
    )


def without_citations(text: str) -> str:
    """The text with spaces in place of citation marks, so that positions do not change."""
    return _CITATION.sub(lambda mark: " " * len(mark.group()), text)


FIRST_PERSON = word_set("first_person")
OPINION = word_set("opinion")
_CITATION = re.compile(
    # The first sign alone decides at most places.
    r"(?=[\[【［<(（])(?:"
    r"\[[\d\s,;^–-]{1,40}\]|\[Data:[^\]]{0,200}\]|【[^【】\n]{1,60}】|［[\d\s,，;–-]{1,40}］"
    rf"|{NO_POWER}<sup>[\d,; –-]{{1,20}}</sup>"
    # Ids of letters and digits, but no names such as [COVID-19].
    r"|\[(?![A-Z]{2,20}-\d{1,20}\])(?=[^\[\]\s\d]{1,58}\d)[\w.:#/-]{1,60}\]"
    rf"|\[{INTRODUCERS}[\w.:#/,; -]{{1,50}}\]"
    rf"|[(（]{INTRODUCERS}[\w.:#/-]{{1,50}}[)）])"
)
