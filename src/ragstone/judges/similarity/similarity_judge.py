"""Similarity judges: texts of an example compared by an encoder's cosines or by a cross-encoder."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

import numpy as np

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.core.messages import reason
from ragstone.data import Example
from ragstone.judgements import ASKS, BERTSCORES, COSINES, VALUE, Probe, Similarity
from ragstone.judges.judge import Block, Filled, RowBuilder, fingerprint, lack_of_text, no_text
from ragstone.judges.local.sentences import sentences
from ragstone.models import Encoder, Vectors
from ragstone.models.cross_encoder import CrossEncoder

from .bertscore import BertscoreSettings


@dataclass(frozen=True, slots=True)
class Unit:
    """The pairs of texts that one row is about, of which the best counts.

    ``index`` is the row's. An empty text is similar to nothing. Without a pair there
    is nothing to compare.
    """

    index: int
    pairs: tuple[tuple[str, str], ...]

    @property
    def texts(self) -> set[str]:
        return {text for pair in self.pairs for text in pair if text.strip()}

    @property
    def says_something(self) -> bool:
        """True if some pair has two texts that are not empty."""
        return any(first.strip() and other.strip() for first, other in self.pairs)


# The units, or what is lacking.
Units = list[Unit] | str


def sentence_context(example: Example) -> Units:
    texts = [context.text for context in example.contexts or ()]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return lack_of_text(example)
    return [Unit(index, tuple((sentence.text, text) for text in known))
            for index, sentence in enumerate(sentences(example.answer or ""))]  # fmt: skip


def answer_reference(example: Example) -> list[Unit]:
    answer = example.answer or ""
    return [Unit(number, ((answer, text),)) for number, text in enumerate(example.reference)]


def _of_contexts(example: Example, others: tuple[str, ...]) -> Units:
    """Each context with the others; a context without a text is left open."""
    if (lack := no_text(example)) is not None:
        return lack
    return [Unit(context.rank, tuple((other, context.text) for other in others))
            for context in example.contexts or () if context.text is not None]  # fmt: skip


# By measure; with windows the same, only that the contexts are read in pieces.
READERS: Mapping[str, Callable[[Example], Units]] = {
    "question_context": lambda example: _of_contexts(example, (example.question or "",)),
    "reference_context": lambda example: _of_contexts(example, example.reference),
    "sentence_context": sentence_context,
    "answer_reference": answer_reference,
    "question_answer": lambda example: [Unit(0, ((example.question or "", example.answer or ""),))],
}

# Of neighbouring windows, so that what one cuts through stands whole in the next.
OVERLAP = 0.5

_PIECE = re.compile(r"\S{1,24}\s*|\s+")


def windows(encoder: Encoder, texts: Sequence[str]) -> list[list[str]]:
    """Each text in windows within the token limit of ``embed``; a short text is one window.

    The windows begin and end between words, and in scripts without spaces
    between pieces of a few characters. If the encoder does not report how long a
    text is, or has no known limit, the text is one window.
    """
    lengths = encoder.lengths(texts)
    long = {text: [(piece.start(), piece.end()) for piece in _PIECE.finditer(text)]
            for text, length in zip(texts, lengths, strict=True)
            if 0 < encoder.max_tokens < length}  # fmt: skip
    words = list(
        dict.fromkeys(text[start:end].strip() for text in long for start, end in long[text])
    )
    special = int(encoder.lengths([""])[0]) if words else 0
    sizes = dict(zip(words, (encoder.lengths(words) - special).tolist(), strict=True))
    room = encoder.max_tokens - special
    cut = {text: _cut(text, places, [sizes[text[start:end].strip()] for start, end in places], room)
           for text, places in long.items()}  # fmt: skip
    return [cut.get(text, [text]) for text in texts]


def _cut(
    text: str, places: Sequence[tuple[int, int]], sizes: Sequence[int], room: int
) -> list[str]:
    ends = list(accumulate(sizes))
    total = ends[-1]
    cut: list[str] = []
    first = 0
    while True:
        begin = ends[first] - sizes[first]
        last = first
        while last + 1 < len(places) and ends[last + 1] - begin <= room:
            last += 1
        cut.append(text[places[first][0] : places[last][1]].strip())
        if ends[last] == total:
            return cut
        step = begin + max(1, int(room * (1 - OVERLAP)))
        first += 1
        while ends[first] - sizes[first] < step and first < last + 1:
            first += 1


# Texts are embedded this many at a time; if a server fails, what was embedded before is kept.
TEXTS_AT_ONCE = 2_000

PAIRS_AT_ONCE = 8_192

LEAST = -1.0
# Decimals kept of a cosine: vectors of 32 bits hold no more, and .5 should be .5 at a threshold.
DECIMALS = 6


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
            {text for text in texts if text not in self._places}, key=lambda text: (len(text), text)
        )
        gained: list[Vectors] = []
        limit = self.encoder.max_tokens
        for first in range(0, len(new), TEXTS_AT_ONCE):
            some = new[first : first + TEXTS_AT_ONCE]
            try:
                vectors, lengths = self._embedded(some), self.encoder.lengths(some)
            except ModelFailure as error:
                self._failed.update(dict.fromkeys(new[first:], reason("no_answer", said=error)))
                break
            self._places.update({text: at for at, text in enumerate(some, 1 + len(self._places))})
            for text, length in zip(some, lengths, strict=True):
                self._cut[text] = bool(length > limit) if length and limit else None
            norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
            gained.append((vectors / np.where(norms > 0, norms, 1)).astype(np.float32))
        if gained:
            before = self._vectors if self._vectors.size else np.zeros_like(gained[0][:1])
            self._vectors = np.concatenate([before, *gained])

    def in_windows(self, units: Iterable[Unit]) -> list[Unit]:
        """The units with the second text of each pair split into windows."""
        units = list(units)
        every = dict.fromkeys(text for unit in units for _, text in unit.pairs)
        new = [text for text in every if text not in self._windows]
        self._windows.update(zip(new, windows(self.encoder, new), strict=True))
        return [Unit(unit.index, tuple((first, window) for first, text in unit.pairs
                                       for window in self._windows[text]))
                for unit in units]  # fmt: skip

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
        return [float(cosine) for cosine in np.round(np.clip(best, LEAST, 1), DECIMALS)]

    def failure(self, unit: Unit) -> str | None:
        """Why one of its texts could not be embedded; None if all are."""
        missing = (text for text in unit.texts if text not in self._places)
        return next((self._failed[text] for text in missing), None)

    def cut(self, unit: Unit) -> bool | None:
        """True if one of its texts was longer than the encoder reads; None: unknown."""
        cut = {self._cut.get(text) for text in unit.texts}
        return True if True in cut else None if None in cut else False

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        vectors = self.encoder.embed(texts)
        if not np.isfinite(vectors).all():
            raise ModelFailure(f"{self.encoder.name} gave numbers that are not finite")
        return vectors


WINDOWS = "_windows"
NOTHING = "nothing_retrieved"
EMPTY = "empty_text"


@dataclass(frozen=True, slots=True)
class UnitValue:
    """The value that a model computed for a unit, or why it computed none."""

    value: float = 0.0
    cut: bool | None = False
    failure: str | None = None


@dataclass(eq=False)
class SimilarityJudge:
    """Fills the measures of similarity that an encoder can compute, under the encoder's name.

    The texts of a block are embedded together, each distinct one once, and held until the next
    block comes. Where the encoder does not answer, the judgement has failed, with the reason.
    """

    encoder: Encoder
    bertscore: BertscoreSettings = field(default_factory=BertscoreSettings)
    asks: frozenset[str] = frozenset(Similarity.ask(part).name for part in (*COSINES, *BERTSCORES))
    _block: Sequence[Example] = field(default=(), init=False, repr=False)
    _texts: Texts = field(init=False, repr=False)
    _matches: dict[Unit, dict[str, UnitValue]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._texts = Texts(self.encoder)

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def about(self) -> str:
        return self.encoder.about

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        if block.examples is not self._block:
            self._block = block.examples
            self._texts = Texts(self.encoder)
            self._matches = {}
        measure = ASKS[ask].part
        if measure == "question_probe":
            by_row = question_probe(block, rows)
        else:
            name = "answer_reference" if measure in BERTSCORES else measure.removesuffix(WINDOWS)
            by_row = {row: READERS[name](block.examples[row]) for row in rows}
        known = [units for units in by_row.values() if not isinstance(units, str)]
        units = list(dict.fromkeys(chain.from_iterable(known)))
        if measure in BERTSCORES:
            compared = self._matched(units, measure)
        else:
            compared = self._compared(units, windows=measure.endswith(WINDOWS))
        return filled(RowBuilder(ask, self.name), by_row, compared)

    def _compared(self, units: Sequence[Unit], *, windows: bool) -> dict[Unit, UnitValue]:
        try:
            read = self._texts.in_windows(units) if windows else units
        except ModelFailure as error:
            return dict.fromkeys(units, UnitValue(failure=reason("no_answer", said=error)))
        self._texts.embed(text for unit in read for text in unit.texts)
        return {
            unit: UnitValue(value, self._texts.cut(windowed), self._texts.failure(windowed))
            for unit, windowed, value in zip(units, read, self._texts.best(read), strict=True)
        }

    def _matched(self, units: Sequence[Unit], measure: str) -> dict[Unit, UnitValue]:
        """BERTScore of each unit's single pair; all three measures succeed or fail together."""
        new = [unit for unit in units if unit not in self._matches]
        try:
            scores = self.bertscore.scores(
                self.encoder,
                [answer for unit in new for answer, _ in unit.pairs],
                [reference for unit in new for _, reference in unit.pairs],
            )
        except (ModelError, ModelFailure) as error:
            failed = UnitValue(failure=reason("no_answer", said=error))
            self._matches.update({unit: dict.fromkeys(BERTSCORES, failed) for unit in new})
        else:
            columns = zip(new, scores.precision, scores.recall, scores.f1, scores.cut, strict=True)
            for unit, *values, cut in columns:
                self._matches[unit] = {
                    name: UnitValue(round(float(value), DECIMALS), bool(cut))
                    for name, value in zip(BERTSCORES, values, strict=True)
                }
        return {unit: self._matches[unit][measure] for unit in units}


