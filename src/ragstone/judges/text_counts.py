"""Text counts: names, numbers and dates of a text, and exact match, F1, ROUGE, BLEU and chrF.

ASCII text is counted as others count it: overlap on the tokens of the rouge-score package without
stemming, exact match on SQuAD's normalised text, BLEU and chrF as sacrebleu's for a sentence; it
would bring six packages for forty lines, so only the tests use it. For other text the same rules
are read with Unicode's letters, numbers and punctuation.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from math import exp, log
from operator import eq

from .local.quantities import MONTHS as MONTH_NAMES
from .local.text_terms import (
    FIRST_PAIRED,
    PAIRED,
    STOP_WORDS,
    Characters,
    as_written,
    name_runs,
    stem_or_none,
    tokens,
)

MONTHS = frozenset(MONTH_NAMES.values())
# How many other words may stand among those of an entity: `19 April in 1859`.
BETWEEN = 2


# The folded words of a name, a number or a date.
Words = tuple[str, ...]


def entities(text: str) -> dict[Words, str]:
    """Each entity of a text as it is written, by its words: dates, other numbers, then names."""
    by_words = dict((*_numbers(text), *_names(text)))
    dates = {word for words in by_words if len(words) > 1 and MONTHS & set(words) for word in words}
    return {words: written for words, written in by_words.items()
            if len(words) > 1 or words[0] not in dates}  # fmt: skip


def holds(passage: Sequence[str], entity: Words) -> bool:
    """True if the folded words of a passage hold all those of an entity, close together."""
    words = set(entity)
    size = len(entity) + (BETWEEN if len(entity) > 1 else 0)
    starts = (position for position, word in enumerate(passage) if word in words)
    return any(words <= set(passage[start : start + size]) for start in starts)


def held_by(passages: Iterable[str | None]) -> Callable[[Words], bool | None]:
    """Tells whether a passage holds an entity; None if none does and a passage has no text."""
    texts = list(passages)
    folded = [tokens(text) for text in texts if text is not None]
    otherwise = None if None in texts else False
    return lambda entity: any(holds(passage, entity) for passage in folded) or otherwise


def _numbers(text: str) -> Iterator[tuple[Words, str]]:
    """Dates and numbers; a 1 is mostly the word `one`, and counts only in a date."""
    run: list[str] = []
    for word in [*tokens(text), ""]:
        if word and (word in MONTHS or word[0].isdigit()):
            run.append(word)
            continue
        if MONTHS & set(run) and len(run) > 1:
            yield tuple(run), " ".join(as_written([part], text) for part in run)
        else:
            for part in run:
                if part not in MONTHS and part != "1":
                    yield (part,), as_written([part], text)
        run = []


def _names(text: str) -> Iterator[tuple[Words, str]]:
    """Capitalised words, but for one that opens a sentence alone; `Paris` is no sentence."""
    sentence = not STOP_WORDS.isdisjoint(tokens(text))
    for run, opens in name_runs(text):
        words = [word for word in tokens(run) if word not in STOP_WORDS]
        if not words or words[0][0].isdigit() or (sentence and opens and len(tokens(run)) == 1):
            continue
        yield tuple(words), as_written(words, run) if len(words) == 1 else run


# How two texts are counted; runs before there was a version counted ``ascii``.
TEXT_VERSION = "unicode/1"
# Parts of the names of marks that only change the shape of a character.
SHAPING = ("VARIATION SELECTOR", "GRAPHEME JOINER", "KEYCAP")

ALIKE = {
    "’": "'", "‘": "'", "ʼ": "'", "ʻ": "'", "´": "'", "“": '"', "”": '"', "−": "-", "ـ": ""
}  # fmt: skip
# Compatibility forms that stay, for 10² is not 102 and 1½ is not 11/2.
RAISED = ("<super>", "<sub>", "<fraction>")
# How the names of characters begin whose scripts have no spaces between words.
SPACELESS = (
    "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "COMBINING KATAKANA", "THAI ", "LAO ", "KHMER ",
    "MYANMAR ", "TAI ", "NEW TAI ", "JAVANESE ", "BALINESE ",
)  # fmt: skip

ARTICLES = {"a", "an", "the"}


def _form(char: str) -> str:
    name = unicodedata.name(char, "")
    if unicodedata.category(char) == "Cf" or any(part in name for part in SHAPING):
        return ""
    parts = unicodedata.decomposition(char).split()
    if char in ALIKE or not parts or parts[0] in RAISED:
        return ALIKE.get(char, str(unicodedata.decimal(char, char)))
    return "".join(_form(chr(int(part, 16))) for part in parts if part[0] != "<")


def _spaced(char: str) -> str:
    """A character of a script without spaces, ended; its mark takes the end back (``_joined``)."""
    if not unicodedata.name(char, "").startswith(SPACELESS):
        return char
    return f"\x1e{char}\x1f" if unicodedata.category(char)[0] == "M" else f" {char}\x1f"


def _of_token(char: str) -> str:
    if unicodedata.category(char)[0] not in "LMN":
        return " "
    if unicodedata.decomposition(char).startswith(RAISED):
        return f"\x1d{char}\x1c"
    return _spaced(char)


def _joined(text: str) -> str:
    return text.replace("\x1f\x1e", "").replace("\x1c\x1d", "")


def _without_punctuation(char: str) -> str:
    sign = char in string.punctuation or unicodedata.category(char)[0] == "P"
    return "" if sign else char


def _of_word(char: str) -> str:
    if not char.isascii() and unicodedata.category(char)[0] in "PS":
        return f" {char} "
    return _spaced(char)


_FORMS, _TOKENS = Characters(_form), Characters(_of_token)
_NO_PUNCTUATION, _WORDS = Characters(_without_punctuation), Characters(_of_word)


def plain_forms(text: str) -> str:
    """The text in the forms of NFKC but for raised characters, digits as 0-9, nothing invisible."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_FORMS))


