"""Labels are read from a store without writing to it, as they are at one moment."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ragstone.annotation import agreement, read_label_table
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import FILE, StoreAddress, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import labels_as_they_are, queue_records
from ragstone.core.errors import DataError, InputError
from tests.programs.postgres import PostgresServer

FORM = QueueForm("first", (AskedLabel("helpful", "answer", ("yes", "no")),))
YES = ItemAnswers({("answer", ""): {"helpful": "yes"}})
NOT_LONG = "options=-c%20lock_timeout%3D5000"


@contextmanager
def answered(place: str) -> Iterator[Queue]:
    """A queue of which Ann has answered one item."""
    items = [(QueueItem(n, f"e{n}", {}, (ItemPart("answer"),)), n, 1) for n in range(3)]
    with closing(open_labels(place)) as database:
        queue = Queue.make(database, FORM, items)
        queue.invite("ann")
        answer(queue)
        yield queue


def answer(queue: Queue) -> None:
    item = queue.next("ann")
    assert item is not None
    queue.save("ann", item.item, YES, str(item.item))


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / FILE)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        yield f"{server.database()}&{NOT_LONG}"


def test_labels_are_read_while_somebody_writes(place: str) -> None:
    with answered(place), closing(open_labels(place)) as other, other.transaction() as run:
        run("UPDATE said SET answers = 'half way'")
        assert read_label_table(place).used["value"].to_list() == ["true"]


def test_labels_that_come_later_are_not_half_read(place: str) -> None:
    with answered(place) as queue:
        with labels_as_they_are(StoreAddress(place)) as database:
            assert database is not None
            said = queue_records(database, "first")
            assert next(said)["id"] == "e0"
            answer(queue)
            queue.extend([(QueueItem(0, "e9", {}, (ItemPart("answer"),)), 0.0, 1)])
            assert list(said) == []
            assert len(list(queue_records(database, "first"))) == 1
        assert len(read_label_table(place).used) == 2


def test_what_is_opened_to_read_cannot_be_written(place: str) -> None:
    def invite() -> None:
        with labels_as_they_are(StoreAddress(place)) as database:
            assert database is not None
            Queue(database, "first").invite("ben")

    with answered(place) as queue:
        with pytest.raises(InputError):
            invite()
        assert [one.name for one in queue.people()] == ["ann"]


def test_reading_makes_nothing_where_nothing_was_labelled(place: str) -> None:
    """A file that its first writer only began, and a database without our tables."""
    if place.endswith(FILE):
        Path(place).touch()
    with pytest.raises(DataError, match="at least one row of labels"):
        read_label_table(place)
    with labels_as_they_are(StoreAddress(place)) as database:
        assert database is None


def test_a_store_without_queues_says_that_it_has_no_labels(place: str) -> None:
    open_labels(place).close()
    with pytest.raises(DataError, match="at least one row of labels"):
        read_label_table(place)


def test_who_may_only_read_a_database_reads_it(postgres: PostgresServer) -> None:
    import psycopg

    address = postgres.database()
    with answered(address), psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    found = agreement([f"{address.replace('postgres@', 'reader:s3cret@')}#first"])
    shown = address.replace("postgres@", "reader@").partition("?")[0]
    assert found.labels.source == f"{shown}#first"
    assert len(found.labels.used) == 1
    assert "s3cret" not in f"{found!r} {found.to_dict()} {found.labels!r}"


def test_labels_of_a_later_version_are_not_read(postgres: PostgresServer) -> None:
    import psycopg

    address = postgres.database()
    with answered(address), psycopg.connect(address, autocommit=True) as connection:
        connection.execute("UPDATE ragstone_labels SET version = 2010300")
    with pytest.raises(InputError, match=r"Ragstone 2\.1\.3 or newer"):
        read_label_table(address)
