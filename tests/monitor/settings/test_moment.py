"""Times and lengths of time, as people write them."""

import pytest

from ragstone.core.errors import InputError
from ragstone.monitor.settings.settings_table import read_length, read_moment


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("15min", 900), ("15m", 900), ("2h", 7_200), ("1.5 d", 129_600), ("1w", 604_800)],
)
def test_a_length_is_read(text: str, seconds: float) -> None:
    assert read_length(text, "since") == seconds


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-02", 86_400),
        ("1970-01-02T01:00", 90_000),
        ("1970-01-02T01:00+01:00", 86_400),
        ("1970-01-02T00:00:00Z", 86_400),
        ("24h", 1_000_000 - 86_400),
    ],
)
def test_a_moment_is_read(text: str, at: float) -> None:
    assert read_moment(text, "since", 1_000_000) == at


@pytest.mark.parametrize("text", ["", "yesterday", "7 years", "2026-13-01", "h", "-3h", "1e3s"])
def test_what_is_none_is_said_with_what_could_be_written(text: str) -> None:
    with pytest.raises(InputError, match="24h"):
        read_moment(text, "since", 0)
    with pytest.raises(InputError, match="15min"):
        read_length(text, "since")
