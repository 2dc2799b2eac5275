"""Figure words: what stands beside digits or in their place, in the languages that are known.

Small words tell a language, and so what parts its decimals. Scales, currencies and units are looked
up without accents and endings; where words are not parted by spaces, by what they begin with.
"""

import re
import unicodedata
from functools import cache

from .text_terms import FIRST_PAIRED, MARKS, Characters, remembered, without_accents, word_lists

WITH_POINTS = frozenset({"en"})
SMALL_WORDS = {
    language: frozenset(words.split()) for language, words in word_lists()["small_words"].items()
}


def _numbers(language: str, ones: str, small: str, tens: str) -> dict[str, float]:
    """The numbers from 2 to 99 that a language makes of ones and tens."""
    numbers = {word: float(number) for number, word in enumerate(small.split(), 2)}
    for ten, word in enumerate(tens.split(), 2):
        numbers[word] = 10.0 * ten
        for digit, unit in enumerate(ones.split(), 1):
            words = {
                "de": f"{unit}und{word}",
                "fr": f"{word}-{unit}",
                "es": f"veinti{unit}" if ten == 2 else f"{word} y {unit}",
                "it": f"{word[:-1] if digit in (1, 8) else word}{unit}",
            }
            numbers[words[language]] = 10.0 * ten + digit
    return numbers


NUMBERS_OF = {
    language: _numbers(language, **words) for language, words in word_lists()["numbers"].items()
}
NUMBERS_OF["fr"] |= {"quatre-vingts": 80.0, "quatre-vingt-dix": 90.0, "soixante-dix": 70.0}
_HAN_DIGITS = {
    digit: float("〇一二三四五六七八九".index(digit)) for digit in "〇一二三四五六七八九"
}
_HAN_DIGITS |= {"零": 0.0, "两": 2.0, "兩": 2.0}
_HAN_TENS = {"十": 10.0, "百": 100.0, "千": 1000.0}
_HAN_SCALES = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}
_COUNTED = (
    "个個人名位本册冊张張枚件条條家所座次回台匹只隻头頭棵辆輛艘层層楼階岁歳年月日号號天周週点點時时分秒米"
    "公厘毫里元円块塊度吨克升倍票户戸軒巻卷章棟キメトリセグペポド"
)
HAN_DIGIT = re.compile(f"[{''.join((*_HAN_DIGITS, '十'))}]")
# The pattern of a number in Chinese characters before what it counts.
HAN_NUMBER = (
    rf"(?P<han>(?<![{''.join((*_HAN_DIGITS, *_HAN_TENS, *_HAN_SCALES))}])"
    rf"(?:[{''.join(_HAN_DIGITS)}][{''.join((*_HAN_DIGITS, *_HAN_TENS, *_HAN_SCALES))}]*+"
    rf"|(?!十分(?![钟鐘]))十[{''.join(_HAN_DIGITS)}]?+)(?=[{_COUNTED}]))"
)


def han_value(written: str) -> float | None:
    """The value of a number in Chinese characters, as `一九三二` or `二百五十`.

    None if it has none, as `二三十`, or if it may have two, as `三百五`.
    """
    if len(written) > 1 and all(digit in _HAN_DIGITS for digit in written):
        return float("".join(f"{_HAN_DIGITS[digit]:.0f}" for digit in written))
    total, section, digit, least, scale = 0.0, 0.0, 0.0, 1e4, 1e9
    for before, sign in zip(f" {written}", written, strict=False):
        if sign in _HAN_DIGITS:
            if digit or (sign == written[-1] and before in "百千万萬亿億" and _HAN_DIGITS[sign]):
                return None
            digit = _HAN_DIGITS[sign]
        elif sign in _HAN_TENS:
            if _HAN_TENS[sign] >= least:
                return None
            least = _HAN_TENS[sign]
            section, digit = section + (digit or 1) * least, 0.0
        else:
            higher, scale = _HAN_SCALES[sign] > scale, _HAN_SCALES[sign]
            section += digit + (total if higher else 0)
            total = section * scale + (0 if higher else total)
            section, digit, least = 0.0, 0.0, 1e4
    return total + section + digit


FRACTIONS = {
    word: int(parts) for parts, words in word_lists()["fractions"].items() for word in words.split()
}
# By signs and codes; what is a kind of another begins with its name.
CURRENCIES = {
    sign: line.partition(":")[0]
    for line in word_lists()["currencies"]
    for sign in line.partition(":")[2].split()
}

