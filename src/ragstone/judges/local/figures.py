"""Figures: the numbers of a text by value and kind, however they are written.

`1.500 m` in German, `1,500 metres` and `1.5 km` are one length; `5 °C` and `-5 °C` are two, and so
are `5 g` and `5 mg`, `5 %` and `5`. A figure has meanings: where a mark may part decimals or
thousands and nothing in the text says which, it has both. They support and never contradict.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from .figure_words import (
    CURRENCIES,
    FRACTIONS,
    HAN_DIGIT,
    HAN_NUMBER,
    HAN_TIME,
    MONEY_SCALES,
    NARROW,
    NUMBERS_OF,
    SMALL_WORDS,
    TIME,
    WITH_POINTS,
    han_value,
    is_han_time,
    minutes_of,
    named,
    plainly,
)
from .text_terms import MARKS, ORDINALS, SPELLED_NUMBERS, tokens

FIGURES_VERSION = "ragstone-figures/2"


class Meaning(NamedTuple):
    """A meaning that a figure may have: an amount of a kind, in the kind's base unit and in its
    own.

    ``kind`` is `number`, `ordinal`, `share`, `points`, `clock`, `part` (of a date, a version), a
    currency, or a unit's dimension.
    """

    kind: str
    value: float
    number: float

    def agrees(self, other: "Meaning") -> bool:
        """True if both are the same; a bare number is that of any unit and money, but no share."""
        if self.is_like(other):
            return math.isclose(self.value, other.value, rel_tol=SAME)
        kinds = {self.kind, other.kind}
        return (
            "number" in kinds
            and APART.isdisjoint(kinds)
            and math.isclose(self.number, other.number, rel_tol=SAME)
        )

    def is_like(self, other: "Meaning") -> bool:
        """True if the kinds are the same, or one is a kind of the other: dollars, US dollars."""
        shorter, longer = sorted((self.kind, other.kind), key=len)
        return longer != "part" and (longer == shorter or longer.startswith(f"{shorter} "))


FIGURE_OF_SPEECH = 10

# How far apart, relative to the larger, two values of the same figure are at most.
SAME = 1e-6

# Kinds that a bare number is never of.
APART = frozenset({"share", "points", "clock", "area"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a text, ``text == original[start:end]``, with its sign, scale and unit.

    ``certain`` is False if the text does not say whether its mark parts decimals or thousands.
    """

    text: str
    start: int
    end: int
    meanings: tuple[Meaning, ...]
    certain: bool

    @property
    def is_exact(self) -> bool:
        """True if it is an amount in digits, or in words above ten or of a share."""
        digits = any(map(str.isdecimal, self.text))
        return any(kind != "part" if digits else kind == "share" or value > FIGURE_OF_SPEECH
                   for kind, value, _ in self.meanings)  # fmt: skip

    def agrees(self, other: "Figure") -> bool:
        """True if one of its meanings is one of the other's; of a date or a version, each part."""
        if len(self.meanings) > 2 and {kind for kind, _, _ in self.meanings} == {"part"}:
            return self.meanings == other.meanings
        return any(mine.agrees(its) for mine in self.meanings for its in other.meanings)

    def rounds(self, other: "Figure") -> bool:
        """True if one of the two is the other one rounded."""
        return any(mine.is_like(its) and rounded(f"{mine.value:.10g}", f"{its.value:.10g}")
                   for mine in self.meanings for its in other.meanings)  # fmt: skip


def by_value(known: Iterable[Figure]) -> dict[str, list[Figure]]:
    """Figures by each of their values, for ``those_like``."""
    figures_of: dict[str, list[Figure]] = defaultdict(list)
    for figure in known:
        for key in _keys(figure):
            figures_of[key].append(figure)
    return figures_of


def those_like(figure: Figure, known: Mapping[str, Sequence[Figure]]) -> list[Figure]:
    return [like for key in _keys(figure) for like in known.get(key, ()) if figure.agrees(like)]


def _keys(figure: Figure) -> set[str]:
    return {f"{amount:.6g}" for _, *amounts in figure.meanings for amount in amounts}


class Style(NamedTuple):
    """The style of a text: its language, and what parts decimals; None where nothing says so."""

    language: str
    decimal: str | None


