"""Encoder: texts in, vectors out; the interface that every embedding model implements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text, special tokens included.

    Args:
        ids: Shape (t,), token ids.
        spans: Shape (t, 2), start and end of each token in the text; (0, 0) for a special token.
        vectors: Shape (t, d), hidden states of the layer, not normalised.
        embedding: Shape (d,), what ``embed`` returns for this text; None if a layer or limit
            other than the model's own was requested.
        cut: Whether the text was longer than the limit.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    vectors: Vectors
    embedding: Vectors | None
    cut: bool


class Encoder(Protocol):
    """An embedding model.

    Texts are passed to the model unchanged, except that lone surrogates are replaced by U+FFFD.
    An empty text has a vector too; the caller decides whether to use it.
    """

    @property
    def name(self) -> str:
        """As a user writes it: ``builtin:minilm``, a folder, ``org/name``, ``openai:MODEL``."""

    @property
    def about(self) -> str:
        """One line for reports: model, dimensions, token limit, back end."""

    @property
    def fingerprint(self) -> str:
        """A hash in 32 hex digits of weights, tokenizer, pooling, limit, back end and precision.

        Two encoders with the same fingerprint return the same vectors; it is part of cache keys
        and of signatures.
        """

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that ``embed`` reads, special tokens included.

        0 if the limit is not known; then it is not known either whether a text was truncated.
        """

    @property
    def longest(self) -> int:
        """The most tokens that the model can read; 0 if it gives no token vectors."""

    @property
    def layers(self) -> int:
        """The number of hidden layers; 0 if it gives no token vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, d), in the order of the texts.

        Raises:
            ModelFailure: The model failed: a server is down, say, or sent an invalid reply.
        """

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of every token.

        Args:
            texts: Any number.
            layer: Return the hidden states of this layer: 1 is the first, 0 the word embeddings;
                None: the last.
            limit: Most tokens to read, special tokens included, up to ``longest``; None:
                ``max_tokens``.

        Raises:
            ModelError: The model gives no token vectors, or has no such layer.
        """

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Shape (n,), the tokens of each text before truncation, special tokens included.

        0 if the model does not report it.
        """
