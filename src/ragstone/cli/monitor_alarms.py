"""``ragstone monitor alarms``, ``resolve``, ``silence`` and ``rules``.

Args:
    store (STORE): Where everything is kept: a folder, or an address postgresql://…
    by (NAME): Who says so. Default: you.
"""

import getpass
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.core.errors import InputError

from .output import print_json, say

if TYPE_CHECKING:
    from ragstone.monitor.settings import AlarmRule, MonitorSettings
    from ragstone.monitor.store.store import MonitorStore
    from ragstone.monitor.store.stored_alarms import RaisedAlarm

SHOWN = 20
LONGEST_SILENCE = 365 * 86_400.0


def alarms(*, store: str = "monitor", json: bool = False) -> None:
    """Show the alarms, those that are firing first, and whether they could be told.

    Exit status: 0 shown, 2 no such store.
    """
    from ragstone.monitor.store.stored_alarms import (
        channel_standings,
        raised_alarms,
        silenced_until,
    )

    now = time.time()
    with closing(_opened(store)) as opened, opened.database.reading() as run:
        raised = raised_alarms(run, SHOWN)
        silenced = silenced_until(run, now)
        channels = channel_standings(run)
    if json:
        until_when = {rule: {"until": at, "by": who} for rule, (at, who) in silenced.items()}
        plain = [{**alarm._asdict(), "text": _words(alarm)} for alarm in raised]
        print_json({"alarms": plain, "silenced": until_when, "channels": channels})
        return
    if not raised:
        say("No alarm was raised yet.")
    for alarm in raised:
        quiet = ", silenced" if alarm.rule in silenced else ""
        say(f"{alarm.number}  {alarm.state}{quiet}  {_words(alarm)}")
    for rule, (until, person) in sorted(silenced.items()):
        say(f"silenced: {rule} until {_clock(until)}, by {person}")
    for channel in channels:
        if channel["error"]:
            waiting = f"{channel['waiting']} waiting, {channel['failed']} given up"
            say(f"channel {channel['channel']}: {waiting}: {channel['error']}")


def resolve(number: int, *, store: str = "monitor", by: str = "") -> None:
    """Call an alarm over. Its rule goes on watching: another fall is another alarm.

    Exit status: 0 done, 2 no such alarm or store.

    Args:
        number (NUMBER): Of the alarm.
    """
    from ragstone.monitor.alarms.lifecycle import resolve_alarm

    with closing(_opened(store, writes=True)) as opened:
        alarm = resolve_alarm(opened, number, by or getpass.getuser(), time.time())
    say(_words(alarm))


def silence(rule: str, *, length: str, store: str = "monitor", by: str = "") -> None:
    """Tell nobody of a rule for a while. Its alarms are raised and shown all the same.

    One that still fires when the silence is over is told then.

    Exit status: 0 done, 2 no such rule or store.

    Args:
        rule (RULE): The name of a rule; traffic and judging are Ragstone's own.
        length (--for TIME): How long: 30min, 2h, up to 365d. 0s ends it.
    """
    from ragstone.monitor.alarms.lifecycle import silence_rule
    from ragstone.monitor.settings.settings_table import LENGTH, SECONDS

    match = LENGTH.fullmatch(length.strip())
    if match is None:
        raise InputError(f"{length!r} is no length of time: write 30min, 2h or 7d.")
    seconds = float(match[1]) * SECONDS[match[2]]
    if seconds > LONGEST_SILENCE:
        raise InputError(
            f"{length} is longer than a year: write 365d or less. For good, leave the rule out of "
            "the settings of ragstone monitor serve."
        )
    until = time.time() + seconds
    with closing(_opened(store, writes=True)) as opened:
        silence_rule(opened, rule, until, by or getpass.getuser())
    say(f"{rule} is told again." if not seconds else f"{rule} is silenced until {_clock(until)}.")


