"""Gate checks: the state of each requirement on each system, and the effect of missing scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import polars as pl

from ragstone.analysis.comparison.comparability import SameInputs
from ragstone.analysis.scored_run import End, Quantity, Scored, mean_quantity, owing
from ragstone.core.errors import InputError, RagstoneError, UnknownName
from ragstone.core.messages import argument, call, reason
from ragstone.run import Run
from ragstone.stats import Interval
from ragstone.stats.comparison.differences import holm
from ragstone.stats.distributions import LEAST_P, Side, one_sided_p

from .gate_requirements import (
    COMPARES,
    Bound,
    NoWorse,
    gain,
    lacking,
    over_means,
    over_means_quantity,
    read_no_worse,
    read_requirement,
)

T = TypeVar("T")

# The quantity to decide on for a metric and a system instead of the judge's; None: has none.
CorrectedBy = Callable[[str, str], Quantity | None]


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
    """Whether both sides were judged on the same, and alike: it holds, and no p is looked at."""
    corrected: bool = False
    """Whether labels corrected the quantity, so that it is not the judge's alone."""

    def worst(self, most: int) -> tuple[tuple[str, float], ...]:
        """The worst examples by distance from the bar, ties in the order of the data."""
        met = COMPARES[self.bar.op](pl.col("value"), self.bar.at)
        rows = self.scores.filter(~met).sort(
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
    """The requirements to decide, and notes on them; see ``gate``."""
    scored = Scored(run, cluster=cluster)
    hint = f"It has {', '.join(scored.systems)}."
    unknown = [
        UnknownName("system of this run", name, scored.systems, hint=hint)
        for name in system
        if name not in scored.systems
    ]
    problems: list[RagstoneError] = [*faults]
    if not require and not no_worse_than:
        problems.append(InputError(
            "A gate needs something to decide, such as "
            f"{argument('require', 'faithfulness >= 0.85')} or "
            f"{argument('no_worse_than', 'BASELINE:0.02')}."
        ))  # fmt: skip
    if only and not no_worse_than:
        limited = argument("no_worse_than")
        problems.append(InputError(f"{argument('only')} limits {limited}, and there is none."))
    problems += unknown
    systems = [name for name in scored.systems if name in system or not system or unknown]

    requirements: dict[tuple[str, Bound], str] = {}

    def required(text: str) -> None:
        metric, bar = read_requirement(text, scored)
        composite = over_means(scored, metric)
        if composite is not None and (parts := lacking(scored, composite)):
            adds = call(
                "rescore", argument("run", scored.run.in_hints), argument("metrics", parts[0])
            )
            raise InputError(
                f"{text.strip()!r}: {metric} is made of the means of {', '.join(parts)}, "
                f"which the run has no scores of. {adds} adds them."
            )
        requirements.setdefault((metric, bar), text.strip())

    _each(require, required, problems)
    baselines = _each(
        dict.fromkeys(no_worse_than),
        lambda text: read_no_worse(text, scored, systems, only),
        problems,
    )
    if len(problems) == 1:
        raise problems[0]
    if problems:
        lines = "\n".join(f"  {fault.text}" for fault in problems)
        raise InputError(f"{len(problems)} problems with the arguments of the gate.\n{lines}")
    notes = list(scored.remarks)
    checks = list(_required(scored, requirements, systems, corrected, notes))
    for baseline in baselines:
        checks += _no_worse(baseline)
        notes += baseline.notes
    if corrected is not None and baselines:
        notes.append("no_worse_uncorrected")
    return checks, notes


def _each(texts: Iterable[str], read: Callable[[str], T], faults: list[RagstoneError]) -> list[T]:
    values = []
    for text in texts:
        try:
            values.append(read(text))
        except InputError as fault:
            faults.append(fault)
    return values


def _required(
    scored: Scored, requirements: Mapping[tuple[str, Bound], str], systems: Sequence[str],
    corrected: CorrectedBy | None, notes: list[str],
) -> Iterator[Check]:  # fmt: skip
    for (metric, bar), text in requirements.items():
        scale, scores = scored.scale(metric), scored.of(metric)
        composite = over_means(scored, metric)
        uncorrected = []
        for system in systems:
            rows = scores.filter(pl.col("system") == system)
            quantity = (
                mean_quantity(rows, scale)
                if composite is None
                else over_means_quantity(scored, composite, system)
            )
            instead = None if corrected is None else corrected(metric, system)
            if instead is not None:
                quantity = owing(instead, quantity)
            elif corrected is not None:
                uncorrected.append(system)
            yield Check(
                text, metric, system, bar, scale.better, quantity, rows,
                corrected=instead is not None,
            )  # fmt: skip
        if corrected is not None and uncorrected:
            notes.append(reason("uncorrected", of=metric, systems="\n".join(uncorrected)))


def _no_worse(baseline: NoWorse) -> Iterator[Check]:
    bar = Bound(">=", -baseline.margin)
    inputs = SameInputs()
    for metric in baseline.metrics:
        text = f"{metric} no worse than {baseline.text}"
        for match in baseline.matches:
            side, (quantity, differences, equal) = match[0], gain(match, metric)
            better = side.scored.scale(metric).better
            same = equal and inputs.everywhere(match, metric)
            yield Check(text, metric, side.system, bar, better, quantity, differences, same)


State = Literal["holds", "broken", "open"]
On = Literal["interval", "point"]

ENDS: tuple[End, ...] = ("low", "high")


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a requirement, with the interval that decided it and p for the opposite."""

    state: State
    interval: Interval | None
    p: float | None
    p_adjusted: float | None


def standings(checks: Sequence[Check], *, level: float, on: On) -> list[Standing]:
    """Decide all requirements together, because their p-values are adjusted as one family."""
    quantities = [check.quantity for check in checks]
    ps = [_p(check, check.quantity, on) for check in checks]
    return _standings(checks, quantities, ps, level, on)


def turned_by_missing(
    checks: Sequence[Check], before: Sequence[Standing], *, level: float, on: On
) -> list[str]:
    """Tell how missing scores could change the state of each requirement; empty if they cannot.

    All missing scores are set to the low end of their range, then all to the high end. The result
    is such as ``low:open``, the end and the state there, or ``no_end``.
    """
    turned = ["" for _ in checks]
    owing = [at for at, check in enumerate(checks) if check.quantity.n_missing]
    for end in ENDS if owing else ():
        quantities = [check.quantity for check in checks]
        ps = [state.p for state in before]
        for at in owing:
            fill = checks[at].quantity.filled
            filled = None if fill is None else fill(end)
            if filled is None:
                turned[at] = "no_end"
            else:
                quantities[at] = filled
                ps[at] = _p(checks[at], filled, on)
        after = _standings(checks, quantities, ps, level, on)
        for at in owing:
            if not turned[at] and after[at].state != before[at].state:
                turned[at] = f"{end}:{after[at].state}"
    return turned


def p_beyond(quantity: Quantity, bar: Bound, side: Side) -> float | None:
    """One-sided p-value for the true value lying on one side of the bar; None without an interval.

    From the exact binomial for a rate, otherwise from inverted intervals.
    """
    if quantity.value is None:
        return None
    if quantity.exact is not None:
        return quantity.exact.p(bar.at, beyond=side)
    least = max(LEAST_P, quantity.least_p)
    return one_sided_p(quantity.at, quantity.value, bar.at, beyond=side, least=least)


def _p(check: Check, quantity: Quantity, on: On) -> float | None:
    return (
        None if on == "point" or check.same else p_beyond(quantity, check.bar, check.bar.other_side)
    )


def _standings(
    checks: Sequence[Check], quantities: Sequence[Quantity], ps: Sequence[float | None],
    level: float, on: On,
) -> list[Standing]:  # fmt: skip
    states = []
    for check, quantity, p, adjusted in zip(checks, quantities, ps, holm(ps), strict=True):
        if check.same or quantity.value is None:
            states.append(Standing("holds" if check.same else "open", None, None, None))
            continue
        interval = quantity.at(1 - 2 * level)
        state: State = "open"
        if on == "point":
            state = "holds" if check.bar.met(quantity.value) else "broken"
        elif interval is not None and check.bar.cleared(interval):
            state = "holds"
        elif adjusted is not None and adjusted <= level:
            state = "broken"
        states.append(Standing(state, interval, p, adjusted))
    return states
