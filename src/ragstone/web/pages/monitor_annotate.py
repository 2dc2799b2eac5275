"""Monitor annotate: answers of production are sent to people who label them."""

from collections.abc import Mapping, Sequence

from ragstone.core.errors import InputError
from ragstone.monitor.send_to_people import (
    by_lot,
    can_be_labelled,
    drawn_before,
    drawn_for_people,
    send_to_people,
)
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.stored_examples import (
    ListedExample,
    judged_probabilities,
    judgements_of,
    listed_by_ids,
    listed_ids,
)
from ragstone.web.asked import Asked, queue_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.watching import Watching
from ragstone.web.web_page import Elsewhere, NotThere

from .monitor_examples import filter_of

MOST = 2_000
"""Answers that are sent at once."""

MOST_DRAWN = 100_000
"""Answers from which some are drawn, the newest."""

READ = 500
"""Answers that are read at once to see whether people can label them."""

CHOSEN = "example "
"""Begins the name of the box of an answer."""

RANDOM = 50


def send(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Send answers to a queue, and show it.

    ``take`` says which: ``chosen``, those with a box that is ticked; ``random``, so many of those
    that were judged, drawn by chance; else all that the address means.

    Raises:
        NotThere: Nothing is monitored, or there is no such answer.
        InputError: Nothing is chosen, or no answer has a text.
    """
    watching = place.watching()
    take = form.get("take", "")
    if take == "random":
        return _sent(place, watching, *_drawn(place, watching, asked, form))
    words = ""
    if one := asked.one("example"):
        ids = [one]
    elif take == "chosen":
        ids = [name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)]
        if not ids:
            raise InputError("No answer is chosen: tick the boxes before the answers.")
    else:
        wanted = filter_of(watching, asked)
        words = wanted.words
        with watching.reading() as run:
            ids = listed_ids(run, wanted.where, MOST)
    with watching.reading() as run:
        found = listed_by_ids(run, ids[:MOST])
    if not found:
        raise NotThere("There is no such answer, or no longer.")
    return _sent(place, watching, found, None, words)


def _sent(
    place: RunsFolder,
    watching: Watching,
    found: Sequence[ListedExample],
    probabilities: Mapping[str, float] | None,
    chosen: str = "",
) -> Elsewhere:
    with watching.reading() as run:
        judgements = judgements_of(run, [one.id for one in found])
    sent = send_to_people(
        place.labels(),
        found,
        source=watching.store.database.name,
        metrics=metrics_judged(watching),
        judgements=judgements,
        probabilities=probabilities,
        chosen=chosen,
    )
    return Elsewhere(queue_path(sent.queue, "progress"))


def metrics_judged(watching: Watching) -> tuple[str, ...]:
    """What is judged of the answers that are drawn."""
    return (watching.settings or DEFAULTS).judging.metrics


def _drawn(
    place: RunsFolder, watching: Watching, asked: Asked, form: Mapping[str, str]
) -> tuple[list[ListedExample], dict[str, float]]:
    text = form.get("n", "")
    n = int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 7 else RANDOM
    wanted = filter_of(watching, asked)
    if wanted.where.metric:
        raise InputError(
            "Answers that are chosen by their scores are not drawn by chance: take the condition "
            "on a metric away, or send them all."
        )
    n, metrics, labels = min(n, MOST), metrics_judged(watching), place.labels()
    there, found = drawn_before(labels, metrics), list[ListedExample]()
    with watching.reading() as run:
        judged = judged_probabilities(run, listed_ids(run, wanted.where, MOST_DRAWN))
        if not judged:
            raise InputError("None of these answers was judged yet.")
        order = by_lot(judged.keys() - there)
        # What nobody can label is no part of what is drawn from: it would come in each draw again,
        # in the place of one that people can.
        for begin in range(0, len(order), READ):
            ids = order[begin : begin + READ]
            read = listed_by_ids(run, ids)
            can = can_be_labelled(labels, read, metrics, judgements_of(run, ids))
            found += [one for one in read if one.id in can]
            for id in set(ids) - can:
                del judged[id]
            # The first that is not drawn says how far the draw reaches.
            if len(found) > n:
                break
    if not found:
        raise InputError(
            "All judged answers of this time were sent to people before, but for those without a "
            "text: ragstone monitor doctor says whether traces come without texts."
            if order
            else "All judged answers of this time were sent to people before."
        )
    drawn = drawn_for_people(judged, n, there)
    found = [one for one in found if one.id in drawn]
    return found, drawn
