"""How far a run is, in its folder while it goes on."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.core.files import RunEntry
from ragstone.data import cornwall
from ragstone.run.folder import folder as lock
from ragstone.run.folder import run_list as heartbeat
from ragstone.run.folder.run_list import Beat, Heartbeat, Progress, goes_on, last_beat
from tests.availability import import_or_skip
from tests.forked import Forked
from tests.waiting import until


def test_the_time_left_follows_from_the_pace_so_far() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    one = Beat(at=at, stage="judging", examples=25, fraction=0.25, seconds=30.0, judges=["local"])
    assert one.left == 90
    assert one.model_copy(update={"fraction": None}).left is None
    assert one.model_copy(update={"stage": "estimating"}).left is None


def beat_of(age: float) -> Beat:
    """A beat of so many seconds ago."""
    at = datetime.now(UTC) - timedelta(seconds=age)
    return Beat(at=at, stage="judging", examples=1, fraction=None, seconds=1.0, judges=[])


def test_who_holds_the_lock_goes_on_however_long_it_is_silent(tmp_path: Path) -> None:
    with lock.locked(tmp_path):
        assert goes_on(tmp_path, beat_of(3_600))
        assert not goes_on(tmp_path, None)
    assert not goes_on(tmp_path, beat_of(60))
    # Of another machine, whose locks may not be seen here.
    assert goes_on(tmp_path, beat_of(2))
    assert not goes_on(tmp_path / "nowhere", beat_of(60))


def test_a_lock_that_cannot_be_opened_tells_nothing(tmp_path: Path) -> None:
    """Such as that of another user; here it is a link, which is not followed."""
    import_or_skip("fcntl")
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    assert lock.is_held(tmp_path) is None
    assert goes_on(tmp_path, beat_of(110))


def test_without_locks_a_run_is_stopped_that_says_nothing_for_two_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "is_held", lambda _: None)
    assert goes_on(tmp_path, beat_of(110))
    assert not goes_on(tmp_path, beat_of(130))


@pytest.mark.kill
def test_a_run_that_was_killed_goes_on_no_longer(tmp_path: Path) -> None:
    holds = (
        "import sys, time; from pathlib import Path\n"
        "from ragstone.run.folder.folder import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    run = Forked(holds, tmp_path, cwd=tmp_path)
    until(run.printed)
    assert goes_on(tmp_path, beat_of(60))
    run.kill()
    run.communicate()
    assert not goes_on(tmp_path, beat_of(60))


def test_who_looks_keeps_nobody_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lock.locked(tmp_path):
        pass
    fcntl: Any = import_or_skip("fcntl")
    with (tmp_path / ".lock").open() as looks:
        fcntl.flock(looks, fcntl.LOCK_SH)
        waits = (fcntl.flock(looks, fcntl.LOCK_UN) if last else None for last in (False, True))
        monkeypatch.setattr("ragstone.run.folder.folder.time.sleep", lambda _: next(waits))
        with lock.locked(tmp_path):
            assert lock.is_held(tmp_path)


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
    assert not (tmp_path / "run" / RunEntry.HEARTBEAT).exists()


def test_what_is_no_heartbeat_is_no_progress(tmp_path: Path) -> None:
    (tmp_path / RunEntry.HEARTBEAT).write_text("{")
    assert last_beat(tmp_path) is None
