"""Request reading: texts at JSON paths, and compressed bodies that are undone up to a limit."""

import gzip
import tracemalloc
import zlib
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.guard.integrations.request_reading import JsonPath, Undecodable, decoded
from ragstone.report.reason_words import explain

CHAT = {
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
    "contexts": [{"id": "a", "text": "One."}, {"id": "b"}, {"id": "c", "text": "Three."}],
    "odd key": {"it's": 7},
    "none": None,
    "empty": [],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [CHAT]),
        ("$.messages[-1].content", ["Who?"]),
        ("$.messages[0].content", ["Be brief."]),
        ("$['messages'][1]['content']", ["Who?"]),
        ("$.contexts[*].text", ["One.", "Three."]),
        ("$.contexts[*].id", ["a", "b", "c"]),
        ("""$['odd key']["it's"]""", [7]),
        ("$.none", [None]),
        ("$.empty[*]", []),
        ("$.empty[*].text", []),
        ("$.empty[0]", None),
        ("$.messages[2]", None),
        ("$.messages[-3]", None),
        ("$.missing", None),
        ("$.missing[*].text", None),
        ("$.messages.content", None),
        ("$.none.deeper", None),
        ("$.none[*]", None),
    ],
)
def test_it_reads_what_stands_there(path: str, found: list[Any] | None) -> None:
    assert JsonPath.read(path).values(CHAT) == found


def test_it_replaces_what_stands_there_and_leaves_what_it_was_given() -> None:
    before = {"choices": [{"message": {"content": "a", "role": "x"}}, {"message": {}}], "id": 1}
    after = JsonPath.read("$.choices[*].message.content").changed(before, str.upper)
    assert after == {"choices": [{"message": {"content": "A", "role": "x"}}, {"message": {}}],
                     "id": 1}  # fmt: skip
    assert before["choices"] == [{"message": {"content": "a", "role": "x"}}, {"message": {}}]


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("$", "new"),
        ("$[-1].a", [{"a": 1}, {"a": "new"}]),
        ("$[*].a", [{"a": "new"}, {"a": "new"}]),
        ("$[7].a", [{"a": 1}, {"a": 2}]),
        ("$.a", [{"a": 1}, {"a": 2}]),
    ],
)
def test_it_changes_only_what_it_names(path: str, after: Any) -> None:
    assert JsonPath.read(path).changed([{"a": 1}, {"a": 2}], lambda _: "new") == after


@pytest.mark.parametrize(
    "text", ["", "a.b", "$a", "$.", "$..a", "$.a[", "$.a[1:2]", "$[?@.a]", "$.a b", "$ ", "$[x]"]
)
def test_what_is_no_path_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="is not a JSON path") as told:
        JsonPath.read(text)
    assert "$.messages[-1].content" in str(told.value)


def test_it_is_told_as_it_was_written_and_says_whether_it_names_several() -> None:
    assert str(JsonPath.read("$.a[*].b")) == "$.a[*].b"
    assert JsonPath.read("$.a[*].b").several
    assert not JsonPath.read("$.a[0].b").several


@pytest.mark.parametrize("encoding", [None, "", "identity", "gzip", "X-GZip", " deflate "])
def test_each_encoding_is_undone(encoding: str | None) -> None:
    name = (encoding or "").strip().lower()
    packed: dict[str, Any] = {
        "gzip": gzip.compress,
        "x-gzip": gzip.compress,
        "deflate": zlib.compress,
    }
    body = packed.get(name, bytes)("grün".encode())
    assert decoded(body, encoding, 100).decode() == "grün"


def test_a_small_body_does_not_fill_the_memory() -> None:
    bomb = gzip.compress(bytes(100_000_000))
    tracemalloc.start()
    with pytest.raises(Undecodable) as told:
        decoded(bomb, "gzip", 10_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000
    assert explain(told.value.why) == "it has more than 10,000 bytes"


def test_a_body_of_just_the_limit_is_read() -> None:
    body = b"a" * 1000
    assert decoded(gzip.compress(body), "gzip", 1000) == body
    with pytest.raises(Undecodable):
        decoded(gzip.compress(body), "gzip", 999)
    with pytest.raises(Undecodable):
        decoded(body, None, 999)
