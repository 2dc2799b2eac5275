"""Encoder names: by which encoder and cross-encoder the numbers of a run were computed."""

from collections.abc import Collection
from dataclasses import dataclass

from ragstone.judgements import ASKS, BERTSCORES, Similarity

BERTSCORE_ASKS = frozenset(Similarity.ask(measure).name for measure in BERTSCORES)


@dataclass(frozen=True, slots=True)
class ModelNames:
    """The models of a run by name, as stored in its manifest.

    Args:
        encoder: Name and fingerprint; None if none is needed or none could be opened.
        reads: The encoder's token limit; 0 if unknown.
        bertscore: The settings of BERTScore; None if it is not computed.
        cross_encoder: Name and fingerprint; None if none was named.
        lacking: Why a required encoder is not available.
        strings: Why the local judge does not use the stored encoder.
    """

    encoder: str | None = None
    reads: int = 0
    bertscore: str | None = None
    cross_encoder: str | None = None
    lacking: str | None = None
    strings: str | None = None

    def settings(self) -> dict[str, str | None]:
        """The settings that a resumed run must share."""
        return {
            "encoder": self.encoder,
            "bertscore": self.bertscore,
            "cross_encoder": self.cross_encoder,
        }

    def signature(self, asks: Collection[str]) -> list[str]:
        """The part of a signature for numbers that depend on these asks."""
        by = {filler for ask in asks for filler in ASKS[ask].by}
        words = []
        if self.encoder and "encoder" in by:
            words.append(f"encoder:{_short(self.encoder)}")
        if self.bertscore and not BERTSCORE_ASKS.isdisjoint(asks):
            words.append(f"bertscore:{self.bertscore}")
        if self.cross_encoder and "cross_encoder" in by:
            words.append(f"cross_encoder:{_short(self.cross_encoder)}")
        return words


NO_MODELS = ModelNames()
"""Nothing was compared."""


def _short(identity: str) -> str:
    name, _, fingerprint = identity.rpartition("@")
    return f"{name}@{fingerprint[:12]}"
