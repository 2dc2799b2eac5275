"""Text terms: words, numbers and names as the local judge reads them.

Folding normalises spellings of the same word: case, accents, typographic apostrophes,
possessives, thousands separators, number words, ordinals and Roman numerals. A light stemmer of
our own merges the forms of English words. Runs of Chinese, Japanese, Korean and Thai script,
which have no spaces, are read as overlapping pairs of characters. Results are cached by word: on
most pages of a language nearly all words have been read before.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, islice, pairwise
from typing import Any, TypeVar

T = TypeVar("T")

# Characters of a word that is kept: a text without spaces is one word.
LONGEST = 40

# Words that are kept; when they are that many, all are forgotten.
MOST = 1 << 16


def remembered(find: Callable[[str], T]) -> Callable[[str], T]:
    """A function of a word that keeps what it finds, in at most some 20 MB.

    In contrast to ``functools.lru_cache`` no long text is kept, and what is known takes half the
    time.
    """
    return _Remembered(find).__getitem__


class _Remembered(dict[str, T]):
    __slots__ = ("_find",)

    def __init__(self, find: Callable[[str], T]) -> None:
        self._find = find

    def __missing__(self, word: str) -> T:
        value = self._find(word)
        if len(word) <= LONGEST:
            if len(self) >= MOST:
                self.clear()
            self[word] = value
        return value


class Characters(dict[int, str]):
    """A table for ``str.translate`` that looks up each character once."""

    def __init__(self, replace: Callable[[str], str]) -> None:
        self._replace = replace

    def __missing__(self, code: int) -> str:
        text = self[code] = self._replace(chr(code))
        return text


WORDS_VERSION = "ragstone-words/2"


def fold(text: str) -> str:
    """Lower case without accents, vowel points, possessives and thousands separators."""
    if not text.isascii():
        text = without_accents(text.translate(_SPELLINGS)).translate(_ALEFS)
        text = _BESIDE_DIGIT.sub(" ", text)
    text = text.lower()
    if "'" in text:
        text = _POSSESSIVE.sub("", text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return _ORDINAL.sub(r"\1", text)


def tokens(text: str) -> list[str]:
    """Folded words and numbers in order, stop words included, number words as digits.

    ``Dr. Smith's twenty-one cats`` gives ``dr smith 21 cats``.
    """
    words = [*chain.from_iterable(map(_folded, text.split()))]
    if not text.isascii() and PAIRED.search(text):
        words = [piece for token in words for piece in _pairs(token)]
    if not _NUMBER_WORDS.isdisjoint(words):
        words = _with_digits(words)
    return words


def terms(text: str) -> list[str]:
    """Stemmed content words and numbers in order: tokens without stop words."""
    return [term for token in tokens(text) if (term := stem_or_none(token))]


@remembered
def stem_or_none(token: str) -> str | None:
    """The stem of a content word; None for a stop word."""
    return None if token in STOP_WORDS else stem(token)


@remembered
def stem(token: str) -> str:
    """A light stem for folded English words: plurals, -ed, -ing, -ly, final e.

    Joins ``cities`` and ``city``, ``stopped`` and ``stop``, ``1990s`` and ``1990``. Leaves words of
    three letters and all words that are not a-z alone.
    """
    if len(token) <= 3 or not token.isascii():
        return token
    if token[0].isdigit():
        return token[:-1] if token[-1] == "s" else token
    for ending, rest in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) + len(rest) >= LEAST_LETTERS:
            token = token[: -len(ending)] + rest
            break
    if token.endswith(("ed", "ing", "ly")):
        token = _without_suffix(token)
    if len(token) > 3 and token[-1] == "e":
        return token[:-1]
    if len(token) > 3 and token[-1] == "y":
        return token[:-1] + "i"
    return token


def numbers(stems: Iterable[str]) -> set[str]:
    """The numbers among stems, without 1, which usually is the word `one`."""
    return {stem for stem in stems if stem[0].isdigit() and stem != "1"}


def names(text: str) -> list[str]:
    """Stems of capitalised words that do not open a sentence, in order.

    The opening word counts if another capitalised word follows it. Nothing in text without
    capitals, and nothing in scripts that have none.
    """
    stems: list[str] = []
    for run, opens in name_runs(text):
        words = [stem_or_none(token) for token in tokens(run)]
        if opens and len(words) < 2:
            continue
        stems += [word for word in words if word and not word[0].isdigit()]
    return stems


def name_runs(text: str) -> list[tuple[str, bool]]:
    """Runs of capitalised words, each with whether it opens a sentence."""
    apart = text
    if not text.isascii():
        apart = PAIRED.sub(lambda run: "|" * len(run.group()), text)
    return [
        (run.group(), _opens_sentence(text, run.start())) for run in _CAPITALISED.finditer(apart)
    ]


def denied(folded_tokens: Sequence[str]) -> set[str] | None:
    """Stems that a text negates: the content word within three words of a not, never, n't.

    None if it holds no such word. A `no` that opens the text answers a question and negates
    nothing in what follows.
    """
    stems: set[str] | None = None
    for position, token in enumerate(folded_tokens):
        if (token in NEGATIONS and (position or token != "no")) or token.endswith("n't"):
            near = (stem_or_none(word) for word in folded_tokens[position + 1 : position + 4])
            stems = (stems or set()) | set(next(([word] for word in near if word), []))
    return stems


def as_written(words: Iterable[str], text: str) -> str:
    """Folded words or stems of a text as it first writes each of them, for people to read.

    ``charlott`` is `Charlotte`, ``205`` is `two hundred and five`. What is not a word of the text,
    such as a pair of characters, stays as it is.
    """
    if not (words := list(words)):
        return ""
    known = _first_written(text)
    return ", ".join(known.get(word) or _number_written(word, text) or word for word in words)


@cache
def word_lists() -> Mapping[str, Any]:
    """The lists of words.toml, by name."""
    return tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))


def word_set(name: str) -> frozenset[str]:
    """A list of words.toml, each word once."""
    return _set(word_lists()[name])


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEGATIONS = _set(
    "not no never none neither nor cannot without nobody nothing nowhere hardly avoid unable"
)

STOP_WORDS = NEGATIONS | word_set("stop_words")

_OTHER_SCRIPTS = [chr(code) for code in (*range(0x300, 0x1B00), *range(0xA600, 0xAC00))]
# What belongs to the letter before it, such as the vowel signs of Hindi; no letter for Python.
MARKS = "".join(sign for sign in _OTHER_SCRIPTS if unicodedata.category(sign) in ("Mn", "Mc"))
# The pattern of letters and digits with their marks.
WORD = rf"[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+"

_SPELLINGS = str.maketrans(
    dict(zip("’‘ʼ＇´øØłŁđĐı\u00a0", "'''''oOlLdDi ", strict=True))
    | {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "\u0640": ""}
    | dict.fromkeys("\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff", "")
    | {digit: str(unicodedata.decimal(digit)) for digit in _OTHER_SCRIPTS if digit.isdecimal()}
)
_ALEFS = str.maketrans(dict.fromkeys("أإآٱ", "ا"))
_POSSESSIVE = re.compile(r"(?<=\w)'s\b|(?<=s)'(?!\w)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL = re.compile(r"(\d)(?:st|nd|rd|th)\b")
_TOKEN = re.compile(rf"\d+(?:\.\d+)+|{WORD}(?:'{WORD})?")
# Accents, and the points and signs of vowelled Hebrew and Arabic.
_ACCENT = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]+"
)
# Runs of scripts that are read as pairs of characters.
PAIRED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# The first character of such a script.
FIRST_PAIRED = "\u0e00"

_BESIDE_DIGIT = re.compile(r"(?<=\d)(?=[\u0370-\u1fff])|(?<=[\u0370-\u1fff])(?=\d)")
_CHARACTER = re.compile(rf".[{MARKS}]*+")
_UPPER = "[A-ZÀ-ÖØ-ÞŁŚŠŽŻŹČĆĐİŐŰŞĞΑ-ΩА-Я]"
_CAPITALISED = re.compile(
    rf"(?<!\w){_UPPER}[\w'’-]*(?:[ ](?:of |the |de |van |von )?{_UPPER}[\w'’-]*)*"
)


def _valued(words: str, first: int, step: int = 1) -> dict[str, int]:
    return {word: first + step * number for number, word in enumerate(words.split())}


_UNITS = _valued(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    0,
)
_TENS = _valued("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
ORDINALS = _valued(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
    1,
) | {word[:-1] + "ieth": value for word, value in _TENS.items()}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9,
           "trillion": 10**12}  # fmt: skip
_ROMANS = {
    word: str(value)
    for word, value in _valued(
        "ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx", 2
    ).items()
    if word not in ("v", "x")
}
_SMALL = _UNITS | _TENS | ORDINALS
SPELLED_NUMBERS = frozenset(_SMALL) | frozenset(_SCALES)
_NUMBER_WORDS = SPELLED_NUMBERS | frozenset(_ROMANS)

_ENDINGS = (("sses", "ss"), ("ies", "y"), ("ied", "y"), ("ss", "ss"), ("us", "us"), ("is", "is"),
            ("s", ""))  # fmt: skip
# What is left of a word without its ending.
LEAST_LETTERS = 3

_VOWEL = re.compile("[aeiouy]")


_WRITTEN = re.compile(rf"{WORD}(?:[.,'’‘ʼ＇´]{WORD})*")
_ENDS_POSSESSIVE = re.compile(r"(?<=\w)['’‘ʼ＇´]s?$")

# Words of a number in words, and of a text that are looked through for one, at most.
MOST_WORDS, LOOKED_AT = 8, 1000


@lru_cache(maxsize=16)
def _first_written(text: str) -> Mapping[str, str]:
    words: dict[str, str] = {}
    stems: dict[str, str] = {}
    for written in _WRITTEN.findall(text):
        for token, part in _tokens_written(written):
            words.setdefault(token, part)
            stems.setdefault(stem(token), part)
    return stems | words


@remembered
def _tokens_written(written: str) -> tuple[tuple[str, str], ...]:
    whole = _ENDS_POSSESSIVE.sub("", written)
    parts = [(tokens(part), part) for part in (whole, *_PART.findall(whole))]
    return tuple((words[0], part) for words, part in parts if len(words) == 1)


_PART = re.compile(WORD)


def _number_written(number: str, text: str) -> str | None:
    if not number[:1].isdigit():
        return None
    words = list(islice(_WRITTEN.finditer(text), LOOKED_AT))
    for first, word in enumerate(words):
        if any(token[0].isdigit() for token, _ in _tokens_written(word.group())):
            for last in words[first + 1 : first + MOST_WORDS]:
                span = text[word.start() : last.end()]
                if tokens(span) == [number]:
                    return span
    return None


@remembered
def _folded(piece: str) -> tuple[str, ...]:
    """The tokens of text without white space, number words as words: nothing joins across it."""
    return tuple(_TOKEN.findall(fold(piece)))


def _without_suffix(token: str) -> str:
    base = token[:-3] if token.endswith("ing") else token[:-2]
    if len(base) < 3 or not _VOWEL.search(base) or token.endswith("eed"):
        return token
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base


def without_accents(text: str) -> str:
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 4) : start].rstrip(" \t\n\"'“‘([*_#-•")
    return not before or before[-1] in ".!?:。！？"


def _pairs(token: str) -> list[str]:
    """Overlapping pairs of characters of the runs without spaces; other runs whole."""
    pieces: list[str] = []
    position = 0
    for run in PAIRED.finditer(token):
        if run.start() > position:
            pieces.append(token[position : run.start()])
        characters = _CHARACTER.findall(run.group())
        pieces += map("".join, pairwise(characters)) if len(characters) > 1 else characters
        position = run.end()
    if position < len(token):
        pieces.append(token[position:])
    return pieces


def _with_digits(words: list[str]) -> list[str]:
    """Number words and Roman numerals as digits: ``two hundred and five`` is ``205``."""
    out: list[str] = []
    position = 0
    while position < len(words):
        token = words[position]
        if token in _ROMANS:
            out.append(_ROMANS[token])
            position += 1
        elif token in _SMALL or token in _SCALES or (token[0].isdigit() and token.isascii()):
            value, position = _read_number(words, position)
            out.append(value)
        else:
            out.append(token)
            position += 1
    return out


def _read_number(words: list[str], position: int) -> tuple[str, int]:
    """The number that begins at ``place``, and where the text continues after it."""
    token = words[position]
    if token not in _SMALL and token not in _SCALES:
        following = words[position + 1] if position + 1 < len(words) else ""
        if following in _SCALES and len(token) <= 15 and token.replace(".", "", 1).isdigit():
            value = round(float(token) * _SCALES[following], 4)
            return str(int(value) if value.is_integer() else value), position + 2
        return token, position + 1
    total, part = 0, 0
    last: int | None = None
    largest = 10 * _SCALES["trillion"]
    while position < len(words):
        token = words[position]
        if token == "hundred" and part < 100:
            part = (part or 1) * 100
            last = 100
        elif token in _SCALES and token != "hundred" and _SCALES[token] < largest:
            total, part = total + (part or 1) * _SCALES[token], 0
            last = largest = _SCALES[token]
        elif token in _SMALL and _adds(last, _SMALL[token]):
            part += _SMALL[token]
            last = _SMALL[token]
            if token in ORDINALS:
                return str(total + part), position + 1
        elif not (token == "and" and _goes_on(last, words[position + 1 : position + 2])):
            break
        position += 1
    return str(total + part), position


def _adds(last: int | None, small: int) -> bool:
    """True if ``small`` continues a number whose last word was ``last``: twenty + one."""
    return last is None or last >= 100 or (last >= 20 and 0 < small < 10)


def _goes_on(last: int | None, following: list[str]) -> bool:
    """True if `and` is inside a number: two hundred and five."""
    return last is not None and last >= 100 and bool(following) and following[0] in _SMALL


# Letters with which two spellings of one word begin.
SAME_OPENING = 3

# Letters of words that may be two spellings of one.
SHORTEST_SPELLED, LONGEST_SPELLED = 5, 64


def close(word: str, other: str) -> bool:
    """True if two words are spellings of one: the same beginning, nearly the same end."""
    least, most = sorted((len(word), len(other)))
    if word[:SAME_OPENING] != other[:SAME_OPENING] or least < SHORTEST_SPELLED or most - least > 3:
        return False
    if word[0].isdigit() or most > LONGEST_SPELLED:
        return False
    if least >= 6 and word[: least - 1] == other[: least - 1]:
        return True
    return _within(1 if most < 10 else 2, word, other)


def alike(name: str, other: str) -> bool:
    """True if two names may be forms of one: `Bob` and `Bobbie`, `Montezuma` and `Moctezuma`.

    More is taken for the same than by ``close``: any two that begin alike or differ in two letters,
    and all initials and abbreviations.
    """
    least, most = sorted((len(name), len(other)))
    if least < SAME_OPENING or name[:SAME_OPENING] == other[:SAME_OPENING]:
        return True
    return (
        least >= SHORTEST_SPELLED
        and most <= LONGEST_SPELLED
        and most - least <= 2
        and _within(2, name, other)
    )


def _within(most: int, word: str, other: str) -> bool:
    row = list(range(len(other) + 1))
    for i, a in enumerate(word, start=1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
        if min(row) > most:
            return False
    return row[-1] <= most
