"""Fake models: a scripted chat model, a scripted encoder and tiny random models, for tests."""

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import ModelError, ModelFailure, needing
from ragstone.judges.llm.questions import WORDS as CHAT_WORDS
from ragstone.models import TokenVectors, Vectors
from ragstone.models.chat import ITEMS, ChatFailure, ChatReply, ChatRequest

BLOCK = re.compile(r"^==== [0-9a-f]{32} ", re.MULTILINE)
NUMBER_OF_SENTENCE = re.compile(r"\[s\d+\] ")
IDS = re.compile(r"^ids: (.*)$", re.MULTILINE)

# A reply's text, an object to be written as JSON, a reply in full, or a failure to be raised.
Said = str | Mapping[str, Any] | ChatReply | ChatFailure

# What is said to a request, or one after the other.
Script = Callable[[ChatRequest], Said | Awaitable[Said]] | Iterable[Said]


class ScriptedModel:
    """Returns scripted replies, and records the requests it receives.

    Its replies are never shared with other runs through the cache.

        model = ScriptedModel([ChatFailure("rate_limit", "too many requests"), {"items": […]}])
        model = ScriptedModel(lambda request: reply_to(request, {"p01": {"verdict": "absent"}}))

    Args:
        script: A function of the request, which may be async, or the replies in order.
        name: Name of the model.
        identity: Identifies the source of its replies; if empty, its name.
        window: Maximum number of tokens in a question.
        items: Maximum number of items of one task in a question, from 1 to 20.
        delay: Seconds to wait before replying.
        notes: Request parameters that its server did not accept.

    Attributes:
        requests: The requests received, in order.
        most: The largest number of concurrent requests.
        closed: Whether it was closed.
    """

    kept = False

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        identity: str = "",
        window: int = 128_000,
        items: int = ITEMS,
        delay: float = 0.0,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.about = f"{name}, replies of a test"
        self.identity = identity or name
        self.window = window
        self.items = items
        self.notes = notes
        self.requests: list[ChatRequest] = []
        self.most = 0
        self.closed = False
        self._delay = delay
        self._asked_now = 0
        self._say = script if callable(script) else _in_order(script)

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The next scripted reply.

        Raises:
            ChatFailure: If the script contains one.
            AssertionError: The script has no more replies.
        """
        self.requests.append(request)
        self._asked_now += 1
        self.most = max(self.most, self._asked_now)
        try:
            if self._delay:
                await asyncio.sleep(self._delay)
            reply = self._say(request)
            if inspect.isawaitable(reply):
                reply = await reply
        finally:
            self._asked_now -= 1
        if isinstance(reply, ChatFailure):
            raise reply
        if isinstance(reply, ChatReply):
            return reply
        return ChatReply(reply if isinstance(reply, str) else json.dumps(reply))

    async def close(self) -> None:
        """Record that it was closed."""
        self.closed = True


def asked(request: ChatRequest) -> dict[str, str]:
    """The ids of the items in a judge's request, each with the first words of its text.

    The words are empty if the item has no text of its own.
    """
    lines = IDS.findall(request.parts[-1])
    return {name: _words(request.text, name) for line in lines for name in line.split()}


def reply_to(request: ChatRequest, said: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A reply as judges read it, with the words of the texts in it.

    Args:
        request: The question.
        said: Reason, verdict and details, by id; fields that are left out are empty.
    """
    words = asked(request)
    empty = {"reason": "", "verdict": "", "details": []}
    items = [{"id": id, "words": words.get(id, "")} | empty | dict(said[id]) for id in said]
    return {"items": items}


def _words(text: str, name: str) -> str:
    """The first words of the block of that name, without the numbers of its sentences."""
    for block in BLOCK.split(text)[1:]:
        title, _, rest = block.partition("\n")
        if title == name:
            text = rest.partition("\n====")[0]
            return " ".join(NUMBER_OF_SENTENCE.sub("", text).split()[:CHAT_WORDS])
    return ""


def _in_order(script: Iterable[Said]) -> Callable[[ChatRequest], Said]:
    replies = iter(script)
    count = 0

    def say(_: ChatRequest) -> Said:
        nonlocal count
        for reply in replies:
            count += 1
            return reply
        raise AssertionError(f"The script has {count} replies, and was asked for one more.")

    return say


