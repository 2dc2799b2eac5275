"""Queues: how far one is, in a sentence made from the numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.annotation.queue.form import LABEL
from ragstone.report.figures import counted, spoken
from ragstone.report.page import Phrase, strong

if TYPE_CHECKING:
    from ragstone.annotation.queue.form import QueueForm
    from ragstone.annotation.queue.work_progress import QueueWork

Said = list[str | Phrase]

NAMED = 3
"""People who are called by their names; of more, two are."""

NOUNS: Mapping[str, str] = {"context": "passage"}

EVENTS: Mapping[str, str] = {
    "made": "made the queue",
    "extended": "added items",
    "limited": "set how many examples are labelled",
    "routed": "changed the routing",
    "asked": "asked for another label",
    "invited": "gave a link",
    "revoked": "took a link back",
    "opened": "opened who said what",
    "skipped": "skipped",
    "undone": "took back what they said",
    "decided": "decided",
    "undecided": "took a decision back",
    "taken over": "took labels over",
}
"""What the log of a queue calls each change."""


def queue_sentence(work: "QueueWork") -> Said:
    """How far a queue is, by whom, and how long the rest takes."""
    noun = item_noun(work.form)
    every = counted(work.items, noun)
    busy = [one.name for one in work.people if one.saved]
    able = [one.name for one in work.people if one.role == "annotator" and not one.revoked]
    several = work.wanted > work.items
    if not busy and not able:
        return [strong("Nobody has a link yet"), f": {every} wait."]
    if not busy:
        return [strong("Nothing is labelled yet"), f": {every} wait for ", *_listed(able), "."]
    if work.finished == work.items:
        as_wanted = ", each by as many people as wanted" if several else ""
        return [strong(f"All {every} are labelled"), " by ", *_listed(busy), f"{as_wanted}."]
    said: Said = [
        *_listed(busy),
        f" {'has' if len(busy) == 1 else 'have'} labelled ",
        strong(f"{work.labelled:,} of {every}"),
    ]
    if several:
        said += [f", {work.finished:,} of them as often as wanted"]
    if work.hours is not None:
        said += [f"; at this pace the rest takes {_time(work.hours)}"]
    return [*said, "."]


def queues_sentence(works: Sequence["QueueWork"]) -> Said:
    """How many queues still want labels; of one alone, how far it is."""
    if len(works) < 2:
        return [one for work in works for one in queue_sentence(work)]
    wanting = [one for one in works if one.given < one.wanted]
    if not wanting:
        return [strong(f"All {len(works)} queues are finished"), "."]
    labels = sum(one.wanted - one.given for one in wanting)
    return [
        strong(f"{len(wanting)} of {len(works)} queues"),
        f" {'waits' if len(wanting) == 1 else 'wait'} for {counted(labels, 'more label')}.",
    ]


def lacking_sentence(work: "QueueWork") -> str:
    """That people are wanted who are not there; empty if none are."""
    if not work.lacking:
        return ""
    return (
        f"{counted(work.lacking, 'more label')} {'is' if work.lacking == 1 else 'are'} wanted than "
        "the people in the queue can give, for nobody labels an item twice. Invite somebody."
    )


def item_noun(form: "QueueForm") -> str:
    """What people label one of on a screen."""
    units = {one.unit for one in form.asked}
    if any(one.label == LABEL for one in form.asked):
        return "pair"
    if form.together and units != {"answer"}:
        return "example"
    return NOUNS.get(unit := next(iter(units)), unit) if len(units) == 1 else "item"


def asked_in_words(form: "QueueForm") -> str:
    """What a queue asks for.

    >>> from ragstone.annotation.queue.form import AskedLabel, QueueForm
    >>> asked_in_words(QueueForm("q", (AskedLabel("source_cited", "answer"),)))
    'source cited'
    """
    return ", ".join(dict.fromkeys(spoken(one.label) for one in form.asked))


def people_in_words(form: "QueueForm") -> str:
    """How many people label an item.

    >>> from ragstone.annotation.queue.form import QueueForm
    >>> people_in_words(QueueForm("q", (), per_item=2, overlap=0.2))
    '2 people on 20 %, else 1'
    """
    people = "1 person" if form.per_item == 1 else f"{form.per_item} people"
    if form.per_item == 1 or form.overlap >= 1:
        return f"{people} each"
    return f"{people} on {form.overlap * 100:.0f} %, else 1"


def order_in_words(form: "QueueForm") -> str:
    """In which order a queue gives its items out, and how many."""
    most = "all" if form.most is None else counted(form.most, "example")
    if form.order == "risk":
        return f"{most}, the worst scores first"
    routed = form.route == "doubt"
    return f"{most}, {'likelier where the judge is in doubt' if routed else 'in random order'}"


def _listed(names: Sequence[str]) -> Said:
    """Names as in a sentence, each apart, for they may be written in any direction."""
    shown = list(names) if len(names) <= NAMED else list(names[: NAMED - 1])
    parts: list[str | Phrase] = [Phrase(one, "name") for one in shown]
    if len(names) > len(shown):
        parts.append(f"{len(names) - len(shown)} others")
    said: Said = []
    for place, one in enumerate(parts):
        if place:
            said.append(" and " if place == len(parts) - 1 else ", ")
        said.append(one)
    return said


def _time(hours: float) -> str:
    """A time to come, as far as a pace can tell it.

    >>> [_time(one) for one in (0.01, 0.4, 1.3, 2.6, 31)]
    ['a minute', 'about 25 minutes', 'about 80 minutes', 'about 2.5 hours', 'about 31 hours']
    """
    minutes = hours * 60
    if minutes < 90:
        rounded = round(minutes) if minutes < 10 else 5 * round(minutes / 5)
        return "a minute" if rounded <= 1 else f"about {rounded} minutes"
    return f"about {round(hours * 2) / 2 if hours < 10 else round(hours):g} hours"
