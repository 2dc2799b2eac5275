"""Words: an alarm as a reason, which is put into words where it is told or shown."""

from typing import Any

from ragstone.core.escape import on_one_line
from ragstone.core.messages import reason, worded
from ragstone.monitor.store.raised import RaisedAlarm

from .lifecycle import JUDGING_STOPPED, NO_DATA

LONGEST = 80
"""Characters of a name in a sentence."""


def alarm_reason(alarm: RaisedAlarm) -> str:
    """Why an alarm fired, as a reason with its facts."""
    facts = alarm.facts
    said: dict[str, Any] = {
        "since": alarm.since,
        "noticed": alarm.fired_at,
        "rule": _short(alarm.rule),
        "slice": _short(alarm.slice),
        "last": facts.get("last_at"),
    }
    if alarm.kind == JUDGING_STOPPED:
        stopped = facts.get("why") == "no_sign_of_life"
        due = facts.get("due", 0)
        if stopped:
            return reason("alarm_no_sign_of_life", **said, due=due)
        return reason("alarm_nothing_judged", **said, due=due)
    if alarm.kind == NO_DATA:
        said |= {"usual": facts.get("usual_gap")}
        if "metric" not in facts:
            return reason("alarm_no_traffic", **said)
        return reason(
            "alarm_no_scores",
            **said,
            metric=_short(str(facts["metric"])),
            unit=facts.get("of", "answers"),
            missing=facts.get("missing", 0),
            said=facts.get("why", ""),
        )
    return reason(
        "alarm_beyond_bar",
        **said,
        metric=_short(str(facts.get("metric", alarm.rule))),
        better=facts.get("better", "+"),
        mean=facts.get("mean"),
        answers=facts.get("answers"),
        unit=facts.get("of", "answers"),
        bar=facts.get("bar"),
        limit=facts.get("bar_limit"),
        margin=facts.get("margin"),
        version=_short(str(facts.get("version") or "")),
        version_at=facts.get("version_at"),
    )


def over_reason(alarm: RaisedAlarm) -> str:
    """Why an alarm is over, as a reason with its facts; empty while it is firing."""
    if alarm.resolved_at is None:
        return ""
    return reason(
        "alarm_over",
        rule=_short(alarm.rule),
        slice=_short(alarm.slice),
        over=alarm.facts.get("over", ""),
        better=alarm.facts.get("better", ""),
        person=_short(str(alarm.facts.get("person") or "")),
        resolved=alarm.resolved_at,
        fired=alarm.fired_at,
    )


def alarm_sentence(alarm: RaisedAlarm) -> str:
    """What an alarm says, in words."""
    return worded(alarm_reason(alarm))


def over_sentence(alarm: RaisedAlarm) -> str:
    """That an alarm is over, in words; empty while it is firing."""
    over = over_reason(alarm)
    return worded(over) if over else ""


def _short(text: str) -> str:
    """A name that others chose, on one line."""
    line = on_one_line(text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