def style_of(text: str) -> Style:
    """The style, by the text's clear numbers, else by its small words or its script."""
    plain = plainly(text)
    marks = {mark for number in _DIGITS.findall(plain) if (mark := _clear_mark(number))}
    words = set(_WORD.findall(plain[:LOOKED_AT].lower()))
    hits = {language: len(words & small) for language, small in SMALL_WORDS.items()}
    language = max(hits, key=lambda name: hits[name])
    if marks:
        return Style(language, marks.pop() if len(marks) == 1 else None)
    if hits[language]:
        return Style(language, "." if language in WITH_POINTS else ",")
    script = _SCRIPT.search(plain)
    return Style(language, None if script is None else "," if script["comma"] else ".")


# Characters in which small words tell the language.
LOOKED_AT = 20_000


def figures(text: str, style: Style | None = None) -> tuple[Figure, ...]:
    """The figures of a text, in order; ``style`` is that of the whole which it is part of."""
    return _figures(text, style or style_of(text))


@lru_cache(maxsize=1024)
def _figures(text: str, style: Style) -> tuple[Figure, ...]:
    plain = plainly(text)
    drafts: list[_Draft] = []
    starts = _starts(style.language)
    if not text.isascii() and HAN_DIGIT.search(text):
        starts = _starts_in_chinese()
    for number in starts.finditer(plain):
        if not drafts or number.start() >= drafts[-1].end:
            drafts.append(_draft(plain, number, style))
    for left, right in reversed(list(pairwise(drafts))):
        _share_unit(plain[left.end : right.start], left, right)
    return tuple(draft.figure(text) for draft in drafts if draft.numbers or draft.also)


@dataclass(slots=True)
class _Draft:
    """A figure while it is read: what its digits may be, times a scale, of a unit; or else."""

    start: int
    end: int
    numbers: list[float]
    also: list[Meaning] = field(default_factory=list)
    kind: str = "number"
    factor: float = 1
    scale: float = 1
    certain: bool = True

    def meanings(self, unit: "_Draft") -> list[Meaning]:
        return [Meaning(unit.kind, number * unit.scale * unit.factor, number * unit.scale)
                for number in self.numbers]  # fmt: skip

    def figure(self, text: str) -> Figure:
        words = text[self.start : self.end]
        meanings = (*self.meanings(self), *self.also)
        return Figure(words, self.start, self.end, meanings, self.certain)


def _draft(plain: str, number: re.Match[str], style: Style) -> _Draft:
    start, end = number.span()
    if number["hour"] or is_han_time(number):
        return _clock(number)
    if number.lastgroup == "han":
        value = han_value(number["han"])
        draft = _Draft(start, end, [] if value is None else [value])
    elif number["words"]:
        draft = _in_words(number, style.language)
    elif number["top"]:
        top, below = float(number["top"]), float(number["below"])
        draft = _Draft(start, end, [top / below] if top < below or ":" in number[0] else [],
                       _parts(top, below), "fraction")  # fmt: skip
    elif number["sign"]:
        draft = _Draft(start, end, [unicodedata.numeric(number["sign"])], kind="fraction")
    else:
        draft = _in_digits(number, style)
    if draft.kind == "number":
        _powers(plain, draft)
    before = _BEFORE.search(plain, max(0, start - REACH), start)
    assert before is not None
    money = CURRENCIES.get((before["money"] or "").upper())
    if money and draft.kind == "number" and not number["words"]:
        draft.start, draft.kind = before.start("money"), money
        if before["bracket"] and plain.startswith(")", draft.end):
            draft.end += 1
            draft.numbers = [-amount for amount in draft.numbers]
        elif before["bracket"]:
            draft.start, draft.kind = start, "number"
    minus = "word" if before["word"] else "minus" if before["minus"] else None
    if minus and (draft.start < start or not before["money"]):
        draft.start = before.start(minus)
        draft.numbers = [-amount for amount in draft.numbers]
    _take_unit(plain, draft)
    cold = draft.kind.startswith(("degree", "number")) and _BELOW_ZERO.match(plain, draft.end)
    if cold:
        draft.numbers, draft.end = [-amount for amount in draft.numbers], cold.end()
    return draft