def filled(
    sheet: RowBuilder, by_row: Mapping[int, Units], compared: Mapping[Unit, UnitValue]
) -> Filled:
    """A row for each unit of each example; failed where one lacks or has failed."""
    measure = ASKS[sheet.ask].part
    for row, units in by_row.items():
        subject = fingerprint(sheet.ask, units)
        if isinstance(units, str):
            sheet.done(row, subject, "failed", reason(units, of=sheet.judge))
            continue
        failures = [why for unit in units if (why := compared[unit].failure)]
        if failures:
            sheet.done(row, subject, "failed", failures[0])
        elif sheet.done(row, subject):
            for unit in units:
                sheet.add(
                    subject,
                    measure=measure,
                    index=unit.index,
                    value=compared[unit].value,
                    cut=compared[unit].cut,
                    reason=None if unit.says_something else EMPTY if unit.pairs else NOTHING,
                )
    return sheet.filled()


def question_probe(block: Block, rows: Sequence[int]) -> dict[int, Units]:
    """The question paired with each question generated from the answer, if these were made."""
    defined = block.tables.outcome(Probe.name)["status"] == VALUE
    by_row: dict[int, Units] = {row: [] for row in rows if defined[row]}
    probes = block.tables.of(Probe.name).select("row", "index", "text")
    for row, index, text in probes.iter_rows():
        units = by_row.get(row)
        if isinstance(units, list):
            units.append(Unit(index, ((block.examples[row].question or "", text),)))
    return by_row


