"""Pairs: tokenizes two texts for a cross-encoder and truncates them to its limit."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .tokenizer import TextTokenizer, UnusableTokenizer

if TYPE_CHECKING:
    import tokenizers

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """The tokens of two texts, one after the other, special tokens included.

    Args:
        ids: Shape (t,), token ids.
        types: Shape (t,), token types, which tell the first text from the second.
        length: The number of tokens before truncation; more than t if the pair was truncated.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    length: int


class PairTokenizer(TextTokenizer):
    """The tokenizer of a cross-encoder: special tokens before, between and after two texts."""

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        """Take ownership of the tokenizer, whose settings may change.

        Raises:
            UnusableTokenizer: It places special tokens elsewhere.
        """
        super().__init__(tokenizer)
        seen = tokenizer.encode("a", "a")
        tokens = zip(seen.sequence_ids, seen.ids, seen.type_ids, strict=True)
        runs = [[*run] for _, run in groupby(tokens, key=lambda token: token[0])]
        if [run[0][0] for run in runs] != [None, 0, None, 1, None]:
            expected = "special tokens before, between and after two texts"
            raise UnusableTokenizer(expected, " ".join(seen.tokens))
        self._around = [np.array([number for _, number, _ in run], np.int32) for run in runs[::2]]
        self._types = [kind for (_, _, kind), *_ in runs]

    @property
    def tells_texts_apart(self) -> bool:
        """Whether it gives the second text its own token type."""
        return any(self._types)

    def pairs(self, pairs: Sequence[Pair], limit: int) -> list[TokenizedPair]:
        """The tokens of each pair, at most ``limit`` of them, special tokens included.

        A longer pair is truncated at the ends of its texts, the longer text first, as in
        transformers and sentence-transformers.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        whole = self.ids(texts, sys.maxsize)
        ids = {text: one[1:-1] for text, one in zip(texts, whole, strict=True)}
        return [self._joined(ids[first], ids[second], limit) for first, second in pairs]

    def _joined(
        self, first: NDArray[np.int32], second: NDArray[np.int32], limit: int
    ) -> TokenizedPair:
        before, between, behind = self._around
        special = len(before) + len(between) + len(behind)
        ends = _cut(len(first), len(second), limit - special)
        parts = (before, first[: ends[0]], between, second[: ends[1]], behind)
        types = np.repeat(np.array(self._types, np.int32), [len(part) for part in parts])
        return TokenizedPair(np.concatenate(parts), types, len(first) + len(second) + special)


def lengths_of(pairs: Iterable[TokenizedPair]) -> NDArray[np.int32]:
    """The number of tokens of each pair, after truncation."""
    return np.array([len(pair.ids) for pair in pairs], np.int32)


def _cut(first: int, second: int, room: int) -> tuple[int, int]:
    """How many tokens of each text are kept, given their lengths and the room for both."""
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    return (shorter, room - shorter) if first <= second else (room - shorter, shorter)
