"""Which conversation an example is a turn of, wherever a record says so."""

from pathlib import Path
from typing import Any

import pytest

from ragstone.data import Example, read, write

TURN = {"question": "And when?", "answer": "In 1890."}


def one(record: dict[str, Any], **how: Any) -> Example:
    (example,) = read([record], **how)
    return example


@pytest.mark.parametrize("place", ["slices", "meta"])
@pytest.mark.parametrize("name", ["session", "session_id", "threadId", "Conversation-ID"])
def test_a_session_in_slices_or_meta_is_found(place: str, name: str) -> None:
    example = one({**TURN, place: {name: "s1", "topic": "piers"}})
    assert example.session == example.facet("session") == "s1"
    assert example.facet("topic") == "piers"


def test_a_number_is_an_id_and_a_list_or_nothing_is_none() -> None:
    assert one({**TURN, "session_id": 7}).session == "7"
    messages = [{"role": "user", "content": "When?"}]
    example = one({**TURN, "session": messages})
    assert (example.session, example.meta["session"]) == (None, messages)
    assert one({**TURN, "session": ""}).session is None
    assert one({**TURN, "slices": {"CHATID": False}}).slices == {"CHATID": False}
    assert one({**TURN, "session_id": None}).session is None
    assert one({**TURN, "session_id": float("nan")}).session is None
    assert one({**TURN, "session_id": 10**400}).session == str(10**400)


def test_the_column_of_the_record_comes_first_and_the_rest_stays_a_slice() -> None:
    example = one({**TURN, "thread_id": "t", "session_id": "s", "slices": {"session": "older"}})
    assert example.slices == {"session": "s", "thread_id": "t"}


def test_any_column_can_be_named_as_the_session() -> None:
    example = one({**TURN, "chat": "c1"}, columns={"session": "chat"})
    assert (example.session, dict(example.slices)) == ("c1", {"session": "c1"})


def test_the_session_of_a_trace_is_read_from_any_of_its_spans() -> None:
    spans = [
        {"context.span_id": "1", "context.trace_id": "t", "parent_id": None,
         "attributes.input.value": "When?", "attributes.output.value": "In 1890."},
        {"context.span_id": "2", "context.trace_id": "t", "parent_id": "1",
         "attributes.session.id": "s9", "attributes.input.value": "When?"},
    ]  # fmt: skip
    (example,) = read(spans)
    assert example.session == "s9"
    nested = {
        "context": {"span_id": "1", "trace_id": "t"},
        "attributes": {"input.value": "When?", "output.value": "1890", "session": {"id": "s8"}},
    }
    assert one(nested).session == "s8"


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_a_session_is_written_and_read_back(tmp_path: Path, ending: str) -> None:
    example = one({**TURN, "session_id": "s1"})
    file = tmp_path / f"data{ending}"
    write([example], file)
    assert [again.session for again in read(file)] == ["s1"]
