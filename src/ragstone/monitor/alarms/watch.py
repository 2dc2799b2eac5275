"""Watch: one look at all that came: detectors, alarms, and what is to be told."""

from dataclasses import dataclass

from ragstone.core.database import Sql
from ragstone.core.messages import worded
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.answers_together import (
    answers_a_session,
    answers_together_at,
    keep_answers_together,
)
from ragstone.monitor.store.kept import keep, remembered
from ragstone.monitor.store.log import log
from ragstone.monitor.store.store import MonitorStore

from .closing import close_sessions
from .detecting import Detection, detect
from .lifecycle import end_what_nobody_watches, firing_worse, follow
from .no_data import look_up, watch_judging, watch_scores, watch_traffic
from .rules import facet_of
from .slices import SlicesAtWork, learn_again, slices_at_work
from .telling.queue import queue_what_is_to_be_told
from .telling.sending import tell_soon

STANDINGS = "rules_standing"
COUNT_EVERY = 600.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found: the names of rules that cannot be watched, and how many scores."""

    broken: tuple[str, ...]
    found: int


def watch(store: MonitorStore, settings: MonitorSettings, now: float) -> Look:
    """Look at what came since the last call; raise, resolve and queue. Telling goes on by itself.

    Each step is one transaction with what follows from it, so that a kill loses no alarm and
    raises none twice.

    Args:
        store: Where everything is.
        settings: With the rules and the channels.
        now: Seconds since the epoch.

    Raises:
        StoreAway: The store cannot be used at present; the next call goes on.
    """
    found = 0
    while True:
        with store.database.transaction() as run:
            more = close_sessions(run, settings.rules, now)
            at_work = slices_at_work(run, settings)
            detection = detect(run, at_work.watched, firing_worse(run))
            more = more or detection.more
            learn_again(run, detection.outdated)
            follow(run, settings, detection, now)
            found += len(detection.found)
            _say(run, at_work, detection, now)
            if not more:
                _count_together(run, settings, now)
                _watch_silence(run, settings, at_work, detection, now)
                queue_what_is_to_be_told(run, settings, now)
        if not more:
            break
    tell_soon(store, settings)
    return Look(tuple(name for name, _ in at_work.broken), found)


def _count_together(run: Sql, settings: MonitorSettings, now: float) -> None:
    """Count how many answers of a session are judged, where a rule takes them as independent."""
    if 0 <= now - answers_together_at(run) < COUNT_EVERY:
        return
    found = {
        rule.name: answers_a_session(
            run, rule.metric, facet_of(rule.slice) if rule.value else None, now
        )
        for rule in settings.rules
        if rule.of == "answers"
    }
    keep_answers_together(run, now, found)


def _watch_silence(
    run: Sql, settings: MonitorSettings, at_work: SlicesAtWork, detection: Detection, now: float
) -> None:
    awake = look_up(run, now)
    broken = {name for name, _ in at_work.broken}
    end_what_nobody_watches(run, detection, broken, now)
    silent = watch_traffic(run, settings, awake, now)
    stopped = watch_judging(run, settings, awake, now, from_outside=False)
    slices = [(one.rule.name, one.slice) for one in at_work.watched]
    slices += [(one.rule.name, one.slice) for one in at_work.learning]
    watch_scores(run, settings, slices, awake, now, still=broken, excused=silent or stopped)


def _say(run: Sql, at_work: SlicesAtWork, detection: Detection, now: float) -> None:
    """Keep how the rules stand, for the screens, and log what is wrong with them once."""
    standings: dict[str, object] = {
        "broken": dict(at_work.broken),
        "overfull": list(at_work.overfull),
        "learning": [
            [one.rule.name, one.slice, one.answers, one.wanted] for one in at_work.learning
        ],
        "watched": [
            [each.watched.rule.name, each.watched.slice, each.looks, round(each.evidence, 3)]
            for each in detection.standings
        ],
    }
    before = remembered(run, STANDINGS, {})
    if standings == before:
        return
    keep(run, STANDINGS, standings)
    for name, why in at_work.broken:
        if before.get("broken", {}).get(name) != why:
            log(run, now, "error", f"The rule {name} cannot be watched: {why}")
    for anew in detection.anew:
        where = f" in {anew.slice}" if anew.slice else ""
        log(run, now, "info", f"The rule {anew.rule}{where} begins anew: {worded(anew.why)}.")
