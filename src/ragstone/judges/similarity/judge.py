"""The similarity judge: how similar texts are by an encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.core.messages import reason
from ragstone.data import Example
from ragstone.judgements import ASKS, BERTSCORES, COSINES, VALUE, Probe, Similarity
from ragstone.judges.judge import Block, Filled, Sheet, fingerprint
from ragstone.models import Encoder

from .cosines import DECIMALS, Texts
from .options import BertscoreSettings
from .units import READERS, Unit, Units

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

    The texts of a block are embedded together, each distinct one once, and held
    until the next block comes. Where the encoder does not answer, the judgement
    has failed, with the reason.

    Args:
        encoder: A local model or a server's.
        bertscore: How BERTScore is computed.
    """

    encoder: Encoder
    bertscore: BertscoreSettings = field(default_factory=BertscoreSettings)
    asks: frozenset[str] = frozenset(Similarity.ask(one).name for one in (*COSINES, *BERTSCORES))
    _block: Sequence[Example] = field(default=(), init=False, repr=False)
    _texts: Texts = field(init=False, repr=False)
    _matches: dict[Unit, dict[str, UnitValue]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._texts = Texts(self.encoder)

    @property
    def name(self) -> str:
        """The encoder's."""
        return self.encoder.name

    @property
    def about(self) -> str:
        """The encoder's."""
        return self.encoder.about

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Compare the texts of each example."""
        if block.examples is not self._block:
            self._block = block.examples
            self._texts = Texts(self.encoder)
            self._matches = {}
        measure = ASKS[ask].part
        if measure == "question_probe":
            found = question_probe(block, rows)
        else:
            name = "answer_reference" if measure in BERTSCORES else measure.removesuffix(WINDOWS)
            found = {row: READERS[name](block.examples[row]) for row in rows}
        units = list(dict.fromkeys(unit for one in found.values() for unit in known(one)))
        if measure in BERTSCORES:
            compared = self._matched(units, measure)
        else:
            compared = self._compared(units, windows=measure.endswith(WINDOWS))
        return filled(Sheet(ask, self.name), found, compared)

    def _compared(self, units: Sequence[Unit], *, windows: bool) -> dict[Unit, UnitValue]:
        """The best cosine of each unit."""
        try:
            read = self._texts.in_windows(units) if windows else units
        except ModelFailure as error:
            return dict.fromkeys(units, UnitValue(failure=reason("no_answer", said=error)))
        self._texts.embed(text for unit in read for text in unit.texts)
        return {
            unit: UnitValue(value, self._texts.cut(one), self._texts.failure(one))
            for unit, one, value in zip(units, read, self._texts.best(read), strict=True)
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


def filled(sheet: Sheet, found: Mapping[int, Units], compared: Mapping[Unit, UnitValue]) -> Filled:
    """A row for each unit of each example; failed where one lacks or has failed."""
    measure = ASKS[sheet.ask].part
    for row, units in found.items():
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
    made = block.tables.outcome(Probe.name)["status"] == VALUE
    found: dict[int, Units] = {row: [] for row in rows if made[row]}
    probes = block.tables.of(Probe.name).select("row", "index", "text")
    for row, index, text in probes.iter_rows():
        units = found.get(row)
        if isinstance(units, list):
            units.append(Unit(index, ((block.examples[row].question or "", text),)))
    return found


def known(units: Units) -> list[Unit]:
    """The units; none if something is missing."""
    return [] if isinstance(units, str) else units