# Characters before the digits in which sign and currency stand.
REACH = 16


def _in_digits(number: re.Match[str], style: Style) -> _Draft:
    start, end = number.span()
    digits = number.group()
    if " " in digits and style.decimal != "," and not digits.endswith(" 000"):
        digits = digits.partition(" ")[0]
        end = start + len(digits)
    bare = _GAPS.sub("", digits).replace("٫", ".")
    marks = [mark for mark in bare if mark in ".,"]
    clear = "." if "٫" in digits else _clear_mark(bare)
    decimal = clear or style.decimal
    if len(marks) == 1 and decimal is None:
        either = [float(bare.replace(",", ".")), float(bare.replace(marks[0], ""))]
        return _Draft(start, end, either, certain=False)
    if len(marks) > 1 and clear is None:
        return _Draft(start, end, [], _parts(*map(float, re.findall(r"\d+", bare))))
    other = "," if decimal == "." else "."
    return _Draft(start, end, [float(bare.replace(other, "").replace(",", "."))])


def _clear_mark(digits: str) -> str | None:
    """The mark of decimals in a number that leaves no doubt; None if it does, or has no mark."""
    marks = [mark for mark in digits if mark in ".,"]
    if not marks:
        return None
    last = marks[-1]
    head, *_, tail = _GAPS.sub("", digits).replace(",", ".").split(".")
    if len(marks) == 1:
        return last if len(tail) != 3 or head[:1] in ("", "0") or len(head) > 3 else None
    if len(set(marks)) == 2:
        return last if marks.count(last) == 1 else None
    return ("." if last == "," else ",") if _THREES.fullmatch(digits) else None


def _parts(*numbers: float) -> list[Meaning]:
    return [Meaning("part", number, number) for number in numbers]


def _clock(time: re.Match[str]) -> _Draft:
    start, minutes, certain = minutes_of(time)
    if certain:
        return _Draft(start, time.end(), minutes, kind="clock")
    hour, minute = int(time["hour"]), int(time["minute"] or 0)
    also = _parts(hour, minute)
    if "h" in time[0]:
        also.append(Meaning("time", 3600 * hour + 60 * minute, hour))
    return _Draft(start, time.end(), minutes, also, "clock")


def _in_words(number: re.Match[str], language: str) -> _Draft:
    written = number["words"].lower()
    if written in _TIMES:
        return _Draft(*number.span(), [_TIMES[written]], kind="clock")
    *before, last = re.split("[ -]", written)
    if (
        last in FRACTIONS
        and (before or FRACTIONS[last] == 2)
        and ORDINALS.keys().isdisjoint(before)
    ):
        top = _value(" ".join(before), language) or 1.0
        return _Draft(*number.span(), [top / FRACTIONS[last]], kind="fraction")
    value = 1.0 if last in ("a", "an") else _value(written, language)
    kind = "ordinal" if last in ORDINALS else "number"
    return _Draft(*number.span(), [] if value is None else [value], kind=kind)


def _value(words: str, language: str) -> float | None:
    if language != "en":
        return NUMBERS_OF[language].get(words)
    read = tokens(words)
    return float(read[0]) if len(read) == 1 and is_number(read[0]) else None


def _powers(plain: str, draft: _Draft) -> None:
    """Take in what multiplies or adds to the digits: 10², 3.2×10⁶, 2½, 2 1/2."""
    power = _POWER.match(plain, draft.end)
    if power and all(0 < base <= LARGEST_BASE for base in draft.numbers):
        exponent = int((power[1] or power[2]).translate(_RAISED))
        draft.numbers = [base**exponent for base in draft.numbers]
        draft.end = power.end()
    if times := _TIMES_TEN.match(plain, draft.end):
        exponent = int((times[1] or times[2] or times[3]).translate(_RAISED))
        draft.numbers = [number * 10.0**exponent for number in draft.numbers]
        draft.end = times.end()
    elif more := _AND_A_HALF.match(plain, draft.end):
        if more["sign"]:
            extra = unicodedata.numeric(more["sign"])
        elif more["top"]:
            extra = int(more["top"]) / int(more["below"])
        else:
            extra = 1 / FRACTIONS[more["word"].lower()]
        draft.numbers = [number + extra for number in draft.numbers]
        draft.end = more.end()


