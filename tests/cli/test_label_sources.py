"""Labels are read from a store wherever they are read from a file."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from tests.availability import import_or_skip

ADDRESS = "postgresql://ann:s3cret@127.0.0.1:1/labels"
"""Nobody listens there."""

METRIC = ("-m", "unsupported_claim")
COMMANDS = {
    "agreement": ("agreement", ADDRESS),
    "labels": ("labels", ADDRESS),
    "calibrate": ("calibrate", "RUN", "--labels", ADDRESS),
    "gate": ("gate", "RUN", "-r", "unsupported_claim <= 0.5", "--labels", ADDRESS),
    "sample": ("sample", "RUN", "--n", 2, "--by", "error", *METRIC, "--labels", ADDRESS),
    "plan labels": (
        "plan", "labels", "RUN", *METRIC, "--half-width", 0.1, "--labels", ADDRESS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_reads_labels_takes_an_address_as_it_is(
    command: str, demo: Path, ragstone: Callable[..., Any]
) -> None:
    import_or_skip("psycopg")
    outcome = ragstone(*(demo if one == "RUN" else one for one in COMMANDS[command]))
    assert outcome.status == 2
    assert "postgresql://ann@127.0.0.1:1/labels: the database of labels cannot be used" in (
        " ".join(outcome.err.split())
    )
    assert "s3cret" not in outcome.out + outcome.err


def test_one_queue_of_a_store_is_read_as_a_file_is(
    tmp_path: Path, ragstone: Callable[..., Any]
) -> None:
    with closing(open_labels(tmp_path)) as database:
        for name, said in (("first", "yes"), ("second", "no")):
            form = QueueForm(name, (AskedLabel("helpful", "answer", ("yes", "no")),), per_item=2)
            items = [(QueueItem(0, f"of-{name}", {}, (ItemPart("answer"),)), 0.0, 2)]
            queue = Queue.make(database, form, items)
            for person in ("ann", "ben"):
                queue.invite(person)
                queue.next(person)
                queue.save(person, 0, ItemAnswers({("answer", ""): {"helpful": said}}), "1")
    out = tmp_path / "labels.csv"
    outcome = ragstone("labels", f"{tmp_path / 'labels.sqlite'}#second", "--out", out)
    assert outcome.status == 0, outcome.err
    assert "of-second,ben" in out.read_text()
    assert "of-first" not in out.read_text()
    outcome = ragstone("agreement", f"{tmp_path / 'labels.sqlite'}#third")
    assert outcome.status == 2
    assert "No queue is called 'third'" in outcome.err
