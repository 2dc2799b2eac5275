"""Encoder: texts in, vectors out; the one seam behind which every embedding model stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One text as its model reads it, special tokens included.

    Args:
        ids: Shape (t,), the tokenizer's numbers.
        spans: Shape (t, 2), where each token stands in the text; (0, 0) for a special one.
        vectors: Shape (t, d), hidden states as the layer gives them, not normalised.
        embedding: Shape (d,), what ``embed`` gives for this text; None where another layer or
            another limit than the model's own was asked for.
        cut: Whether the text was longer than the limit.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    vectors: Vectors
    embedding: Vectors | None
    cut: bool


class Encoder(Protocol):
    """An embedding model.

    A text is read as it stands. Lone surrogates are read as U+FFFD. An empty text has a vector
    too, for a model has one: that it means nothing is for the caller to say.
    """

    @property
    def name(self) -> str:
        """As a user writes it: ``builtin:minilm``, a folder, ``org/name``, ``openai:MODEL``."""

    @property
    def about(self) -> str:
        """One line for reports: the model, its dimensions, its limit, its back end."""

    @property
    def fingerprint(self) -> str:
        """32 hex digits over weights, tokenizer, pooling, limit, back end and precision.

        Two encoders with the same one give the same vectors; it is part of cache keys and
        signatures.
        """

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text ``embed`` reads, special ones included.

        0 where no limit is known; then nobody can say whether a text was cut.
        """

    @property
    def longest(self) -> int:
        """How many tokens the model can read at all; 0 where it gives no token vectors."""

    @property
    def layers(self) -> int:
        """Hidden layers to choose from; 0 where it gives no token vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, d), in the order of the texts.

        Raises:
            ModelFailure: A server that is down, or a reply that is none.
        """

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of every token.

        Args:
            texts: Any number.
            layer: Hidden states of this layer, 1 the first, 0 the word embeddings; None: the last.
            limit: Tokens to read at the most, special ones included, up to ``longest``; None:
                ``max_tokens``.

        Raises:
            ModelError: The model gives no token vectors, or has no such layer.
        """

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Shape (n,), the tokens of each text before it is cut, special ones included.

        0 where the model does not say.
        """
