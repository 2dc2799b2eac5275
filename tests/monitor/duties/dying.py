"""Dying: a worker whose judge ends the process at a certain answer.

python dying.py STORE NOW
"""

import os
import sys
from typing import Any

from ragstone.models.chat import ChatRequest
from ragstone.monitor.duties.judge_answers import Judging
from ragstone.monitor.settings.sections import JudgingSettings
from ragstone.monitor.store.store import open_store
from ragstone.testing import ScriptedModel, asked, reply_to

DEATH = 7
DETAILS = [
    *("answered: how long", "directness: 4", "focus: 4", "consistency: 4", "on_topic: yes"),
    *("proper_action: yes", "incomplete: no", "unsafe_content: no", "helpful: yes"),
]


def good(request: ChatRequest) -> dict[str, Any]:
    """The reply of a judge that finds no fault."""
    said = {"verdict": "yes", "reason": "so", "details": DETAILS}
    return reply_to(request, dict.fromkeys(asked(request), said))


def script(request: ChatRequest) -> dict[str, Any]:
    """What the judge says of an answer; at the poisonous one nothing any more."""
    if "Poison" in request.text:
        os._exit(DEATH)
    return good(request)


def main() -> None:
    """Judge until nothing is due."""
    now = float(sys.argv[2])
    one = Judging(
        open_store(sys.argv[1]), JudgingSettings(("on_topic",)), lambda: now, ScriptedModel(script)
    )
    for _ in range(12):
        one.step()
        now += 700


if __name__ == "__main__":
    main()