@dataclass(frozen=True)
class CrossEncoderJudge:
    """Fills ``similarity/answer_reference_cross_encoder``, under the cross-encoder's name.

    The answer comes first, the reference second. An empty answer scores 0.

    Raises:
        ModelError: The model has several outputs, so that none of them is the similarity.
    """

    cross_encoder: CrossEncoder
    asks: frozenset[str] = frozenset(
        ask.name for ask in Similarity.asks if "cross_encoder" in ask.by
    )

    def __post_init__(self) -> None:
        labels = self.cross_encoder.labels
        if len(labels) != 1:
            raise ModelError(
                f"{self.name} tells {', '.join(labels)} apart, and none of them is a similarity. "
                "Name a cross-encoder with one output, such as cross-encoder/stsb-roberta-base."
            )

    @property
    def name(self) -> str:
        return self.cross_encoder.name

    @property
    def about(self) -> str:
        return self.cross_encoder.about

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Score each answer with each reference, every distinct pair once."""
        by_row = {row: answer_reference(block.examples[row]) for row in rows}
        units = dict.fromkeys(unit for units_of_row in by_row.values() for unit in units_of_row)
        compared = self._compared([unit for unit in units if unit.says_something])
        return filled(RowBuilder(ask, self.name), by_row,
                      {unit: compared.get(unit, UnitValue()) for unit in units})  # fmt: skip

    def _compared(self, units: Sequence[Unit]) -> dict[Unit, UnitValue]:
        pairs = list(dict.fromkeys(pair for unit in units for pair in unit.pairs))
        if not pairs:
            return {}
        try:
            scores = self.cross_encoder.score(pairs)[:, 0].tolist()
        except ModelFailure as error:
            return dict.fromkeys(units, UnitValue(failure=reason("no_answer", said=error)))
        cut = (self.cross_encoder.lengths(pairs) > self.cross_encoder.max_tokens).tolist()
        of_pair = {pair: UnitValue(round(score, DECIMALS), cut=is_cut)
                   for pair, score, is_cut in zip(pairs, scores, cut, strict=True)}  # fmt: skip
        return {unit: of_pair[unit.pairs[0]] for unit in units}
