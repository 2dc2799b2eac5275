"""Monitor session: a conversation, turn by turn, with how good each answer was."""

from dataclasses import dataclass

from ragstone.monitor.store.stored_examples import scores_listed, turns_of
from ragstone.report.number_format import number
from ragstone.web.asked import Asked, query
from ragstone.web.parts.metric_names import GUARD, said_metric
from ragstone.web.parts.moments import ShownMoment, shown_moment
from ragstone.web.parts.seen_answers import checks_of, monitor_path, value_of
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import NotThere, WebPage

from .monitor_tabs import HERE

MOST = 200
LONGEST = 3_000


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn of a conversation."""

    path: str
    at: ShownMoment
    question: str
    answer: str
    cut: bool
    scores: tuple[tuple[str, str], ...]
    checks: tuple[str, str]


def session_page(place: RunsFolder, asked: Asked) -> WebPage:
    """A conversation.

    Raises:
        NotThere: There is none of this name.
    """
    watching = place.watching()
    name = asked.names["session"]
    with watching.reading() as run:
        found = turns_of(run, name, MOST)
        scores = scores_listed(run, [one.id for one in found])
    if not found:
        raise NotThere(f"There is no conversation called {name!r}, or no longer.")
    turns = []
    values: dict[str, list[float]] = {}
    for one in found:
        own = scores[one.id]
        judged = [each for each in own if not each.metric.startswith(GUARD)]
        for each in judged:
            if each.value is not None:
                values.setdefault(each.metric, []).append(each.value)
        answer = one.record.get("answer") or ""
        turns.append(
            ShownTurn(
                monitor_path("examples", one.id),
                shown_moment(one.at),
                (one.record.get("question") or "")[:LONGEST],
                answer[:LONGEST],
                len(answer) > LONGEST,
                tuple((said_metric(each.metric), each.label or value_of(each)) for each in judged),
                checks_of(own),
            )
        )
    return WebPage(
        "monitor_session.html",
        f"Conversation {name}",
        {
            "name": name,
            "turns": turns,
            "most": MOST,
            "whole": [
                (said_metric(metric), number(sum(ones) / len(ones)), number(min(ones)), len(ones))
                for metric, ones in sorted(values.items())
            ],
            "person": next((one.facts.get("user") for one in found if one.facts.get("user")), ""),
            "send": f"/monitor/annotate{query([('session', name)])}",
        },
        here=HERE,
    )