# Ids of the special tokens before and behind the words of a text.
START, END = 0, 1


@dataclass(frozen=True, eq=False)
class ScriptedEncoder:
    """Returns the given vectors, and for other texts and words vectors derived from their letters.

    Its tokens are the words, plus one special token at each end. A text without a given
    vector has the mean of its words' vectors; an empty text has that of the first special
    token.

    Args:
        vectors: Maps a text or word to its vector.
        name: Name of the encoder.
        dimensions: Length of a vector.
        max_tokens: Number of tokens read from a text, including the two special ones.
        longest: The same for token vectors; 0: no token vectors.
        layers: Number of hidden layers, each with its own vectors.
        silent_on: Texts on which it fails, like a server that is down.
        asked: Records the texts it was asked to embed, in order.
    """

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    name: str = "scripted"
    dimensions: int = 8
    max_tokens: int = 64
    longest: int = 128
    layers: int = 2
    silent_on: Collection[str] = ()
    asked: list[str] = field(default_factory=list)

    @property
    def about(self) -> str:
        """One line for reports."""
        return f"vectors of a test, {self.dimensions} dimensions, {self.max_tokens} tokens"

    @property
    def fingerprint(self) -> str:
        """32 hex digits of what it was given."""
        facts = repr((sorted(self.vectors.items()), self.dimensions, self.max_tokens, self.longest))
        return blake2b(facts.encode(), digest_size=16).hexdigest()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (n, d)."""
        self.asked.extend(texts)
        self._answer(texts)
        vectors = [self._embedded(text) for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), self.dimensions)

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, limit: int | None = None
    ) -> list[TokenVectors]:
        """The vectors of the words and the two special tokens."""
        layer = self.layers if layer is None else layer
        if not self.longest or not 0 <= layer <= self.layers:
            raise ModelError(f"{self.name} has no token vectors of layer {layer}.")
        self._answer(texts)
        room = (self.max_tokens if limit is None else limit) - 2
        return [self._read(text, layer, room) for text in texts]

    def lengths(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The number of words plus two."""
        return np.array([len(text.split()) + 2 for text in texts], dtype=np.int32)

    def _answer(self, texts: Sequence[str]) -> None:
        if any(text in self.silent_on for text in texts):
            raise ModelFailure(f"{self.name} did not answer.")

    def _embedded(self, text: str) -> Vectors:
        if text in self.vectors:
            return np.asarray(self.vectors[text], dtype=np.float32)
        words = text.split()[: self.max_tokens - 2] or ["\0"]
        mean: Vectors = np.mean([self._vector(word, self.layers) for word in words], axis=0)
        return mean

    def _read(self, text: str, layer: int, room: int) -> TokenVectors:
        words = list(re.finditer(r"\S+", text))
        kept = words[:room]
        names = ["\0", *(word.group() for word in kept), "\1"]
        return TokenVectors(
            ids=np.array([START, *(_number(name) for name in names[1:-1]), END], dtype=np.int32),
            spans=np.array([(0, 0), *(word.span() for word in kept), (0, 0)], dtype=np.int32),
            vectors=np.array([self._vector(name, layer) for name in names], dtype=np.float32),
            embedding=None,
            cut=len(words) > room,
        )

    def _vector(self, word: str, layer: int) -> Vectors:
        if word in self.vectors:
            return np.asarray(self.vectors[word], dtype=np.float32)
        chance = np.random.default_rng([_number(word), layer])
        return chance.normal(size=self.dimensions).astype(np.float32)


def _number(word: str) -> int:
    """A token id from 2 on, the same for the same word."""
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=3).digest()
    return 2 + int.from_bytes(digest, "big")


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
    with needing("A tiny model", "local"):
        import safetensors.numpy
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
    with needing("A tiny model", "local"):
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
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
            **{f"{token[1:-1].lower()}_token": token for token in SPECIAL},
        },
    )


def _write_modules(
    folder: Path, hidden: int, pooling: Pooling, normalize: bool, max_tokens: int
) -> None:
    names = {"": "Transformer", "1_Pooling": "Pooling"}
    if normalize:
        names["2_Normalize"] = "Normalize"
    package = "sentence_transformers.models"
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"{package}.{name}"}
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
