"""How far a run is, in its folder while it goes on."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import ragstone
from ragstone.data import cornwall
from ragstone.run import heartbeat
from ragstone.run.heartbeat import FILE, Beat, Heartbeat, last_beat
from ragstone.run.progress import Progress


def test_the_time_left_follows_from_the_pace_so_far() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    one = Beat(at=at, stage="judging", examples=25, fraction=0.25, seconds=30.0, judges=["local"])
    assert one.left == 90
    assert one.model_copy(update={"fraction": None}).left is None
    assert one.model_copy(update={"stage": "estimating"}).left is None


def test_a_beat_is_written_once_a_second_at_most(tmp_path: Path) -> None:
    heart = Heartbeat(tmp_path, ["local"])
    heart.beat(Progress("judging", 1, 0.1))
    heart.beat(Progress("judging", 2, 0.2))
    found = last_beat(tmp_path)
    assert found is not None
    assert (found.examples, found.judges) == (1, ["local"])
    heart.stop()
    assert last_beat(tmp_path) is None


def test_a_run_says_how_far_it_is_until_it_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "PAUSE", 0)
    seen: list[int] = []

    def look(_: Progress) -> None:
        found = last_beat(tmp_path / "run")
        assert found is not None
        seen.append(found.examples)

    ragstone.evaluate(cornwall(), out=tmp_path / "run", progress=look)
    assert seen[-1] == 24
    assert not (tmp_path / "run" / FILE).exists()


def test_what_is_no_heartbeat_is_no_progress(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    assert last_beat(tmp_path) is None
