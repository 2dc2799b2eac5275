"""Rule: what an alarm is raised for, and what it promises."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Literal, cast

from ragstone.metrics import Range, parse_metric, read_metric
from ragstone.monitor.store.watched_scores import Unit

from .settings_table import SettingsTable

GUARD = re.compile(r"guard_[a-z_]{1,40}")
"""Metrics that the guard gives of every answer: ``guard_ok``, ``guard_confidence``, and one for
each check."""

NoDataPolicy = Literal["alarm", "ignore"]
NO_DATA: tuple[NoDataPolicy, ...] = ("alarm", "ignore")
UNITS: tuple[Unit, ...] = ("answers", "sessions")

TRAFFIC = "traffic"
JUDGING = "judging"
OWN_RULES = (TRAFFIC, JUDGING)
"""Rules that are always there: nothing comes, and nothing is judged."""

LONGEST_NAME = 80
DROP = 0.1


@dataclass(frozen=True, slots=True)
class AlarmPromise:
    """How often all rules that share it may raise an alarm although nothing is wrong.

    Attributes:
        false_alarms: The probability of one or more of them within ``answers``; None: such alarms
            lie ``answers`` apart on average, or further.
        answers: Judged answers of each rule and slice.
    """

    false_alarms: float | None = 0.05
    answers: int = 10_000


@dataclass(frozen=True)
class AlarmRule:
    """An alarm is raised when the mean of a metric is worse than its bar.

    Attributes:
        name: Of the rule.
        metric: Its text form.
        facet: The answers are watched apart by the values of this facet; None: all together.
        value: Only those with this value of the facet; None: all values, each by itself.
        bar: The mean that is still right; None: a baseline's confidence limit less ``margin``.
        margin: What the mean may be worse than the baseline.
        better: ``+`` where more is better, ``-`` where less is.
        promise: Of this rule with all its slices; None: it shares that of the file.
        no_data: Whether it is an alarm too if no score comes.
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
        """Where the metric's values lie, both ends finite."""
        return metric_range(self.metric)


@dataclass(frozen=True, slots=True)
class BaselineSettings:
    """What a margin is counted from.

    Attributes:
        run: A finished run; None: the first ``answers`` judged answers of the slice itself.
        system: Of the run; None: all.
        answers: How many that are.
    """

    run: Path | None = None
    system: str | None = None
    answers: int = 500


@dataclass(frozen=True, slots=True)
class NoDataSettings:
    """When silence is an alarm: after ``after`` seconds, or ``times`` the usual gap if longer."""

    policy: NoDataPolicy = "alarm"
    after: float = 900.0
    times: float = 10.0


def metric_range(metric: str) -> Range:
    """Where the values of a metric lie; those of the guard from 0 to 1.

    Raises:
        InputError: There is no such metric.
    """
    return Range(0, 1) if GUARD.fullmatch(metric) else read_metric(metric).range


def read_promise(table: SettingsTable) -> AlarmPromise:
    """A table of a promise: ``false_alarms`` and ``answers``, or ``answers_between``."""
    usual = AlarmPromise()
    share = table.number("false_alarms", cast("float", usual.false_alarms), high=1, above=True)
    answers = table.whole("answers", int(usual.answers))
    between = table.whole("answers_between", 0)
    if share == 1:
        table.fault("false_alarms", "is 1, which promises nothing; write a share such as 0.05.")
    if between and ("false_alarms" in table or "answers" in table):
        table.fault("answers_between", "stands for itself: leave out false_alarms and answers.")
    table.end()
    return AlarmPromise(None, between) if between else AlarmPromise(share, answers)


def read_baseline(table: SettingsTable, folder: Path) -> BaselineSettings:
    """The table ``[baseline]``."""
    run, system = table.text("run"), table.text("system")
    answers = table.whole("answers", BaselineSettings().answers, low=50)
    if system and not run:
        table.fault("system", "is that of a run: name the run too, or leave it out.")
    table.end()
    return BaselineSettings(folder / run if run else None, system, answers)


def read_no_data(table: SettingsTable) -> NoDataSettings:
    """The table ``[no_data]``."""
    usual = NoDataSettings()
    found = NoDataSettings(
        cast("NoDataPolicy", table.choice("policy", NO_DATA, usual.policy)),
        table.seconds("after", usual.after),
        table.number("times", usual.times, low=1),
    )
    table.end()
    return found


def read_rules(tables: Sequence[SettingsTable], judged: Sequence[str]) -> list[AlarmRule]:
    """The tables ``[[rule]]``.

    Args:
        tables: In order.
        judged: The metrics that are judged.
    """
    found = [(table, _rule(table, judged)) for table in tables]
    names = set[str]()
    for table, rule in found:
        if rule is not None and rule.name in names:
            table.fault(
                "name" if "name" in table else None,
                f"is called {rule.name!r}, as another rule is: write a name of its own.",
            )
        if rule is not None:
            names.add(rule.name)
    return [rule for _, rule in found if rule is not None]


