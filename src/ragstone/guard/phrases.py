"""Phrases: how each language says that a system failed, and how it asks for a list."""

import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files

from ragstone.judges.local.sentences import sentences

FILE = "phrases.toml"
LONGEST_MESSAGE = 400
"""A longer answer is more than a failure message."""
LONGEST_QUESTION = 4_000
"""Characters of a question that are looked through for a request."""

_PLAIN = str.maketrans("’‘ʼ＇´“”\u00a0", "'''''\"\" ")
_ENDS = " \t.!?…。！？,;:'\")]"
_MARKED = re.compile(r"(?:\[[^\[\]\n]{1,60}\]|【[^【】\n]{1,60}】)")
_DIGITS = r"[2-9]|[1-9]\d"
_NO_COUNT = (
    r"(?!\d|[-/%:.,]\S| ?(?:%|k\b|(?:minutes?|seconds?|hours?|days?|weeks?|months?|years?|percent"
    r"|dollars?|euros?)\b))"
)
"""After a number that counts nothing that could be listed: `50 %`, `24/7`, `two-factor`."""


_TABLES = tomllib.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))

LANGUAGES: tuple[str, ...] = tuple(_TABLES)
"""The languages that are known, by their two letters."""

_FAILURES = {
    language: tuple(re.compile(rf"\A(?:{one})\Z") for one in table["failure"])
    for language, table in _TABLES.items()
}
_LISTS = {
    language: tuple(
        re.compile(rf"\A(?:{one})".replace("NUMBER", f"(?:{table['number']}|{_DIGITS}){_NO_COUNT}"))
        for one in table["list"]
    )
    for language, table in _TABLES.items()
}
_LIST_FORMS = {
    language: tuple(re.compile(one) for one in table["list_form"])
    for language, table in _TABLES.items()
}


def failure_message(
    answer: str, languages: Sequence[str] | None = None, own: Sequence[str] = ()
) -> bool:
    """Whether the whole answer is nothing but a failure message.

    Each of its sentences must be one, as in `Sorry. Something went wrong. Please try again.`

    Args:
        answer: The answer; citation marks do not count.
        languages: Whose messages count; None: all there are.
        own: Further regular expressions, which the whole answer must match.
    """
    text = _MARKED.sub("", _plain(answer[: 2 * LONGEST_MESSAGE])).strip()
    if not text or len(answer) > LONGEST_MESSAGE:
        return any(re.fullmatch(one, answer.strip(), re.IGNORECASE | re.DOTALL) for one in own)
    if any(re.fullmatch(one, text, re.IGNORECASE | re.DOTALL) for one in own):
        return True
    parts = [part.text.strip(_ENDS) for part in sentences(text)]
    return bool(parts) and any(
        all(any(one.fullmatch(part) for one in patterns) for part in parts)
        for patterns in (_FAILURES[language] for language in languages or LANGUAGES)
    )


def asks_for_a_list(question: str, languages: Sequence[str] | None = None) -> bool:
    """Whether a question asks for its answer as a list.

    >>> asks_for_a_list("List the top 3 films"), asks_for_a_list("What is the list price?")
    (True, False)
    """
    text = _plain(question[:LONGEST_QUESTION])
    starts = [part.text for part in sentences(text)]
    return any(
        any(one.match(start) for start in starts for one in _LISTS[language])
        or any(one.search(text) for one in _LIST_FORMS[language])
        for language in languages or LANGUAGES
    )


def _plain(text: str) -> str:
    return " ".join(text.translate(_PLAIN).lower().split(" "))
