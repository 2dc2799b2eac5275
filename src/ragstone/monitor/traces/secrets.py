"""Secrets: what is taken out of texts by itself: e-mail addresses, phones, cards, keys.

Each finds its places in a text by a few linear steps. ``hints`` are bytes of which at least one
stands in any text that it would change, so that most bodies are passed over by a quick search.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Places = Iterator[tuple[int, int]]

_AT = re.compile(r"@[^\W_][\w-]{0,62}(?:\.[^\W_][\w-]{0,62})+")
_LONGEST_LOCAL = 64
_IN_NAMES = "'’&"
"""What stands within names in addresses; before or behind a word it may be a quotation's."""

# A text may hold JSON, in which the letter before a number or a key is that of a line's end.
_NEW_LINE = r"(?<=\\[nrt])"

_CARD = re.compile(
    rf"(?:(?<![\w-])|{_NEW_LINE})"
    r"(?=(\d{13,19}"
    r"|\d{4}([ -])\d{4}\2\d{4}\2\d{1,4}(?:\2\d{1,3})?"
    r"|\d{4}([ -])\d{6}\3\d{4,5}"
    r")(?!\w))",
    re.ASCII,
)

_PHONE = re.compile(
    rf"(?:(?<![\w.+-])|{_NEW_LINE})(?:"
    r"\+[1-9](?:[ ().\-/]{0,2}\d){6,14}"
    r"|(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}"
    r"|0\d(?:[ .-]\d\d){4}"
    r"|\(?0\d{1,4}(?:\) ?|[ /-])\d{3,8}(?:[ -]\d{2,5}){0,2}"
    r"|00[1-9]\d{0,2}[ /-]\d{1,5}(?:[ /-]\d{2,8}){1,3}"
    r")(?!\w)",
    re.ASCII,
)
_FEWEST_DIGITS = 8

_KEY = re.compile(
    rf"(?:(?<![A-Za-z0-9_\-])|{_NEW_LINE})(?:"
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_\-]{16,}"
    r"|A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_\-]{20,}"
    r"|xox[abeprs]-[A-Za-z0-9\-]{10,}"
    r"|hf_[A-Za-z0-9]{20,}"
    r"|AIza[A-Za-z0-9_\-]{30,}"
    r"|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?"
    r"|[Bb]earer[ \t]{1,4}[A-Za-z0-9._~+/=\-]{16,}"
    r")"
)
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = "-----END "


@dataclass(frozen=True, slots=True)
class Secret:
    """One sort of what is taken out.

    Attributes:
        name: Its mark is this in brackets.
        places: Where it stands in a text, in order and apart from each other.
        hints: Bytes of which one is in the UTF-8 of any text with such a place.
        digits: Digits that stand in such a place, with at most separators between them; 0 if it
            can do without.
    """

    name: str
    places: Callable[[str], Places]
    hints: tuple[bytes, ...] = ()
    digits: int = 0

    def may_be_in(self, raw: bytes) -> bool:
        """Whether it may stand in a text of these bytes."""
        return any(hint in raw for hint in self.hints) or bool(
            self.digits and has_digits(raw, self.digits)
        )


_ALIKE = bytes(48 if 48 <= one <= 57 else 120 for one in range(256))
_BETWEEN = b" ()./-\\"


def has_digits(raw: bytes, least: int) -> bool:
    """Whether so many digits follow each other, with at most separators between them."""
    return b"0" * least in raw.translate(_ALIKE, _BETWEEN)


def _emails(text: str) -> Places:
    floor = 0
    for match in _AT.finditer(text):
        start, end = match.start(), match.end()
        labels = match[0].split(".")
        while len(labels) > 1 and not (labels[-1].isalpha() and len(labels[-1]) > 1):
            end -= len(labels.pop()) + 1
        if len(labels) == 1:
            continue
        lowest = max(floor, start - _LONGEST_LOCAL)
        while start > lowest and _is_of_name(text, start - 1, lowest):
            start -= 1
        if start < match.start():
            yield start, end
            floor = end


def _is_of_name(text: str, at: int, lowest: int) -> bool:
    """Whether a character before what is of an address belongs to it too."""
    one = text[at]
    if one in _IN_NAMES:
        return at > lowest and text[at - 1].isalnum() and text[at + 1].isalnum()
    return one.isalnum() or one in "._%+-"


def _cards(text: str) -> Places:
    floor = 0
    for match in _CARD.finditer(text):
        start, end = match.span(1)
        if start >= floor and _is_card(match[1].replace(" ", "").replace("-", "")):
            yield start, end
            floor = end


def _is_card(digits: str) -> bool:
    """Whether a company gives out such a number, and its check digit is right."""
    length, first = len(digits), digits[0]
    given_out = (
        (first == "4" and length in (13, 16, 19))
        or (first in "56" and length >= 16)
        or (first == "2" and length == 16 and "2221" <= digits[:4] <= "2720")
        or (digits[:2] in ("34", "37") and length == 15)
        or (first == "3" and length in (14, 16))
    )
    doubled = (int(one) * 2 for one in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(one - 9 if one > 9 else one for one in doubled)
    return given_out and total % 10 == 0


def _phones(text: str) -> Places:
    for match in _PHONE.finditer(text):
        number = match[0]
        fewest = _FEWEST_DIGITS if number[0] == "+" else _FEWEST_DIGITS + 1
        if sum(map(str.isdigit, number)) >= fewest:
            yield match.span()


def _keys(text: str) -> Places:
    floor = 0
    while (begun := _BEGIN.search(text, floor)) is not None:
        yield from _tokens(text, floor, begun.start())
        closed = text.find(_END, begun.end())
        line = text.find("-----", closed + len(_END)) if closed >= 0 else -1
        floor = line + 5 if line >= 0 else len(text)
        yield begun.start(), floor
    yield from _tokens(text, floor, len(text))


def _tokens(text: str, start: int, end: int) -> Places:
    for match in _KEY.finditer(text, start, end):
        # A word such as sk-learn-compatible has no digit; a key without one does not happen.
        if any(map(str.isdigit, match[0])):
            yield match.span()


BUILT_IN: Mapping[str, Secret] = {
    secret.name: secret
    for secret in (
        Secret(
            "key",
            _keys,
            (
                b"sk-", b"sk_", b"pk-", b"pk_", b"rk-", b"rk_", b"AKIA", b"ASIA", b"ghp_", b"gho_",
                b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"glpat-", b"xox", b"hf_", b"AIza",
                b"eyJ", b"earer", b"PRIVATE KEY",
            ),
        ),
        Secret("email", _emails, (b"@",)),
        Secret("card", _cards, digits=13),
        Secret("phone", _phones, digits=_FEWEST_DIGITS),
    )
}  # fmt: skip
"""By name, in the order in which they are taken out."""
