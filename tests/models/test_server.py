"""Server: what of a server's own words is shown."""

import time

import pytest

from ragstone.core.errors import ModelError
from ragstone.models.embedding_api import key_from, scrubbed

KEY = "sk-proj-0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key {KEY} is wrong", "key … is wrong"),
        ("key sk-proj-01234 and 'sk-proj-99' are wrong", "key … and '…' are wrong"),
        ("Incorrect API key: sk-pr***************cdef.", "Incorrect API key: …"),
        ("a ** b *** c", "a ** b … c"),
        ("no key", "no key"),
    ],
)
def test_no_key_is_shown_nor_what_begins_like_one_nor_a_masked_one(text: str, shown: str) -> None:
    assert scrubbed(text, KEY, None) == shown


@pytest.mark.parametrize("text", ["a", "*a", "**", "sk-proj-", "***a ", "'sk-proj-01"])
def test_a_long_error_body_is_scrubbed_at_once(text: str) -> None:
    """A megabyte; what takes quadratic time takes an hour for it."""
    start = time.thread_time()
    scrubbed(text * (1_000_000 // len(text)), KEY)
    assert time.thread_time() - start < 10


@pytest.mark.parametrize("key", ["sk-naïve", "sk-a\tb", "\u200bsk-a"])
def test_what_no_header_can_carry_is_no_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(ModelError, match="MY_KEY holds non-ASCII or control characters"):
        key_from("MY_KEY")


def test_blanks_around_a_key_are_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    assert key_from("MY_KEY") == KEY
    monkeypatch.setenv("MY_KEY", " ")
    assert key_from("MY_KEY") is None
