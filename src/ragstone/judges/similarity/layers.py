"""Layers: which hidden states of a known model BERTScore is computed from."""

from ragstone.core.errors import ModelError
from ragstone.core.messages import argument
from ragstone.models import Encoder

RECOMMENDED = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "distilbert-base-uncased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "distilroberta-base": 5,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "microsoft/mpnet-base": 8,
    "microsoft/deberta-base-mnli": 9,
    "microsoft/deberta-large-mnli": 18,
    "microsoft/deberta-xlarge-mnli": 40,
    "microsoft/deberta-v3-base": 9,
    "microsoft/deberta-v3-large": 12,
}
"""The layer whose scores agree best with people's on WMT16, as bert-score 0.3.13 has it."""

BACK_ENDS = ("numpy:", "onnx:", "torch:")
OWNERS = ("google-bert/", "FacebookAI/", "distilbert/")
"""Under whom the hub keeps models that are known without an owner."""


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
