"""BERTScore tables: the layer for each known model, baselines for rescaling, and idf of tokens.

A baseline is the BERTScore of unrelated texts. With idf, tokens that are common among the
references weigh less.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from math import isfinite, log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError, ModelError
from ragstone.core.messages import argument
from ragstone.data.sources import on_disk
from ragstone.models import Encoder

# The layer whose scores agree best with people's on WMT16, as bert-score 0.3.13 has it.
RECOMMENDED = {"bert-base-uncased": 9, "bert-large-uncased": 18, "bert-base-multilingual-cased": 9,
               "distilbert-base-uncased": 5, "roberta-base": 10, "roberta-large": 17,
               "roberta-large-mnli": 19, "distilroberta-base": 5, "xlm-roberta-base": 9,
               "xlm-roberta-large": 17, "microsoft/mpnet-base": 8, "microsoft/deberta-base-mnli": 9,
               "microsoft/deberta-large-mnli": 18, "microsoft/deberta-xlarge-mnli": 40,
               "microsoft/deberta-v3-base": 9, "microsoft/deberta-v3-large": 12}  # fmt: skip

BACK_ENDS = ("numpy:", "onnx:", "torch:")
# Under whom the hub keeps models that are known without an owner.
OWNERS = ("google-bert/", "FacebookAI/", "distilbert/")


def chosen_layer(encoder: Encoder, layer: int | None) -> int:
    """The requested layer; by default the one recommended for the model, else its last.

    Raises:
        ModelError: The encoder gives no token vectors, or has no such layer.
    """
    if not encoder.layers:
        here = argument("bertscore", "model=builtin:minilm")
        raise ModelError(
            f"{encoder.name} gives vectors of whole texts only; BERTScore needs those of tokens. "
            f"Name an encoder for it that runs here: {here}."
        )
    if layer is None:
        return min(RECOMMENDED.get(model_name(encoder), encoder.layers), encoder.layers)
    if not 0 <= layer <= encoder.layers:
        raise ModelError(f"{encoder.name} has layers 0 to {encoder.layers}, not {layer}.")
    return layer


def model_name(encoder: Encoder) -> str:
    """The usual name of a model, without back end, revision and new owner."""
    name = encoder.name.partition("@")[0]
    for prefix in (*BACK_ENDS, *OWNERS):
        name = name.removeprefix(prefix)
    return name


HEADER = ["LAYER", "P", "R", "F"]


# Mean precision, recall and F1 of unrelated texts, each below 1.
#
# A score x is rescaled to ``(x - b) / (1 - b)``: 0 is as good as chance, below 0 is worse, and 1
# stays 1.
Baseline = tuple[float, float, float]

# By model and layer; measured by the authors of bert-score on English texts.
BUILT_IN: dict[tuple[str, int], Baseline] = {
    ("microsoft/deberta-xlarge-mnli", 40): (0.5169066, 0.5170288, 0.5150192)
}


def built_in_baseline(encoder: Encoder, layer: int) -> Baseline:
    """The baseline included in Ragstone for this model and layer."""
    name = model_name(encoder)
    if (name, layer) not in BUILT_IN:
        known = ", ".join(f"layer {number} of {model}" for model, number in BUILT_IN)
        raise InputError(
            f"No baseline for layer {layer} of {name} comes with Ragstone; there is one for "
            f"{known}. Give a file of lines LAYER,P,R,F: rescale=FILE."
        )
    return BUILT_IN[name, layer]


def read_baseline(path: str | Path, layer: int) -> Baseline:
    """A layer's line of a file as bert-score keeps them.

        LAYER,P,R,F
        0,0.3231512,0.32322776,0.31853873
        …

    Raises:
        InputError: No such file, not of this form, or without that layer.
    """
    file = Path(path)
    try:
        lines = [
            line for line in csv.reader(on_disk(file).read_text("utf-8-sig").splitlines()) if line
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"The baseline file {file} cannot be read: {_why(error)}.") from error
    if not lines or [word.strip() for word in lines[0]] != HEADER:
        got = ",".join(lines[0]) if lines else "nothing"
        raise InputError(f"{file}:1  expected {','.join(HEADER)}, got {got}")
    by_layer: dict[int, Baseline] = {}
    for number, line in enumerate(lines[1:], 2):
        at, baseline = _line(line)
        if baseline is None or at in by_layer:
            expected = "a layer of its own, then P, R and F, each below 1"
            raise InputError(f"{file}:{number}  expected {expected}, got {','.join(line)}")
        by_layer[at] = baseline
    if layer not in by_layer:
        layers = ", ".join(map(str, sorted(by_layer))) or "none"
        raise InputError(f"{file} has no line for layer {layer}. It has layers {layers}.")
    return by_layer[layer]


def _line(words: list[str]) -> tuple[int, Baseline | None]:
    try:
        layer, (precision, recall, f1) = int(words[0]), map(float, words[1:])
    except ValueError:
        return -1, None
    if layer < 0 or not all(isfinite(score) and score < 1 for score in (precision, recall, f1)):
        return -1, None
    return layer, (precision, recall, f1)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is no text" if isinstance(error, UnicodeDecodeError) else str(error)


TEXTS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Idf:
    """The number of texts that each token occurs in.

    Args:
        documents: How many texts were counted.
        counts: By token id, the number of texts with that token.
    """

    documents: int
    counts: Mapping[int, int]

    def weights(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """``log((documents + 1) / (count + 1))`` of each token, at least 0; shape as ``ids``."""
        total = self.documents + 1
        weights = [log(total / (self.counts.get(token, 0) + 1)) for token in ids.tolist()]
        return np.array(weights, dtype=np.float64)

    @property
    def fingerprint(self) -> str:
        """A hash of the counts in 32 hex digits, for a signature."""
        facts = repr((self.documents, sorted(self.counts.items())))
        return blake2b(facts.encode(), digest_size=16).hexdigest()


def count_documents(encoder: Encoder, texts: Iterable[str]) -> Idf:
    """Count how many texts each token of this encoder's tokenizer occurs in.

    Duplicate texts count each time, and a text is read up to the model's limit, as in bert-score.

    Raises:
        ModelError: The encoder gives no tokens.
        ModelFailure: It did not answer.
    """
    documents = 0
    counts: Counter[int] = Counter()
    left = iter(texts)
    while some := Counter(text.strip() for text in islice(left, TEXTS_AT_ONCE)):
        read = encoder.tokens(list(some), layer=0, limit=encoder.longest)
        for tokens, times in zip(read, some.values(), strict=True):
            documents += times
            for token in set(tokens.ids.tolist()):
                counts[token] += times
    return Idf(documents, dict(counts))
