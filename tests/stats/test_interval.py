"""Intervals as values."""

import pytest

from ragstone.core.errors import InputError
from ragstone.stats import Interval, ends_of


def test_ends_of_an_interval_or_of_none() -> None:
    assert ends_of(Interval(0.1, 0.4, 0.95, "t")) == {"low": 0.1, "high": 0.4}
    assert ends_of(None, "p_") == {"p_low": None, "p_high": None}


def test_ends_that_are_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(InputError, match="low <= high"):
        Interval(0.4, 0.1, 0.95, "t")