LARGEST_BASE = 1000
# Grams: a pound is money or a mass.
POUND = 453.59237


def _take_unit(plain: str, draft: _Draft) -> None:
    if draft.kind == "fraction":
        draft.kind = "share" if _OF.match(plain, draft.end) else "number"
    elif draft.kind == "number" and (nth := _NTH.match(plain, draft.end)):
        draft.kind, draft.end = "ordinal", nth.end()
    if draft.kind in ("ordinal", "share", "clock"):
        return
    money = draft.kind != "number"
    while word := _NEXT.match(plain, draft.end):
        if word["points"]:
            draft.kind, draft.end = "points", word.end()
            draft.factor = 0.0001 if word["basis"] else 0.01
            return
        written, touches = word["word"], not word["gap"]
        if written in ("B", "b") and touches and not money:
            draft.also, draft.certain = draft.meanings(_BILLIONS), False
        kind, factor, length = named(written)
        if money and written in MONEY_SCALES:
            kind, factor, length = "scale", MONEY_SCALES[written], len(written)
        elif written in ("k", "K", "(k)", "M"):
            kind = "scale" if touches else ""
        elif written == "s" and touches and draft.numbers and draft.numbers[0] % 10 == 0:
            return
        if not kind or (money and kind != "scale"):
            return
        draft.end = word.start("word") + length
        if kind == "scale":
            draft.scale *= factor
            continue
        if whose := word["whose"]:
            kind += f" {whose[:2].lower()}"
        if kind == "pound" and written.isalpha():
            draft.also += [
                Meaning("mass", number * POUND, number) for _, _, number in draft.meanings(draft)
            ]
        draft.kind, draft.factor = kind, factor
        if written in _HOURS_OR_CLOCK:
            draft.also += [Meaning("clock", 60 * number, number) for number in draft.numbers]
        if kind == "length":
            _raise(plain, draft, word["square"])
        elif kind == "degree" and (scale := _DEGREES.match(plain, draft.end)):
            draft.kind, draft.end = f"degree {scale[1][0].lower()}", scale.end()
        if per := _PER.match(plain, draft.end):
            unit, size, length = named(per["unit"])
            if unit and (per["slash"] or kind == "length"):
                draft.kind, draft.factor = f"{draft.kind}/{unit}", draft.factor / size
                draft.end = per.start("unit") + length
        return


def _raise(plain: str, draft: _Draft, square: str | None) -> None:
    raised = _SQUARE.match(plain, draft.end)
    word = (square or (raised and raised[0]) or "").strip().lower()
    if not word:
        return
    power = 3 if word[:1] in "ck³3к" and not word.startswith(("carr", "cuad")) else 2
    draft.kind, draft.factor = ("area", "volume")[power - 2], draft.factor**power
    draft.end = raised.end() if raised else draft.end


def _share_unit(between: str, left: _Draft, right: _Draft) -> None:
    if (of := _OUT_OF.fullmatch(between)) and right.kind == left.kind == "number":
        small, large = left.numbers[:1], right.numbers[:1]
        if small and large and 0 < small[0] < large[0] and (of["out"] or large[0] <= 10):
            left.end, left.kind, left.numbers = right.end, "share", [small[0] / large[0]]
            right.numbers, right.also = [], []
        return
    if between in (" ", " and ") and left.kind == right.kind in COMPOUND:
        larger = left.factor / right.factor
        if larger > 1 and right.numbers[0] < larger:
            left.also += _parts(*left.numbers, *right.numbers)
            left.numbers, left.end = [left.numbers[0] + right.numbers[0] / larger], right.end
            right.numbers, right.also = [], []
            return
    row = _ROW.fullmatch(between)
    if not row or not left.numbers or not right.numbers:
        return
    if row["range"] and right.kind == "number" and left.kind in CURRENCIES.values():
        right.kind = left.kind
    if row["range"] and left.numbers[0] in YEARS and right.numbers[0] < 100:
        year = left.numbers[0] // 100 * 100 + right.numbers[0]
        right.also.append(Meaning("number", year, year))
    if left.scale > 1 or left.kind not in ("number", right.kind):
        return
    if right.kind == "clock":
        left.also += [
            Meaning("clock", 60 * hour + half, hour) for hour in left.numbers for half in (0, 720)
        ]
    elif row["range"] and right.scale == 1 and right.kind != "ordinal":
        left.kind, left.factor = right.kind, right.factor
    elif (right.kind, right.scale) != ("number", 1):
        left.also += left.meanings(right)


