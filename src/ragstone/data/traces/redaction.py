"""Redaction: email addresses, phones, cards, keys and custom patterns are taken out of texts.

Each built-in secret has ``hints``: every text that it would change contains some hint, so a quick
search passes over most bodies. All hints are searched in a single pass, because twenty separate
passes would be most of the time that a body takes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import is_not
from typing import Any

import numpy as np

from ragstone.core.errors import InputError, UnknownName
from ragstone.data.json_text import BadJsonError, decode

_FIRST, _SECOND = np.uint16(961), np.uint16(31)
_SHORT, _PIECE = 2_000, 1_000_000


class Hints:
    """The strings that are looked for, of at least three bytes each.

    >>> Hints([b"sk-", b"AKIA"]).within(b"a task-force")
    [b'sk-']
    """

    def __init__(self, hints: Sequence[bytes]) -> None:
        self._hints = tuple(hints)
        self._begins = np.zeros(1 << 16, np.bool_)
        for hint in hints:
            self._begins[_sums(np.frombuffer(hint[:3], np.uint8))] = True

    def within(self, body: bytes) -> list[bytes]:
        """Return those that stand in a body."""
        if len(body) < _SHORT:
            return [hint for hint in self._hints if hint in body]
        present: set[bytes] = set()
        for start in range(0, len(body) - 2, _PIECE):
            piece = np.frombuffer(body, np.uint8, min(_PIECE + 2, len(body) - start), start)
            for begin in np.flatnonzero(self._begins[_sums(piece)]).tolist():
                for hint in self._hints:
                    if body.startswith(hint, start + begin):
                        present.add(hint)
                        break
                if len(present) == len(self._hints):
                    return list(self._hints)
        return [hint for hint in self._hints if hint in present]


def _sums(raw: np.ndarray) -> np.ndarray:
    """Return a number for each three bytes in a row; others may have the same."""
    sums = raw[:-2] * _FIRST
    sums += raw[1:-1] * _SECOND
    sums += raw[2:]
    return sums


Places = Iterator[tuple[int, int]]

_AT = re.compile(r"@[^\W_][\w-]{0,62}(?:\.[^\W_][\w-]{0,62})+")
_LONGEST_LOCAL = 64
# What stands within names in addresses; before or behind a word it may be a quotation's.
_IN_NAMES = "'’&"

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
        hints: Bytes of which one is in the UTF-8 of any text with such a place.
        digits: Digits that stand in such a place, with at most separators between them; 0 if it
            can do without.
    """

    name: str
    places: Callable[[str], Places]
    hints: tuple[bytes, ...] = ()
    digits: int = 0

    def may_be_in(self, raw: bytes) -> bool:
        """Tell whether it may stand in a text of these bytes."""
        return any(hint in raw for hint in self.hints) or bool(
            self.digits and has_digits(raw, self.digits)
        )


_ALIKE = bytes(48 if 48 <= code <= 57 else 120 for code in range(256))
_BETWEEN = b" ()./-\\"


def has_digits(raw: bytes, least: int) -> bool:
    """Tell whether so many digits follow each other, with at most separators between them."""
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
    character = text[at]
    if character in _IN_NAMES:
        return at > lowest and text[at - 1].isalnum() and text[at + 1].isalnum()
    return character.isalnum() or character in "._%+-"


def _cards(text: str) -> Places:
    floor = 0
    for match in _CARD.finditer(text):
        start, end = match.span(1)
        if start >= floor and _is_card(match[1].replace(" ", "").replace("-", "")):
            yield start, end
            floor = end


def _is_card(digits: str) -> bool:
    """Tell whether a company gives out such a number, and its check digit is right."""
    length, first = len(digits), digits[0]
    given_out = (
        (first == "4" and length in (13, 16, 19))
        or (first in "56" and length >= 16)
        or (first == "2" and length == 16 and "2221" <= digits[:4] <= "2720")
        or (digits[:2] in ("34", "37") and length == 15)
        or (first == "3" and length in (14, 16))
    )
    doubled = (int(digit) * 2 for digit in digits[-2::-2])
    total = sum(map(int, digits[::-2])) + sum(item - 9 if item > 9 else item for item in doubled)
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


_KEY_HINTS = (
    *b"sk- sk_ pk- pk_ rk- rk_ AKIA ASIA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox".split(),
    *(b"hf_", b"AIza", b"eyJ", b"earer", b"PRIVATE KEY"),
)
_SECRETS = (
    Secret("key", _keys, _KEY_HINTS),
    Secret("email", _emails, (b"@",)),
    Secret("card", _cards, digits=13),
    Secret("phone", _phones, digits=_FEWEST_DIGITS),
)
# By name, in the order in which they are taken out.
BUILT_IN: Mapping[str, Secret] = {secret.name: secret for secret in _SECRETS}


_ESCAPES = tuple(b"\\u00%d" % code for code in range(2, 8))
_ESCAPE = re.compile(r"\\u00([2-7][0-9A-Fa-f])")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_JSON = ("{", "[", '"')


