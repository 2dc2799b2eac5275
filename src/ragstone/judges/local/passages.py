"""Passages: the contexts of one example, processed once for all asks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .sentences import each_sentence
from .words import stem_or_none, tokens

WINDOW = 3
"""Neighbouring sentences that are read together."""


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """The position of a sentence: ``contexts[context][start:end]``."""

    context: int
    start: int
    end: int


class Passages:
    """The sentences of the contexts in order, and which words are in which.

    Windows go across the border of two contexts, for some sets cut their pages into a context a
    sentence.
    """

    __slots__ = ("_bits", "places", "quotes", "tokens_of", "vocabulary", "where")

    def __init__(self, texts: Sequence[str]) -> None:
        self.places: list[SentenceSpan] = []
        self.quotes: list[str] = []
        self.tokens_of: list[list[str]] = []
        self.where: dict[str, list[int]] = defaultdict(list)
        self.vocabulary: set[str] = set()
        self._bits: dict[str, int] = {}
        for position, text in enumerate(texts):
            for _ in self.reading(position, text):
                pass

    def reading(self, position: int, text: str) -> Iterator[None]:
        """Read one more context, a sentence at each turn, so that it can be left unfinished."""
        for sentence in each_sentence(text):
            self.places.append(SentenceSpan(position, sentence.start, sentence.end))
            self._read(sentence.text)
            yield

    def _read(self, text: str) -> None:
        number = len(self.quotes)
        words = tokens(text)
        self.quotes.append(text)
        self.tokens_of.append(words)
        self.vocabulary.update(words)
        for stem in set(map(stem_or_none, words)):
            if stem:
                self.where[stem].append(number)

    def sentences_with(self, stem: str) -> int:
        """The sentences with a stem, as bits."""
        if stem not in self._bits:
            numbers = self.where.get(stem, ())
            bits = bytearray((len(self.quotes) >> 3) + 1)
            for number in numbers:
                bits[number >> 3] |= 1 << (number & 7)
            self._bits[stem] = int.from_bytes(bits, "little")
        return self._bits[stem]

    def holds(self, token: str) -> bool:
        """Whether a folded word, or another form of it, is in any context."""
        if token in self.vocabulary:
            return True
        stem = stem_or_none(token)
        return stem is not None and stem in self.where
