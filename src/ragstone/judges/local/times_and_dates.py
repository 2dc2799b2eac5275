"""Times and dates: times of day and full dates, however a language orders and writes them.

`下午5点`, `5 Uhr nachmittags` and `17:00` are one time; `12 March 2019`, `12.03.2019` and
`2019年3月12日` one date. `03/04/2019` may be two dates: it can agree with both.
"""

import re
from dataclasses import dataclass
from itertools import chain

from .figure_words import NARROW, han_value, plainly
from .text_terms import MARKS, fold

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
TIME = (
    r"(?<![\d.,:])(?P<hour>[01]?\d|2[0-4])"
    rf"(?:(?:[:h]|[時时点點시]{_SPACE}?|\.(?=\d\d{_TAIL}))(?P<minute>[0-5]\d)"
    rf"(?::[0-5]\d)?(?![\d:])[分분]?|[時时点點시]{_SPACE}?(?P<thirty>[半반])|(?={_TAIL}))"
    rf"(?:{_SPACE}?{_CLOCK})?(?:{_SPACE}?(?:{_HALF}|{_BEHIND}))?"
)
"""The pattern of a time of day."""
HAN_TIME = (
    rf"(?=[上下午早清凌傍晚夜深]){_AHEAD}(?P<han_hour>[一二三四五六七八九十两]{{1,3}})[点點時时]"
    r"(?P<han_thirty>半)?(?![間间\d一二三四五六七八九十])"
)
"""The pattern of one in Chinese characters."""
_BEFORE = re.compile(rf"{_AHEAD}\Z")
_PART_OF_DAY = {half: re.compile(f"(?:{words})\\Z") for half, words in _PARTS_OF_DAY.items()}


def minutes_of(time: re.Match[str]) -> tuple[int, list[float], bool]:
    """Where a time of day begins, its minutes since midnight, and whether its half is certain.

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
    """Whether ``HAN_TIME`` matched, and not ``TIME``."""
    return time.lastgroup in ("han_hour", "han_thirty")


def _minute(half: str, hour: int) -> float:
    """The minute of a day with which an hour begins, in its first half, its second or a night."""
    if half == "n":
        half = "p" if 6 <= hour < 12 else "a"
    return 60.0 * (hour % 12 + 12 * (half == "p") if half and hour <= 12 else hour % 24)


@dataclass(frozen=True, slots=True)
class FullDate:
    """A date with year, month and day, ``text == original[start:end]``, in all its readings."""

    text: str
    start: int
    end: int
    readings: frozenset[tuple[int, int, int]]

    def agrees(self, other: "FullDate") -> bool:
        """Whether both have a reading in common."""
        return not self.readings.isdisjoint(other.readings)


def full_dates(text: str) -> list[FullDate]:
    """The dates of a text with year, month and day."""
    if not _YEAR.search(text):
        return []
    plain = plainly(text)
    dates = []
    for written in chain.from_iterable(form.finditer(plain) for form in _FORMS):
        parts = written.groupdict()
        year, day = int(parts["year"]), int(parts["day"])
        month = _MONTHS.get(fold(parts["name"]), 0) if "name" in parts else int(parts["month"])
        readings = {(year, month, day)}
        if parts.get("mark") in ("/", "-"):
            readings.add((year, day, month))
        known = frozenset(date for date in readings if 1 <= date[1] <= 12 and 1 <= date[2] <= 31)
        if known:
            start, end = written.span()
            dates.append(FullDate(text[start:end], start, end, known))
    return dates


_DAY, _MONTH, _NAMED = (
    r"(?P<day>\d{1,2})",
    r"(?P<month>\d{1,2})",
    rf"(?P<name>(?:{_LETTER}){{2,12}})",
)
_ANY_YEAR = r"(?P<year>[12]\d{3})"
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_FORMS = [
    re.compile(form)
    for form in (
        rf"(?<![\d./-]){_ANY_YEAR}(?P<middle>[./-]){_MONTH}(?P=middle){_DAY}(?![\d./-]*\d)",
        rf"(?<!\d){_ANY_YEAR}{_SPACE}?[年년]{_SPACE}?{_MONTH}{_SPACE}?[月월]{_SPACE}?{_DAY}[日号號일]?(?!\d)",
        rf"(?<![\d./-]){_DAY}(?P<mark>[./-]){_MONTH}(?P=mark){_ANY_YEAR}(?![\d./-]*\d)",
        rf"(?<![\d.,]){_DAY}(?:st|nd|rd|th|er|[.ºª])? (?:of |de )?{_NAMED}\.?,? (?:of |del? )?"
        rf"{_ANY_YEAR}(?!\d)",
        rf"\b{_NAMED}\.? {_DAY}(?:st|nd|rd|th)?,? {_ANY_YEAR}(?!\d)",
    )
]
_MONTHS = {
    fold(name): number
    for names in (
        "january february march april may june july august september october november december",
        "jan feb mar apr mai jun jul aug sep oct nov dec",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
        "dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października "
        "listopada grudnia",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
        "जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
        "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    )
    for number, name in enumerate(names.split(), 1)
}
