"""Request reading: compressed bodies are undone up to a limit."""

import gzip
import tracemalloc
import zlib
from typing import Any

import pytest

from ragstone.guard.integrations.request_reading import Undecodable, decoded
from ragstone.report.reason_words import explain


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
