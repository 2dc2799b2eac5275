"""Two people label at once, the server is killed and its database restarted: nothing is lost.

Both label every item of a queue, one after the other without a pause, and repeat a save until it is
confirmed. The database is stopped as if its machine had lost its power.
"""

import random
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.analysis.label_sampling.make_queue import make_queue
from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from tests.programs.labellers import FORM, LABEL, Labeller, Server, items, yes_or_no
from tests.programs.postgres import PostgresServer

PEOPLE = ("ann", "ben")
LABELS, KILLS = 60, 3
LONGEST = 600.0
"""Seconds until people who are not done are given up."""


@pytest.mark.kill
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_every_label_that_was_confirmed_is_there_once(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    postgres: PostgresServer | None = None
    if where == "postgres":
        postgres = request.getfixturevalue("postgres")
    store = tmp_path if postgres is None else postgres.database()
    with closing(open_labels(store)) as database:
        form = QueueForm(FORM.name, FORM.asked, per_item=len(PEOPLE))
        queue = make_queue(database, form, items(LABELS // len(PEOPLE)))
        tokens = {person: queue.invite(person) for person in PEOPLE}
    server = Server(tmp_path, "" if postgres is None else str(store))
    people = [Labeller(server.port, name, token) for name, token in tokens.items()]
    threads = [threading.Thread(target=label_all, args=(one,), daemon=True) for one in people]
    for thread in threads:
        thread.start()
    draw = random.Random(1)
    for number, count in enumerate(sorted(draw.sample(range(1, LABELS - len(PEOPLE)), KILLS))):
        while sum(len(one.said) for one in people) < count and threads[0].is_alive():
            time.sleep(0.001)
        time.sleep(draw.random() * 0.02)
        if postgres is not None and number % 3 == 2:
            postgres.stop("immediate")
            postgres.start()
        else:
            server.kill()
            server.start()
    for thread in threads:
        thread.join(LONGEST)
    for person in people:
        person.leave()
    server.kill()
    assert [len(one.said) for one in people] == [LABELS // len(PEOPLE)] * len(PEOPLE)
    with closing(open_labels(store)) as database:
        kept = {
            (one.person, one.item): {
                f"say.0.{LABEL}": one.answers.labels["answer", ""][LABEL],
                "note": one.answers.note,
            }
            for one in Queue(database, FORM.name).said()
        }
        with database.transaction() as run:
            ((rows,),) = run("SELECT count(*) FROM said")
    assert kept == {(one.name, item): word for one in people for item, word in one.said.items()}
    assert rows == len(kept), "none is there twice"
    for person, other in (people, reversed(people)):
        assert not any(f"{other.name} of " in page for page in person.seen)


def label_all(person: Labeller) -> None:
    item = person.come()
    while item is not None:
        item = person.save(item, yes_or_no(item, person.name))
