"""Choices and forms: choices of views, page tabs, sent label sheets, and a queue's guideline."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from ragstone.annotation.queue.form import LONGEST_NOTE, ItemAnswers, QueueForm, QueueItem
from ragstone.core.escape import visible
from ragstone.web.page_request import Asked, query, queue_path, run_path

FEW = 5
"""So many stand side by side; more are a list to choose from."""


@dataclass(frozen=True, slots=True)
class Option:
    """One of them: its value in the address, its name, and the address that chooses it."""

    value: str
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """Several views of which one is shown.

    Attributes:
        field: Of the query.
        label: What is chosen, for who cannot see it.
        options: All of them.
        chosen: The value of the one that is shown.
    """

    field: str
    label: str
    options: tuple[Option, ...]
    chosen: str

    @property
    def few(self) -> bool:
        """Whether they stand side by side."""
        return len(self.options) <= FEW


def choice(
    asked: Asked, field: str, label: str, options: Iterable[tuple[str, str]], chosen: str, at: str
) -> ViewChoice:
    """The choice of a field of the query.

    Args:
        asked: The request, whose address is kept but for this.
        field: The field.
        label: What is chosen.
        options: The values and names.
        chosen: The value that is shown.
        at: The id of the part of the page that it changes.
    """
    made = (Option(value, name, f"{asked.but(**{field: value})}#{at}") for value, name in options)
    return ViewChoice(field, label, tuple(made), chosen)


def run_tabs(run: str) -> list[tuple[str, str]]:
    """The address and the name of each page of a run."""
    return [
        (run_path(run), "Overview"),
        (f"{run_path(run)}#examples", "Examples"),
        (f"/compare{query([('runs', run)])}", "Compare"),
        (run_path(run, "judge"), "Judge"),
        (run_path(run, "report.html"), "Report"),
    ]


def queue_tabs(form: QueueForm) -> list[tuple[str, str]]:
    """The address and the name of each page of a queue."""
    said = [(queue_path(form.name, "said"), "Who said what")] if form.opened else []
    own = [("progress", "Progress"), ("adjudicate", "Adjudicate"), ("tags", "Failure tags")]
    return [*((queue_path(form.name, path), name) for path, name in own), *said]


HERE = "Monitor"

MONITOR_TABS = (
    ("/monitor", "Overview"),
    ("/monitor/examples", "Answers"),
    ("/monitor/drift", "Drift"),
    ("/monitor/rules", "Rules"),
    ("/monitor/log", "Log"),
)
"""The address and the name of each."""


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


PARSER = MarkdownIt("commonmark", {"html": False}).disable(
    ["autolink", "html_block", "html_inline", "image", "link", "reference"]
)
"""Headings, lists, emphasis and code; nothing that loads or leads anywhere."""

CODES = {"english": "en", "german": "de"}
"""What a browser calls the languages that the guidelines come in."""


@dataclass(frozen=True, slots=True)
class ShownGuideline:
    """A guideline in one language.

    Attributes:
        language: Its language; empty if there is only the queue's own instructions.
        code: What a browser calls that; empty if it is not known.
        languages: Those it could be read in.
        instructions: The queue's own.
        text: The guideline.
    """

    language: str
    code: str
    languages: tuple[str, ...]
    instructions: Markup
    text: Markup

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not (self.instructions or self.text)


def guideline_in(form: QueueForm, language: str) -> ShownGuideline:
    """The guideline of a queue in a language; in the first it comes in if that is not there."""
    known: Mapping[str, str] = {one.casefold(): one for one in form.guidelines}
    chosen = known.get(language.casefold()) or next(iter(form.guidelines), "")
    return ShownGuideline(
        chosen,
        CODES.get(chosen.casefold(), ""),
        tuple(form.guidelines),
        rendered(form.instructions),
        rendered(form.guidelines.get(chosen, "")),
    )


@lru_cache(maxsize=64)
def rendered(markdown: str) -> Markup:
    """Markdown as HTML that loads nothing and leads nowhere; headings begin at the third level."""
    made = PARSER.parse(visible(markdown))
    for token in made:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return Markup(PARSER.renderer.render(made, PARSER.options, {}))
