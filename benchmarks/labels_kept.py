"""Two people label at once while the server is killed with −9, and its database restarted.

    python benchmarks/labels_kept.py [--labels 1000] [--kills 10] [--postgres]

Starts ``ragstone view`` on a queue whose items both label, and lets two people save one item after
the other without a pause. At moments drawn from --seed the server is killed and started again on
its port; with --postgres the labels are in PostgreSQL, which now and then is stopped as if its
machine had lost its power, and started again. People repeat a save until it is confirmed. In the
end the store is read: every label that was confirmed is there once, as it was said, and no page
showed one what the other said. Prints the counts; exit status 1 if one is not as it should be.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labellers import FORM, LABEL, Labeller, Server, items, yes_or_no
from postgres import PostgresServer, postgres_server

from ragstone.analysis.label_sampling.make_queue import make_queue
from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue

PEOPLE = ("ann", "ben")
LONGEST = 600.0
"""Seconds until people who are not done are given up."""


@dataclass(frozen=True)
class Kept:
    """Saves confirmed and sent again; confirmed labels that the store lacks or has twice; pages
    that showed one what the other said; kills of the server, and of its database."""

    confirmed: int
    repeated: int
    lost: int
    doubled: int
    others: int
    kills: int
    restarts: int

    @property
    def is_well(self) -> bool:
        return not (self.lost or self.doubled or self.others)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with stores(given.postgres) as (folder, store, server):
        found = kept(folder, store, given.labels, given.kills, given.seed, server)
    print(found)
    sys.exit(0 if found.is_well and found.confirmed == given.labels else 1)


@contextmanager
def stores(in_postgres: bool) -> Iterator[tuple[Path, str, PostgresServer | None]]:
    """A folder, the address of the labels if they are not in it, and the server that has them."""
    with tempfile.TemporaryDirectory() as folder:
        if in_postgres:
            with postgres_server() as server:
                yield Path(folder), server.database(), server
        else:
            yield Path(folder), "", None


def kept(
    folder: Path, store: str, labels: int, kills: int, seed: int, postgres: PostgresServer | None
) -> Kept:
    """Let two people label a queue, and see what is in the store, which is the folder if empty.

    Of so many kills every third is a restart of ``postgres``, if that has the labels.
    """
    database = open_labels(store or folder)
    form = QueueForm(FORM.name, FORM.asked, per_item=len(PEOPLE))
    queue = make_queue(database, form, items(labels // len(PEOPLE)))
    tokens = {person: queue.invite(person) for person in PEOPLE}
    database.close()
    server = Server(folder, store)
    people = [Labeller(server.port, name, token, keeps=True) for name, token in tokens.items()]
    threads = [threading.Thread(target=_label, args=(one,), daemon=True) for one in people]
    for one in threads:
        one.start()
    draw = random.Random(seed)
    at = sorted(draw.sample(range(1, labels - len(PEOPLE)), kills))
    restarts = 0
    for number, count in enumerate(at):
        _until(lambda count=count: sum(len(one.said) for one in people) >= count)  # type: ignore[misc]
        time.sleep(draw.random() * 0.02)
        if postgres is not None and number % 3 == 2:
            postgres.stop("immediate")
            postgres.start()
            restarts += 1
        else:
            server.kill()
            server.start()
    for one in threads:
        one.join(LONGEST)
    for person in people:
        person.leave()
    server.kill()
    database = open_labels(store or folder)
    try:
        return _held(database, people, kills - restarts, restarts)
    finally:
        database.close()


def _label(person: Labeller) -> None:
    item = person.come()
    while item is not None:
        item = person.save(item, yes_or_no(item, person.name))


def _until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST
    while not done() and time.monotonic() < until:
        time.sleep(0.001)


def _held(database: LabelDatabase, people: list[Labeller], kills: int, restarts: int) -> Kept:
    """The labels of the store beside those that people were told are kept."""
    said = {
        (one.person, one.item): {
            f"say.0.{LABEL}": one.answers.labels["answer", ""][LABEL],
            "note": one.answers.note,
        }
        for one in Queue(database, FORM.name).said()
    }
    with database.transaction() as run:
        ((rows,),) = run("SELECT count(*) FROM said")
    return Kept(
        confirmed=sum(len(one.said) for one in people),
        repeated=sum(times > 1 for one in people for times in one.sent),
        lost=sum(
            said.get((one.name, item)) != word for one in people for item, word in one.said.items()
        ),
        doubled=rows - len(said),
        others=sum(
            f"{other.name} of " in page
            for one in people
            for other in people
            if other is not one
            for page in one.seen
        ),
        kills=kills,
        restarts=restarts,
    )


if __name__ == "__main__":
    main()
