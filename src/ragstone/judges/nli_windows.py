"""Windows: sections of the contexts that hold a proposition's words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .local.sentences import sentences
from .local.words import terms

SENTENCES = 5
"""In a window."""

WINDOWS = 5
"""For a proposition."""

SHARED = 2
"""Sentences that two windows may have in common."""


@dataclass(frozen=True, slots=True)
class ContextSentence:
    """A sentence of the contexts.

    Args:
        text: Word for word.
        context: The context's position, from 0.
        terms: Its stemmed content words.
    """

    text: str
    context: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences in a row, at least one, to be read for a proposition with these content words."""

    sentences: tuple[ContextSentence, ...]
    proposition: str
    wanted: frozenset[str]

    @property
    def pair(self) -> tuple[str, str]:
        """Premise and hypothesis: the sentences, a space between them, and the proposition."""
        return " ".join(sentence.text for sentence in self.sentences), self.proposition

    @property
    def fullest(self) -> tuple[ContextSentence, ...]:
        """Sentences with words of the proposition, most words first; all if none has any."""
        holding = [one for one in self.sentences if one.terms & self.wanted]
        holding.sort(key=lambda one: -len(one.terms & self.wanted))
        return tuple(holding) or self.sentences

    @property
    def shorter(self) -> "Window":
        """Without its first or its last sentence, whichever has fewer words of the proposition."""
        first, last = (len(self.sentences[end].terms & self.wanted) for end in (0, -1))
        left = self.sentences[1:] if first < last else self.sentences[:-1]
        return replace(self, sentences=left)


def read_sentences(contexts: Sequence[str]) -> list[ContextSentence]:
    """The sentences of the contexts, in order."""
    return [
        ContextSentence(sentence.text, position, frozenset(terms(sentence.text)))
        for position, text in enumerate(contexts)
        for sentence in sentences(text)
    ]


def windows(proposition: str, passages: Sequence[ContextSentence]) -> list[Window]:
    """The windows to be read for a proposition: those with most of its content words first.

    A window begins one sentence before one that holds a word, which may say what a pronoun means.
    Where that makes fewer, further ones are taken from the beginning on, for a context may say the
    same in other words. None for a blank proposition.
    """
    if not proposition.strip():
        return []
    wanted = frozenset(terms(proposition))
    chosen: list[int] = []
    for start in _candidates(wanted, passages):
        if len(chosen) == WINDOWS:
            break
        if all(abs(start - other) >= SENTENCES - SHARED for other in chosen):
            chosen.append(start)
    return [
        Window(tuple(passages[start : start + SENTENCES]), proposition, wanted) for start in chosen
    ]


def _candidates(wanted: frozenset[str], passages: Sequence[ContextSentence]) -> Iterator[int]:
    """First sentences, in the order in which windows are taken."""
    last = max(0, len(passages) - SENTENCES)
    holding = [number for number, one in enumerate(passages) if one.terms & wanted]
    starts = sorted({min(last, max(0, number - 1)) for number in holding})
    held = {start: _held(wanted, passages[start : start + SENTENCES]) for start in starts}
    yield from sorted(starts, key=lambda start: -held[start])
    yield from range(0, len(passages), SENTENCES)


def _held(wanted: frozenset[str], window: Sequence[ContextSentence]) -> int:
    return len(wanted.intersection(term for one in window for term in one.terms))
