"""Who reads a store sees what was confirmed, and waits for nobody who writes."""

import pytest

from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.core.errors import StoreAway

COUNT = "SELECT count(*) FROM queues"
ADD = "INSERT INTO queues VALUES (?, '', '{}')"


def test_a_reader_sees_what_was_confirmed_while_somebody_writes(database: LabelDatabase) -> None:
    with database.transaction() as run:
        run(ADD, "one")
    with database.transaction() as run:
        run(ADD, "two")
        with database.reading() as read:
            assert read(COUNT) == [(1,)]
        assert run(COUNT) == [(2,)]
    with database.reading() as read:
        assert read(COUNT) == [(2,)]


def test_a_reader_sees_one_moment(database: LabelDatabase) -> None:
    with database.reading() as read:
        assert read(COUNT) == [(0,)]
        with database.transaction() as run:
            run(ADD, "one")
        assert read(COUNT) == [(0,)]


def test_what_failed_is_undone_and_the_next_goes_on(database: LabelDatabase) -> None:
    def fail() -> None:
        with database.transaction() as run:
            run(ADD, "one")
            run("SELECT nothing FROM nowhere")

    with pytest.raises(StoreAway):
        fail()
    with pytest.raises(StoreAway), database.reading() as read:
        read("SELECT nothing FROM nowhere")
    with database.reading() as read:
        assert read(COUNT) == [(0,)]
