"""Cosines: embeds each text of a block once, and finds the best cosine of each unit."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelFailure
from ragstone.core.messages import reason
from ragstone.models import Encoder, Vectors

from .units import Unit
from .windows import windows

TEXTS_AT_ONCE = 2_000
"""Where a server fails, what was embedded before is kept."""

PAIRS_AT_ONCE = 8_192

LEAST = -1.0
DECIMALS = 6
"""Of a cosine. Vectors of 32 bits hold no more, and .5 should be .5 at a threshold."""


class Texts:
    """Vectors of texts, each embedded once and normalised to length 1."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._vectors: Vectors = np.zeros((1, 0), dtype=np.float32)
        self._places: dict[str, int] = {}
        self._cut: dict[str, bool | None] = {}
        self._windows: dict[str, list[str]] = {}
        self._failed: dict[str, str] = {}

    def embed(self, texts: Iterable[str]) -> None:
        """Embed new texts together; after a failure nothing more is tried."""
        new = sorted(
            {text for text in texts if text not in self._places},
            key=lambda text: (len(text), text),
        )
        gained: list[Vectors] = []
        for first in range(0, len(new), TEXTS_AT_ONCE):
            some = new[first : first + TEXTS_AT_ONCE]
            try:
                vectors, cut = self._embedded(some), self._longer(some)
            except ModelFailure as error:
                self._failed.update(dict.fromkeys(new[first:], reason("no_answer", said=error)))
                break
            self._places.update({text: at for at, text in enumerate(some, 1 + len(self._places))})
            self._cut.update(zip(some, cut, strict=True))
            gained.append(_of_length_1(vectors))
        if gained:
            before = self._vectors if self._vectors.size else np.zeros_like(gained[0][:1])
            self._vectors = np.concatenate([before, *gained])

    def in_windows(self, units: Iterable[Unit]) -> list[Unit]:
        """The units with the second text of each pair split into windows."""
        units = list(units)
        every = dict.fromkeys(text for unit in units for _, text in unit.pairs)
        new = [text for text in every if text not in self._windows]
        self._windows.update(zip(new, windows(self.encoder, new), strict=True))
        return [
            replace(
                unit,
                pairs=tuple(
                    (one, window) for one, text in unit.pairs for window in self._windows[text]
                ),
            )
            for unit in units
        ]

    def best(self, units: Sequence[Unit]) -> list[float]:
        """The best cosine of each unit: 0 for an empty text, -1 without any pair."""
        paired = [unit for unit in units if unit.pairs]
        places = [
            [self._places.get(text, 0) for text in pair] for unit in paired for pair in unit.pairs
        ]
        pairs = np.array(places, dtype=np.intp).reshape(-1, 2)
        cosines = np.zeros(len(pairs))
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            ones, others = pairs[first : first + PAIRS_AT_ONCE].T
            cosines[first : first + PAIRS_AT_ONCE] = np.einsum(
                "ij,ij->i", self._vectors[ones], self._vectors[others], dtype=np.float64
            )
        best = np.full(len(units), LEAST)
        if paired:
            starts = np.cumsum([0, *(len(unit.pairs) for unit in paired)])[:-1]
            best[[bool(unit.pairs) for unit in units]] = np.maximum.reduceat(cosines, starts)
        return [float(one) for one in np.round(np.clip(best, LEAST, 1), DECIMALS)]

    def failure(self, unit: Unit) -> str | None:
        """Why one of its texts could not be embedded; None if all are."""
        missing = (text for text in unit.texts if text not in self._places)
        return next((self._failed[text] for text in missing), None)

    def cut(self, unit: Unit) -> bool | None:
        """Whether one of its texts was longer than the encoder reads; None: unknown."""
        return any_known(self._cut.get(text) for text in unit.texts)

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        vectors = self.encoder.embed(texts)
        if not np.isfinite(vectors).all():
            raise ModelFailure(f"{self.encoder.name} gave numbers that are not finite")
        return vectors

    def _longer(self, texts: Sequence[str]) -> list[bool | None]:
        lengths: NDArray[np.int32] = self.encoder.lengths(texts)
        limit = self.encoder.max_tokens
        return [bool(length > limit) if length and limit else None for length in lengths]


def any_known(facts: Iterable[bool | None]) -> bool | None:
    """True if any is true; None if none is but some are unknown."""
    said = set(facts)
    return True if True in said else None if None in said else False


def _of_length_1(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