def caseless(text: str) -> str:
    """The plain text without case; a Turkish capital İ is an i."""
    if text.isascii():
        return text.lower()
    folded = text.translate(_FORMS).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFC", folded)


def text_tokens(text: str) -> list[str]:
    """Runs of letters and numbers with their marks, folded.

    A character alone in scripts without spaces between words; raised characters apart.

    >>> text_tokens("It’s 1.5 km² in 東京")
    ['it', 's', '1', '5', 'km', '²', 'in', '東', '京']
    """
    return _joined(caseless(text).translate(_TOKENS)).split()


def normalised(text: str) -> str:
    """Folded, no punctuation, no articles, single spaces.

    Source: Rajpurkar et al. (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", the evaluation.
    """
    words = caseless(text).translate(_NO_PUNCTUATION).split()
    return " ".join(word for word in words if word not in ARTICLES)


def squad_f1(answer: str, reference: str) -> float:
    """F1 over the normalised words, with their counts; if one text has none, whether both do.

    A character alone in scripts without spaces between words.

    Source: the evaluation of SQuAD 2.0 (Rajpurkar, Jia & Liang 2018, "Know What You Don't Know").
    """
    candidate, gold = (
        [part for word in normalised(text).split()
         for part in ([word] if word.isascii() else text_tokens(word))]
        for text in (answer, reference)
    )  # fmt: skip
    if not candidate or not gold:
        return float(candidate == gold)
    return _f1(_shared(candidate, gold), len(candidate), len(gold))


def overlap(answer: str, reference: str) -> dict[str, float]:
    """Measures of the overlap of two texts by name, each from 0 to 1."""
    candidate, gold = text_tokens(answer), text_tokens(reference)
    pairs, gold_pairs = list(pairwise(candidate)), list(pairwise(gold))
    once, gold_once = set(candidate), set(gold)
    longest = longest_common_subsequence(candidate, gold)
    return {
        "exact_match": float(normalised(answer) == normalised(reference)),
        "token_f1": _f1(_shared(candidate, gold), len(candidate), len(gold)),
        "token_f1_set": _f1(len(once & gold_once), len(once), len(gold_once)),
        "rouge_2": _f1(_shared(pairs, gold_pairs), len(candidate) - 1, len(gold) - 1),
        "rouge_l": _f1(longest, len(candidate), len(gold)),
    }


def longest_common_subsequence(first: list[str], second: list[str]) -> int:
    """The length of the LCS, bit-parallel: each bit of ``row`` is a position of the shorter text.

    So words of the longer one that the other lacks cost nothing, nor does a shared beginning.

    Source: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".
    """
    same: int = sum(takewhile(bool, map(eq, first, second)))
    first, second = first[same:], second[same:]
    if len(first) > len(second):
        first, second = second, first
    places: dict[str, int] = {}
    for position, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << position
    every = (1 << len(first)) - 1
    row = every
    for token in second:
        if mask := places.get(token):
            match = row & mask
            row = (row + match | row - match) & every
    return same + len(first) - row.bit_count()


