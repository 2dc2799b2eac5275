"""Cached encoder: what was embedded once is kept on disk, across runs and processes."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ModelFailure

from .encoder import Encoder, TokenVectors, Vectors
from .kept_vectors import KeptVectors
from .store import Note
from .token_memory import TokenMemory

AT_ONCE = 4096
REMEMBERED = 256 * 1024 * 1024


class CachedEncoder:
    """An encoder that computes no vector twice.

    A vector is kept under its text and the encoder's fingerprint, so another model, token limit or
    precision never gets vectors of this one. Texts are embedded in parts, and each part is kept at
    once: where a server fails, the parts before are not lost.

    Token vectors are too large for the disk. The last 256 MB of them are remembered in memory.

    A file that fails never stops a run; see ``KeptVectors``.

    Args:
        encoder: Computes what is not there.
        file: The SQLite file, made where there is none.
        note: Takes a line about a file that fails.
        remembered: Bytes of token vectors to remember.
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
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    @property
    def about(self) -> str:
        """The encoder's."""
        return self._encoder.about

    @property
    def fingerprint(self) -> str:
        """The encoder's: what is kept is what it gave."""
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
            ModelFailure: The encoder's, or its vectors are not finite or not as long as those
                that it gave before.
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
            # A server may run another model under the same name; what was kept is of the old one.
            rows = self._computed(distinct)
        vectors = np.stack([rows[key] for key in keys])
        self._check_width(vectors)
        self._width = vectors.shape[1]
        return vectors

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of every token, of equal texts the same arrays, which are read-only.

        Raises:
            ModelFailure: The encoder's, or the vectors are not finite.
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
        """What ``remember`` kept under these keys, as far as it is there."""
        return self._kept.get(keys)

    def remember(self, facts: Mapping[bytes, Vectors]) -> None:
        """Keep numbers that were computed from token vectors, which are not kept themselves.

        Args:
            facts: By keys of the caller's, which must tell encoders and versions apart.
        """
        self._kept.put(facts)

    def _key(self, text: str) -> bytes:
        written = text.encode("utf-8", "surrogatepass")
        return blake2b(written, digest_size=16, salt=self._salt).digest()

    def _computed(self, asked: Mapping[bytes, str]) -> dict[bytes, Vectors]:
        """The vectors of these texts, computed and kept."""
        vectors = np.ascontiguousarray(self._encoder.embed(list(asked.values())), np.float32)
        self._check_finite(vectors)
        self._check_width(vectors)
        rows = dict(zip(asked, vectors, strict=True))
        self._kept.put(rows)
        return rows

    def _check_finite(self, vectors: Vectors) -> None:
        if not np.isfinite(vectors).all():
            raise ModelFailure(
                f"{self.name} gave numbers that are not finite: NaN or infinity, which no vector "
                "may hold"
            )

    def _check_width(self, vectors: Vectors) -> None:
        width = vectors.shape[1]
        if self._width not in (0, width):
            raise ModelFailure(
                f"{self.name} gave vectors of {width:,} dimensions; before, they had "
                f"{self._width:,}. If its model is another one now: ragstone models clear"
            )
