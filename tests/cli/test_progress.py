"""The bar: what stands beside it, and where there is none."""

import io
import re
import sys

import pytest

from ragstone.cli.output import bar
from ragstone.run import Counts, Progress

GONE = "\x1b[1A\x1b[2K"
"""Up a line, and that line wiped."""


class Screen(io.StringIO):
    """A terminal in memory."""

    def isatty(self) -> bool:
        return True


def drawn(*steps: Progress) -> str:
    """All that a terminal is sent for these steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "160")
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "stderr", screen := Screen())
        with bar() as step:
            assert step is not None
            for one in steps:
                step(one)
    return screen.getvalue()


def last(*steps: Progress) -> str:
    """The bar after these steps, without the line that is drawn and its colours."""
    shown = drawn(*steps).rpartition("\n")[0].rpartition("\x1b[2K")[2]
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[━╸╺]", "", shown).split())


def test_a_pipe_has_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with bar() as step:
        assert step is None
    assert capsys.readouterr() == ("", "")


def test_before_anything_is_known_data_are_read() -> None:
    assert last() == "reading 0 rows 0:00:00 left"


def test_a_stage_is_shown_with_its_share_and_rows() -> None:
    assert last(Progress("judging", 1200, 0.25)) == ("judging 25% 1,200 rows 0:00:00 left -:--:--")


def test_of_what_has_no_known_end_no_share_is_shown() -> None:
    assert last(Progress("judging", 3, None)) == "judging 3 rows 0:00:00 left"


def test_the_time_left_goes_by_the_steps_of_one_stage() -> None:
    first, second = Progress("judging", 1, 0.25), Progress("judging", 2, 0.5)
    assert last(first, second).endswith("left 0:00:01")
    assert last(first, Progress("scoring", 2, 0.5)).endswith("left -:--:--")


def test_the_bar_is_wiped_in_the_end() -> None:
    assert drawn(Progress("judging", 1, 1.0)).endswith(GONE)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (Counts(calls=1200, in_flight=8), "1,200 calls, 8 in flight"),
        (Counts(calls=3, from_journal=4, from_cache=4), "3 calls, 0 in flight, 8 known"),
        (Counts(calls=3, rate_limits=2, failed=1), "3 calls, 0 in flight, 2 × 429, 1 failed"),
        (Counts(calls=3, usd=0.02), "3 calls, 0 in flight, $0.0200"),
        (Counts(calls=3, usd=1.0), "3 calls, 0 in flight, $1.00"),
        (Counts(calls=3, usd=1234.5), "3 calls, 0 in flight, $1,234.50"),
    ],
)
def test_what_is_asked_of_models_is_counted(counts: Counts, told: str) -> None:
    assert f"7 rows, {told} 0:00" in last(Progress("judging", 7, 0.5, counts))


def test_the_workers_of_a_cluster_are_counted() -> None:
    assert "3 rows, 1 worker 0:00:00" in last(Progress("judging", 3, None, workers=1))
    assert "3 rows, 12 workers, 5 calls" in last(
        Progress("judging", 3, None, Counts(calls=5), workers=12)
    )