# What scales money alone: elsewhere an `m` is a metre.
MONEY_SCALES = {"m": 1e6, "b": 1e9, "B": 1e9, "t": 1e12, "T": 1e12}


_PREFIXES = {
    "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "h": 1e2, "d": 0.1, "c": 0.01, "m": 1e-3,
    "µ": 1e-6, "u": 1e-6, "n": 1e-9,
}  # fmt: skip
_PREFIXED = {
    "m": "kdcmµn", "g": "kmµn", "s": "mµn", "l": "hdcmµ", "L": "hdcmµ", "B": "kKMGT", "bit": "kMGT",
    "b": "kMGT", "W": "mkMGT", "Wh": "kMGT", "J": "kMG", "cal": "k", "Hz": "kMGT", "V": "mk",
    "Pa": "hkM",
}  # fmt: skip
_LONG_PREFIXES: dict[str, float] = word_lists()["long_prefixes"]
# What may stand behind a word of at least four letters.
_ENDINGS = ("", *"snieayыаиуя", "en", "es", "er", "ов", "еи", "ам", "ах", "ами")

LONGEST_NAME = 12

# Kind, size in its base unit, and the length of the word.
Name = tuple[str, float, int]


@remembered
def named(word: str) -> Name:
    """Return the meaning of a word behind a number; an empty kind if it means nothing there."""
    symbols, _ = _tables()
    if word in symbols:
        return (*symbols[word], len(word))
    if len(word) > 1 and word.isupper() and (money := CURRENCIES.get(word)):
        return money, 1.0, len(word)
    if " " in word:
        return "share", 0.001 if "mil" in word.lower() else 0.01, len(word)
    folded = _folded(word)
    if entry := _inflected(folded):
        return (*entry, len(word))
    if word[:1] >= FIRST_PAIRED:
        for length in range(min(len(word), LONGEST_NAME), 0, -1):
            if entry := _inflected(_folded(word[:length])):
                return (*entry, length)
    return "", 1.0, 0


def _inflected(folded: str) -> tuple[str, float] | None:
    names = _tables()[1]
    for ending in _ENDINGS:
        bare = folded.removesuffix(ending)
        if folded.endswith(ending) and (not ending or len(bare) >= 3):
            if bare in names:
                return names[bare]
            for prefix, size in _LONG_PREFIXES.items():
                if bare.startswith(prefix) and bare[len(prefix) :] in names:
                    kind, factor = names[bare[len(prefix) :]]
                    return (kind, factor * size) if kind != "scale" else None
    return None


def _folded(word: str) -> str:
    return without_accents(word.lower())


@cache
def _tables() -> tuple[dict[str, tuple[str, float]], dict[str, tuple[str, float]]]:
    symbols = {sign: (money, 1.0) for sign, money in CURRENCIES.items() if not sign.isalpha()}
    names: dict[str, tuple[str, float]] = {}
    for line in word_lists()["units"].strip().splitlines():
        kind, size, *words = line.split()
        for word in words:
            table = symbols if word in _SYMBOLS else names
            table[word if table is symbols else _folded(word)] = kind, float(size)
    symbols["b"] = ("bit", 1.0)
    for unit, prefixes in _PREFIXED.items():
        kind, base = symbols[unit]
        symbols |= {prefix + unit: (kind, base * _PREFIXES[prefix]) for prefix in prefixes}
    del symbols["b"]
    symbols |= {"°C": ("degree c", 1.0), "°F": ("degree f", 1.0), "℃": ("degree c", 1.0)}
    return symbols, names


_SYMBOLS = frozenset("k K (k) M m g t s h l L B bit W Wh J cal Hz V Pa % ‰ ° º PS".split())  # noqa: SIM905


def plainly(text: str) -> str:
    """The text, character by character, with digits, marks and spaces of one kind."""
    return text if text.isascii() else text.translate(_PLAIN)


