"""Sheet: what a form of labels says when it is sent."""

import json
from collections.abc import Mapping
from typing import Any

from ragstone.annotation.queue.form import LONGEST_NOTE, ItemAnswers, QueueForm, QueueItem

SPANS, NOTE, WHY, OWN_WHY = "spans", "note", "why", "own_why"
"""Fields beside those of the labels."""

USUAL = (
    "The text cannot be read or is cut off",
    "It is in a language that I do not know",
    "The question makes no sense",
    "What is needed to judge it is not shown",
)
"""Why items are discarded."""

OTHER = "other"
"""The choice of a reason in somebody's own words."""


def field_of(at: int, label: str) -> str:
    """The field of the label of a part.

    >>> field_of(2, "rating.helpfulness")
    'say.2.rating.helpfulness'
    """
    return f"say.{at}.{label}"


def answers_of(fields: Mapping[str, str], form: QueueForm, item: QueueItem) -> ItemAnswers:
    """What a sent form says of an item; a field that was left empty says nothing."""
    labels: dict[tuple[str, str], dict[str, str]] = {}
    for at, part in enumerate(item.parts):
        for one in form.asked:
            said = fields.get(field_of(at, one.label), "").strip()
            if one.unit == part.unit and said:
                labels.setdefault((part.unit, part.name), {})[one.label] = said
    return ItemAnswers(labels, fields.get(NOTE, "").strip(), spans=_spans(fields.get(SPANS, "")))


def reason_of(fields: Mapping[str, str]) -> str:
    """Why the item is discarded; empty if no reason is given."""
    chosen = fields.get(WHY, "").strip()
    own = fields.get(OWN_WHY, "").strip()
    return (own if chosen in ("", OTHER) else chosen)[: LONGEST_NOTE + 1]


def _spans(text: str) -> tuple[Mapping[str, Any], ...]:
    try:
        given = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    if not isinstance(given, list):
        return ()
    found = [one for one in given if isinstance(one, dict)]
    return tuple(one for at, one in enumerate(found) if one not in found[:at])
