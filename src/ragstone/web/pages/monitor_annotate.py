"""Monitor annotate: answers of production are sent to people who label them."""

from collections.abc import Mapping

import numpy as np

from ragstone.errors import InputError
from ragstone.monitor.labelling import drawn_for_people, send_to_people
from ragstone.monitor.store.listed import (
    ListedExample,
    listed_by_ids,
    listed_ids,
    probabilities_listed,
)
from ragstone.web.asked import Asked, queue_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.watching import Watching
from ragstone.web.web_page import Elsewhere, NotThere

from .monitor_examples import filter_of

MOST = 2_000
"""Answers that are sent at once."""

CHOSEN = "example "
"""Begins the name of the box of an answer."""

RANDOM = 100


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
        found, probabilities = _drawn(watching, asked, form)
        sent = send_to_people(
            place.labels(), found, source=watching.store.database.name, probabilities=probabilities
        )
        return Elsewhere(queue_path(sent.queue, "progress"))
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
    sent = send_to_people(place.labels(), found, source=watching.store.database.name, chosen=words)
    return Elsewhere(queue_path(sent.queue, "progress"))


def _drawn(
    watching: Watching, asked: Asked, form: Mapping[str, str]
) -> tuple[list[ListedExample], dict[str, float]]:
    text = form.get("n", "")
    n = int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 7 else RANDOM
    wanted = filter_of(watching, asked)
    if wanted.where.metric:
        raise InputError(
            "Answers that are chosen by their scores are not drawn by chance: take the condition "
            "on a metric away, or send them all."
        )
    with watching.reading() as run:
        ids = listed_ids(run, wanted.where, 100_000)
        judged: dict[str, float] = {}
        for at in range(0, len(ids), 500):
            judged |= probabilities_listed(run, ids[at : at + 500])
        if not judged:
            raise InputError("None of these answers was judged yet.")
        drawn = drawn_for_people(judged, min(n, MOST), np.random.default_rng())
        found: list[ListedExample] = []
        for at in range(0, len(drawn), 500):
            found += listed_by_ids(run, [*drawn][at : at + 500])
    return found, drawn