def rules(file: Path, *, json: bool = False) -> None:
    """Check a file of settings, and say what each rule promises and how late it notices a fall.

    The delays are simulated for the rule's own bar and promise.

    Exit status: 0 it is right, 2 it has faults: all of them are told, each with its line.

    Args:
        file (FILE): Settings in TOML.
    """
    from ragstone.monitor.settings import FaultySettings, read_settings
    from ragstone.monitor.settings.monitor_settings import (
        closed_judges,
        lacking,
        unpriced_models,
        unset_variables,
    )

    try:
        settings = read_settings(file)
    except InputError as error:
        faults = [{"line": None, "key": "", "text": error.text}]
        if isinstance(error, FaultySettings):
            faults = [asdict(fault) for fault in error.faults]
        if json:
            print_json({"file": str(file), "faults": faults})
        raise
    told_rules = [_rule(settings, rule) for rule in settings.rules]
    channels = [tell.name for tell in settings.tells]
    if json:
        lacks = {"unset_variables": unset_variables(settings),
                 "unpriced_models": unpriced_models(settings)}  # fmt: skip
        print_json({"rules": told_rules, "channels": channels, **lacks})
        return
    say(f"{file} is right.")
    for row in told_rules:
        say(f"\n{row['rule']}\n  {row['bar']}\n  {row['promise']}\n  {row['delay']}")
    say(f"\nTold by: {', '.join(channels) or 'nobody; the screens show alarms'}.")
    for fault in (*closed_judges(settings), *lacking(settings)):
        say(f"\nWarning: ragstone monitor serve does not start here with this file. {fault}")


def _rule(settings: "MonitorSettings", rule: "AlarmRule") -> dict[str, Any]:
    from ragstone.monitor.alarms.slice_rules import shares_of
    from ragstone.monitor.series.baselines import bar_beforehand
    from ragstone.report.number_format import number
    from ragstone.web.monitor_pages.rules_page import (
        in_words,
        judged_of,
        rule_delay,
        slices_in_words,
        usual_fall,
    )

    bar = bar_beforehand(rule, settings.baseline)
    promise = rule.promise or settings.promise
    shares = shares_of(settings, rule)
    rate = 1.0 if rule.metric.startswith("guard_") else settings.sampling.least
    fall = usual_fall(rule, bar.value)
    delay = rule_delay(rule, bar.value, fall, promise, shares, rate)
    side = "below" if rule.better == "+" else "above"
    where = f" where {rule.slice.replace('=', ' is ')}" if rule.value else ""
    where = f" for each {rule.facet}" if rule.facet and not rule.value else where
    of_each = ", the mean of each conversation," if rule.of == "sessions" else ""
    origin = {
        "rule": "",
        "run": f", from {settings.baseline.run} ({number(bar.limit or 0)} and the margin)",
        "slice_of_run": "",
        "first_answers": f", if the first {bar.n:,} {judged_of(rule)} have a mean of "
        f"{number(bar.mean or 0)}" if bar.n else "",
    }[bar.source]  # fmt: skip
    if promise.false_alarms is None:
        words = f"false alarms lie {promise.answers:,} {judged_of(rule)} apart on average, or more"
    else:
        words = (
            f"no false alarm within {promise.answers:,} {judged_of(rule)}, with a probability of "
            f"{100 * (1 - promise.false_alarms):g} %"
        )
    together = settings.sharing if rule.promise is None else 1
    with_others = f", for {together} rules together" if together > 1 else ""
    return {
        "rule": rule.name,
        "bar": f"{rule.metric}{of_each}{where} {side} {number(bar.value)}{origin}",
        "promise": f"{words}{with_others}{slices_in_words(rule)}",
        "delay": in_words(delay, fall, judged_of(rule)),
        "median": delay.median,
        "p90": delay.p90,
    }


def _opened(store: str, *, writes: bool = False) -> "MonitorStore":
    from ragstone.monitor import open_store

    return open_store(store, make=False, writes=writes)


def _words(alarm: "RaisedAlarm") -> str:
    from ragstone.monitor.alarms.lifecycle import alarm_sentence, over_sentence

    return over_sentence(alarm) or alarm_sentence(alarm)


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))