_HOURS_OR_CLOCK = frozenset({"h", "heures", "horas", "часов"})
_BILLIONS = _Draft(0, 0, [], scale=1e9)

# Kinds that are told in two units: 1 hour 30 minutes.
COMPOUND = frozenset({"time", "years", "length", "mass"})

YEARS = range(1000, 2200)


def rounded(number: str, other: str) -> bool:
    """True if one number is the other one rounded: 2.45 and 2.4 or 2.5, but not 2.45 and 2.

    Only numbers with decimals, and those from 100,000: years and counts mean what they say.
    """
    if not (is_number(number) and is_number(other)):
        return False
    coarse, fine = sorted((float(number), float(other)), key=_digits)
    exact = coarse >= LARGE and fine >= LARGE
    if not (exact or "." in number + other) or not LEAST_DIGITS <= _digits(coarse) < _digits(fine):
        return False
    unit = 10.0 ** (math.floor(math.log10(coarse)) + 1 - _digits(coarse))
    return -unit / 2 <= fine - coarse < unit


def is_number(token: str) -> bool:
    """True if a folded word is a number in digits that can be compared with others."""
    return len(token) <= LONGEST_NUMBER and token.replace(".", "", 1).isdecimal()


def _digits(number: float) -> int:
    """The significant digits; zeros at the end of a whole number do not count."""
    return len(f"{number:.10g}".replace(".", "").strip("0"))


LEAST_DIGITS = 2
LARGE = 100_000

# Characters of a number that may be given less finely; a float of 309 digits is infinite.
LONGEST_NUMBER = 64


_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SIGNS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_SPACE = rf"[ {NARROW}\n]"
_LETTERS = rf"(?:[^\W\d_²³¹⁰-⁹¼-¾⅐-⅞]++[{MARKS}]*+)++"
_NUMBER = (rf"\d{{1,3}}(?:['٬{NARROW}]\d{{3}})+(?!\d)(?:[.,٫]\d+)?"
           r"|\d{1,3}(?: \d{3})+(?!\d)(?:[.,٫]\d+)?|\d+(?:[.,٫٬]\d+)*|\.\d+")  # fmt: skip
_DIGITS = re.compile(rf"(?<![\d.,])(?:{_NUMBER})")
_GAPS = re.compile(rf"['٬ {NARROW}]")
_THREES = re.compile(r"\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPT = re.compile(
    r"(?P<comma>[\u0370-\u052f])"
    r"|[\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af]"
)
_TIMES = {"noon": 720.0, "midday": 720.0, "midnight": 0.0}


def _start(language: str) -> str:
    """Where a figure may begin; without words of the language, digits and times alone."""
    known = SPELLED_NUMBERS if language == "en" else NUMBERS_OF.get(language, ())
    words = sorted(known, key=len, reverse=True)
    number = rf"(?>{'|'.join(map(re.escape, words)) or '(?!)'})\b"
    openings = "".join(sorted({word[0] for word in (*words, *FRACTIONS, *_TIMES, *"adelmou")}))
    parts = "|".join(FRACTIONS)
    return (
        TIME + r"|(?<![\d/])(?P<top>\d{1,3})[/:](?P<below>[1-9]\d{0,2})(?![\d/:])"
        rf"|(?<![\d.,])(?:{_NUMBER})|(?P<sign>[{_SIGNS}])"
        rf"|\b(?=[{openings}{openings.upper()}])(?P<words>(?i:{'|'.join(_TIMES)}"
        r"|an?(?= (?:dozen|lakh|crore)\b)"
        rf"|(?:(?:an?|one|eine?|une?|una?|die|la|{number})[ -])?(?:{parts})"
        rf"|{number}(?:(?:[ -]| and ){number})*+))\b"
    )


