"""Rule: what an alarm is raised for, and what it promises."""

import re
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from ragstone.metrics import Range, read_metric
from ragstone.monitor.store.watched_scores import Unit

from . import settings_table
from .settings_table import FilePath, Seconds, Text, number, that, whole, wrong

# Metrics that the guard gives of every answer: ``guard_ok``, ``guard_confidence``, and one for
# each check.
GUARD = re.compile(r"guard_[a-z_]{1,40}")

NoDataPolicy = Literal["alarm", "ignore"]

TRAFFIC = "traffic"
JUDGING = "judging"
# Rules that are always there: nothing comes, and nothing is judged.
OWN_RULES = (TRAFFIC, JUDGING)

LONGEST_NAME = 80
DROP = 0.1


@dataclass(frozen=True, slots=True)
class AlarmPromise:
    """A bound on how often all rules that share it may raise an alarm although nothing is wrong.

    Attributes:
        false_alarms: The probability of one or more of them within ``answers``; None: such alarms
            lie ``answers`` apart on average, or further.
    """

    false_alarms: float | None = 0.05
    answers: int = 10_000


@dataclass(frozen=True)
class AlarmRule:
    """An alarm is raised when the mean of a metric is worse than its bar.

    Attributes:
        facet: The answers are watched apart by the values of this facet; None: all together.
        value: Only those with this value of the facet; None: all values, each by itself.
        bar: The mean that is still right; None: a baseline's confidence limit less ``margin``.
        promise: Of this rule with all its slices; None: it shares that of the file.
        drop: The fall of the mean for which the expected delay is computed.
        of: Whether each answer is looked at, or one score a session, the mean of its turns.
    """

    name: str
    metric: str
    facet: str | None = None
    value: str | None = None
    bar: float | None = None
    margin: float | None = None
    better: Literal["+", "-"] = "+"
    promise: AlarmPromise | None = None
    no_data: NoDataPolicy = "alarm"
    drop: float = DROP
    of: Unit = "answers"

    @property
    def slice(self) -> str:
        """``facet``, ``facet=value``, or nothing for all traffic."""
        return self.facet or "" if self.value is None else f"{self.facet}={self.value}"

    @cached_property
    def range(self) -> Range:
        """Return the range of the metric's values, both ends finite."""
        return metric_range(self.metric)


def _is_run(folder: Path) -> bool:
    return (folder / "run.json").is_file()


RunFolder = Annotated[
    FilePath, that(_is_run, "{} is no run; name the folder that `ragstone evaluate` wrote.")
]


@dataclass(frozen=True, slots=True)
class BaselineSettings:
    """The run or the answers that a margin is counted from.

    Attributes:
        run: A finished run; None: the first ``answers`` judged answers of the slice itself.
    """

    run: RunFolder | None = None
    system: Text | None = None
    answers: Annotated[int, whole(low=50)] = 500


@dataclass(frozen=True, slots=True)
class NoDataSettings:
    """The silence that is an alarm: ``after`` seconds, or ``times`` the usual gap if longer."""

    policy: NoDataPolicy = "alarm"
    after: Seconds = 900.0
    times: Annotated[float, number(low=1)] = 10.0


def metric_range(metric: str) -> Range:
    """Return the range of the values of a metric; those of the guard lie from 0 to 1."""
    return Range(0, 1) if GUARD.fullmatch(metric) else read_metric(metric).range


def _baseline(baseline: BaselineSettings) -> BaselineSettings:
    if baseline.system and not baseline.run:
        raise wrong("is that of a run: name the run too, or leave it out.", "system")
    return baseline


Baseline = Annotated[BaselineSettings, AfterValidator(_baseline)]


@dataclass(frozen=True, slots=True)
class PromiseTable:
    """A promise as the file has it: ``false_alarms`` and ``answers``, or ``answers_between``."""

    false_alarms: Annotated[float, number(high=1, above=True)] | None = None
    answers: Annotated[int, whole()] | None = None
    answers_between: Annotated[int, whole()] | None = None

    @property
    def promise(self) -> AlarmPromise:
        """The promise."""
        if self.answers_between:
            return AlarmPromise(None, self.answers_between)
        usual = AlarmPromise()
        return AlarmPromise(self.false_alarms or usual.false_alarms, self.answers or usual.answers)


def _promise(table: PromiseTable) -> PromiseTable:
    nothing = "is 1, which promises nothing; write a share such as 0.05."
    alone = "stands for itself: leave out false_alarms and answers."
    settings_table.refuse_if(
        (table.false_alarms == 1, "false_alarms", nothing),
        (table.answers_between and (table.false_alarms or table.answers), "answers_between", alone),
    )
    return table


