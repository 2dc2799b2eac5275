"""Languages: by what each is known, and how it says that something is not in the documents.

A language is told by its script, else by its small words. What languages.toml has of it is read
by ``response_type``.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import chain
from typing import Literal

from .text_terms import MARKS, remembered, word_set

LATIN = "LATIN"
NOTHING = "(?!)"
STOPS = ".!?。！？।؟۔"


@dataclass(frozen=True)
class Language:
    """A language, and how it says what it cannot tell, as languages.toml has it."""

    name: str
    script: str = LATIN
    words: str = ""
    letters: str = ""
    cannot: str = NOTHING
    matter: str = NOTHING
    source: str = NOTHING
    silent: str = NOTHING
    but: str = NOTHING
    polite: str = NOTHING

    def unable(self, text: str) -> re.Match[str] | None:
        """The words that say that something is not known or not in the sources."""
        if match := self.inability.search(text):
            return match
        parts = (part for part in _STOPS.split(text) if self.origin.search(part))
        return next(filter(None, map(self.silence.search, parts)), None)

    @cached_property
    def inability(self) -> re.Pattern[str]:
        """The words that say by themselves that something is not known."""
        return self._pattern(f"{self.cannot}|{self.matter}…(?:{self.silent})")

    @cached_property
    def origin(self) -> re.Pattern[str]:
        """The words that name a source."""
        return self._pattern(self.source)

    @cached_property
    def silence(self) -> re.Pattern[str]:
        """The words that say that a source is silent."""
        return self._pattern(self.silent)

    @cached_property
    def turn(self) -> re.Pattern[str]:
        """The words that turn from there to what is known."""
        end = r"(?!\w)" if self.words else ""
        return self._pattern(rf"(?i:(?:(?:{self.but}){end}[\s,，、،]*)+)")

    @cached_property
    def opening(self) -> re.Pattern[str]:
        """The words that open a sentence without content."""
        return self._pattern(self.polite)

    def _pattern(self, either: str) -> re.Pattern[str]:
        """Begins with a word, and so does what is behind a gap, where spaces separate words."""
        begin = r"(?<!\w)" if self.words else ""
        gap = f"[^{STOPS}]{{0,60}}?{begin}"
        return re.compile(f"{begin}(?:{either})".replace("…", gap))


def language_of(text: str) -> str | None:
    """The name of the language of a text, such as ``Thai``; None if too little tells.

    ``another language`` if it is none that is known, or may be several.

    Small words that names have too tell nothing of names alone, such as `Charles de Gaulle`.
    """
    text = text[:LOOKED_AT]
    languages = languages_of(text)
    lower = [word for word in _WORDS.findall(text) if word.islower()]
    telling = [word for word in lower if word not in IN_NAMES]
    if languages and languages[0].script == LATIN:
        known = set(_signs(telling if len(telling) < SENTENCE else lower))
        languages = tuple(language for language in languages if language.name in known)
    names = [language.name for language in languages]
    if len(names) == 1 or names == DANISH:
        return names[0]
    if len(lower) >= ENOUGH or (len(telling) >= SENTENCE and not all(map(str.isascii, lower))):
        return UNNAMED
    return names[0] if languages and languages[0].script != LATIN else None


def _signs(words: Sequence[str]) -> Iterator[str]:
    yield from chain.from_iterable(filter(None, map(_languages_by("words").get, words)))
    letters = {letter for word in words if not word.isascii() and word.islower() for letter in word}
    yield from chain.from_iterable(filter(None, map(_languages_by("letters").get, letters)))


def languages_of(text: str) -> tuple[Language, ...]:
    """By script, else by small words and telling letters: all that have as many of them.

    If too few are known, none of those in Latin letters, and all of those of another script.
    Words with a capital do not count, for names keep those of other languages.
    """
    script = LATIN if text.isascii() else _script_of("".join(_WORDS.findall(text)))
    languages = all_languages().get(script) or (Language(script.title(), script),)
    if len(languages) == 1:
        return languages
    words = _WORDS.findall(text)
    counts = Counter(_signs(words))
    most = max(counts[language.name] for language in languages)
    if most < max(1, SMALL * len(words)):
        return () if script == LATIN else languages
    return tuple(language for language in languages if counts[language.name] == most)


def abstentions_known(name: str) -> str:
    """Tell how well a language's ways of saying "not in the documents" are known.

    Returns:
        ``plain`` ways, ``dont_know`` if only "I don't know", or ``none``.
    """
    language = next(
        (known for known in chain(*all_languages().values()) if known.name == name), None
    )
    if language is None or language.cannot == NOTHING:
        return "none"
    return "dont_know" if language.source == NOTHING else "plain"


UNNAMED = "another language"
# Those that have the same small words.
DANISH = ["Danish", "Norwegian"]

# Characters of a text that are read for its language; the words that show an unknown language; and
# the words from which on a text is more than a name.
LOOKED_AT, ENOUGH, SENTENCE = 400, 8, 3

# Small words that names have too, which keep them in any language.
IN_NAMES = word_set("in_names")

# The share of a text's words that are small ones of its language; mostly it is above .3.
SMALL = 0.125

# The share of a text's letters, above which those that are not Latin are its script.
NOT_LATIN = 0.25

_STOPS = re.compile(f"[{STOPS}]")
_NOT_LATIN = re.compile("[^\\W\\d_\u0000-\u024f\u1e00-\u1eff]")
_WORDS = re.compile(rf"[^\W\d_]+(?:[{MARKS}]+[^\W\d_]*)*")


def other_letters(text: str) -> list[str]:
    """The letters of other scripts than Latin; none if they are a quarter of all or less."""
    others = [] if text.isascii() else _NOT_LATIN.findall(text)
    return others if len(others) > NOT_LATIN * sum(map(str.isalpha, text)) else []


def is_latin(text: str) -> bool:
    """True if it is written in Latin letters, the only ones that the built-in encoder can read."""
    return not other_letters(text)


def _script_of(letters: str) -> str:
    others = other_letters(letters)
    if not others:
        return LATIN
    counts = Counter(map(_script, others))
    kana = counts["HIRAGANA"] + counts["KATAKANA"]
    return "HIRAGANA" if kana * 8 > len(others) else counts.most_common(1)[0][0]


@remembered
def _script(letter: str) -> str:
    return re.split("[ -]", unicodedata.name(letter, "UNKNOWN"))[0]


@cache
def all_languages() -> Mapping[str, tuple[Language, ...]]:
    """By script, the most common first."""
    text = files(__package__).joinpath("languages.toml").read_text(encoding="utf-8")
    by_script: dict[str, tuple[Language, ...]] = {}
    for name, phrases in tomllib.loads(text).items():
        language = Language(name, **phrases)
        by_script[language.script] = (*by_script.get(language.script, ()), language)
    return by_script


@cache
def _languages_by(sign: Literal["words", "letters"]) -> Mapping[str, Sequence[str]]:
    """The languages that have each small word, or each letter which few have."""
    names: dict[str, list[str]] = {}
    for language in chain.from_iterable(all_languages().values()):
        for each in language.words.split() if sign == "words" else language.letters:
            names.setdefault(each, []).append(language.name)
    return names
