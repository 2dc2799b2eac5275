"""Boundary: the lines around a text to be judged, which no text can forge.

A boundary line is ``==== HASH ID``. The hash is computed from the text between the lines, so
equal texts give equal bytes in every run, and no text can contain the hash of its own block.

What looks like a boundary line or sentence number, or is invisible, is shown with a visible
backslash before it: ``\\u202e``, ``\\[s3]``, ``\\==== 5f…``. Backslashes right before such a place
are doubled, so that the original text can be recovered.
"""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b

_JOINED = (
    "\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe0f\ufe70-\ufefc"
    "\u2190-\u2bff\U0001f000-\U0001faff"
)
"""Characters between which a joiner is part of the spelling: Persian, Hindi, emoji."""

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control characters but line feed and tab, direction marks, characters without width, tags,
lone surrogates, line separators."""

_LINE = "=＝﹦═⁼₌"
_GAP = "[ \t\xa0\u2000-\u200a\u202f\u205f\u3000]"
_HASH = r"[\dA-Fa-fＡ-Ｆａ-ｆАВСЕавсеΑΒΕ]{24}"
_MARK = f"{_GAP}?[sSｓＳѕЅ]{_GAP}?\\d+{_GAP}?[\\]］】]"
_JOINER = f"(?:(?<![{_JOINED}][\u200c\u200d])|(?![{_JOINED}]))"

_SHOWN_ESCAPED = re.compile(
    # One set of characters to begin with, for that is what a search is quick with.
    f"[{_UNSEEN}\u200c\u200d{_LINE}\\[［【\\\\](?:"
    f"(?<=[{_UNSEEN}])"
    f"|(?<=[\u200c\u200d]){_JOINER}"
    f"|(?<=[{_LINE}])(?<![{_LINE}]{{2}})[{_LINE}]{{2,}}{_GAP}{{0,8}}{_HASH}"
    f"|(?<=[\\[［【]){_MARK}"
    r"|(?<=\\)(?<!\\\\)\\*"
    f"(?:[{_UNSEEN}]|[\u200c\u200d]{_JOINER}|[{_LINE}]{{3,}}{_GAP}{{0,8}}{_HASH}"
    f"|[\\[［【]{_MARK}|u[0-9a-f]{{4}}|U[0-9a-f]{{8}}))"
)
_ESCAPED = re.compile(
    r"(?<!\\)(\\+)"
    f"(?:u([0-9a-f]{{4}})|U([0-9a-f]{{8}})"
    f"|(?=[{_LINE}]{{3,}}{_GAP}{{0,8}}{_HASH}|[\\[［【]{_MARK}))"
)


def boundary(facts: Iterable[str], texts: Sequence[str]) -> str:
    """BLAKE2b-128 of the facts as 32 hex digits, hashed again until no text holds it.

    Args:
        facts: What stands in the block: its title, ids and texts.
        texts: Where the hash must not occur, in either case.
    """
    digest = blake2b(digest_size=16)
    for fact in facts:
        written = fact.encode()
        digest.update(b"%d:" % len(written))
        digest.update(written)
    searched = "\n".join(texts).lower()
    while (made := digest.hexdigest()) in searched:
        digest.update(b"again")
    return made


def line(mark: str, name: str = "") -> str:
    """A boundary line, with its end."""
    return f"==== {mark} {name}\n" if name else f"==== {mark}\n"


def escaped(text: str) -> str:
    """A text as it is shown; without anything to escape it is unchanged, except for CRLF."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if _SHOWN_ESCAPED.search(text) is None:
        return text
    return _SHOWN_ESCAPED.sub(_visible, text)


def unescaped(shown: str) -> str:
    """The original of a text that was escaped."""
    return _ESCAPED.sub(_original, shown) if "\\" in shown else shown


def _visible(match: re.Match[str]) -> str:
    found = match.group()
    plain = found.lstrip("\\")
    slashes = found[: len(found) - len(plain)]
    before = slashes * 2
    if plain[0] in "uU" and slashes:
        return before + plain
    if len(plain) > 1:
        return f"{before}\\{plain}"
    code = ord(plain)
    return f"{before}\\u{code:04x}" if code < 0x10000 else f"{before}\\U{code:08x}"


def _original(match: re.Match[str]) -> str:
    slashes, short, long = match.groups()
    kept = slashes[: len(slashes) // 2]
    code = short or long
    if code is None:
        return kept
    if len(slashes) % 2:
        return kept + chr(int(code, 16))
    return f"{kept}{'u' if short else 'U'}{code}"