Promise = Annotated[PromiseTable, AfterValidator(_promise)]


def _metric(name: str, info: ValidationInfo) -> str:
    if GUARD.fullmatch(name):
        return name
    metric = settings_table.judged_metric(name)
    if not (isfinite(metric.range.low) and isfinite(metric.range.high)):
        raise wrong(
            f"{metric} has no least and greatest value, and without these no alarm can promise "
            "anything. Choose a metric from 0 to 1."
        )
    if str(metric) not in settings_table.context_of(info).judged:
        judged = ", ".join(settings_table.context_of(info).judged) or "none"
        raise wrong(
            f"{metric} is not judged, so the rule would never see a score. Add it to metrics in "
            f"[judging], where there is {judged}."
        )
    return str(metric)


def _slice(text: str) -> str:
    facet, equals, value = (part.strip() for part in text.partition("="))
    if not facet or (equals and not value):
        raise wrong(
            f'is {text!r}; write a facet, "language", to watch each of its values by itself, or '
            'one value of it, "language=de".'
        )
    return f"{facet}{equals}{value}"


def _in_range(value: Any, info: ValidationInfo) -> float:
    """Take a bar in the metric's range, or a margin; of a metric that is wrong, from 0 to 1."""
    scale = metric_range(info.data["metric"]) if "metric" in info.data else Range(0, 1)
    low, high = scale.low, scale.high
    if info.field_name == "margin":
        low, high = 0.0, high - low
    if fault := settings_table.number_fault(value, low=low, high=high):
        raise wrong(fault)
    return float(value)


@dataclass(frozen=True, slots=True)
class RuleTable:
    """A rule as the file has it."""

    metric: Annotated[Text, AfterValidator(_metric), Field(examples=["faithfulness"])]
    slice: Annotated[Text, AfterValidator(_slice)] | None = None
    better: Literal["more", "less"] | None = None
    bar: Annotated[float, BeforeValidator(_in_range)] | None = None
    margin: Annotated[float, BeforeValidator(_in_range)] | None = None
    promise: Promise | None = None
    no_data: NoDataPolicy = "alarm"
    drop: Annotated[float, number(above=True)] | None = None
    of: Unit = "answers"
    name: Text | None = None

    @property
    def rule(self) -> AlarmRule:
        """The rule."""
        facet, _, value = (self.slice or "").partition("=")
        by = f", {self.slice}" if value else f" by {facet}" if facet else ""
        scale = metric_range(self.metric)
        better = scale.better if scale.better != "0" else "-" if self.better == "less" else "+"
        usual = round(DROP * (scale.high - scale.low) + (self.margin or 0.0), 9)
        return AlarmRule(
            self.name or f"{self.metric}{by}", self.metric, facet or None, value or None, self.bar,
            self.margin, better, self.promise.promise if self.promise else None, self.no_data,
            self.drop or usual, self.of,
        )  # fmt: skip


def _rule(table: RuleTable, info: ValidationInfo) -> RuleTable:
    scale, bar, margin, name = metric_range(table.metric), table.bar, table.margin, table.rule.name
    words = {"+": "more", "-": "less"}
    no_better = f"has no better: nobody can know whether more {table.metric} is better. Write "
    no_better += 'better = "less" for an alarm when it rises, or "more" for one when it falls.'
    no_bar = "has no bar: write bar = 0.8 for a mean that you demand, or margin = 0.05 for what the"
    no_bar += " mean may be worse than the baseline."
    both = "stands beside a bar: write bar for a mean that you demand, or margin for what the mean "
    both += "may be worse than the baseline."
    at_end = f"is {bar}, an end of the range: the first answer that is worse would be an alarm, or "
    at_end += "none ever. Write a mean between the ends."
    misfit = f"does not fit {table.metric}: leave it out."
    fitting = words.get(scale.better, table.better)
    reserved = f"is {name!r}, as a rule of Ragstone's own is: write another name."
    unfit = f"has more than {LONGEST_NAME} characters, or some that do not show."
    again = f"is called {name!r}, as another rule is: write a name of its own."
    settings_table.refuse_if(
        (scale.better == "0" and not table.better, "", no_better),
        (table.better and fitting != table.better, "better", misfit),
        (bar is not None and margin is not None, "margin", both),
        (bar is None and margin is None, "", no_bar),
        (bar in (scale.low, scale.high), "bar", at_end),
        (name in OWN_RULES, "name", reserved),
        (len(name) > LONGEST_NAME or not name.isprintable(), "name", unfit),
        (settings_table.is_known(info, "rule", name), "name", again),
    )
    return table


Rule = Annotated[RuleTable, AfterValidator(_rule)]