@cache
def _starts(language: str) -> re.Pattern[str]:
    return re.compile(_start(language))


@cache
def _starts_in_chinese() -> re.Pattern[str]:
    return re.compile(f"{HAN_TIME}|{HAN_NUMBER}|{_start('')}")


_BEFORE = re.compile(
    rf"(?:(?P<word>\b(?i:minus|negative|moins|menos|meno|минус)|マイナス|零下|氷点下|영하){_SPACE}?)?"
    r"(?P<minus>(?<![^\s(])[-–](?!\s))?"
    r"(?P<money>[A-Z]{0,3}[$€£¥₹₽₩₺₪]|\b[A-Z]{3}|\bRs\.?|\bFr\.|\bkr\.?)?"
    rf"{_SPACE}?(?P<bracket>\()?\Z"
)
_POWER = re.compile(r"(⁻?[⁰¹²³⁴-⁹]{1,2})|\^(-?\d{1,2})(?!\d)")
_TIMES_TEN = re.compile(
    rf"{_SPACE}?[×x·*⋅]{_SPACE}?10(?:\^(-?\d{{1,2}})(?!\d)|(⁻?[⁰¹²³⁴-⁹]{{1,2}}))"
    r"|[eE]([+-]?\d{1,2})\b"
)
_AND_A_HALF = re.compile(
    rf"{_SPACE}?(?P<sign>[{_SIGNS}])|[ -](?P<top>\d)/(?P<below>[2-9]|1[0-6])(?![\d/])"
    r"| and an? (?P<word>half|quarter|third)\b"
)
_OF = re.compile(r" (?:of|the|der|des|de|du|den|aller|di|del|della|dei|delle|degli|la|los|las)\b")
_NTH = re.compile(r"(?:st|nd|rd|th)\b")
_POINTS = (
    r"percent(?:age)?[ -]points?|Prozentpunkte?n?|points? de pourcentage|puntos? porcentual(?:es)?"
    r"|punt[io] percentual[ei]|pontos? percentua(?:l|is)|procentpoint|pp\b"
    r"|(?P<basis>basis points?|Basispunkte?n?|bps\b)"
)
_PER_CENT = r"per cento?|pour cent|por ciento|por cento|per mille|pour mille|por mil"
_NEXT = re.compile(
    rf"(?P<gap>{_SPACE}?-?(?:(?:de|di|von)[ ]|d')?)(?:(?P<points>(?i:{_POINTS}))"
    r"|(?:(?P<whose>US|Australian|Canadian|Hong Kong|Singapore|Swiss|Indian)[ ])?"
    r"(?P<square>(?i:square|sq\.?|cubic|cu\.?|quadrat|kubik|кв\.?|куб\.?)[ ]?(?=\w))?"
    rf"(?P<word>(?i:{_PER_CENT})\b|%|‰|\(k\)|[°º]{NARROW}?[CF]\b|[°º℃℉]|[$€£¥₹₽₩₺₪]|{_LETTERS}))"
)
_SQUARE = re.compile(
    r"[²³]|(?<=[ckm]m)[23]\b|(?<=[\d ]m)[23]\b"
    r"|[ ](?:carr[ée]s?|cuadrados?|quadrati?|quadrados?|cubes?|c[úu]bicos?|cubi)\b"
)
_DEGREES = re.compile(rf"{_SPACE}?(Celsius|centigrade|C|Fahrenheit|F|Kelvin)\b", re.IGNORECASE)
_BELOW_ZERO = re.compile(r" below (?:zero|freezing)\b| unter null\b", re.IGNORECASE)
_PER = re.compile(
    rf"(?:(?P<slash>/)|{_SPACE}(?:per|pro|par|por|al|all'|в){_SPACE}?)(?P<unit>{_LETTERS})"
)
_OUT_OF = re.compile(r" (?:in|(?P<out>out of)) (?:every )?")
_ROW = re.compile(
    rf"{_SPACE}?(?:(?P<range>[-–—]|to|bis|à|a|до)|,|/|and|or|und|oder|et|ou|y|o|e|и){_SPACE}?"
)
