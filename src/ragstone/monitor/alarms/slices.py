"""Slices: which rules are at work on which slices, with their bars. New slices come by themselves.

What was settled once stays: the number of a slice, and a bar that was counted from its first
answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.monitor.settings import AlarmRule, MonitorSettings
from ragstone.monitor.store.kept import forget, keep, remembered
from ragstone.monitor.store.watched_scores import last_watched, new_values, watched_scores

from .baseline import bar_of_first, bar_of_run
from .detecting import OutdatedBar
from .rules import MOST_SLICES, AlarmBar, WatchedSlice, facet_of, unit_of, watched

RULES = "rules"

LONGEST_VALUE = 200
"""Characters of a slice; what is longer names no group of answers."""


@dataclass(frozen=True, slots=True)
class LearningSlice:
    """A rule that waits for the first answers of a slice, from which it counts its margin."""

    rule: AlarmRule
    slice: str
    answers: int
    wanted: int


@dataclass(frozen=True, slots=True)
class SlicesAtWork:
    """All slices of all rules.

    Attributes:
        watched: Those whose means are watched.
        learning: Those that wait for their first answers.
        overfull: The names of rules with more slices than are watched.
        broken: The names of rules that cannot be watched, each with why.
    """

    watched: tuple[WatchedSlice, ...]
    learning: tuple[LearningSlice, ...]
    overfull: tuple[str, ...]
    broken: tuple[tuple[str, str], ...] = ()


def slices_at_work(run: Sql, settings: MonitorSettings) -> SlicesAtWork:
    """The slices at work, with those that came since the last call; within a transaction."""
    found, learning = list[WatchedSlice](), list[LearningSlice]()
    overfull, broken = list[str](), list[tuple[str, str]]()
    _forget_others(run, [rule.name for rule in settings.rules])
    for rule in settings.rules:
        known = _known(run, rule)
        if known["overfull"]:
            overfull.append(rule.name)
        try:
            at_work = [_at_work(run, settings, rule, slice, known) for slice in known["slices"]]
        except InputError as error:
            broken.append((rule.name, str(error)))
            # Its detectors know nothing then: it begins with what comes once it is well.
            forget(run, f"rule {rule.name}")
            continue
        found += [one for one in at_work if isinstance(one, WatchedSlice)]
        learning += [one for one in at_work if isinstance(one, LearningSlice)]
    return SlicesAtWork(tuple(found), tuple(learning), tuple(overfull), tuple(broken))


def settled_bar(
    run: Sql, settings: MonitorSettings, rule: AlarmRule, slice: str
) -> AlarmBar | None:
    """The bar of a rule in a slice; None where its first answers have not all come yet.

    Args:
        run: Within a transaction or a reading.
        settings: With the rule.
        rule: Any.
        slice: ``facet=value``, or nothing.

    Raises:
        InputError: The baseline run cannot be read, or lacks the metric or the system.
    """
    if rule.bar is not None:
        return AlarmBar(rule.bar)
    if settings.baseline.run is not None:
        return bar_of_run(rule, settings.baseline, slice)
    learnt = _learnt(run, rule, slice, settings.baseline.answers)
    return None if learnt is None else learnt[0]


def learn_again(run: Sql, outdated: Sequence[OutdatedBar]) -> None:
    """Count bars of first answers anew, of the answers that the present judge judged.

    Args:
        run: Within a transaction.
        outdated: The bars that another judge's scores made.
    """
    for one in outdated:
        keep(run, _learnt_name(one.watched.rule, one.watched.slice), {"after": one.after})


def _forget_others(run: Sql, names: list[str]) -> None:
    """Forget the rules that are gone: one that comes back begins with what comes then."""
    kept: list[str] = remembered(run, RULES, [])
    for name in kept:
        if name not in names:
            forget(run, f"rule {name}")
    if kept != names:
        keep(run, RULES, names)


def _known(run: Sql, rule: AlarmRule) -> dict[str, Any]:
    """What is kept of a rule: the score after which it began, and its slices in their order."""
    name = f"rule {rule.name}"
    of = {"metric": rule.metric, "slice": rule.slice, **unit_of(rule)}
    last = last_watched(run, rule.of)
    kept: dict[str, Any] | None = remembered(run, name)
    if kept is None or kept["of"] != of:
        # What was judged before anybody asked for this rule raises no alarm.
        kept = {"of": of, "begun": last, "through": 0, "slices": [], "overfull": False}
        if rule.facet is None or rule.value is not None:
            kept["slices"] = [rule.slice]
        keep(run, name, kept)
    if rule.facet is None or rule.value is not None or kept["through"] == last:
        return kept
    values = new_values(run, rule.metric, rule.facet, kept["through"], rule.of)
    slices = [f"{rule.facet}={value}" for value in values if len(value) <= LONGEST_VALUE]
    new = [one for one in slices if one not in kept["slices"]]
    room = MOST_SLICES - len(kept["slices"])
    kept["slices"] += new[:room]
    kept["overfull"] = kept["overfull"] or len(new) > room
    kept["through"] = last
    keep(run, name, kept)
    return kept


def _at_work(
    run: Sql, settings: MonitorSettings, rule: AlarmRule, slice: str, known: Mapping[str, Any]
) -> WatchedSlice | LearningSlice:
    slices, begun, judge = known["slices"], known["begun"], None
    if rule.bar is not None:
        bar = AlarmBar(rule.bar)
    elif settings.baseline.run is not None:
        bar = bar_of_run(rule, settings.baseline, slice)
    else:
        settled = _first_answers(run, rule, slice, settings.baseline.answers)
        if isinstance(settled, LearningSlice):
            return settled
        bar, last, judge = settled
        begun = max(begun, last)
    return watched(
        settings, rule, bar,
        slice=slice, number=slices.index(slice) + 1, slices=len(slices), begun=begun, judge=judge,
    )  # fmt: skip


def _first_answers(
    run: Sql, rule: AlarmRule, slice: str, wanted: int
) -> tuple[AlarmBar, int, str] | LearningSlice:
    """The bar by the first answers of a slice, the number of the last of these, and its judge."""
    learnt = _learnt(run, rule, slice, wanted)
    if learnt is not None:
        return learnt
    after = (remembered(run, _learnt_name(rule, slice)) or {}).get("after", 0)
    scores = watched_scores(run, rule.metric, facet_of(slice), after, wanted, rule.of)
    if len(scores) < wanted:
        return LearningSlice(rule, slice, len(scores), wanted)
    bar = bar_of_first(rule, scores)
    of = _learnt_of(rule, wanted)
    kept = {"of": of, "bar": asdict(bar), "last": scores[-1].number, "after": after,
            "judge": scores[-1].judge}  # fmt: skip
    keep(run, _learnt_name(rule, slice), kept)
    return bar, scores[-1].number, scores[-1].judge


def _learnt(run: Sql, rule: AlarmRule, slice: str, wanted: int) -> tuple[AlarmBar, int, str] | None:
    """The bar that was counted from first answers, the number of their last one, its judge."""
    kept = remembered(run, _learnt_name(rule, slice))
    if kept is None or kept.get("of") != _learnt_of(rule, wanted):
        return None
    return AlarmBar(**kept["bar"]), kept["last"], kept["judge"]


def _learnt_name(rule: AlarmRule, slice: str) -> str:
    return f"bar {rule.name} {slice}"


def _learnt_of(rule: AlarmRule, wanted: int) -> dict[str, Any]:
    """For what a bar was counted: with another metric, margin or number it is counted anew."""
    return {
        "metric": rule.metric,
        "better": rule.better,
        "margin": rule.margin,
        "answers": wanted,
        **unit_of(rule),
    }
