"""BERTScore: how well the tokens of two texts match, by their vectors.

    precision = weighted mean over the candidate's tokens of the best cosine with a reference token
    recall    = weighted mean over the reference's tokens of the best cosine with a candidate token
    f1        = 2 · precision · recall / (precision + recall)

Special tokens such as [CLS] and [SEP] may be matched, but have weight 0; others have weight 1, or
their idf. If all tokens of a text have an idf of 0, as with a single reference, their weight is 1.
A text without weighted tokens, such as an empty one, scores 0 against any other, also if rescaled.

The numbers are those of bert-score 0.3.13 with ``batch_size=1``, where no padding gets in. As
there, white space at the ends is removed first, and a text is read up to the most that the model
can read. One difference: bert-score puts a space before each text for RoBERTa and its like; here a
text is read unchanged.

Source: Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.models import Encoder, TokenVectors, Vectors

from .baselines import Baseline
from .idf import Idf
from .layers import chosen_layer

BYTES_AT_ONCE = 2**27
"""Of token vectors, estimated."""

CHARACTERS_A_TOKEN = 3
CELLS_AT_ONCE = 2**23
"""Of a grid's matrix of token cosines."""

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


def bertscore(
    encoder: Encoder,
    candidates: Sequence[str],
    references: Sequence[str],
    *,
    layer: int | None = None,
    idf: Idf | None = None,
    baseline: Baseline | None = None,
) -> BertScores:
    """BERTScore of each candidate with the reference at the same index.

    Pairs are processed in parts, which bounds memory; within a part each distinct
    text is encoded once.

    Args:
        encoder: One that gives token vectors.
        candidates: n texts.
        references: n texts.
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
    pairs = [
        (one.strip(), other.strip()) for one, other in zip(candidates, references, strict=True)
    ]
    raw = np.zeros((2, len(pairs)))
    said, cut = np.zeros((2, len(pairs)), dtype=np.bool_)
    sides: dict[str, _Side] = {}
    for places in _in_pieces(pairs, _bytes_a_character(encoder)):
        texts = dict.fromkeys(text for place in places for text in pairs[place])
        sides = _sides(encoder, texts, layer, idf, sides)
        for place in places:
            one, other = (sides[text] for text in pairs[place])
            cut[place] = one.cut or other.cut
            said[place] = one.says_something and other.says_something
            if said[place]:
                cosines = one.vectors @ other.vectors.T
                raw[:, place] = (
                    cosines.max(axis=1) @ one.weights,
                    cosines.max(axis=0) @ other.weights,
                )
    return _scores(raw[0], raw[1], said, cut, baseline)


def bertscore_grid(
    encoder: Encoder,
    candidates: Sequence[str],
    references: Sequence[str],
    *,
    layer: int | None = None,
    idf: Idf | None = None,
    baseline: Baseline | None = None,
) -> BertScores:
    """BERTScore of every candidate with every reference, by one matrix product.

    The token vectors of all texts are in memory: 4 bytes per dimension and token.

    Args:
        encoder: One that gives token vectors.
        candidates: n texts.
        references: m texts.
        layer: As for ``bertscore``, and so are ``idf`` and ``baseline``.

    Raises:
        ModelError: The encoder gives no token vectors, or has no such layer.
        ModelFailure: It did not answer.
    """
    layer = chosen_layer(encoder, layer)
    ones, others = ([text.strip() for text in texts] for texts in (candidates, references))
    sides = _sides(encoder, dict.fromkeys([*ones, *others]), layer, idf, {})
    rows, columns = (
        _distinct(text for text in texts if sides[text].says_something) for texts in (ones, others)
    )
    down, across = ([sides[text] for text in texts] for texts in (rows, columns))
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
    said = np.logical_and.outer(
        [text in rows for text in ones], [text in columns for text in others]
    )
    cut = np.logical_or.outer(
        [sides[text].cut for text in ones], [sides[text].cut for text in others]
    )
    return _scores(precision, recall, said, cut, baseline)


@dataclass(frozen=True, slots=True)
class _Side:
    """A text prepared for matching.

    Args:
        vectors: Shape (t, d), each of length 1.
        weights: Shape (t,), with sum 1; all 0 if no token has a weight.
        cut: Whether the text was longer than the model can read.
    """

    vectors: Vectors
    weights: Numbers
    cut: bool

    @property
    def says_something(self) -> bool:
        return bool(self.weights.any())


def _sides(
    encoder: Encoder,
    texts: Mapping[str, object],
    layer: int,
    idf: Idf | None,
    known: Mapping[str, _Side],
) -> dict[str, _Side]:
    """Encode the texts; those already encoded are reused."""
    new = [text for text in texts if text not in known]
    read = encoder.tokens(new, layer=layer, limit=encoder.longest)
    fresh = {text: _side(tokens, idf) for text, tokens in zip(new, read, strict=True)}
    return {text: fresh[text] if text in fresh else known[text] for text in texts}


def _side(tokens: TokenVectors, idf: Idf | None) -> _Side:
    lengths = np.sqrt(np.einsum("td,td->t", tokens.vectors, tokens.vectors))[:, None]
    vectors = np.divide(
        tokens.vectors, lengths, out=np.zeros_like(tokens.vectors), where=lengths > 0
    )
    plain = (~np.isin(tokens.ids, _special(tokens))).astype(np.float64)
    weights = plain if idf is None else plain * idf.weights(tokens.ids)
    if not weights.any():
        weights = plain
    total = weights.sum()
    return _Side(vectors, weights / total if total else weights, tokens.cut)


def _special(tokens: TokenVectors) -> list[int]:
    """The ids of the special tokens that the tokenizer put at both ends."""
    own = [not span.any() for span in tokens.spans]
    first = own.index(False) if False in own else len(own)
    last = own[::-1].index(False) if False in own else 0
    return [*tokens.ids[:first].tolist(), *tokens.ids[len(own) - last :].tolist()]


def _matched(down: Sequence[_Side], across: Sequence[_Side]) -> tuple[Numbers, Numbers]:
    """Precision and recall of every text on the left with every one on the right."""
    cosines = np.concatenate([one.vectors for one in down]) @ (
        np.concatenate([one.vectors for one in across]).T
    )
    rows, columns = _starts(down), _starts(across)
    best_right = np.maximum.reduceat(cosines, columns, axis=1)
    best_left = np.maximum.reduceat(cosines, rows, axis=0)
    weights_down = np.concatenate([one.weights for one in down])[:, None]
    weights_across = np.concatenate([one.weights for one in across])[None, :]
    return (
        np.add.reduceat(best_right * weights_down, rows, axis=0),
        np.add.reduceat(best_left * weights_across, columns, axis=1),
    )


def _scores(
    precision: Numbers,
    recall: Numbers,
    said: NDArray[np.bool_],
    cut: NDArray[np.bool_],
    baseline: Baseline | None,
) -> BertScores:
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total != 0)
    scores = [precision, recall, f1]
    if baseline is not None:
        expected = (baseline.precision, baseline.recall, baseline.f1)
        scores = [(one - b) / (1 - b) for one, b in zip(scores, expected, strict=True)]
    precision, recall, f1 = (np.where(said, one, 0.0) for one in scores)
    return BertScores(precision, recall, f1, cut)


def _distinct(texts: Iterable[str]) -> dict[str, int]:
    """Each distinct text with its index."""
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}


def _starts(sides: Sequence[_Side]) -> NDArray[np.intp]:
    lengths = [len(side.weights) for side in sides]
    return np.cumsum([0, *lengths[:-1]], dtype=np.intp)


def _slices(sides: Sequence[_Side], width: int) -> Iterator[slice]:
    """Slices of neighbours whose tokens, times ``width``, are at most ``CELLS_AT_ONCE``."""
    start = tokens = 0
    for end, side in enumerate(sides):
        tokens += len(side.weights)
        if tokens * width > CELLS_AT_ONCE and end > start:
            yield slice(start, end)
            start, tokens = end, len(side.weights)
    if start < len(sides):
        yield slice(start, len(sides))


def _in_pieces(pairs: Sequence[tuple[str, str]], bytes_a_character: float) -> Iterator[list[int]]:
    """Indices of pairs to process together, with equal references next to each other."""
    piece: list[int] = []
    held: set[str] = set()
    size = 0.0
    for place in sorted(range(len(pairs)), key=lambda place: pairs[place][::-1]):
        new = {text for text in pairs[place] if text not in held}
        more = sum(map(len, new)) * bytes_a_character
        if piece and size + more > BYTES_AT_ONCE:
            yield piece
            piece, held, size = [], set(), 0.0
            more = sum(map(len, set(pairs[place]))) * bytes_a_character
        piece.append(place)
        held.update(pairs[place])
        size += more
    if piece:
        yield piece


def _bytes_a_character(encoder: Encoder) -> float:
    return 4 * encoder.dimensions / CHARACTERS_A_TOKEN
