"""Message: an event of an alarm as data and in words, with where to look."""

from dataclasses import dataclass
from typing import Any

from ragstone.core.escape import on_one_line
from ragstone.monitor.alarms.words import alarm_sentence, over_sentence
from ragstone.monitor.store.raised import RaisedAlarm

from .queue import RESOLVED


@dataclass(frozen=True, slots=True)
class AlarmMessage:
    """What a channel tells.

    Attributes:
        alarm: It.
        event: ``fired`` or ``resolved``.
        base: The address of the app, without a slash at its end; empty: links are relative.
    """

    alarm: RaisedAlarm
    event: str
    base: str = ""

    @property
    def id(self) -> str:
        """The same for each try of the same message, so that a receiver can tell it has it."""
        return f"{self.alarm.number}-{self.event}"

    @property
    def text(self) -> str:
        """A sentence or several, on one line."""
        said = over_sentence(self.alarm) if self.event == RESOLVED else alarm_sentence(self.alarm)
        return on_one_line(said)

    @property
    def subject(self) -> str:
        """A few words, on one line."""
        state = "over" if self.event == RESOLVED else "alarm"
        where = f" ({self.alarm.slice})" if self.alarm.slice else ""
        return on_one_line(f"Ragstone {state}: {self.alarm.rule}{where}")[:150]

    @property
    def links(self) -> dict[str, str]:
        """Where the alarm, its answers and a queue for people are."""
        number = self.alarm.number
        return {
            "alarm": f"{self.base}/monitor/alarms/{number}",
            "answers": f"{self.base}/monitor/examples?alarm={number}",
            "annotate": f"{self.base}/monitor/annotate?alarm={number}",
        }

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON. Times are seconds since the epoch."""
        alarm = self.alarm
        return {
            "id": self.id,
            "event": self.event,
            "alarm": alarm.number,
            "rule": alarm.rule,
            "slice": alarm.slice,
            "kind": alarm.kind,
            "text": self.text,
            "since": alarm.since,
            "fired_at": alarm.fired_at,
            "resolved_at": alarm.resolved_at if self.event == RESOLVED else None,
            "facts": alarm.facts,
            "links": self.links,
        }
