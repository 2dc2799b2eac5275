"""Claims and statements: the sentences of an answer or a reference that assert something.

Without a model, a claim is a sentence. Sentences that assert nothing are left out: questions,
greetings, offers of help, headings, also those of a table, fences of code, announcements that end
in a colon, lone citations.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .response import says_unable
from .sentences import Sentence, each_sentence, sentences
from .words import terms

VERSION = "ragstone-claims/3"

NO_CLAIMS = ("abstain", "refuse")
"""Replies that make no claim, by their type."""


@dataclass(frozen=True, slots=True)
class LocatedClaim:
    """One assertion of an answer and its position: ``text == answer[start:end]``.

    ``sentence`` is its index among all sentences of the answer. ``factual`` is False if the
    sentence only says what the answer or its sources cannot tell.
    """

    text: str
    start: int
    end: int
    sentence: int
    factual: bool


def claims(answer: str) -> list[LocatedClaim]:
    """The assertions of an answer, in order; none for text that asserts nothing.

    A sentence without a content word, such as `Yes.` or `Me too!`, counts only if it is alone.
    """
    found = [claim for claim in each_claim(answer) if claim is not None]
    with_content = [claim for claim in found if terms(claim.text)]
    return with_content or found


def each_claim(answer: str) -> Iterator[LocatedClaim | None]:
    """For each sentence of an answer its claim, with or without a content word; None if it has
    none.
    """
    for position, sentence in enumerate(each_sentence(answer)):
        yield claim_of(answer, sentence, position)


def claim_of(text: str, sentence: Sentence, position: int) -> LocatedClaim | None:
    """The claim of a sentence of a text; None if it asserts nothing."""
    if not _asserts(text, sentence.start, sentence.text):
        return None
    factual = not says_unable(sentence.text)
    return LocatedClaim(sentence.text, sentence.start, sentence.end, position, factual)


def statements(reference: str) -> list[str]:
    """The statements of a reference, sentence by sentence; a short reference is one statement."""
    if len(reference) <= SHORT_REFERENCE and "\n" not in reference.strip():
        return [reference.strip()] if reference.strip() else []
    parts = sentences(reference)
    found = [part.text for part in parts if _asserts(reference, part.start, part.text)]
    return found or [part.text for part in parts]


SHORT_REFERENCE = 60

_CITATION = re.compile(
    r"\[(?:Data:[^\]]{0,200}|[^\]\s]{0,40}(?: [^\]\s]{0,40}){0,4}(?<![.!?]))\]"
    r"|\((?:see |source:? )?[^()]{0,60}\d{4}\)|https?://\S+"
)
"""In square brackets five words at most that end with no stop, for more of them may be a claim."""
_COURTESY = re.compile(
    r"(?:hello|hi|hey|greetings|dear|sure|certainly|of course|absolutely|great question|"
    r"good question|thanks?|thank you|you're welcome|you are welcome|happy to help|glad to help|"
    r"i'?m (?:happy|glad) to|i hope (?:this|that|it)|hope (?:this|that) helps|let me know|"
    r"please let me know|feel free|please feel free|if you (?:have|need|would like|want|'d like) "
    r"(?:any|more|further|additional|me)|is there anything|would you like|do you (?:want|need)|"
    r"don't hesitate|please (?:note that i|see below)|here (?:is|are|'s) (?:the|a|an|some|my)"
    r"(?: \w+){0,4}[:.]?\Z)\b",
    re.IGNORECASE,
)
_WORDS_OF_COURTESY = 25
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+\Z")
_REFERENCE_LINE = re.compile(r"(?:sources?|references?|citations?|see also)\s*:", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")


_FENCE = re.compile(r"(?:`{3,}|~{3,})[^`\n]{0,40}")
_UNDER_HEADINGS = re.compile(r"[^\n]*\n[ \t|:]*-[-:| \t]*(?:\n|\r|\Z)")


def heads_a_table(text: str, start: int) -> bool:
    """Whether the row that begins here is the headings of a table: a row of dashes is below it."""
    return _UNDER_HEADINGS.match(text, start) is not None


def _asserts(text: str, start: int, sentence: str) -> bool:
    if sentence.rstrip("\"'”’)]*_ ").endswith(("?", "？", "؟")):
        return False
    if not _WORD.search(_CITATION.sub("", sentence)) or _REFERENCE_LINE.match(sentence):
        return False
    words = sentence.split()
    if sentence.rstrip("*_ ").endswith((":", "：")):
        return False
    if len(words) <= _WORDS_OF_COURTESY and _COURTESY.match(sentence):
        return False
    if _FENCE.fullmatch(sentence) or (sentence[0] == "|" and heads_a_table(text, start)):
        return False
    if "#" in text[max(0, start - 8) : start]:
        line = text.rfind("\n", 0, start) + 1
        return _HEADING.match(text[line:start]) is None
    return True
