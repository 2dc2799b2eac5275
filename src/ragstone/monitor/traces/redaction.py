"""Redaction: takes out of every text what is not to be kept, before it is stored or judged."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import is_not
from typing import Any

from ragstone.core.errors import InputError, UnknownName
from ragstone.data.json_text import BadJsonError, decode

from .hints import Hints
from .secrets import BUILT_IN, Secret, has_digits

_ESCAPES = tuple(b"\\u00%d" % one for one in range(2, 8))
_ESCAPE = re.compile(r"\\u00([2-7][0-9A-Fa-f])")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_JSON = ("{", "[", '"')


@dataclass(frozen=True)
class Redaction:
    """What is taken out of texts, each replaced by its name in brackets, such as ``[email]``.

    Ids and times of the protocol, and numbers, are left as they are. A text that is JSON is
    redacted inside, so that it stays JSON.

    Attributes:
        built_in: Of ``email``, ``phone``, ``card`` (with a right check digit) and ``key`` (API
            keys, tokens, private keys), those to be taken out.
        patterns: The user's own regular expressions by their names.

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

    def __post_init__(self) -> None:
        for name in self.built_in:
            if name not in BUILT_IN:
                raise UnknownName("redaction", name, BUILT_IN)
        own = [(f"[{name}]", _compiled(name, given)) for name, given in self.patterns.items()]
        secrets = [secret for name, secret in BUILT_IN.items() if name in self.built_in]
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_secrets", secrets)
        # A text in JSON can spell any character by its number.
        hints = [*(hint for secret in secrets for hint in secret.hints), *_ESCAPES]
        object.__setattr__(self, "_hints", Hints([hint for hint in hints if len(hint) > 2]))
        object.__setattr__(self, "_short", [hint for hint in hints if len(hint) < 3])

    def redact(self, text: str) -> str:
        """The text with marks in place of what is taken out; the same object if there is nothing.

        >>> Redaction().redact("Write to ann@example.org or call (555) 123-4567.")
        'Write to [email] or call [phone].'
        """
        if text.lstrip()[:1] in _JSON and len(text) > 1:
            try:
                given = decode(text)
            except BadJsonError:
                return self._plain(_spelled(text))
            redacted = self.redact_in(given)
            return text if redacted is given else json.dumps(redacted, ensure_ascii=False)
        return self._plain(text)

    def redact_id(self, id: str) -> str:
        """The id, or a hash of it if it holds what is taken out.

        As a mark it would be the id of many, who could not be told apart, nor forgotten alone.
        """
        return id if self.redact(id) == id else hashed_id(id)

    def redact_in(self, value: Any) -> Any:
        """A JSON value with all of its texts and keys redacted; the same if there is nothing."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            parts = [self.redact_in(one) for one in value]
            return parts if any(map(is_not, parts, value)) else value
        if isinstance(value, dict):
            keys = [self.redact(key) for key in value]
            parts = [self.redact_in(one) for one in value.values()]
            same = not any(map(is_not, parts, value.values())) and not any(map(is_not, keys, value))
            return value if same else dict(zip(keys, parts, strict=True))
        return value

    def screen(self, body: bytes) -> Callable[[bytes], bool]:
        """What tells of a piece of a body whether any text in it may have to be redacted.

        It looks for bytes alone, and only for those that stand in the body at all.
        """
        if self._own:
            return lambda _: True
        if not self._secrets:
            return lambda _: False
        hints = [*self._short, *self._hints.within(body)]
        least = min((secret.digits for secret in self._secrets if secret.digits), default=0)

        def likely(piece: bytes) -> bool:
            return any(hint in piece for hint in hints) or bool(least and has_digits(piece, least))

        return likely

    def _plain(self, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        for secret in self._secrets:
            if secret.may_be_in(raw):
                text = _marked(text, list(secret.places(text)), f"[{secret.name}]")
        for mark, pattern in self._own:
            text = _marked(
                text, [found.span() for found in pattern.finditer(text) if found[0]], mark
            )
        return text


def hashed_id(id: str) -> str:
    """What stands for an id that is not kept: the same for the same id."""
    return blake2b(id.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _spelled(text: str) -> str:
    """A text that only looks like JSON, with the characters that it spells by their numbers."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)


def _marked(text: str, places: list[tuple[int, int]], mark: str) -> str:
    if not places:
        return text
    kept, at = [], 0
    for start, end in places:
        kept += [text[at:start], mark]
        at = end
    return "".join([*kept, text[at:]])


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"A redaction is named by small letters, digits and underscores, unlike {name!r}: "
            "its name becomes the mark."
        )
    try:
        found = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(
            f"{pattern!r}, which is to take out {name}, is no regular expression: {error}."
        ) from None
    if found.match(""):
        raise InputError(
            f"{pattern!r}, which is to take out {name}, matches an empty text too, so that marks "
            "would stand everywhere. Let it match at least one character."
        )
    return found
