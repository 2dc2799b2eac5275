"""Server-sent events: the same events, wherever their bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.guard.integrations import event_reader as server_events
from ragstone.guard.integrations.event_reader import (
    EventReader,
    EventTooLarge,
    ServerEvent,
    written_event,
)


def read(*pieces: bytes) -> list[ServerEvent]:
    reader = EventReader()
    found = [one for piece in pieces for one in reader.feed(piece)]
    return [*found, *reader.close()]


def told(*pieces: bytes) -> list[tuple[str, str | None]]:
    return [(one.name, one.data) for one in read(*pieces)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"data: a\n\n", [("", "a")]),
        (b"data:a\n\ndata:  b\n\n", [("", "a"), ("", " b")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b"data\n\n", [("", "")]),
        (b"event: x\nid: 7\ndata: a\n\n", [("x", "a")]),
        (b": a comment\n\n", [("", None)]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
        (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        ("data: \u2028 é\x85\n\n".encode(), [("", "\u2028 é\x85")]),
        (b"data: a\n\ndata: no blank line", [("", "a"), ("", "no blank line")]),
        (b"", []),
    ],
)
def test_an_event_is_read_as_the_standard_says(
    text: bytes, found: list[tuple[str, str | None]]
) -> None:
    assert told(text) == found


MANY = "event: x\r\ndata: grün 😀\r\ndata: b\r\n\r\n: c\n\ndata: [DONE]\n\n".encode()


@pytest.mark.parametrize("at", range(len(MANY) + 1))
def test_it_does_not_matter_where_the_bytes_are_cut(at: int) -> None:
    assert told(MANY[:at], MANY[at:]) == [("x", "grün 😀\nb"), ("", None), ("", "[DONE]")]


@given(st.binary(), st.lists(st.integers(0, 60)))
def test_no_byte_is_lost(text: bytes, cuts: list[int]) -> None:
    ends = sorted({min(one, len(text)) for one in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in pairwise(ends)]
    assert b"".join(one.raw for one in read(*pieces)) == text


def test_an_event_is_there_as_soon_as_its_blank_line_is() -> None:
    reader = EventReader()
    assert [one.data for one in reader.feed(b"data: a\n")] == []
    assert reader.held() == b"data: a\n"
    assert [one.data for one in reader.feed(b"\n")] == ["a"]
    assert reader.held() == b""


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", "note"]))
def test_what_is_written_is_read_again(text: str, name: str) -> None:
    (event,) = read(written_event(text, name))
    assert event.name == name
    assert event.data == text.replace("\r\n", "\n").replace("\r", "\n")


def test_an_event_without_an_end_is_not_held_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_events, "MOST_BYTES", 100)
    reader = EventReader()
    assert list(reader.feed(b"data: " + b"a" * 90 + b"\n")) == []
    with pytest.raises(EventTooLarge):
        list(reader.feed(b"data: b"))
    assert len(reader.held()) == 104
