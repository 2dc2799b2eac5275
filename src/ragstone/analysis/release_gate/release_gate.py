"""Gate: may this be shipped? Requirements on every system, with the error rate stated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

from ragstone.analysis.calibration.calibrate import corrected_quantities
from ragstone.analysis.calibration.checked_run import CheckedRun, checked_against_people
from ragstone.analysis.comparison.comparability import same_inputs_reason
from ragstone.analysis.comparison.comparison_result import NO_PAIR_DIFFERS
from ragstone.analysis.scored_run import Quantity
from ragstone.annotation.label_names import Ends
from ragstone.core.errors import InputError
from ragstone.core.messages import Displayable, Renamed, plain, reason
from ragstone.run import Run
from ragstone.run.estimates.cautions import relevance_by
from ragstone.run.request import checked
from ragstone.stats.distributions import Side, ends_of
from ragstone.stats.planning.sample_size import SIZE_ROUNDING, needed_n

from .gate_checks import (
    Check,
    CorrectedBy,
    On,
    Standing,
    State,
    p_beyond,
    read_checks,
    standings,
    turned_by_missing,
)
from .gate_requirements import Bound

Decision = Literal["pass", "fail", "cannot_tell", "missing"]

# Of the command; 2 is bad input.
EXIT_STATUS: Mapping[Decision, int] = {"pass": 0, "fail": 1, "cannot_tell": 3, "missing": 4}

GRAVEST_FIRST: tuple[Decision, ...] = ("fail", "missing", "cannot_tell", "pass")
DECIDED: Mapping[State, Decision] = {"holds": "pass", "broken": "fail", "open": "cannot_tell"}
ON_THE_BAR = "on_the_bar"
NO_RANDOM_SAMPLE = "no_random_sample"
TURNS = "missing_could_turn_it"
JUDGE_MORE = "judge_more"
# How many examples are kept, at most, for each requirement that does not pass.
WORST_KEPT = 10


@dataclass(frozen=True, slots=True)
class Decided:
    """A requirement, decided for one system.

    Attributes:
        state: What the scores that are there say: ``holds`` if the interval clears the bar,
            ``broken`` if the opposite is shown, else ``open``. ``decision`` may be ``missing`` all
            the same.
        better: The metric's direction: ``+``, ``-`` or ``0``.
        value: The estimate; of ``no worse than`` the difference to the baseline in the metric's
            direction. None where there is none.
        low: Of the interval, None where there is none.
        method: Of the interval; exact for a rate, and then not the one of the report.
        p: One-sided, for the truth being on the wrong side of the bar; small means broken. None
            where there is no interval, or the value alone decides.
        p_adjusted: By Holm over all requirements and systems.
        n_needed: Examples in all that would decide it if the value stayed; None where it is
            decided, and where no number would.
        n_needed_reason: Why there is no such number; None where there is.
        n: Rows with a value: examples, pairs or labels, as ``counted`` says.
        reason: Why it came out like this, see ``ragstone.core.messages``.
        same: Whether a system and its baseline were judged on the same inputs by the same judge,
            and alike, so that it holds and nothing is estimated.
        worst: The examples furthest on the wrong side, where it does not pass: id and score.
        relevance_by: Who judged relevance, where not all metrics have that from the same source.
    """

    text: str
    group: Mapping[str, str]
    decision: Decision
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    n_needed: int | None
    n_needed_reason: str | None
    metric: str
    op: str
    bar: float
    better: Literal["+", "-", "0"]
    state: State
    level: float
    method: str | None
    p_adjusted: float | None
    n: int
    n_undefined: int
    n_missing: int
    counted: str
    reason: str
    same: bool
    notes: tuple[str, ...]
    worst: tuple[tuple[str, float], ...]
    relevance_by: str = ""

    def to_dict(self) -> dict[str, Any]:
        worst = [{"example_id": name, "value": value} for name, value in self.worst]
        return {**plain(self), "worst": worst}


@dataclass(frozen=True, slots=True, repr=False)
class GateResult(Displayable):
    """The decision of a gate: the first that applies of fail, missing, cannot tell, pass.

    Attributes:
        checked: What people's labels show about the judges of the metrics it is decided on.
        corrected: The metrics that enough labels correct, for every system.
        without_corrections: The decision on the numbers as the judges left them; None where people
            corrected nothing, or where nothing of it was read.
    """

    run: Run
    decision: Decision
    requirements: tuple[Decided, ...]
    level: float
    max_missing: float
    on: On
    notes: tuple[str, ...]
    checked: CheckedRun = field(default_factory=lambda: CheckedRun({}))
    corrected: tuple[str, ...] = ()
    without_corrections: "GateResult | None" = None

    without_overrules = Renamed("without_corrections")

    def __repr__(self) -> str:
        requirements = len(self.requirements)
        return f"GateResult({str(self.run.path)!r}, {self.decision}, {requirements} requirements)"

    @property
    def judged(self) -> CheckedRun:
        """The judges and people on whose own numbers it is decided."""
        judged = {*self.checked.metrics, *self.checked.people}
        return self.checked.on(judged.difference(self.corrected))

    @property
    def exit_status(self) -> int:
        """0 pass, 1 fail, 3 cannot tell, 4 missing."""
        return EXIT_STATUS[self.decision]

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "exit_status": self.exit_status,
            "level": self.level,
            "max_missing": self.max_missing,
            "on": self.on,
            "adjusted": "holm",
            "checked": self.checked.to_dict(),
            "corrected": list(self.corrected),
            "requirements": [requirement.to_dict() for requirement in self.requirements],
            "notes": list(self.notes),
            "without_overrules": self.without_corrections and self.without_corrections.to_dict(),
        }


@checked
def gate(
    run: Run | str | Path,
    require: str | Sequence[str] = (),
    *,
    no_worse_than: str | Sequence[str] = (),
    system: str | Sequence[str] = (),
    labels: Sequence[str | Path] = (),
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Ends] | None = None,
    cluster: str | None = None,
    only: str | Sequence[str] = (),
    on: On = "interval",
    level: float = 0.05,
    max_missing: float = 0.05,
    corrected: CorrectedBy | None = None,
    assume_random: bool = False,
    anytime: bool = False,
) -> GateResult:
    """Decide whether every system of a run meets its requirements.

    A requirement is met if its whole interval at level 1 - 2 · ``level`` satisfies it. It is not
    met if the one-sided p-value for the opposite, adjusted by Holm over requirements and systems,
    is at most ``level``. Otherwise it is undecided, as it is if the metric is undefined everywhere.

    The gate's decision is the first of these that applies. Fail: a requirement is not met. Missing:
    more than ``max_missing`` of a requirement's scores are missing, or the missing scores would
    change the decision if all were at one end of the metric's range. Cannot tell: a requirement is
    undecided. Pass: all are met; because all must be, nothing is adjusted here.

    Where people corrected judgements of the run or of a baseline, it decides on the numbers with
    and without that. With ``labels`` it reads what the judges said alone, because corrections were
    chosen by looking.

    Rates are decided by exact binomial tails (``ExactRate``): the chance to pass although a
    requirement is not met is at most ``level``, and so is the chance to fail although all are met.
    So no event in n rows shows a rate below .01 only for n of 299 or more. Means, differences and
    estimates corrected by labels are decided by their intervals, which have their nominal level on
    average.

    Args:
        require: ``METRIC OP BAR``, such as ``faithfulness >= 0.85`` or ``hit(k=5) > 80%``.
        no_worse_than: ``BASELINE:MARGIN``, where BASELINE is a system of the run or the folder of
            another run. For every metric that both have and that has a better direction, the paired
            difference in that direction must be at least minus the margin. Always met if both were
            judged on the same inputs by the same judge, and alike.
        only: Apply ``no_worse_than`` to these metrics only.
        labels: Human label files: decide on estimates corrected by them.
        scales: Maps a metric to the first and last point of the scale on which people rated it,
            such as (1, 5).
        on: ``point`` decides by the values alone, for thresholds no interval can clear.
        level: One-sided error rate, in (0, .5).
        max_missing: Largest share of a requirement's scores that may be missing, in [0, 1].
        corrected: Instead of ``labels``: a function that returns the quantity to decide on for a
            metric and a system, or None if it has none.
        assume_random: Use labels of unknown sampling probability even if they are clearly not a
            random sample; otherwise a requirement that depends on them is undecided.
        anytime: For labels that keep arriving as random draws: decide by their mean alone, with an
            interval that is valid at every look.

    Raises:
        InputError: An argument is invalid; lists every fault.
    """
    opened = Run.of(run)
    correction_notes: tuple[str, ...] = ()
    by_labels: CheckedRun | None = None
    if labels or corrected is not None:
        if opened.n_corrected:
            correction_notes = (reason("overrules_left_out", n=opened.n_corrected),)
        opened = opened.without_corrections()
    if labels and corrected is None:
        found_by = corrected_quantities(
            opened, list(labels), cluster=cluster, columns=columns, scales=scales,
            assume_random=assume_random, anytime=anytime,
        )  # fmt: skip
        corrected, correction_notes = found_by, (*correction_notes, *found_by.notes)
        by_labels = found_by.checked()

    def on_the_numbers_of(of: Run) -> GateResult:
        checks, notes = read_checks(
            of, _several(require), _several(no_worse_than), _several(system), corrected,
            only=_several(only), cluster=cluster, faults=_faults(level, max_missing, on),
        )  # fmt: skip
        states = standings(checks, level=level, on=on)
        turned = turned_by_missing(checks, states, level=level, on=on)
        family = sum(not check.same for check in checks)
        metrics = {check.metric for check in checks}
        sources = relevance_by(
            estimate for estimate in of.estimate_list if estimate.metric in metrics
        )
        decided = tuple(
            _decided(check, state, turn, family, level, max_missing, on, sources)
            for check, state, turn in zip(checks, states, turned, strict=True)
        )
        outcomes = {requirement.decision for requirement in decided}
        first = next(decision for decision in GRAVEST_FIRST if decision in outcomes)
        remarks = tuple(dict.fromkeys([*correction_notes, *notes]))
        estimated = dict.fromkeys(check.metric for check in checks if not check.same)
        uncorrected = {check.metric for check in checks if not check.same and not check.corrected}
        known = (by_labels or checked_against_people(of.path, of.form)).on(estimated)
        uncorrected |= {name for name, metric in known.metrics.items() if by_labels and metric.few}
        return GateResult(
            of, first, decided, level, max_missing, on, remarks, known,
            tuple(metric for metric in estimated if metric not in uncorrected),
        )  # fmt: skip

    result = on_the_numbers_of(opened)
    if not opened.sees_corrections:
        return result
    folders = (text.rpartition(":")[0].strip() for text in _several(no_worse_than))
    others = (Run.open(folder) for folder in folders if folder and Path(folder).is_dir())
    if not any(each.n_corrected for each in (opened, *others)):
        return result
    return replace(result, without_corrections=on_the_numbers_of(opened.without_corrections()))


def _decided(
    check: Check, standing: Standing, turned: str, family: int, level: float, max_missing: float,
    on: On, sources: Mapping[str, str],
) -> Decided:  # fmt: skip
    quantity = check.quantity
    decision, why = DECIDED[standing.state], _why(check, standing, level, on)
    owed: dict[str, Any] = {"missing": quantity.n_missing, "possible": quantity.n_possible}
    if standing.state != "broken" and not check.same:
        if quantity.missing_share > max_missing:
            decision, why = "missing", reason("too_many_missing", **owed, most=max_missing)
        elif turned:
            decision, why = "missing", reason(TURNS, **owed, how=turned)
    interval = standing.interval
    open_ = standing.state == "open"
    needed, why_none = _needed(check, family, level) if open_ else (None, "decided")
    return Decided(
        text=check.text,
        metric=check.metric,
        group={"system": check.system},
        decision=decision,
        state=standing.state,
        op=check.bar.op,
        bar=check.bar.at,
        better=check.better,
        value=quantity.value,
        **ends_of(interval),
        level=1 - 2 * level,
        method=None if interval is None else interval.method,
        p=standing.p,
        p_adjusted=standing.p_adjusted,
        n_needed=needed,
        n_needed_reason=why_none,
        n=quantity.n,
        n_undefined=quantity.n_undefined,
        n_missing=quantity.n_missing,
        counted=quantity.counted,
        reason=why,
        same=check.same,
        notes=_notes(check, on),
        worst=() if decision == "pass" else check.worst(WORST_KEPT),
        relevance_by=sources.get(check.metric, ""),
    )


def _needed(check: Check, family: int, level: float) -> tuple[int | None, str | None]:
    """Total number of examples needed at the present share of undefined ones, or why there is none.

    On the right side of the bar the interval has to clear it. On the wrong side the p has to reach
    the level over the family's size, which suffices for Holm whatever the others do.
    """
    quantity, bar = check.quantity, check.bar
    if quantity.value is None or quantity.n == 0:
        return None, "no_value"
    if quantity.value == bar.at:
        return None, ON_THE_BAR
    if quantity.counted == "pairs" and not (check.scores["value"] != 0).any():
        return None, NO_PAIR_DIFFERS
    right = bar.met(quantity.value)
    side, reached = (bar.side, level) if right else (bar.other_side, level / family)
    rows = _rows_needed(quantity, bar, side, reached)
    if rows is None:
        return None, ON_THE_BAR if quantity.at(1 - 2 * level) else "no_interval"
    if quantity.counted == "labels":
        labels, judged = max(rows, quantity.n + 1), quantity.n_scored or 0
        if labels > judged:
            return None, reason(JUDGE_MORE, labels=labels, judged=judged)
        return labels, None
    scored = quantity.n + quantity.n_undefined
    return max(ceil(rows * scored / quantity.n), scored + 1), None


def _rows_needed(quantity: Quantity, bar: Bound, side: Side, level: float) -> int | None:
    if quantity.exact is not None:
        times = quantity.exact.needed(bar.at, beyond=side, level=level)
        return None if times is None else ceil(quantity.n * times * (1 - SIZE_ROUNDING))
    p = p_beyond(quantity, bar, side)
    return None if p is None else needed_n(quantity.n, p, level=level)


def _why(check: Check, standing: Standing, level: float, on: On) -> str:
    bar, quantity = check.bar, check.quantity
    if check.same:
        return same_inputs_reason(0, quantity.n)
    if quantity.value is None and quantity.not_random is not None:
        return reason(NO_RANDOM_SAMPLE, why=quantity.not_random)
    if quantity.value is None and quantity.n == quantity.n_missing == quantity.n_undefined == 0:
        return reason("nothing_counted", counted=quantity.counted)
    if quantity.value is None:
        why = "\n".join(list(quantity.reasons)[:2])
        missing, undefined = quantity.n_missing, quantity.n_undefined
        return reason("no_value_anywhere", missing=missing, undefined=undefined, why=why)
    side = bar.other_side
    if on == "point":
        return "met" if standing.state == "holds" else "not_met"
    if standing.interval is None:
        return "no_interval"
    if standing.state == "holds":
        return "clears"
    if standing.state == "broken":
        return reason("beyond", side=side)
    if standing.p is not None and standing.p <= level:
        return reason("beyond_alone", side=side)
    if quantity.counted == "labels" and quantity.n >= (quantity.n_scored or 0):
        return "inside_though_all_labelled"
    return "inside"


def _notes(check: Check, on: On) -> tuple[str, ...]:
    bar, quantity = check.bar, check.quantity
    if quantity.value is not None and quantity.not_random is not None:
        return (reason("taken_for_random", why=quantity.not_random),)
    end = quantity.high if bar.side == "above" else quantity.low
    if on == "interval" and end is not None and bar.at == end:
        return (reason("no_interval_clears", bar=f"{bar.at:g}"),)
    return ()


def _faults(level: float, max_missing: float, on: str) -> list[InputError]:
    faults = []
    if not 0 < level < 0.5:
        faults.append(InputError(f"The level lies inside (0, 0.5), got {level}."))
    if not 0 <= max_missing <= 1:
        faults.append(InputError(f"max_missing is a share from 0 to 1, got {max_missing}."))
    if on not in ("interval", "point"):
        faults.append(InputError(f"A gate decides on interval or point, not on {on!r}."))
    return faults


def _several(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)
