"""What was acknowledged is kept, whatever happens to the server, its database or its disk."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.monitor.intake.running import Sender
from tests.scripts import script

if TYPE_CHECKING:
    from intake_server import IntakeProcess
    from postgres import PostgresServer

KEPT, SERVER, TRAFFIC = script("intake_kept"), script("intake_server"), script("traffic")
INTAKE = script("intake")


@pytest.mark.kill
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server: PostgresServer | None = None
    place = str(tmp_path / "store")
    if where == "postgres":
        server = request.getfixturevalue("own_postgres")
        place = server.database()
    found = KEPT.kept(place, 3, 0, server)
    assert found.kills + found.restarts == 3
    assert (found.lost, found.others) == (0, 0)
    assert found.acknowledged >= 4 * 4 * TRAFFIC.BATCH
    assert found.repeated > 0, "it was killed while batches were under way"


SMALL = 3_000_000


@contextmanager
def limited(folder: Path) -> Iterator[tuple[str, Callable[["IntakeProcess"], None]]]:
    """A store whose files may only grow so far, and what lets them grow on."""
    yield str(folder / "store"), lambda process: process.limit_files(None)


@contextmanager
def small_disk(folder: Path) -> Iterator[tuple[str, Callable[["IntakeProcess"], None]]]:
    """A store on a disk that is nearly full, and what makes room there."""
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={3 * SMALL}", "none", disk], check=True)
    try:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(2 * SMALL))
        yield str(disk / "store"), lambda _: ballast.unlink()
    finally:
        subprocess.run(["umount", disk], check=True)


def _can_mount() -> bool:
    """Whether a disk can be made here: by root, where a container does not forbid it."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    command = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


Disk = Callable[[Path], AbstractContextManager[tuple[str, Callable[["IntakeProcess"], None]]]]
DISKS: list[Disk] = [limited, *([small_disk] if _can_mount() else [])]


@pytest.mark.parametrize("disk", DISKS)
def test_a_full_disk_is_answered_503_and_loses_nothing_acknowledged(
    disk: "Disk", tmp_path: Path
) -> None:
    with disk(tmp_path) as (place, make_room):
        process = SERVER.IntakeProcess(place)
        process.start()
        if disk is limited:
            process.limit_files(SMALL)
        sender = Sender(process.port)
        acknowledged, number, full = [], 0, 0
        while full < 3 and number < 100:
            answer = sender.post("/v1/traces", TRAFFIC.packed(number * 100), INTAKE.HEADERS)
            assert answer.status in (200, 503)
            if answer.status == 200:
                assert not full, "a full disk has no room for another batch"
                acknowledged.append(number * 100)
            else:
                assert answer.headers["retry-after"]
                full += 1
            number += 1
        assert acknowledged
        assert full == 3
        assert sender.get("/ready").status == 503
        assert sender.get("/health").status == 200
        make_room(process)
        assert sender.post("/v1/traces", TRAFFIC.packed(50_000), INTAKE.HEADERS).status == 200
        assert sender.get("/ready").status == 200
        process.kill()
        assert KEPT.missing(place, [*acknowledged, 50_000]) == 0