@dataclass(frozen=True)
class Redaction:
    """Patterns that are taken out of texts, each replaced by its name in brackets, such as
    ``[email]``.

    Ids and times of the protocol, and numbers, are left as they are. A text that is JSON is
    redacted inside, so that it stays JSON.

    Attributes:
        built_in: Of ``email``, ``phone``, ``card`` (with a right check digit) and ``key`` (API
            keys, tokens, private keys), those to be taken out.

    Raises:
        UnknownName: One of ``built_in`` is not there.
        InputError: A pattern is no regular expression, matches the empty text, or its name is
            not made of small letters, digits and underscores.
    """

    built_in: tuple[str, ...] = ("email", "phone", "card", "key")
    patterns: Mapping[str, str] = field(default_factory=dict)

    _own: list[tuple[str, re.Pattern[str]]] = field(init=False, repr=False, compare=False)
    _secrets: list[Secret] = field(init=False, repr=False, compare=False)
    _hints: Hints = field(init=False, repr=False, compare=False)
    _short: list[bytes] = field(init=False, repr=False, compare=False)
    _any: re.Pattern[bytes] = field(init=False, repr=False, compare=False)
    _least: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in self.built_in:
            if name not in BUILT_IN:
                raise UnknownName("redaction", name, BUILT_IN)
        patterns = [
            (f"[{name}]", _compiled(name, pattern)) for name, pattern in self.patterns.items()
        ]
        secrets = [secret for name, secret in BUILT_IN.items() if name in self.built_in]
        object.__setattr__(self, "_own", patterns)
        object.__setattr__(self, "_secrets", secrets)
        # A text in JSON can spell any character by its number.
        hints = [*(hint for secret in secrets for hint in secret.hints), *_ESCAPES]
        object.__setattr__(self, "_hints", Hints([hint for hint in hints if len(hint) > 2]))
        object.__setattr__(self, "_short", [hint for hint in hints if len(hint) < 3])
        object.__setattr__(self, "_any", re.compile(b"|".join(map(re.escape, hints))))
        digits = [secret.digits for secret in secrets if secret.digits]
        object.__setattr__(self, "_least", min(digits, default=0))

    def redact(self, text: str) -> str:
        """Return the text with marks in place of what is taken out; the same object if there is
        nothing.

        >>> Redaction().redact("Write to ann@example.org or call (555) 123-4567.")
        'Write to [email] or call [phone].'
        """
        if text.lstrip()[:1] in _JSON and len(text) > 1:
            try:
                value = decode(text)
            except BadJsonError:
                return self._plain(_spelled(text))
            redacted = self.redact_in(value)
            return text if redacted is value else json.dumps(redacted, ensure_ascii=False)
        return self._plain(text)

    def redact_id(self, id: str) -> str:
        """Return the id, or a hash of it if it holds what is taken out.

        As a mark it would be the id of many, who could not be distinguished, nor erased alone.
        """
        return id if self.redact(id) == id else hashed_id(id)

    def redact_in(self, value: Any) -> Any:
        """Return a JSON value with all of its texts and keys redacted."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            parts = [self.redact_in(item) for item in value]
            return parts if any(map(is_not, parts, value)) else value
        if isinstance(value, dict):
            keys = [self.redact(key) for key in value]
            parts = [self.redact_in(item) for item in value.values()]
            same = not any(map(is_not, parts, value.values())) and not any(map(is_not, keys, value))
            return value if same else dict(zip(keys, parts, strict=True))
        return value

    def screen(self, body: bytes) -> Callable[[bytes], bool]:
        """Return what tells of a piece of a body whether any text in it may have to be redacted.

        It looks for bytes alone, and only for those that stand in the body at all.
        """
        if self._own:
            return lambda _: True
        if not self._secrets:
            return lambda _: False
        hints = [*self._short, *self._hints.within(body)]
        least = self._least

        def likely(piece: bytes) -> bool:
            return any(hint in piece for hint in hints) or bool(least and has_digits(piece, least))

        return likely

    def _may_hold(self, raw: bytes) -> bool:
        """Tell whether a text may have to be redacted; of short ones, which are most, at once."""
        if len(raw) >= _SHORT or self._any.search(raw):
            return True
        return bool(self._least) and has_digits(raw, self._least)

    def _plain(self, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        for secret in self._secrets if self._may_hold(raw) else ():
            if secret.may_be_in(raw):
                text = _marked(text, list(secret.places(text)), f"[{secret.name}]")
        for mark, pattern in self._own:
            text = _marked(
                text, [match.span() for match in pattern.finditer(text) if match[0]], mark
            )
        return text


def hashed_id(id: str) -> str:
    """Return what stands for an id that is not kept: the same for the same id."""
    return blake2b(id.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _spelled(text: str) -> str:
    """Return a text that looks like JSON, with the characters that it spells by their numbers."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def _marked(text: str, places: list[tuple[int, int]], mark: str) -> str:
    if not places:
        return text
    pieces, at = [], 0
    for start, end in places:
        pieces += [text[at:start], mark]
        at = end
    return "".join([*pieces, text[at:]])


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"A redaction is named by small letters, digits and underscores, unlike {name!r}: "
            "its name becomes the mark."
        )
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(
            f"{pattern!r}, which is to take out {name}, is no regular expression: {error}."
        ) from None
    if compiled.match(""):
        raise InputError(
            f"{pattern!r}, which is to take out {name}, matches an empty text too, so that marks "
            "would stand everywhere. Let it match at least one character."
        )
    return compiled
