"""Windows: text in Windows-1252, as Excel and many programs on Windows write it.

Nearly any bytes can be read as Windows-1252, those of a Czech, Russian or Japanese text or of a
damaged file as well, and come out garbled. So a text is taken for it only if it could be nothing
else: no part of it is UTF-8, its symbols stand where symbols stand, and its letters are those of
one language that is written in it, or few.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable

WINDOWS = "cp1252"

LANGUAGES = tuple(
    frozenset(letters)
    for letters in (
        "àâæçèéêëîïôœùûü", "äöüß", "áéíñóúüªº", "àáâãçéêíóôõúüªº", "àèéìíîòóùúªº", "àçèéíïòóúü",
        "áèéëïóöü", "åäöéüà", "æøåäéöóòôü", "áðéíóúýþæö", "áðíóúýæø", "äöüõšž", "äöåšž",
    )
)  # fmt: skip
"""The letters beyond ASCII of French, German, Spanish, Portuguese, Italian, Catalan, Dutch,
Swedish, Danish and Norwegian, Icelandic, Faroese, Estonian and Finnish."""

FOREIGN = 0.01
"""Up to this share of its letters, a text has foreign names and needs no language."""

OF_ONE_LANGUAGE = 0.9
"""The share of a language's letters among those beyond ASCII."""

ODD = 0.02
"""The share of places beyond ASCII that may look odd, as misprints do."""

SAMPLE, LONGEST_WORD = 3, 30

_ASCII_LETTERS = string.ascii_letters.encode()
_UNUSED = re.compile(rb"[\x00-\x08\x0e-\x1f\x81\x8d\x8f\x90\x9d]")
_UTF8 = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
# The É in “CAFÉ” makes UTF-8 of the quotation mark behind it, and so do é and » in French.
_BEFORE_A_MARK = re.compile(rb"(?<=[A-Za-z])[\xc6-\xf4][\x85\x91-\x94\x96\x97\xa0\xab\xbb]+")

_LETTER = "A-Za-zªºÀ-ÖØ-öø-ÿŠŽšžŒœŸ"
_MARK = "‘’“”–—…•·«»´°®™§×\xa0\xad"
_BEYOND = re.compile("[^\x00-\x7f]+")
_ODD = re.compile(
    f"[{_LETTER}][^\x00-\x7f{_LETTER}{_MARK}][{_LETTER}]"  # a symbol inside a word: Polish
    "|[A-Za-z][‚„ˆ˜¿¡]"  # what opens, behind a letter: DOS
    "|[a-z][À-ÖØ-ÞŠŽŒŸ]"  # a capital behind a small letter: Macintosh
    "|[À-ÖØ-öø-ÿŠŽšžŒœŸ]{4}"  # a word of them: Cyrillic, Greek
)
_WORD = re.compile(r"[\w\x80-\uffff]+")


def words_of_windows(lines: Iterable[bytes]) -> tuple[str, ...] | None:
    """Some words beyond ASCII of a text that is in Windows-1252; None if it may be in another.

    >>> words_of_windows(["Der Rat in Zürich tagte.".encode("cp1252")])
    ('Zürich',)
    >>> words_of_windows(["Příliš žluťoučký kůň".encode("cp1250")]) is None
    True
    """
    ascii_letters = places = odd = 0
    letters: Counter[str] = Counter()
    words: dict[str, None] = {}
    for line in lines:
        if _UNUSED.search(line) or _UTF8.search(_BEFORE_A_MARK.sub(b" ", line)):
            return None
        ascii_letters += len(line) - len(line.translate(None, _ASCII_LETTERS))
        if line.isascii():
            continue
        text = line.decode(WINDOWS)
        places += len(_BEYOND.findall(text))
        odd += len(_ODD.findall(text))
        letters.update(one for one in text.lower() if one.isalpha() and not one.isascii())
        if len(words) < SAMPLE:
            found = (one for one in _WORD.findall(text) if not one.isascii())
            words.update(dict.fromkeys(one[:LONGEST_WORD] for one in found))
    total = letters.total()
    known = max(sum(letters[one] for one in language) for language in LANGUAGES)
    foreign = total > FOREIGN * (total + ascii_letters) and known < OF_ONE_LANGUAGE * total
    if foreign or odd > ODD * places:
        return None
    return tuple(sorted(words, key=lambda word: len(word) == 1)[:SAMPLE])
