"""A store of labels is named by its file or address, and its password is named nowhere."""

from pathlib import Path

import pytest

from ragstone.annotation import read_label_table
from ragstone.annotation.queue.labels_store import StoreAddress, open_labels, shown_source
from ragstone.core.errors import InputError
from tests.availability import import_or_skip

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("text", "place", "queue", "shown"),
    [
        ("runs/labels.sqlite", "runs/labels.sqlite", "", "runs/labels.sqlite"),
        ("a#b/labels.sqlite", "a#b/labels.sqlite", "", "a#b/labels.sqlite"),
        ("labels.sqlite#first", "labels.sqlite", "first", "labels.sqlite#first"),
        ("postgresql://h/d", "postgresql://h/d", "", "postgresql://h/d"),
        ("postgres://h/d#first", "postgres://h/d", "first", "postgres://h/d#first"),
        ("postgresql://h/d#a@b", "postgresql://h/d", "a@b", "postgresql://h/d#a@b"),
        ("postgresql://u@/d?host=/tmp#q", "postgresql://u@/d?host=/tmp", "q", "postgresql://u@/d#q"),
        ("postgresql://u:s3cret@h:5432/d", "postgresql://u:s3cret@h:5432/d", "",
         "postgresql://u@h:5432/d"),
        ("postgresql://u:s3cret#@h/d#q", "postgresql://u:s3cret#@h/d", "q", "postgresql://u@h/d#q"),
        ("postgresql://h/d?user=u&password=s3cret", "postgresql://h/d?user=u&password=s3cret", "",
         "postgresql://h/d"),
        ("postgresql://u:p@[::1]:1,other:2/d", "postgresql://u:p@[::1]:1,other:2/d", "",
         "postgresql://u@[::1]:1,other:2/d"),
    ],
)  # fmt: skip
def test_a_store_and_a_queue_of_it_are_read_from_their_name(
    text: str, place: str, queue: str, shown: str
) -> None:
    assert StoreAddress.of(text) == StoreAddress(place, queue)
    assert shown_source(text) == shown


@pytest.mark.parametrize("text", ["labels.csv", "data#1.jsonl", "https://h/d", "labels.sqlite.csv"])
def test_other_sources_of_labels_are_no_store(text: str) -> None:
    assert StoreAddress.of(Path(text)) is None
    assert shown_source(text) == text


def test_an_address_is_no_path() -> None:
    with pytest.raises(InputError, match="as a text") as caught:
        read_label_table(Path("postgresql://u:s3cret@h/d"))
    assert SECRET not in caught.value.text


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:s3cret@@h/d",
        "postgresql://u:x/s3cret@h/d",
        "postgresql://u:s3cret/d",
        "postgresql://u:%zzs3cret@h/d",
        "postgresql://u:s3cret@h/d?no=such",
        "postgresql://h/d?password=s3cret&nonsense",
        "postgresql://h?password=x@s3cret",
        "postgresql://u:s3cret@127.0.0.1:1/d",
        "postgresql://u:s3cret@127.0.0.1:1/d#queue",
    ],
)
def test_no_message_repeats_a_password(address: str) -> None:
    import_or_skip("psycopg")
    for use in (open_labels, read_label_table):
        with pytest.raises(InputError) as caught:
            use(address)
        assert SECRET not in f"{caught.value} {caught.value.text}"
