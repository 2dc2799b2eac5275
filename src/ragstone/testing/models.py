"""Tiny models: real model folders with random weights, for tests that need no useful output."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import MissingDependency

WORDS = (
    *("the", "a", "of", "in", "is", "was", "not", "and", "who", "when", "where", "what"),
    *("bridge", "harbour", "mine", "tin", "copper", "chapel", "river", "tower", "keeper"),
    *("opened", "closed", "built", "stands", "red", "old", "1932", "1834"),
)

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Pooling = Literal["mean", "cls", "max"]
Weights = dict[str, NDArray[np.float32]]


def tiny_bert(
    folder: Path,
    *,
    words: Sequence[str] = WORDS,
    hidden: int = 32,
    layers: int = 2,
    heads: int = 4,
    seed: int = 0,
    pooling: Pooling = "mean",
    normalize: bool = True,
    max_tokens: int = 32,
    positions: int = 64,
    head: int | None = None,
    id2label: Mapping[int, str] | None = None,
) -> Path:
    """Write a BERT with random weights, loadable by transformers and sentence-transformers too.

    Each word of ``words`` is one token; any other word is split into letters. Characters other
    than letters, digits and ASCII punctuation are unknown. Case and accents are ignored.

    Args:
        folder: Output folder; created if it does not exist. Existing files are overwritten.
        words: Lower-case words, one token each.
        hidden: Length of a vector, a multiple of ``heads``.
        layers: Number of hidden layers, at least 1.
        heads: Number of attention heads.
        seed: Random seed; the same seed gives the same weights.
        pooling: How token vectors are combined into one.
        normalize: Whether that vector is scaled to length 1.
        max_tokens: Number of tokens read from a text, including special ones.
        positions: Number of tokens the model could read, at least ``max_tokens``.
        head: Number of outputs of a classification head; None for an embedding model. With a
            head, the folder is a cross-encoder's and has no ``modules.json``.
        id2label: Meaning of the outputs; by default LABEL_0, LABEL_1, …

    Returns:
        The folder.

    Raises:
        MissingDependency: ``tokenizers`` or ``safetensors`` is not installed.
    """
    try:
        import safetensors.numpy
    except ImportError as missing:
        raise MissingDependency("A tiny model", "local") from missing
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = _vocabulary(words)
    config = _config(hidden, layers, heads, positions, head, id2label)
    _write(folder / "config.json", {**config, "vocab_size": len(vocabulary)})
    weights = _weights(seed, len(vocabulary), hidden, layers, positions, head)
    safetensors.numpy.save_file(weights, folder / "model.safetensors", {"format": "pt"})
    _write_tokenizer(folder, vocabulary, max_tokens)
    if head is None:
        _write_modules(folder, hidden, pooling, normalize, max_tokens)
    return folder


def _config(
    hidden: int,
    layers: int,
    heads: int,
    positions: int,
    head: int | None,
    id2label: Mapping[int, str] | None,
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "architectures": ["BertModel" if head is None else "BertForSequenceClassification"],
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
        "hidden_act": "gelu",
        "max_position_embeddings": positions,
        "position_embedding_type": "absolute",
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "pad_token_id": 0,
    }
    if head is not None:
        names = dict(id2label or {number: f"LABEL_{number}" for number in range(head)})
        config["id2label"] = {str(number): name for number, name in names.items()}
        config["label2id"] = {name: number for number, name in names.items()}
    return config


def _vocabulary(words: Sequence[str]) -> dict[str, int]:
    punctuation = [chr(code) for code in range(33, 127) if not chr(code).isalnum()]
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789"]
    pieces = [*SPECIAL, *punctuation, *letters, *(f"##{letter}" for letter in letters), *words]
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def _write_tokenizer(folder: Path, vocabulary: Mapping[str, int], max_tokens: int) -> None:
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    except ImportError as missing:
        raise MissingDependency("A tiny model", "local") from missing
    tokenizer = Tokenizer(models.WordPiece(dict(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "BertTokenizer",
            "model_max_length": max_tokens,
            "do_lower_case": True,
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
        },
    )


def _write_modules(
    folder: Path, hidden: int, pooling: Pooling, normalize: bool, max_tokens: int
) -> None:
    names = {"": "Transformer", "1_Pooling": "Pooling"}
    if normalize:
        names["2_Normalize"] = "Normalize"
    modules = [
        {
            "idx": number,
            "name": str(number),
            "path": path,
            "type": f"sentence_transformers.models.{name}",
        }
        for number, (path, name) in enumerate(names.items())
    ]
    _write(folder / "modules.json", modules)
    settings = {"max_seq_length": max_tokens, "do_lower_case": False}
    _write(folder / "sentence_bert_config.json", settings)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    _write(
        folder / "1_Pooling" / "config.json",
        {
            "word_embedding_dimension": hidden,
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
            "pooling_mode_max_tokens": pooling == "max",
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    )


def _weights(
    seed: int, vocabulary: int, hidden: int, layers: int, positions: int, head: int | None
) -> Weights:
    """Random weights, large enough that different words give clearly different vectors."""
    draw = np.random.default_rng(seed)
    weights: Weights = {}

    def table(name: str, rows: int, spread: float) -> None:
        weights[name] = draw.normal(0, spread, (rows, hidden)).astype(np.float32)

    def linear(name: str, outputs: int, inputs: int) -> None:
        shape = (outputs, inputs)
        weights[f"{name}.weight"] = draw.normal(0, inputs**-0.5, shape).astype(np.float32)
        weights[f"{name}.bias"] = draw.normal(0, 0.1, outputs).astype(np.float32)

    def norm(name: str) -> None:
        weights[f"{name}.weight"] = draw.normal(1, 0.1, hidden).astype(np.float32)
        weights[f"{name}.bias"] = draw.normal(0, 0.1, hidden).astype(np.float32)

    base = "" if head is None else "bert."
    table(f"{base}embeddings.word_embeddings.weight", vocabulary, 1.0)
    table(f"{base}embeddings.position_embeddings.weight", positions, 0.2)
    table(f"{base}embeddings.token_type_embeddings.weight", 2, 0.2)
    norm(f"{base}embeddings.LayerNorm")
    for layer in range(layers):
        at = f"{base}encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            linear(f"{at}.attention.self.{part}", hidden, hidden)
        linear(f"{at}.attention.output.dense", hidden, hidden)
        norm(f"{at}.attention.output.LayerNorm")
        linear(f"{at}.intermediate.dense", 4 * hidden, hidden)
        linear(f"{at}.output.dense", hidden, 4 * hidden)
        norm(f"{at}.output.LayerNorm")
    linear(f"{base}pooler.dense", hidden, hidden)
    if head is not None:
        linear("classifier", head, hidden)
    return weights


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
