"""Tokenizer: texts in, token numbers out, cut where the model stops reading."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import MissingDependency, ModelError

from .small_file import small_file

if TYPE_CHECKING:
    import tokenizers

T = TypeVar("T")

PANIC = "PanicException"
"""A fault in Rust. Its class is the extension's own, and no ``Exception``."""

SURROGATE = re.compile("[\ud800-\udfff]")
BLOCK_TEXTS = 256
BLOCK_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """The tokens of one text, special ones included.

    Args:
        ids: Shape (t,), the tokenizer's numbers.
        spans: Shape (t, 2), where each token stands in the text; (0, 0) for a special one.
        cut: Whether the text was longer than the limit.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    cut: bool


class UnusableTokenizer(ModelError):
    """A tokenizer that is none, or not of a kind that can be used here."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected = expected
        self.got = got
        super().__init__(f"Expected {expected}, got {got}.")


class TextTokenizer:
    """The tokenizer of a model that sets one special token before a text and one behind it.

    A text is read as it stands, but a lone surrogate is read as U+FFFD.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        """Takes the tokenizer over: what it would cut or pad by itself is switched off.

        Raises:
            UnusableTokenizer: It does not set one special token before a text and one behind it.
        """
        tokenizer.no_truncation()
        tokenizer.no_padding()
        empty = len(tokenizer.encode(""))
        if empty != 2:
            expected = "one special token before a text and one behind it"
            raise UnusableTokenizer(expected, f"{empty} tokens for an empty text")
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, path: Path, *, lower_case: bool = False) -> Self:
        """The tokenizer of a ``tokenizer.json``.

        Args:
            path: The file.
            lower_case: Fold case first, whatever the file says.

        Raises:
            MissingDependency: ``tokenizers`` is not installed.
            UnusableTokenizer: No file, or not a tokenizer as above.
        """
        try:
            import tokenizers
            from tokenizers import normalizers
        except ImportError as error:
            raise MissingDependency("Reading a tokenizer", "local") from error
        try:
            content = small_file(path)
        except OSError as error:
            raise UnusableTokenizer("a file", error.strerror or "an error") from error
        with _told("one that does not load"):
            tokenizer = tokenizers.Tokenizer.from_buffer(content)
            if lower_case:
                known = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
                tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *known])
            return cls(tokenizer)

    @property
    def size(self) -> int:
        """One more than the largest number of a token."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def ids(self, texts: Sequence[str], limit: int) -> list[NDArray[np.int32]]:
        """The numbers of each text's tokens, at most ``limit`` of them, special ones included."""
        with _told("one that fails"):
            return [
                np.array(_cut(encoding.ids, limit), np.int32)
                for block in _blocks(texts)
                for encoding in self._tokenizer.encode_batch_fast(block)
            ]

    def tokens(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """The tokens of each text with their places, at most ``limit`` of them."""
        with _told("one that fails"):
            return [
                TokenizedText(
                    np.array(_cut(encoding.ids, limit), np.int32),
                    np.array(_cut(encoding.offsets, limit), np.int32),
                    len(encoding.ids) > limit,
                )
                for block in _blocks(texts)
                for encoding in self._tokenizer.encode_batch(block)
            ]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Shape (n,), the tokens of each text before it is cut, special ones included."""
        with _told("one that fails"):
            lengths = [
                len(encoding)
                for block in _blocks(texts)
                for encoding in self._tokenizer.encode_batch_fast(block)
            ]
        return np.array(lengths, np.int32)


@contextmanager
def _told(got: str) -> Iterator[None]:
    """What tokenizers raises, which is nothing narrower than Exception, and its panics."""
    try:
        yield
    except UnusableTokenizer:
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == PANIC):
            raise
        raise UnusableTokenizer("a tokenizer", f"{got}: {error}") from error


def readable(text: str) -> str:
    """The text with U+FFFD for every lone surrogate, as long as before."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def _blocks(texts: Sequence[str]) -> Iterator[list[str]]:
    """Few enough at a time that the tokenizer's own tables of them stay small."""
    block: list[str] = []
    characters = 0
    for text in texts:
        block.append(readable(text))
        characters += len(text)
        if len(block) == BLOCK_TEXTS or characters >= BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block


def _cut(tokens: list[T], limit: int) -> list[T]:
    """The first tokens and the special one that stands behind them all."""
    return tokens if len(tokens) <= limit else [*tokens[: limit - 1], tokens[-1]]
