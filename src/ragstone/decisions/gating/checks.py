"""Gate checks: each requirement on each system, with the quantity that it is decided on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import polars as pl

from ragstone.core.errors import InputError, RagstoneError, UnknownName
from ragstone.core.messages import argument, call, reason
from ragstone.decisions.comparing.same_inputs import SameInputs
from ragstone.decisions.quantity import Quantity, mean_quantity, owing
from ragstone.decisions.scored import Scored
from ragstone.run import Run

from .no_worse import NoWorse, gain, read_no_worse
from .over_means import lacking, over_means, over_means_quantity
from .requirement import Bound, GateRequirement, read_requirement

T = TypeVar("T")

CorrectedBy = Callable[[str, str], Quantity | None]
"""The quantity to decide on for a metric and a system instead of the judge's; None: has none."""


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One requirement on one system."""

    text: str
    metric: str
    system: str
    bar: Bound
    better: Literal["+", "-", "0"]
    quantity: Quantity
    scores: pl.DataFrame
    """``example_id`` and ``value``: scores, or the differences of pairs."""
    same: bool = False
    """Whether both sides were judged on the same: it holds, and no p of it is looked at."""

    def worst(self, most: int) -> tuple[tuple[str, float], ...]:
        """The worst examples by distance from the bar, ties in the order of the data."""
        value, at = pl.col("value"), self.bar.at
        wrong = {">=": value < at, ">": value <= at, "<=": value > at, "<": value >= at}
        rows = self.scores.filter(wrong[self.bar.op]).sort(
            "value", descending=self.bar.side == "below", maintain_order=True
        )
        return tuple(rows.select("example_id", "value").head(most).iter_rows())


def read_checks(
    run: Run,
    require: Sequence[str],
    no_worse_than: Sequence[str],
    system: Sequence[str],
    corrected: CorrectedBy | None,
    *,
    only: Sequence[str] = (),
    cluster: str | None = None,
    faults: Sequence[InputError] = (),
) -> tuple[list[Check], list[str]]:
    """The requirements to decide, and notes on them.

    Args:
        run: A finished run.
        require: ``METRIC OP BAR``.
        no_worse_than: ``BASELINE:MARGIN``.
        system: Only these systems; none for all.
        corrected: In place of the judge's means.
        only: Of ``no_worse_than`` only these metrics; none for all.
        cluster: Field whose rows are not independent; by default the run's own.
        faults: Further faults, reported together with those found here.

    Raises:
        InputError: Every fault; a single one as it is, such as ``UnknownName``.
    """
    scored = Scored(run, cluster=cluster)
    unknown = list(_unknown(system, scored.systems))
    found: list[RagstoneError] = [*faults, *_misfits(require, no_worse_than, only), *unknown]
    systems = [one for one in scored.systems if one in system or not system or unknown]

    def required(text: str) -> GateRequirement:
        one = read_requirement(text, scored)
        _refuse_lacking(one, scored)
        return one

    requirements: dict[tuple[str, Bound], GateRequirement] = {}
    for one in _each(require, required, found):
        requirements.setdefault((one.metric, one.bar), one)
    baselines = _each(
        dict.fromkeys(no_worse_than),
        lambda text: read_no_worse(text, scored, systems, only),
        found,
    )
    if len(found) == 1:
        raise found[0]
    if found:
        lines = "\n".join(f"  {fault.text}" for fault in found)
        raise InputError(f"{len(found)} problems with the arguments of the gate.\n{lines}")
    notes = list(scored.remarks)
    checks = list(_required(scored, requirements.values(), systems, corrected, notes))
    for baseline in baselines:
        checks += _no_worse(baseline)
        notes += baseline.notes
    if corrected is not None and baselines:
        notes.append("no_worse_uncorrected")
    return checks, notes


def _misfits(
    require: Sequence[str], no_worse_than: Sequence[str], only: Sequence[str]
) -> Iterator[InputError]:
    """Arguments that do not fit together."""
    if not require and not no_worse_than:
        yield InputError(
            "A gate needs something to decide, such as "
            f"{argument('require', 'faithfulness >= 0.85')} or "
            f"{argument('no_worse_than', 'BASELINE:0.02')}."
        )
    if only and not no_worse_than:
        limited = argument("no_worse_than")
        yield InputError(f"{argument('only')} limits {limited}, and there is none.")


def _unknown(system: Sequence[str], known: Sequence[str]) -> Iterator[UnknownName]:
    for one in system:
        if one not in known:
            yield UnknownName("system of this run", one, known, hint=f"It has {', '.join(known)}.")


def _each(texts: Iterable[str], read: Callable[[str], T], faults: list[RagstoneError]) -> list[T]:
    """What the texts say; those that cannot be read are faults."""
    found = []
    for text in texts:
        try:
            found.append(read(text))
        except InputError as fault:
            faults.append(fault)
    return found


def _required(
    scored: Scored,
    requirements: Iterable[GateRequirement],
    systems: Sequence[str],
    corrected: CorrectedBy | None,
    notes: list[str],
) -> Iterator[Check]:
    for one in requirements:
        scale, scores = scored.scale(one.metric), scored.of(one.metric)
        composite = over_means(scored, one.metric)
        uncorrected = []
        for system in systems:
            rows = scores.filter(pl.col("system") == system)
            quantity = (
                mean_quantity(rows, scale)
                if composite is None
                else over_means_quantity(scored, composite, system)
            )
            instead = None if corrected is None else corrected(one.metric, system)
            if instead is not None:
                quantity = owing(instead, quantity)
            elif corrected is not None:
                uncorrected.append(system)
            yield Check(one.text, one.metric, system, one.bar, scale.better, quantity, rows)
        if corrected is not None and uncorrected:
            notes.append(reason("uncorrected", of=one.metric, systems="\n".join(uncorrected)))


def _no_worse(baseline: NoWorse) -> Iterator[Check]:
    bar = Bound(">=", -baseline.margin)
    inputs = SameInputs()
    for metric in baseline.metrics:
        text = f"{metric} no worse than {baseline.text}"
        for match in baseline.matches:
            side, found = match[0], gain(match, metric)
            better = side.scored.scale(metric).better
            same = inputs.everywhere(match, metric)
            yield Check(
                text, metric, side.system, bar, better, found.quantity, found.differences, same
            )


def _refuse_lacking(one: GateRequirement, scored: Scored) -> None:
    composite = over_means(scored, one.metric)
    parts = [] if composite is None else lacking(scored, composite)
    if parts:
        adds = call("rescore", argument("run", scored.run.path), argument("metrics", parts[0]))
        raise InputError(
            f"{one.text!r}: {one.metric} is made of the means of {', '.join(parts)}, which the "
            f"run has no scores of. {adds} adds them."
        )
