"""Alarms: when an alarm fires and resolves, the slices each rule watches, and alarms in words.

A rule never has two alarms of the same kind firing on the same slice. An alarm that fires again
soon after it was resolved is the same alarm: nobody has been notified yet that it was over, and
nobody is notified again.

New slices join by themselves. A slice keeps its number, and a bar counted from its first answers
changes only with the rule's settings or the judge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, nextafter
from typing import Any, Literal, NamedTuple

from ragstone.core.database import Sql
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.escape import single_line
from ragstone.core.messages import reason, worded
from ragstone.monitor.series import baselines
from ragstone.monitor.series.baselines import AlarmBar
from ragstone.monitor.settings import AlarmRule, MonitorSettings
from ragstone.monitor.settings.alarm_rules import OWN_RULES
from ragstone.monitor.store import stored_alarms
from ragstone.monitor.store.incoming import deployed
from ragstone.monitor.store.rows import drop, keep, remembered
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_alarms import WORSE, RaisedAlarm
from ragstone.monitor.store.watched_scores import last_watched, new_values, watched_scores

from .detectors import Detection, Fall
from .slice_rules import MOST_SLICES, WatchedSlice, facet_of, watched

RULES = "rules"

# Characters of a slice; what is longer names no group of answers.
LONGEST_VALUE = 200


class LearningSlice(NamedTuple):
    """A rule that waits for the first answers of a slice, from which it counts its margin."""

    rule: str
    slice: str
    answers: int
    wanted: int


@dataclass(frozen=True, slots=True)
class SlicesAtWork:
    """All slices of all rules.

    Attributes:
        overfull: The names of rules with more slices than are watched.
        broken: The names of rules that cannot be watched, each with why.
    """

    watched: tuple[WatchedSlice, ...]
    learning: tuple[LearningSlice, ...]
    overfull: tuple[str, ...]
    broken: tuple[tuple[str, str], ...] = ()


def slices_at_work(run: Sql, settings: MonitorSettings) -> SlicesAtWork:
    """Return the slices at work, with those that came since the last call; within a transaction."""
    at_work, learning = list[WatchedSlice](), list[LearningSlice]()
    overfull, broken = list[str](), list[tuple[str, str]]()
    names, names_before = [rule.name for rule in settings.rules], remembered(run, RULES, [])
    for name in set(names_before) - set(names):
        drop(run, f"rule {name}")
    if names_before != names:
        keep(run, RULES, names)
    for rule in settings.rules:
        known = _known(run, rule)
        if known["overfull"]:
            overfull.append(rule.name)
        try:
            slices = [_at_work(run, settings, rule, name, known) for name in known["slices"]]
        except InputError as error:
            broken.append((rule.name, str(error)))
            # Its detectors know nothing then: it begins with what comes once it is well.
            drop(run, f"rule {rule.name}")
            continue
        at_work += [slice for slice in slices if isinstance(slice, WatchedSlice)]
        learning += [slice for slice in slices if isinstance(slice, LearningSlice)]
    return SlicesAtWork(tuple(at_work), tuple(learning), tuple(overfull), tuple(broken))


def learn_again(run: Sql, outdated: Sequence[tuple[WatchedSlice, int]]) -> None:
    """Count bars of first answers anew, of the answers that the present judge judged."""
    for stale, after in outdated:
        keep(run, baselines.learnt_name(stale.rule, stale.slice), {"after": after})


def _known(run: Sql, rule: AlarmRule) -> dict[str, Any]:
    name = f"rule {rule.name}"
    of = {"metric": rule.metric, "slice": rule.slice, **baselines.unit_of(rule)}
    last = last_watched(run, rule.of)
    known: dict[str, Any] | None = remembered(run, name)
    if known is None or known["of"] != of:
        # What was judged before anybody asked for this rule raises no alarm.
        known = {"of": of, "begun": last, "through": 0, "slices": [], "overfull": False}
        if rule.facet is None or rule.value is not None:
            known["slices"] = [rule.slice]
        keep(run, name, known)
    if rule.facet is None or rule.value is not None or known["through"] == last:
        return known
    values = new_values(run, rule.metric, rule.facet, known["through"], rule.of)
    slices = [f"{rule.facet}={value}" for value in values if len(value) <= LONGEST_VALUE]
    new = [slice for slice in slices if slice not in known["slices"]]
    room = MOST_SLICES - len(known["slices"])
    known["slices"] += new[:room]
    known["overfull"] = known["overfull"] or len(new) > room
    known["through"] = last
    keep(run, name, known)
    return known


def _at_work(
    run: Sql, settings: MonitorSettings, rule: AlarmRule, slice: str, known: Mapping[str, Any]
) -> WatchedSlice | LearningSlice:
    slices, begun, judge = known["slices"], known["begun"], None
    bar = baselines.bar_without_answers(rule, settings.baseline, slice)
    if bar is None:
        settled = _first_answers(run, rule, slice, settings.baseline.answers)
        if isinstance(settled, LearningSlice):
            return settled
        bar, last, judge = settled
        begun = max(begun, last)
    return watched(
        settings, rule, bar,
        slice=slice, number=slices.index(slice) + 1, begun=begun, judge=judge,
    )  # fmt: skip


def _first_answers(
    run: Sql, rule: AlarmRule, slice: str, answers: int
) -> tuple[AlarmBar, int, str] | LearningSlice:
    learnt = baselines.learnt_bar(run, rule, slice, answers)
    if learnt is not None:
        return learnt
    after = (remembered(run, baselines.learnt_name(rule, slice)) or {}).get("after", 0)
    scores = watched_scores(run, rule.metric, facet_of(slice), after, answers, rule.of)
    if len(scores) < answers:
        return LearningSlice(rule.name, slice, len(scores), answers)
    bar = baselines.bar_of_first(rule, scores)
    of = baselines.learnt_of(rule, answers)
    last, judge = scores[-1].number, scores[-1].judge
    learnt_now = {"of": of, "bar": asdict(bar), "last": last, "after": after, "judge": judge}
    keep(run, baselines.learnt_name(rule, slice), learnt_now)
    return bar, last, judge


# Why an alarm was resolved.
Over = Literal["recovered", "data_again", "judging_again", "rule_changed", "by_hand"]


def fire(
    run: Sql,
    settings: MonitorSettings,
    now: float,
    *,
    rule: str,
    slice: str,
    kind: str,
    since: float,
    facts: Mapping[str, Any],
) -> RaisedAlarm:
    """Raise an alarm, or find the one that is firing, or let the last one fire on."""
    last = stored_alarms.last_alarm(run, rule, slice, kind)
    if last is not None and last.firing:
        return last
    # Over for so short a time, it was not over.
    settled = last is None or last.facts.get("over") in ("by_hand", "rule_changed")
    if last is not None and not settled and last.over_for(now) < settings.debounce:
        again = {name: fact for name, fact in last.facts.items() if name not in ("over", "person")}
        again["again"] = int(last.facts.get("again", 0)) + 1
        reopened = last._replace(state="firing", resolved_at=None, facts=again)
        stored_alarms.write_alarm(run, reopened)
        return reopened
    return stored_alarms.add_alarm(
        run, rule, slice, kind, since=min(since, now), fired_at=now, facts=facts
    )


def end(
    run: Sql, alarm: RaisedAlarm, now: float, over: Over, person: str | None = None
) -> RaisedAlarm:
    """Resolve an alarm that is firing; within a transaction."""
    facts = {**alarm.facts, "over": over, **({"person": person} if person else {})}
    ended = alarm._replace(state="resolved", resolved_at=now, facts=facts)
    stored_alarms.write_alarm(run, ended)
    return ended


def resolve_alarm(store: MonitorStore, number: int, person: str, now: float) -> RaisedAlarm:
    """Call an alarm over by hand. The rule goes on watching; another fall is another alarm."""
    with store.database.transaction() as run:
        alarm = stored_alarms.raised_alarm(run, number)
        if alarm is None:
            raise InputError(f"There is no alarm {number}.")
        if not alarm.firing:
            return alarm
        return end(run, alarm, now, "by_hand", single_line(person)[:100])


def silence_rule(store: MonitorStore, rule: str, until: float, person: str) -> None:
    """Notify nobody of a rule until then; a time that is past ends a silence."""
    with store.database.transaction() as run:
        known = [*remembered(run, RULES, []), *OWN_RULES]
        if rule not in known and not stored_alarms.any_alarm_of(run, rule):
            raise UnknownName(
                "rule of this monitor", rule, known, hint=f"There are {', '.join(known)}."
            )
        stored_alarms.silence(run, rule, until, single_line(person)[:100])


def firing_worse(run: Sql) -> set[tuple[str, str]]:
    """Return the rules and slices with an alarm that fires because their mean is worse."""
    return {
        (alarm.rule, alarm.slice)
        for alarm in stored_alarms.firing_alarms(run)
        if alarm.kind == WORSE
    }


def follow(run: Sql, settings: MonitorSettings, detection: Detection, now: float) -> None:
    """Raise and resolve alarms by what the detectors found; in the transaction of their states."""
    for item in detection.found:
        rule, slice = item.watched.rule.name, item.watched.slice
        last = stored_alarms.last_alarm(run, rule, slice, WORSE)
        if isinstance(item, Fall):
            begin, last_begin = item.between
            deploys = deployed(run, begin, nextafter(last_begin, inf))
            fire(
                run, settings, now, rule=rule, slice=slice, kind=WORSE,
                since=item.since, facts={**_facts(item), "deploys": deploys},
            )  # fmt: skip
        elif last is not None and last.firing:
            end(run, last, now, "recovered")


def end_what_nobody_watches(run: Sql, detection: Detection, still: set[str], now: float) -> None:
    """Resolve the alarms of rules that changed or are gone: no detector can notice their end."""
    slices = [state.watched for state in detection.standings if state.fallen]
    fallen = {(watched.rule.name, watched.slice) for watched in slices}
    for alarm in stored_alarms.firing_alarms(run):
        is_watched = alarm.rule in still or (alarm.rule, alarm.slice) in fallen
        if alarm.kind == WORSE and not is_watched:
            end(run, alarm, now, "rule_changed")


def _facts(fall: Fall) -> dict[str, Any]:
    rule, bar = fall.watched.rule, asdict(fall.watched.bar)
    return {
        **{"metric": rule.metric, "better": rule.better, "mean": fall.mean},
        **{"answers": fall.answers, "found_at": fall.at, "margin": rule.margin, "of": rule.of},
        **{"bar" if name == "value" else f"bar_{name}": value for name, value in bar.items()},
    }


# Characters of a name in a sentence.
LONGEST = 80


def alarm_sentence(alarm: RaisedAlarm) -> str:
    """Return in words why an alarm fired."""
    return worded(_reason(alarm))


def _reason(alarm: RaisedAlarm) -> str:
    facts = alarm.facts
    common: dict[str, Any] = {
        "since": alarm.since,
        "noticed": alarm.fired_at,
        "rule": _short(alarm.rule),
        "slice": _short(alarm.slice),
        "last": facts.get("last_at"),
    }
    if alarm.kind == stored_alarms.JUDGING_STOPPED:
        is_silent = facts.get("why") == "no_sign_of_life"
        code = "alarm_no_sign_of_life" if is_silent else "alarm_nothing_judged"
        return reason(code, **common, due=facts.get("due", 0))
    if alarm.kind == stored_alarms.NO_DATA:
        common |= {"usual": facts.get("usual_gap")}
        if "metric" not in facts:
            return reason("alarm_no_traffic", **common)
        return reason(
            "alarm_no_scores",
            **common,
            metric=_short(str(facts["metric"])),
            unit=facts.get("of", "answers"),
            missing=facts.get("missing", 0),
            said=facts.get("why", ""),
        )
    return reason(
        "alarm_beyond_bar", **common, metric=_short(str(facts.get("metric", alarm.rule))),
        better=facts.get("better", "+"), mean=facts.get("mean"), answers=facts.get("answers"),
        unit=facts.get("of", "answers"), bar=facts.get("bar"), limit=facts.get("bar_limit"),
        margin=facts.get("margin"),
        deploys="\n".join(f"{at} {_short(version)}" for version, at in facts.get("deploys", ())),
    )  # fmt: skip


def over_sentence(alarm: RaisedAlarm) -> str:
    """Say in words that an alarm is over; empty while it is firing."""
    if alarm.resolved_at is None:
        return ""
    over = reason(
        "alarm_over", rule=_short(alarm.rule), slice=_short(alarm.slice),
        over=alarm.facts.get("over", ""), better=alarm.facts.get("better", ""),
        person=_short(str(alarm.facts.get("person") or "")), resolved=alarm.resolved_at,
        fired=alarm.fired_at,
    )  # fmt: skip
    return worded(over)


def _short(text: str) -> str:
    line = single_line(text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