def _plain(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    if kind == "Zs":
        return character if character.isascii() else NARROW
    is_wide = 0xFF01 <= ord(character) <= 0xFF5E
    return chr(ord(character) - 0xFEE0) if is_wide else character


# What stands for every space that is not the usual one.
NARROW = "\u2009"

_PLAIN = Characters(_plain)
_PLAIN |= {
    ord(odd): usual for odd, usual in zip("−﹣‐‑’ʼ＇٪﹪⁄￡￥￦μ", "----'''%%/£¥₩µ", strict=True)
}


_SPACE = rf"[ {NARROW}\n]"
_LETTER = rf"[^\W\d_][{MARKS}]*+"
_HALF = r"(?P<half>[apAP])(?:[mM]\b|\.[mM]\b\.?)"
_CLOCK = r"(?P<clock>Uhr\b|uur\b|o'clock\b|[時时](?![間间])|시(?!간)|[点點][钟鐘]?)"
_HOURS = rf"(?:(?:heures?|h|horas?|ore|часов|часа|час){_SPACE})?"
_PARTS_OF_DAY = {
    "a": r"morgens|früh|vormittags|in the morning|du matin|de la (?:mañana|madrugada)|da manhã"
    r"|d[ie]l? matt?in[ao]|'s (?:ochtends|morgens)|утра",
    "p": r"nachmittags|abends|in the (?:afternoon|evening)|de l'après-midi|du soir|de la tarde"
    r"|da tarde|del pomeriggio|d[ie](?:lla)? sera|'s (?:middags|avonds)|вечера",
    "n": r"nachts|at night|de la noche|da noite|d[ie](?:lla)? notte|'s nachts|ночи",
}
_BEHIND = f"(?P<part>{_HOURS}(?:{'|'.join(_PARTS_OF_DAY.values())})\\b)"
_TAIL = re.sub(r"\?P<\w+>", "?:", rf"{_SPACE}?(?:{_HALF}|{_CLOCK}|{_BEHIND})")
_MORNING = "上午|午前|早上|早晨|清晨|凌晨|오전|새벽|아침"
_AFTERNOON, _NIGHT = "下午|午後|午后|傍晚|오후|저녁", "晚上|夜里|夜晚|深夜|밤"
_AHEAD = rf"(?:(?P<a>{_MORNING})|(?P<p>{_AFTERNOON})|(?P<n>{_NIGHT})){_SPACE}?"
# The pattern of a time of day.
TIME = (
    r"(?<![\d.,:])(?P<hour>[01]?\d|2[0-4])"
    rf"(?:(?:[:h]|[時时点點시]{_SPACE}?|\.(?=\d\d{_TAIL}))(?P<minute>[0-5]\d)"
    rf"(?::[0-5]\d)?(?![\d:])[分분]?|[時时点點시]{_SPACE}?(?P<thirty>[半반])|(?={_TAIL}))"
    rf"(?:{_SPACE}?{_CLOCK})?(?:{_SPACE}?(?:{_HALF}|{_BEHIND}))?"
)
# The pattern of one in Chinese characters.
HAN_TIME = (
    rf"(?=[上下午早清凌傍晚夜深]){_AHEAD}(?P<han_hour>[一二三四五六七八九十两]{{1,3}})[点點時时]"
    r"(?P<han_thirty>半)?(?![間间\d一二三四五六七八九十])"
)

_BEFORE = re.compile(rf"{_AHEAD}\Z")
_PART_OF_DAY = {half: re.compile(f"(?:{words})\\Z") for half, words in _PARTS_OF_DAY.items()}


def minutes_of(time: re.Match[str]) -> tuple[int, list[float], bool]:
    """Return the start of a time of day, its minutes since midnight, and if its half is certain.

    It is in the first half of a day or in the second where nothing says which.
    """
    if is_han_time(time):
        half = next(half for half in "apn" if time[half])
        hour, minute = int(han_value(time["han_hour"]) or 0), 30 if time["han_thirty"] else 0
        return time.start(), [_minute(half, hour) + minute], True
    hour, minute = int(time["hour"]), 30 if time["thirty"] else int(time["minute"] or 0)
    before = _BEFORE.search(time.string, max(0, time.start() - 4), time.start())
    half = (time["half"] or (before and before.lastgroup) or "").lower()
    if part := time["part"]:
        half = next(half for half, words in _PART_OF_DAY.items() if words.search(part))
    minutes = [_minute(half, hour) + minute]
    if not half and 0 < hour < 12 and time["hour"][0] != "0":
        minutes.append(minutes[0] + 720)
    return (before or time).start(), minutes, bool(half or time["clock"] not in (None, *"点點"))


def is_han_time(time: re.Match[str]) -> bool:
    """True if ``HAN_TIME`` matched, and not ``TIME``."""
    return time.lastgroup in ("han_hour", "han_thirty")


def _minute(half: str, hour: int) -> float:
    """The minute of a day with which an hour begins, in its first half, its second or a night."""
    if half == "n":
        half = "p" if 6 <= hour < 12 else "a"
    return 60.0 * (hour % 12 + 12 * (half == "p") if half and hour <= 12 else hour % 24)
