"""Tokenizer: texts in, token ids out, cut to the model's limit; padding and small model files."""

import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, needing

if TYPE_CHECKING:
    import tokenizers


# Bytes; the largest tokenizers have a tenth of this size.
LONGEST = 256 * 2**20


def small_file(file: Path) -> bytes:
    """Return the file's content."""
    facts = file.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(0, "not a regular file")
    if facts.st_size > LONGEST:
        raise OSError(0, f"a file of {facts.st_size:,} bytes, more than {LONGEST:,}")
    with file.open("rb") as content:
        return content.read(LONGEST)


def inside(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.bool_]:
    """Return shape (rows, longest), true up to the end of each row."""
    lengths = np.array([len(row) for row in rows])
    mask: NDArray[np.bool_] = np.arange(lengths.max()) < lengths[:, None]
    return mask


def padded(rows: Sequence[NDArray[np.int32]], padding: int = 0) -> NDArray[np.int32]:
    """Return the rows as a matrix, shorter ones filled up with ``padding`` at the end."""
    mask = inside(rows)
    matrix = np.full(mask.shape, padding, np.int32)
    matrix[mask] = np.concatenate(rows)
    return matrix


T = TypeVar("T")

# A panic in Rust code. Its class belongs to the extension and is not an ``Exception``.
PANIC = "PanicException"

SURROGATE = re.compile("[\ud800-\udfff]")
BLOCK_TEXTS = 256
BLOCK_CHARACTERS = 1_000_000


