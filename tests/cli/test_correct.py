"""``ragstone correct``: named as `show` names things, undone, listed, and read by the others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Outcome

BY = ("--author", "Ann", "--reason", "Passage 2 says so.")


@pytest.fixture
def run(ragstone: Callable[..., Outcome], data: Path, tmp_path: Path) -> Path:
    done = ragstone(
        "evaluate", data, "-m", "faithfulness", "--judge", "local", "--out", tmp_path / "run"
    )
    assert done.status == 0, done.err
    return tmp_path / "run"


def mean(outcome: Outcome) -> Any:
    return next(one["value"] for one in outcome.json["estimates"]
                if one["group"] == {"system": "a"})  # fmt: skip


def test_what_was_corrected_counts_until_it_is_taken_back(
    ragstone: Callable[..., Outcome], run: Path
) -> None:
    can_be = ragstone("correct", run, "pier-a", "--json").json["judgements"]
    assert "support/claim#1" in {f"{one['ask']}#{one['unit']}" for one in can_be}
    done = ragstone("correct", run, "pier-a", "support/claim#1", "verdict=contradicted", *BY)
    assert done.status == 0, done.err
    assert "corrected by  Ann" in done.out
    assert "1.000             0.667" in done.out
    full = ragstone("show", run, "--full", "--json")
    assert mean(full) == pytest.approx(2 / 3)
    assert mean(ragstone("show", run, "--full", "--json", "--without-corrections")) == 1.0
    assert "claim 1 contradicted" in ragstone("show", run).out
    table = ragstone("export", run, "--what", "judgements:support").out
    assert "person:Ann" in table
    (one,) = ragstone("correct", run, "--list", "--json").json["overrules"]
    assert (one["author"], one["was"]["verdict"], one["said"]["verdict"]) == (
        "Ann", "supported", "contradicted",
    )  # fmt: skip
    back = ragstone("correct", run, "pier-a", "support/claim#1", "--undo", "--author", "Bo")
    assert "taken back by  Bo" in back.out
    assert mean(ragstone("show", run, "--full", "--json")) == 1.0


def test_the_old_names_of_command_and_option_work_and_say_the_new_ones(
    ragstone: Callable[..., Outcome], run: Path
) -> None:
    done = ragstone("overrule", run, "pier-a", "support/claim#1", "verdict=contradicted", *BY)
    assert done.status == 0
    assert "ragstone overrule is now called ragstone correct.\n" in done.err
    alone = ragstone("show", run, "--full", "--json", "--without-overrules")
    assert mean(alone) == 1.0
    assert "--without-overrules is now called --without-corrections.\n" in alone.err
    for asked in (("--help",), ("show", "--help")):
        assert "overrule" not in ragstone(*asked).out


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("pier-a", "support/claim#7", "verdict=absent", *BY), "support/claim#1"),
        (("pier-a", "support/claim#1", "verdict=wrong", *BY), "supported, contradicted, absent"),
        (("pier-a", "support/claim#1", "verdict=absent"), "--author NAME; no reason is given"),
        (("pier-a", "support/claim#1", "verdict", *BY), "is not COLUMN=VALUE"),
        (("pier-a", "support/claim#1", "verdict=absent", "--undo", *BY), "says nothing of its own"),
        (("pier-a", "--undo", *BY), "Name the judgement"),
        (("pier", "support/claim#1", "verdict=absent", *BY), "No example is called 'pier'"),
        (("pier-a", "support/claim#1", "verdict=absent", "--seen", "x", *BY), "not what you saw"),
    ],
)
def test_what_cannot_be_ends_with_2_and_says_what_can(
    ragstone: Callable[..., Outcome], run: Path, given: tuple[str, ...], says: str
) -> None:
    outcome = ragstone("correct", run, *given)
    assert outcome.status == 2
    assert says in " ".join(outcome.err.split())
