"""The cross-encoder judge: similarity of answer and reference, read together by a model."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.core.messages import reason
from ragstone.judgements import Similarity
from ragstone.judges.judge import Block, Filled, Sheet
from ragstone.models.cross_encoder import CrossEncoder

from .cosines import DECIMALS
from .judge import UnitValue, filled
from .units import Unit, answer_reference


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
        """The cross-encoder's."""
        return self.cross_encoder.name

    @property
    def about(self) -> str:
        """The cross-encoder's."""
        return self.cross_encoder.about

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Score each answer with each reference, every distinct pair once."""
        found = {row: answer_reference(block.examples[row]) for row in rows}
        units = dict.fromkeys(unit for one in found.values() for unit in one)
        compared = self._compared([unit for unit in units if unit.says_something])
        return filled(
            Sheet(ask, self.name),
            found,
            {unit: compared.get(unit, UnitValue()) for unit in units},
        )

    def _compared(self, units: Sequence[Unit]) -> dict[Unit, UnitValue]:
        pairs = list(dict.fromkeys(pair for unit in units for pair in unit.pairs))
        if not pairs:
            return {}
        try:
            scores = self.cross_encoder.score(pairs)[:, 0].tolist()
        except ModelFailure as error:
            return dict.fromkeys(units, UnitValue(failure=reason("no_answer", said=error)))
        cut = (self.cross_encoder.lengths(pairs) > self.cross_encoder.max_tokens).tolist()
        of_pair = {
            pair: UnitValue(round(score, DECIMALS), cut=one)
            for pair, score, one in zip(pairs, scores, cut, strict=True)
        }
        return {unit: of_pair[unit.pairs[0]] for unit in units}
