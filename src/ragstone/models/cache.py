"""Cached encoder: embeddings are kept on disk and shared by all runs and processes."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelFailure

from .encoder import Encoder, TokenVectors, Vectors
from .kept_vectors import KeptVectors
from .store import Note
from .token_memory import TokenMemory

AT_ONCE = 4096
REMEMBERED = 256 * 1024 * 1024


class CachedEncoder:
    """An encoder with a cache: no vector is computed twice.

    The cache key is made of the text and the encoder's fingerprint, so another model, token limit
    or precision never gets this one's vectors. Texts are embedded in parts, and each part is
    written as soon as it is computed: if a server fails, the earlier parts are not lost.

    Token vectors are too large for the disk; the most recent 256 MB are cached in memory.

    A faulty cache file never stops a run; see ``KeptVectors``.

    Args:
        encoder: Computes what is not cached.
        file: The SQLite file; created if it does not exist.
        note: Called with a one-line message when the file is faulty.
        remembered: Bytes of token vectors to cache in memory.
    """

    def __init__(
        self, encoder: Encoder, file: Path, *, note: Note, remembered: int = REMEMBERED
    ) -> None:
        self._encoder = encoder
        self._kept = KeptVectors(file, note)
        self._memory = TokenMemory(remembered)
        self._salt = bytes.fromhex(encoder.fingerprint)
        self._width = 0

    @property
    def uncached(self) -> Encoder:
        """The encoder itself, which keeps nothing of what it reads."""
        return self._encoder

    @property
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    @property
    def about(self) -> str:
        """The encoder's."""
        return self._encoder.about

    @property
    def fingerprint(self) -> str:
        """The encoder's, because cached vectors are the same as computed ones."""
        return self._encoder.fingerprint

    @property
    def dimensions(self) -> int:
        """The encoder's."""
        return self._encoder.dimensions

    @property
    def max_tokens(self) -> int:
        """The encoder's."""
        return self._encoder.max_tokens

    @property
    def longest(self) -> int:
        """The encoder's."""
        return self._encoder.longest

    @property
    def layers(self) -> int:
        """The encoder's."""
        return self._encoder.layers

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, d), in the order of the texts.

        Raises:
            ModelFailure: The encoder failed, or its vectors are not finite or have another length
                than before.
        """
        if not texts:
            return self._encoder.embed(texts)
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        rows = self._kept.get(distinct)
        missing = [key for key in distinct if key not in rows]
        for start in range(0, len(missing), AT_ONCE):
            part = missing[start : start + AT_ONCE]
            rows |= self._computed({key: distinct[key] for key in part})
        if len({len(row) for row in rows.values()}) > 1:
            # A server may now run another model under the same name; the cached vectors are stale.
            rows = self._computed(distinct)
        vectors = np.stack([rows[key] for key in keys])
        self._check_width(vectors)
        self._width = vectors.shape[1]
        return vectors

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of every token; equal texts share the same read-only arrays.

        Raises:
            ModelFailure: The encoder failed, or the vectors are not finite.
        """
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        remembered = {key: self._memory.get((key, layer, limit)) for key in distinct}
        known = {key: one for key, one in remembered.items() if one is not None}
        missing = [key for key in distinct if key not in known]
        if missing:
            asked = [distinct[key] for key in missing]
            given = self._encoder.tokens(asked, layer=layer, limit=limit)
            embeddings: dict[bytes, Vectors] = {}
            for key, one in zip(missing, given, strict=True):
                self._check_finite(one.vectors)
                if one.embedding is not None:
                    self._check_finite(one.embedding)
                    embeddings[key] = one.embedding
                known[key] = one
            for key in missing:
                self._memory.put((key, layer, limit), known[key])
            self._kept.put(embeddings)
        return [known[key] for key in keys]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The encoder's."""
        return self._encoder.lengths(texts)

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The values that ``remember`` stored under these keys; missing keys are left out."""
        return self._kept.get(keys)

    def remember(self, facts: Mapping[bytes, Vectors]) -> None:
        """Store numbers computed from token vectors, which themselves are not stored.

        Args:
            facts: By the caller's keys, which must differ between encoders and versions.
        """
        self._kept.put(facts)

    def _key(self, text: str) -> bytes:
        written = text.encode("utf-8", "surrogatepass")
        return blake2b(written, digest_size=16, salt=self._salt).digest()

    def _computed(self, asked: Mapping[bytes, str]) -> dict[bytes, Vectors]:
        """The vectors of these texts, computed and stored."""
        vectors = np.ascontiguousarray(self._encoder.embed(list(asked.values())), np.float32)
        self._check_finite(vectors)
        self._check_width(vectors)
        rows = dict(zip(asked, vectors, strict=True))
        self._kept.put(rows)
        return rows

    def _check_finite(self, vectors: Vectors) -> None:
        if not np.isfinite(vectors).all():
            raise ModelFailure(f"{self.name} returned a vector with NaN or infinity")

    def _check_width(self, vectors: Vectors) -> None:
        width = vectors.shape[1]
        if self._width not in (0, width):
            raise ModelFailure(
                f"{self.name} returned vectors of {width:,} dimensions; earlier ones had "
                f"{self._width:,}. If its model has changed, run: ragstone models clear"
            )