class UnusableTokenizer(ModelError):
    """The tokenizer is invalid or not supported."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected = expected
        self.got = got
        super().__init__(f"Expected {expected}, got {got}.")


class TextTokenizer:
    """A tokenizer that puts one special token before a text and one after it.

    Texts are passed on unchanged, except that lone surrogates are replaced by U+FFFD.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        """Take ownership of the tokenizer; its own truncation and padding are switched off."""
        tokenizer.no_truncation()
        tokenizer.no_padding()
        empty = len(tokenizer.encode(""))
        if empty != 2:
            expected = "one special token before a text and one after it"
            raise UnusableTokenizer(expected, f"{empty} tokens for an empty text")
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, path: Path, *, lower_case: bool = False) -> Self:
        """Read a ``tokenizer.json``."""
        with needing("Reading a tokenizer", "local"):
            import tokenizers
            from tokenizers import normalizers
        try:
            content = small_file(path)
        except OSError as error:
            raise UnusableTokenizer("a file", error.strerror or "an error") from error
        with _tokenizer_errors("one that cannot be loaded"):
            tokenizer = tokenizers.Tokenizer.from_buffer(content)
            if lower_case:
                known = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
                tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *known])
            return cls(tokenizer)

    @property
    def size(self) -> int:
        """The largest token id plus 1."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def ids(self, texts: Sequence[str], limit: int) -> list[NDArray[np.int32]]:
        """Return the token ids of each text, at most ``limit``, special tokens included."""
        encodings = self._encoded(texts, self._tokenizer.encode_batch_fast)
        return [np.array(_cut(encoding.ids, limit), np.int32) for encoding in encodings]

    def tokens(
        self, texts: Sequence[str], limit: int
    ) -> list[tuple[NDArray[np.int32], NDArray[np.int32], bool]]:
        """Return the tokens of each text with their spans, at most ``limit``, and if it was cut.

        A span has shape (t, 2), start and end of each token; (0, 0) for a special token.
        """
        return [
            (
                np.array(_cut(encoding.ids, limit), np.int32),
                np.array(_cut(encoding.offsets, limit), np.int32),
                len(encoding.ids) > limit,
            )
            for encoding in self._encoded(texts, self._tokenizer.encode_batch)
        ]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return shape (n,), the tokens of each text before truncation, special ones included."""
        encodings = self._encoded(texts, self._tokenizer.encode_batch_fast)
        return np.array([len(encoding) for encoding in encodings], np.int32)

    def _encoded(self, texts: Sequence[str], encode: Callable[[list[str]], Any]) -> Iterator[Any]:
        with _tokenizer_errors("one that fails"):
            # In blocks, which bounds the memory of the tokenizer's intermediate results.
            for block in blocks(map(readable, texts), BLOCK_TEXTS, BLOCK_CHARACTERS):
                yield from encode(block)


Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TokenizedPair:
    """The tokens of two texts, one after the other, special tokens included.

    Args:
        types: Shape (t,), token types, which tell the first text from the second.
        length: The number of tokens before truncation; more than t if the pair was truncated.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    length: int


class PairTokenizer(TextTokenizer):
    """The tokenizer of a cross-encoder: special tokens before, between and after two texts."""

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        """Take ownership of the tokenizer, whose settings may change."""
        super().__init__(tokenizer)
        seen = tokenizer.encode("a", "a")
        tokens = zip(seen.sequence_ids, seen.ids, seen.type_ids, strict=True)
        runs = [[*run] for _, run in groupby(tokens, key=lambda token: token[0])]
        if [run[0][0] for run in runs] != [None, 0, None, 1, None]:
            expected = "special tokens before, between and after two texts"
            raise UnusableTokenizer(expected, " ".join(seen.tokens))
        self._around = [np.array([number for _, number, _ in run], np.int32) for run in runs[::2]]
        self._types = [kind for (_, _, kind), *_ in runs]

    def pairs(self, pairs: Sequence[Pair], limit: int) -> list[TokenizedPair]:
        """Return the tokens of each pair, at most ``limit`` of them, special tokens included.

        A longer pair is truncated at the ends of its texts, the longer text first, as in
        transformers and sentence-transformers.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        whole = self.ids(texts, sys.maxsize)
        ids = {text: tokens[1:-1] for text, tokens in zip(texts, whole, strict=True)}
        return [self._joined(ids[first], ids[second], limit) for first, second in pairs]

    def _joined(
        self, first: NDArray[np.int32], second: NDArray[np.int32], limit: int
    ) -> TokenizedPair:
        before, between, behind = self._around
        special = len(before) + len(between) + len(behind)
        ends = _ends(len(first), len(second), limit - special)
        parts = (before, first[: ends[0]], between, second[: ends[1]], behind)
        types = np.repeat(np.array(self._types, np.int32), [len(part) for part in parts])
        return TokenizedPair(np.concatenate(parts), types, len(first) + len(second) + special)


def lengths_of(pairs: Iterable[TokenizedPair]) -> NDArray[np.int32]:
    """Return the number of tokens of each pair, after truncation."""
    return np.array([len(pair.ids) for pair in pairs], np.int32)


def _ends(first: int, second: int, room: int) -> tuple[int, int]:
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    return (shorter, room - shorter) if first <= second else (room - shorter, shorter)


@contextmanager
def _tokenizer_errors(got: str) -> Iterator[None]:
    """Turn any error of the tokenizers library, and panics in it, into ``UnusableTokenizer``."""
    try:
        yield
    except UnusableTokenizer:
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == PANIC):
            raise
        raise UnusableTokenizer("a tokenizer", f"{got}: {error}") from error


def readable(text: str) -> str:
    """Return the text with U+FFFD for every lone surrogate; its length does not change."""
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


def blocks(texts: Iterable[str], most: int, characters: int) -> Iterator[list[str]]:
    """Yield the texts in blocks of so many texts and characters at most, or of one longer text."""
    block: list[str] = []
    size = 0
    for text in texts:
        if block and (len(block) == most or size + len(text) > characters):
            yield block
            block, size = [], 0
        block.append(text)
        size += len(text)
    if block:
        yield block


def _cut(tokens: list[T], limit: int) -> list[T]:
    return tokens if len(tokens) <= limit else [*tokens[: limit - 1], tokens[-1]]
