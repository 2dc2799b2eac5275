"""Same inputs: finds metrics whose two sides were judged on identical inputs."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.messages import reason
from ragstone.decisions.scored import Scored
from ragstone.judgements import ASKS
from ragstone.metrics import Composite, Metric, needed_asks

from .sameness import measured_by
from .sides import Bools, Match, Side

Output = Literal["answer", "contexts", "rivals"]
OUTPUTS: tuple[Output, ...] = ("answer", "contexts", "rivals")
"""What a system makes of a question, and what other systems make of it."""

GIVEN = ("question", "history", "reference", "evidence", "reference_contexts", "policy")
"""What the data say of a question: every metric is taken to read all of it."""


class Inputs:
    """Fingerprints of what the judges of a run read in each example."""

    def __init__(self, scored: Scored) -> None:
        self.scored = scored
        self._prints: dict[tuple[str, ...], pl.Series] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[int, tuple[str, ...]], tuple[Side, NDArray[np.uint64]]] = {}

    def of(self, side: Side, name: str) -> NDArray[np.uint64]:
        """For each question what a metric's judgements of the side read, and who judged.

        Of several rows of a question all count, in whatever order; 0 where it has none. Made once
        for a side and all metrics that read the same.
        """
        prints = self._print(name)
        key = id(side), self._keys[name]
        if key not in self._found:
            self._found[key] = side, self._by_question(side, prints)
        return self._found[key][1]

    @staticmethod
    def _by_question(side: Side, prints: pl.Series) -> NDArray[np.uint64]:
        frame = pl.DataFrame({"place": pl.Series(side.places), "print": prints[side.rows]})
        by_question = frame.group_by("place").agg(pl.col("print").sort())
        found = np.zeros(len(side.questions.ids), dtype=np.uint64)
        found[by_question["place"].to_numpy()] = by_question["print"].hash().to_numpy()
        return found

    def _print(self, name: str) -> pl.Series:
        """For each example what a metric's judgements read; made once for all that read the same.

        Who judged counts only where several did.
        """
        if name in self._keys:
            return self._prints[self._keys[name]]
        metric = self.scored.metric(name)
        reads = OUTPUTS if metric is None else outputs_of(metric)
        asks = list(ASKS) if metric is None else needed_asks([metric])
        several = [ask for ask in asks if self._authors[ask] > 1]
        key = (*sorted(reads), *several, *(asks if self.scored.run.n_overruled else ()))
        self._keys[name] = key
        if key not in self._prints:
            made = [self._made[one] for one in OUTPUTS if one in reads]
            said = [self._judged(several), *self._overruled(asks)]
            self._prints[key] = _joined([self._given, *made, *said])
        return self._prints[key]

    def _overruled(self, asks: Sequence[str]) -> list[pl.Series]:
        """For each example what people overruled of these asks, where they overruled any."""
        overruled = self.scored.run.overruled_examples()
        if not any(one.ask in asks for those in overruled.values() for one in those):
            return []
        said = [
            repr([(one.ask, one.unit, sorted(one.said.items()))
                  for one in overruled.get(example, ()) if one.ask in asks])
            for example in self.scored.facets["example_id"]
        ]  # fmt: skip
        return [pl.Series(said, dtype=pl.String)]

    @cached_property
    def _authors(self) -> Counter[str]:
        """How many judges answered each ask."""
        return Counter(ask for ask, _, status, _ in self.scored.run.form.judged if status == "ok")

    @cached_property
    def _given(self) -> pl.Series:
        return self._printed(GIVEN)

    @cached_property
    def _made(self) -> dict[Output, pl.Series]:
        answer = self._printed(("answer",))
        frame = self.scored.facets.select("question_id").with_columns(print=answer)
        rivals = frame.group_by("question_id").agg(pl.col("print").sort())
        rivals = rivals.with_columns(pl.col("print").hash())
        joined = frame.join(rivals, on="question_id", how="left", maintain_order="left")
        return {
            "answer": answer,
            "contexts": self._printed(("contexts",)),
            "rivals": joined["print_right"],
        }

    def _printed(self, columns: Sequence[str]) -> pl.Series:
        # While they are read, for all texts of a large run do not fit into memory.
        texts = pl.struct(columns).struct.json_encode().hash().alias("print")
        return self.scored.run.examples([texts]).to_series()

    def _judged(self, several: Sequence[str]) -> pl.Series:
        """Which judge judged each example, of asks that several judges answered."""
        ids = self.scored.facets.select("example_id")
        if not several:
            return pl.repeat(0, len(ids), dtype=pl.UInt64, eager=True)
        who = (
            self.scored.run.ledger()
            .filter(pl.col("ask").is_in(several) & (pl.col("status") == "ok"))
            .group_by("example_id")
            .agg(who=pl.format("{} {}", "ask", "judge").unique().sort())
            .with_columns(pl.col("who").hash())
        )
        return ids.join(who, on="example_id", how="left", maintain_order="left")["who"].fill_null(0)


class SameInputs:
    """Whether both sides of a pair were judged on identical inputs, by metric."""

    def __init__(self) -> None:
        self._inputs: dict[int, Inputs] = {}

    def where(self, match: Match, name: str) -> Bools:
        """The questions with identical inputs, judge and prompts on both sides."""
        a, b = match
        if a.scored is not b.scored and measured_by(a.scored, name) != measured_by(b.scored, name):
            return np.zeros(len(a.questions.ids), dtype=bool)
        first, second = (self._of(side).of(side, name) for side in match)
        return np.asarray(a.there & b.there & (first == second))

    def everywhere(self, match: Match, name: str) -> bool:
        """Whether this is so for all common questions, of which there must be at least one."""
        both = match[0].there & match[1].there
        return bool(both.any()) and bool(self.where(match, name)[both].all())

    def _of(self, side: Side) -> Inputs:
        return self._inputs.setdefault(id(side.scored), Inputs(side.scored))


def outputs_of(metric: Metric) -> Collection[Output]:
    """The parts of the systems' output that a metric's judgements may read."""
    if isinstance(metric, Composite):
        return {one for part in metric.components().values() for one in outputs_of(part)}
    asks = [ASKS[name] for name in needed_asks([metric])]
    named = {*metric.reads, *(name for ask in asks for name in (*ask.requires, *ask.beside))}
    named |= {"answer"} if "answer_text" in named else set()
    return [one for one in OUTPUTS if one in named]


def same_inputs_reason(differing: int, pairs: int) -> str:
    """The reason code for a metric with identical inputs."""
    return reason("same_inputs", differing=differing, pairs=pairs)


def _joined(prints: Sequence[pl.Series]) -> pl.Series:
    frame = pl.DataFrame({str(place): one for place, one in enumerate(prints)})
    return frame.select(pl.struct(pl.all()).hash()).to_series()
