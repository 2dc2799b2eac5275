"""Options of BERTScore: the layer, idf weights, and rescaling."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.models import CachedEncoder, Encoder

from .baselines import Baseline, built_in_baseline, read_baseline
from .bertscore import BertScores, bertscore
from .idf import Idf, count_documents
from .layers import chosen_layer

VERSION = "ragstone-bertscore/1"


@dataclass(frozen=True, slots=True)
class BertscoreOptions:
    """The user's options for ``bertscore``.

    Args:
        layer: Of the hidden states; None: the one recommended for the model, else the last.
        idf: Whether rare tokens get more weight; counted over the references of the data.
        rescale: Whether to rescale by a baseline.
        baseline: Its file, as bert-score keeps them; None: the one that comes with Ragstone.
        model: Name of an encoder of its own, beside that of the cosines.
    """

    layer: int | None = None
    idf: bool = False
    rescale: bool = False
    baseline: Path | None = None
    model: str | None = None

    @classmethod
    def parse(cls, text: str) -> "BertscoreOptions":
        """Parse ``model=NAME,layer=9,idf,rescale=FILE``, each at most once, in any order.

        It may be empty.

        Raises:
            InputError: Anything else.
        """
        given: dict[str, str | None] = {}
        for word in filter(None, (word.strip() for word in text.split(","))):
            name, equals, value = (part.strip() for part in word.partition("="))
            if name in given or not _fits(name, value if equals else None):
                raise InputError(
                    f"{argument('bertscore', text)}: expected model=NAME, layer=NUMBER, idf, "
                    f"rescale or rescale=FILE, each once, between commas; got {word!r}."
                )
            given[name] = value or None
        layer, file = given.get("layer"), given.get("rescale")
        return cls(
            layer=None if layer is None else int(layer),
            idf="idf" in given,
            rescale="rescale" in given,
            baseline=None if file is None else Path(file),
            model=given.get("model"),
        )

    def settle(
        self, encoder: Encoder, references: Iterable[str], own: Encoder | None = None
    ) -> "BertscoreSettings":
        """The settings that result with these encoders and data.

        Args:
            encoder: That of the cosines; gives token vectors, unless BERTScore has its own.
            own: The encoder that ``model`` names.
            references: All of the data's, read only for idf. Each distinct one is counted
                once, so that another system's answers leave the weights as they are.

        Raises:
            ModelError: The encoder gives no token vectors, or has no such layer.
            InputError: No baseline for this model and layer, or a file that cannot be read.
            ModelFailure: The encoder did not answer.
        """
        matching = own or encoder
        layer = chosen_layer(matching, self.layer)
        baseline = None
        if self.baseline is not None:
            baseline = read_baseline(self.baseline, layer)
        elif self.rescale:
            baseline = built_in_baseline(matching, layer)
        idf = count_documents(matching, dict.fromkeys(references)) if self.idf else None
        return BertscoreSettings(layer, idf, baseline, own)


@dataclass(frozen=True, slots=True)
class BertscoreSettings:
    """The settings for a call of ``bertscore``.

    Args:
        layer: Of the hidden states; None: the one recommended for the model, else the last.
        idf: Weights of the tokens; None: all 1.
        baseline: For rescaling; None: scores are not rescaled.
        encoder: Its own; None: that of the cosines.
    """

    layer: int | None = None
    idf: Idf | None = None
    baseline: Baseline | None = None
    encoder: Encoder | None = None

    def scores(
        self, encoder: Encoder, candidates: Sequence[str], references: Sequence[str]
    ) -> BertScores:
        """As ``bertscore``, with these settings; a cached encoder stores the scores by pair."""
        encoder = self.encoder or encoder
        if not isinstance(encoder, CachedEncoder):
            return self._computed(encoder, candidates, references)
        pairs = list(zip(candidates, references, strict=True))
        keys = {pair: self._key(encoder, pair) for pair in pairs}
        known = encoder.recall(list(keys.values()))
        new = [pair for pair, key in keys.items() if key not in known]
        if new:
            fresh = self._computed(encoder, [one for one, _ in new], [other for _, other in new])
            rows = np.stack([fresh.precision, fresh.recall, fresh.f1, fresh.cut], axis=1)
            exact = np.ascontiguousarray(rows, np.float64).view(np.float32)
            added = {keys[pair]: row for pair, row in zip(new, exact, strict=True)}
            encoder.remember(added)
            known |= added
        kept = np.stack([known[keys[pair]] for pair in pairs]) if pairs else np.empty((0, 8), "f4")
        precision, recall, f1, cut = kept.view(np.float64).T
        return BertScores(precision, recall, f1, cut.astype(bool))

    def _computed(
        self, encoder: Encoder, candidates: Sequence[str], references: Sequence[str]
    ) -> BertScores:
        return bertscore(
            encoder,
            candidates,
            references,
            layer=self.layer,
            idf=self.idf,
            baseline=self.baseline,
        )

    def _key(self, encoder: Encoder, pair: tuple[str, str]) -> bytes:
        digest = blake2b(digest_size=16)
        for part in (VERSION, encoder.fingerprint, self.about(encoder), *pair):
            written = part.encode("utf-8", "surrogatepass")
            digest.update(len(written).to_bytes(8, "big") + written)
        return digest.digest()

    def about(self, encoder: Encoder) -> str:
        """The text for a signature: ``layer 9, idf of 340 references 1f0c2a9b7d3e, rescaled``."""
        own = self.encoder
        words = [] if own is None else [f"model {own.name}@{own.fingerprint[:12]}"]
        words += [f"layer {chosen_layer(own or encoder, self.layer)}"]
        if self.idf is not None:
            words.append(f"idf of {self.idf.documents} references {self.idf.fingerprint[:12]}")
        if self.baseline is not None:
            one = self.baseline
            numbers = (repr(float(number)) for number in (one.precision, one.recall, one.f1))
            words.append(f"rescaled by {' '.join(numbers)}")
        return ", ".join(words)


def _fits(name: str, value: str | None) -> bool:
    if name == "model":
        return bool(value)
    if name == "layer":
        return value is not None and value.isascii() and value.isdigit()
    return (name == "idf" and value is None) or (name == "rescale" and value != "")
