"""BERTScore: the match of two texts by their token vectors, with its options.

    precision = weighted mean over candidate tokens of the best cosine with a reference token
    recall    = weighted mean over reference tokens of the best cosine with a candidate token
    f1        = 2 · precision · recall / (precision + recall)

Special tokens such as [CLS] and [SEP] may be matched, but have weight 0; others have weight 1, or
their idf. If all tokens of a text have an idf of 0, as with a single reference, their weight
is 1. A text without weighted tokens, such as an empty text, scores 0 against any other, also if
rescaled.

The numbers are those of bert-score 0.3.13 with ``batch_size=1``, where no padding gets in. White
space at the ends is removed first, as by bert-score, and a text is read up to the model's limit.
A difference: bert-score puts a space before each text for RoBERTa and its like; here a text is
read unchanged.

Source: Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.judges.local.aligner import digest_of
from ragstone.models import CachedEncoder, Encoder, TokenVectors, Vectors

from .bertscore_tables import (
    Baseline,
    Idf,
    built_in_baseline,
    chosen_layer,
    count_documents,
    read_baseline,
)

# Bytes of token vectors held at once, estimated.
BYTES_AT_ONCE = 2**27

CHARACTERS_A_TOKEN = 3
# Cells of a grid's cosine matrix held at once.
CELLS_AT_ONCE = 2**23

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BertScores:
    """Scores of pairs, shape (n,), or of a grid, shape (n, m).

    From -1 to 1, usually above 0; rescaled ones may be lower. ``cut`` says whether
    one of the two texts is longer than the model can read.
    """

    precision: Numbers
    recall: Numbers
    f1: Numbers
    cut: NDArray[np.bool_]


def bertscore(encoder: Encoder, candidates: Sequence[str], references: Sequence[str], *,
              layer: int | None = None, idf: Idf | None = None,
              baseline: Baseline | None = None) -> BertScores:  # fmt: skip
    """Return the BERTScore of each candidate with the reference at the same index.

    Pairs are processed in parts, which bounds memory; within a part each distinct text is encoded
    once.

    Args:
        layer: Of the hidden states; None: the one recommended for the model, else the last.
        idf: Weights of the tokens, from ``count_documents``; None: all 1.
        baseline: For rescaling; None: scores are not rescaled.

    Raises:
        InputError: The numbers of references and candidates differ.
        ModelError: The encoder gives no token vectors, or has no such layer.
        ModelFailure: It did not answer.
    """
    if len(candidates) != len(references):
        raise InputError(f"{len(candidates)} candidates cannot pair with {len(references)} others.")
    layer = chosen_layer(encoder, layer)
    pairs = [(candidate.strip(), other.strip())
             for candidate, other in zip(candidates, references, strict=True)]  # fmt: skip
    raw = np.zeros((2, len(pairs)))
    scored, cut = np.zeros((2, len(pairs)), dtype=np.bool_)
    prepared: dict[str, _Side] = {}
    for places in _in_pieces(pairs, 4 * encoder.dimensions / CHARACTERS_A_TOKEN):
        texts = dict.fromkeys(text for pair in places for text in pairs[pair])
        prepared = _sides(encoder, texts, layer, idf, prepared)
        for pair in places:
            left, other = (prepared[text] for text in pairs[pair])
            cut[pair] = left.cut or other.cut
            scored[pair] = left.says_something and other.says_something
            if scored[pair]:
                cosines = left.vectors @ other.vectors.T
                raw[:, pair] = (cosines.max(axis=1) @ left.weights,
                                cosines.max(axis=0) @ other.weights)  # fmt: skip
    return _scores(raw[0], raw[1], scored, cut, baseline)


def bertscore_grid(encoder: Encoder, candidates: Sequence[str], references: Sequence[str], *,
                   layer: int | None = None, idf: Idf | None = None,
                   baseline: Baseline | None = None) -> BertScores:  # fmt: skip
    """Return the BERTScore of each of n candidates with each of m references, by one matrix
    product.

    The token vectors of all texts are in memory: 4 bytes per dimension and token. Arguments and
    errors are those of ``bertscore``.
    """
    layer = chosen_layer(encoder, layer)
    ones, others = ([text.strip() for text in texts] for texts in (candidates, references))
    prepared = _sides(encoder, dict.fromkeys([*ones, *others]), layer, idf, {})
    rows, columns = (
        {text: index for index, text in enumerate(
            dict.fromkeys(text for text in texts if prepared[text].says_something))}
        for texts in (ones, others)
    )  # fmt: skip
    down, across = ([prepared[text] for text in texts] for texts in (rows, columns))
    raw = np.zeros((2, len(rows) + 1, len(columns) + 1))
    for right in _slices(across, 1):
        tokens = sum(len(side.weights) for side in across[right])
        for left in _slices(down, tokens):
            raw[:, left, right] = _matched(down[left], across[right])
    precision, recall = raw[
        :,
        np.array([rows.get(text, -1) for text in ones], dtype=np.intp)[:, None],
        np.array([columns.get(text, -1) for text in others], dtype=np.intp)[None, :],
    ]
    scored = np.logical_and.outer(
        [text in rows for text in ones], [text in columns for text in others]
    )
    cut = np.logical_or.outer(
        [prepared[text].cut for text in ones], [prepared[text].cut for text in others]
    )
    return _scores(precision, recall, scored, cut, baseline)


@dataclass(frozen=True, slots=True)
class _Side:
    """A text: token vectors of length 1, and their weights with sum 1, or all 0."""

    vectors: Vectors
    weights: Numbers
    cut: bool

    @property
    def says_something(self) -> bool:
        return bool(self.weights.any())


def _sides(encoder: Encoder, texts: Mapping[str, object], layer: int, idf: Idf | None,
           known: Mapping[str, _Side]) -> dict[str, _Side]:  # fmt: skip
    new = [text for text in texts if text not in known]
    read = encoder.tokens(new, layer=layer, limit=encoder.longest)
    fresh = {text: _side(tokens, idf) for text, tokens in zip(new, read, strict=True)}
    return {text: fresh[text] if text in fresh else known[text] for text in texts}


def _side(tokens: TokenVectors, idf: Idf | None) -> _Side:
    lengths = np.sqrt(np.einsum("td,td->t", tokens.vectors, tokens.vectors))[:, None]
    vectors = np.divide(
        tokens.vectors, lengths, out=np.zeros_like(tokens.vectors), where=lengths > 0
    )
    inner = [not span.any() for span in tokens.spans]
    first = inner.index(False) if False in inner else len(inner)
    last = inner[::-1].index(False) if False in inner else 0
    special = [*tokens.ids[:first].tolist(), *tokens.ids[len(inner) - last :].tolist()]
    plain = (~np.isin(tokens.ids, special)).astype(np.float64)
    weights = plain if idf is None else plain * idf.weights(tokens.ids)
    if not weights.any():
        weights = plain
    total = weights.sum()
    return _Side(vectors, weights / total if total else weights, tokens.cut)


def _matched(down: Sequence[_Side], across: Sequence[_Side]) -> tuple[Numbers, Numbers]:
    cosines = np.concatenate([text.vectors for text in down]) @ (
        np.concatenate([text.vectors for text in across]).T
    )
    rows, columns = _starts(down), _starts(across)
    best_right = np.maximum.reduceat(cosines, columns, axis=1)
    best_left = np.maximum.reduceat(cosines, rows, axis=0)
    weights_down = np.concatenate([text.weights for text in down])[:, None]
    weights_across = np.concatenate([text.weights for text in across])[None, :]
    return (np.add.reduceat(best_right * weights_down, rows, axis=0),
            np.add.reduceat(best_left * weights_across, columns, axis=1))  # fmt: skip


def _scores(precision: Numbers, recall: Numbers, scored: NDArray[np.bool_], cut: NDArray[np.bool_],
            baseline: Baseline | None) -> BertScores:  # fmt: skip
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    scores = [precision, recall, f1]
    if baseline is not None:
        scores = [(score - b) / (1 - b) for score, b in zip(scores, baseline, strict=True)]
    precision, recall, f1 = (np.where(scored, score, 0.0) for score in scores)
    return BertScores(precision, recall, f1, cut)


def _starts(texts: Sequence[_Side]) -> NDArray[np.intp]:
    lengths = [len(side.weights) for side in texts]
    return np.cumsum([0, *lengths[:-1]], dtype=np.intp)


def _slices(texts: Sequence[_Side], width: int) -> Iterator[slice]:
    """Slices of neighbours whose tokens, times ``width``, are at most ``CELLS_AT_ONCE``."""
    start = tokens = 0
    for end, side in enumerate(texts):
        tokens += len(side.weights)
        if tokens * width > CELLS_AT_ONCE and end > start:
            yield slice(start, end)
            start, tokens = end, len(side.weights)
    if start < len(texts):
        yield slice(start, len(texts))


def _in_pieces(pairs: Sequence[tuple[str, str]], bytes_a_character: float) -> Iterator[list[int]]:
    piece: list[int] = []
    held: set[str] = set()
    size = 0.0
    for number in sorted(range(len(pairs)), key=lambda number: pairs[number][::-1]):
        new = {text for text in pairs[number] if text not in held}
        more = sum(map(len, new)) * bytes_a_character
        if piece and size + more > BYTES_AT_ONCE:
            yield piece
            piece, held, size = [], set(), 0.0
            more = sum(map(len, set(pairs[number]))) * bytes_a_character
        piece.append(number)
        held.update(pairs[number])
        size += more
    if piece:
        yield piece


VERSION = "ragstone-bertscore/1"


@dataclass(frozen=True, slots=True)
class BertscoreOptions:
    """The user's options for ``bertscore``.

    Args:
        layer: Of the hidden states; None: the one recommended for the model, else the last.
        idf: More weight for rare tokens, counted over the references of the data.
        rescale: Rescale by a baseline.
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
        """Parse ``model=NAME,layer=9,idf,rescale=FILE``, each at most once, in any order, or
        nothing.

        Raises:
            InputError: Anything else.
        """
        options: dict[str, str | None] = {}
        for word in filter(None, map(str.strip, text.split(","))):
            name, equals, value = map(str.strip, word.partition("="))
            if name in options or not _fits(name, value if equals else None):
                raise InputError(
                    f"{argument('bertscore', text)}: expected model=NAME, layer=NUMBER, idf, "
                    f"rescale or rescale=FILE, each once, between commas; got {word!r}."
                )
            options[name] = value or None
        layer, file = options.get("layer"), options.get("rescale")
        return cls(layer=None if layer is None else int(layer), idf="idf" in options,
                   rescale="rescale" in options, baseline=None if file is None else Path(file),
                   model=options.get("model"))  # fmt: skip

    def settle(
        self, encoder: Encoder, references: Iterable[str], own: Encoder | None = None
    ) -> "BertscoreSettings":
        """Return the settings that result with these encoders and data.

        ``own`` is the encoder that ``model`` names. References are read only for idf; each distinct
        one is counted once, so that another system's answers leave the weights as they are.

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
    """The settings for a call of ``bertscore``, with its own encoder if it has one."""

    layer: int | None = None
    idf: Idf | None = None
    baseline: Baseline | None = None
    encoder: Encoder | None = None

    def scores(
        self, encoder: Encoder, candidates: Sequence[str], references: Sequence[str]
    ) -> BertScores:
        """Return ``bertscore`` with these settings; a cached encoder stores the scores by pair."""
        encoder = self.encoder or encoder
        if not isinstance(encoder, CachedEncoder):
            return self._computed(encoder, candidates, references)
        pairs = list(zip(candidates, references, strict=True))
        keys = {pair: self._key(encoder, pair) for pair in pairs}
        known = encoder.recall(list(keys.values()))
        new = [pair for pair, key in keys.items() if key not in known]
        if new:
            fresh = self._computed(
                encoder, [candidate for candidate, _ in new], [other for _, other in new]
            )
            rows = np.stack([fresh.precision, fresh.recall, fresh.f1, fresh.cut], axis=1)
            exact = np.ascontiguousarray(rows, np.float64).view(np.float32)
            added = {keys[pair]: row for pair, row in zip(new, exact, strict=True)}
            encoder.remember(added)
            known |= added
        rows_of_pairs = (
            np.stack([known[keys[pair]] for pair in pairs]) if pairs else np.empty((0, 8), "f4")
        )
        precision, recall, f1, cut = rows_of_pairs.view(np.float64).T
        return BertScores(precision, recall, f1, cut.astype(bool))

    def _computed(
        self, encoder: Encoder, candidates: Sequence[str], references: Sequence[str]
    ) -> BertScores:
        return bertscore(
            encoder, candidates, references, layer=self.layer, idf=self.idf, baseline=self.baseline
        )

    def _key(self, encoder: Encoder, pair: tuple[str, str]) -> bytes:
        return digest_of(VERSION, encoder.fingerprint, self.about(encoder), *pair)

    def about(self, encoder: Encoder) -> str:
        """The text for a signature: ``layer 9, idf of 340 references 1f0c2a9b7d3e, rescaled``."""
        matcher, baseline = self.encoder, self.baseline
        words = [] if matcher is None else [f"model {matcher.name}@{matcher.fingerprint[:12]}"]
        words += [f"layer {chosen_layer(matcher or encoder, self.layer)}"]
        if self.idf is not None:
            words.append(f"idf of {self.idf.documents} references {self.idf.fingerprint[:12]}")
        if baseline is not None:
            words.append(f"rescaled by {' '.join(repr(float(number)) for number in baseline)}")
        return ", ".join(words)


def _fits(name: str, value: str | None) -> bool:
    if name == "model":
        return bool(value)
    if name == "layer":
        return value is not None and value.isascii() and value.isdigit()
    return (name == "idf" and value is None) or (name == "rescale" and value != "")
