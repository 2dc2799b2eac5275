"""Fifty people label a queue of 10,000 items over HTTP: how long they wait for the next item.

    python benchmarks/labelling.py [--items 10000] [--people 50] [--think 2] [--postgres]

Starts ``ragstone view`` on a queue in which two people label a fifth of the items, and lets people
save what they say of one item after the other, until nothing is left. Between the next item and
their save they think for --think seconds on average, exponentially distributed; two of a hundred
items they skip. Then the store is read: nobody had an item that others had already, the share that
two label is as asked, every label that was confirmed is there once. Prints milliseconds from the
save to the whole next item, beside the limit; exit status 1 if one is beyond it, or a count is not
as it should be.
"""

import argparse
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragstone.analysis.label_sampling.make_queue import make_queue
from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue

sys.path.append(str(Path(__file__).parents[1]))
from tests.programs.labellers import FORM, LABEL, PATH, Labeller, Server, items, yes_or_no
from tests.programs.postgres import server_of_its_own

NOTHING = re.compile(r'<div id="item"(?![^>]* data-item)([^>]*)>')
LIMIT, SKIPPED, AGAIN = 50.0, 0.02, 2.0
"""Milliseconds; the share of items; seconds until one who has nothing looks again."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--overlap", type=float, default=0.2)
    parser.add_argument("--think", type=float, default=2.0, help="seconds")
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    with stores(given.postgres) as (folder, store):
        database = open_labels(store or folder)
        form = QueueForm(FORM.name, FORM.asked, per_item=2, overlap=given.overlap)
        queue = make_queue(database, form, items(given.items))
        tokens = {name: queue.invite(name) for name in map("p{:02}".format, range(given.people))}
        database.close()
        server = Server(folder, store)
        people = [Person(server.port, name, token, given.think) for name, token in tokens.items()]
        start = time.monotonic()
        for one in people:
            one.start()
        for one in people:
            one.join()
        seconds = time.monotonic() - start
        server.kill()
        database = open_labels(store or folder)
        good = told(database, people, given, seconds)
        database.close()
    sys.exit(0 if good else 1)


@contextmanager
def stores(in_postgres: bool) -> Iterator[tuple[Path, str]]:
    """A folder, and the address of the labels if they are not in it."""
    with tempfile.TemporaryDirectory() as folder:
        if in_postgres:
            with server_of_its_own() as server:
                yield Path(folder), server.database()
        else:
            yield Path(folder), ""


class PatientLabeller(Labeller):
    """Skips items too, and knows when nothing is left that can come back from others."""

    is_done = False

    def skip(self, item: int) -> int | None:
        fields = {"action": "skip", "person": self.name}
        status, page = self._until_answered("POST", f"{PATH}/{item}", fields)
        assert status == 200, f"{status} {page}"
        return self._shown(page)

    def _shown(self, page: str) -> int | None:
        nothing = NOTHING.search(page)
        self.is_done = nothing is not None and "data-again" not in nothing[1]
        return super()._shown(page)


class Person(threading.Thread):
    """Labels until nothing is left, and times every save."""

    def __init__(self, port: int, name: str, token: str, think: float) -> None:
        super().__init__(daemon=True)
        self.labeller = PatientLabeller(port, name, token)
        self.took: list[float] = []
        self._think, self._draw = think, random.Random(name)

    def run(self) -> None:
        item = self.labeller.come()
        while True:
            if item is None:
                if self.labeller.is_done:
                    return
                time.sleep(AGAIN)
                item = self.labeller.come()
                continue
            time.sleep(self._draw.expovariate(1 / self._think))
            if self._draw.random() < SKIPPED:
                item = self.labeller.skip(item)
                continue
            said = yes_or_no(item, self.labeller.name)
            start = time.perf_counter()
            item = self.labeller.save(item, said)
            self.took.append((time.perf_counter() - start) * 1000)


def told(
    database: LabelDatabase, people: list[Person], given: argparse.Namespace, seconds: float
) -> bool:
    """Print what was measured; whether all is as it should be."""
    took = [one for person in people for one in person.took]
    p95 = statistics.quantiles(took, n=20)[-1]
    queue = Queue(database, FORM.name)
    in_store = {
        (one.person, one.item): one.answers.labels["answer", ""][LABEL] for one in queue.said()
    }
    confirmed = {
        (one.labeller.name, item): said[f"say.0.{LABEL}"]
        for one in people
        for item, said in one.labeller.said.items()
    }
    with database.transaction() as run:
        wanted: dict[int, int] = dict(run("SELECT item, wanted FROM items"))
        taken: dict[int, int] = dict(run("SELECT item, taken FROM items"))
        ((rows,),) = run("SELECT count(*) FROM said")
    by_item = Counter(item for _, item in in_store)
    over = sum(by_item[item] > wanted[item] or taken[item] > wanted[item] for item in wanted)
    left = sum(by_item[item] < wanted[item] for item in wanted)
    share = sum(count == 2 for count in by_item.values()) / len(wanted)
    lost = sum(in_store.get(one) != said for one, said in confirmed.items())
    rate = len(took) / seconds
    p99 = statistics.quantiles(took, n=100)[-1]
    print(f"{given.people} people, {given.items:,} items, thinking {given.think:g} s: "
          f"{len(took):,} saves in {seconds:,.0f} s, {rate:.1f} a second")  # fmt: skip
    print(f"save with the next item, ms    median {statistics.median(took):.1f}   p95 {p95:.1f}   "
          f"p99 {p99:.1f}   longest {max(took):.1f}   limit of p95 {LIMIT:.0f}")  # fmt: skip
    print(f"items by more than wanted {over}, by fewer {left}; by two {share:.4f} of them")
    print(f"labels lost {lost}, doubled {rows - len(in_store)}, "
          f"not confirmed {len(in_store.keys() - confirmed.keys())}")  # fmt: skip
    as_asked = round(given.overlap * given.items) == round(share * given.items)
    return p95 <= LIMIT and not (over or left or lost or rows - len(in_store)) and as_asked


if __name__ == "__main__":
    main()