def disorder(words: Sequence[str], sentence: Sequence[str]) -> float:
    """The share of neighbouring content words that stand the other way round in a sentence.

    Of those that both hold once, at least five; 0 if the sentence holds less than .8 of them all.
    Of pairs of characters the first ones count, and the share is as high as if they were words.
    """
    units = list(_units(words))
    mine, its = Counter(units), list(_units(sentence))
    counts, position = Counter(its), {unit: number for number, unit in enumerate(its)}
    places = [position[unit] for unit in mine if mine[unit] == counts[unit] == 1]
    if len(mine.keys() & counts) < NEARLY_ALL * len(mine) or len(places) < LEAST_IN_ORDER:
        return 0.0
    share = sum(left > right for left, right in pairwise(places)) / (len(places) - 1)
    return min(1.0, share * CHARACTERS_A_WORD) if PAIRED.match(max(units)) else share


def _units(words: Sequence[str]) -> Iterator[str]:
    for stem in filter(None, map(stem_or_none, words)):
        yield stem[0] if stem >= FIRST_PAIRED and PAIRED.match(stem) else stem


NEARLY_ALL, LEAST_IN_ORDER = 0.8, 5
# Of scripts without spaces: within a word, characters keep their order.
CHARACTERS_A_WORD = 1.5


def _shared(
    first: list[str] | list[tuple[str, str]], second: list[str] | list[tuple[str, str]]
) -> int:
    return sum((Counter(first) & Counter(second)).values())


def _f1(shared: int, answer_length: int, reference_length: int) -> float:
    return 2 * shared / (answer_length + reference_length) if shared else 0.0


# The longest runs of words that BLEU counts.
WORDS = 4
# The longest runs of letters that chrF counts.
LETTERS = 6
# How much more recall weighs in chrF than precision.
BETA = 2

ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
SIGN = re.compile(r"([{-~\[-` -&(-+:-@/])")
AFTER_NO_DIGIT = re.compile(r"([^0-9])([.,])")
BEFORE_NO_DIGIT = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")


def words_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, which WMT and sacrebleu use: signs stand alone, 3.14 does not.

    Beyond ASCII, signs stand alone too, and characters of scripts without spaces.

    >>> words_13a("It's 3.14, or so.")
    ["It's", '3.14', ',', 'or', 'so', '.']
    """
    if not text.isascii():
        text = _joined(plain_forms(text).translate(_WORDS))
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, sign in ENTITIES.items():
        text = text.replace(entity, sign)
    text = SIGN.sub(r" \1 ", f" {text} ")
    text = AFTER_NO_DIGIT.sub(r"\1 \2 ", text)
    text = BEFORE_NO_DIGIT.sub(r" \1 \2", text)
    return DASH_AFTER_DIGIT.sub(r"\1 \2 ", text).split()


def bleu(answer: str, reference: str) -> float:
    """BLEU of one pair, from 0 to 1.

    The geometric mean of the precisions of runs of 1 to 4 words, as long as the answer has such
    runs; the first precision of 0 counts as half a match, the next as a quarter, and so on; times
    exp(1 - reference words / words) where the answer is the shorter.

    Source: Papineni et al. (2002), "BLEU"; Post (2018), "A Call for Clarity in Reporting BLEU
    Scores"; smoothing: Chen & Cherry (2014), method 3.
    """
    candidate, gold = words_13a(answer), words_13a(reference)
    if not (Counter(candidate) & Counter(gold)):
        return 0.0
    logs: list[float] = []
    halved = 1.0
    for length in range(1, min(WORDS, len(candidate)) + 1):
        shared = (_runs(candidate, length) & _runs(gold, length)).total()
        if not shared:
            halved /= 2
        logs.append(log((shared or halved) / (len(candidate) - length + 1)))
    brevity = min(0.0, 1 - len(gold) / len(candidate))
    return exp(brevity + sum(logs) / len(logs))


def chrf(answer: str, reference: str) -> float:
    """The F2 of runs of 1 to 6 letters, white space left out, from 0 to 1.

    Precision and recall are averaged over the lengths of which both texts have runs.

    Source: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation".
    """
    candidate, gold = ("".join(plain_forms(text).split()) for text in (answer, reference))
    precision = recall = 0.0
    longest = min(LETTERS, len(candidate), len(gold))
    for length in range(1, longest + 1):
        shared = (_runs(candidate, length) & _runs(gold, length)).total()
        precision += shared / (len(candidate) - length + 1)
        recall += shared / (len(gold) - length + 1)
    if not precision:
        return 0.0
    weighted = BETA**2 * precision + recall
    return (1 + BETA**2) * precision * recall / (weighted * longest)


def _runs(units: Sequence[str], length: int) -> Counter[object]:
    if isinstance(units, str):
        return Counter(units[at : at + length] for at in range(len(units) - length + 1))
    return Counter(zip(*(units[at:] for at in range(length)), strict=False))