def _rule(table: SettingsTable, judged: Sequence[str]) -> AlarmRule | None:
    metric = _metric(table, judged)
    facet, value = _slice(table)
    better = _better(table, metric)
    bar, margin = _bar(table, metric)
    promise = read_promise(table.table("promise")) if "promise" in table else None
    if promise is None:
        table.table("promise")
    policy = cast("NoDataPolicy", table.choice("no_data", NO_DATA, "alarm"))
    drop = table.number("drop", None, above=True)
    unit = cast("Unit", table.choice("of", UNITS, "answers"))
    name = _name(table, metric, facet, value)
    table.end()
    if metric is None or better is None or (bar is None and margin is None):
        return None
    scale = metric_range(metric)
    usual = round(DROP * (scale.high - scale.low) + (margin or 0.0), 9)
    return AlarmRule(
        *(name, metric, facet, value, bar, margin, better, promise, policy, drop or usual, unit)
    )


def _metric(table: SettingsTable, judged: Sequence[str]) -> str | None:
    given = table.text("metric", must='write metric = "faithfulness", for example.')
    if given is None or GUARD.fullmatch(given):
        return given
    metric = table.checked("metric", lambda: parse_metric(given))
    if metric is None:
        return None
    form = str(metric)
    if not (isfinite(metric.range.low) and isfinite(metric.range.high)):
        table.fault(
            "metric",
            f"{form} has no least and greatest value, and without these no alarm can promise "
            "anything. Choose a metric from 0 to 1.",
        )
        return None
    if form not in judged:
        there = ", ".join(judged) or "none"
        table.fault(
            "metric",
            f"{form} is not judged, so the rule would never see a score. Add it to metrics in "
            f"[judging], where there is {there}.",
        )
        return None
    return form


def _slice(table: SettingsTable) -> tuple[str | None, str | None]:
    given = table.text("slice")
    if given is None:
        return None, None
    facet, equals, value = (one.strip() for one in given.partition("="))
    if not facet or (equals and not value):
        table.fault(
            "slice",
            f'is {given!r}; write a facet, "language", to watch each of its values by itself, or '
            'one value of it, "language=de".',
        )
        return None, None
    return facet, value or None


def _better(table: SettingsTable, metric: str | None) -> Literal["+", "-"] | None:
    words: dict[str, Literal["+", "-"]] = {"more": "+", "less": "-"}
    given = table.choice("better", [*words, ""], "") if "better" in table else ""
    if "better" not in table:
        table.text("better")
    if metric is None:
        return None
    own = metric_range(metric).better
    if own == "0":
        if not given:
            table.fault(
                None,
                f"has no better: nobody can know whether more {metric} is better. Write better = "
                '"less" for an alarm when it rises, or "more" for one when it falls.',
            )
            return None
        return words[given]
    if given and words[given] != own:
        table.fault("better", f"does not fit {metric}: leave it out.")
    return own


def _bar(table: SettingsTable, metric: str | None) -> tuple[float | None, float | None]:
    scale = Range(0, 1) if metric is None else metric_range(metric)
    bar = table.number("bar", None, low=scale.low, high=scale.high)
    margin = table.number("margin", None, high=scale.high - scale.low)
    if "bar" in table and "margin" in table:
        table.fault(
            "margin",
            "stands beside a bar: write bar for a mean that you demand, or margin for what the "
            "mean may be worse than the baseline.",
        )
        return bar, None
    if "bar" not in table and "margin" not in table:
        table.fault(
            None,
            "has no bar: write bar = 0.8 for a mean that you demand, or margin = 0.05 for what "
            "the mean may be worse than the baseline.",
        )
    if bar in (scale.low, scale.high):
        table.fault(
            "bar",
            f"is {bar:g}, an end of the range: the first answer that is worse would be an alarm, "
            "or none ever. Write a mean between the ends.",
        )
        return None, None
    return bar, margin


def _name(table: SettingsTable, metric: str | None, facet: str | None, value: str | None) -> str:
    by = "" if facet is None else f" by {facet}" if value is None else f", {facet}={value}"
    name = table.text("name") or f"{metric or ''}{by}"
    if name in OWN_RULES:
        table.fault("name", f"is {name!r}, as a rule of Ragstone's own is: write another name.")
    if len(name) > LONGEST_NAME or not name.isprintable():
        table.fault("name", f"has more than {LONGEST_NAME} characters, or some that do not show.")
    return name
