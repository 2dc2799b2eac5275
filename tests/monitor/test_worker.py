"""The worker does all that follows from the store, and can be killed at any moment."""

import json
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.rows import HEARTBEAT, last_lines, remembered
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.worker import MonitorWorker, worker_command
from tests.clock import Clock
from tests.forked import end_of
from tests.monitor.duties.arriving import FALSE, receive_answers, rows
from tests.programs.postgres import PostgresServer
from tests.waiting import until

KILLED = Path(__file__).parent / "duties" / "killed.py"
ALL = (
    "SELECT e.example, e.settled, a.ok, d.probability, "
    "(SELECT count(*) FROM scores s WHERE s.example = e.example AND s.source = 'guard') "
    "FROM examples e LEFT JOIN assessed a ON a.example = e.example "
    "LEFT JOIN draws d ON d.example = e.example ORDER BY e.example"
)
COUNTS = "SELECT what, sum(n) FROM counts GROUP BY what ORDER BY what"
DONE = ("folded", "answers", "settled", "assessed")


def counts(store: MonitorStore) -> dict[str, int]:
    return {what: int(n) for what, n in rows(store, COUNTS)}


def test_a_step_does_a_page_of_everything(store: MonitorStore) -> None:
    clock = Clock()
    receive_answers(store, clock.at, range(3))
    worker = MonitorWorker(store, now=clock)
    worker.step()
    clock.wait(11)
    worker.step()
    assert {name: counts(store)[name] for name in DONE} == dict.fromkeys(DONE, 3)
    assert rows(store, "SELECT count(*) FROM draws") == [(3,)]
    with store.database.reading() as run:
        assert remembered(run, HEARTBEAT)["at"] == clock.at
    assert worker.step() == 0


def test_a_step_that_fails_is_logged_and_tried_again_later_and_stops_nothing_else(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    receive_answers(store, clock.at, range(3))
    worker = MonitorWorker(store, now=clock)
    worker.step()
    clock.wait(11)

    def broken(*_: object) -> None:
        raise ValueError("with a text of somebody's")

    with monkeypatch.context() as patched:
        patched.setattr("ragstone.monitor.duties.periodic_steps.write_assessed", broken)
        worker.step()
        worker.step()
    with store.database.reading() as run:
        lines = last_lines(run)
        assert remembered(run, HEARTBEAT)["at"] == clock.at
    ((_, level, text),) = lines
    assert (level, "ValueError at" in text) == ("error", True)
    assert "somebody" not in text
    assert "1 s" in text
    clock.wait(1.5)
    worker.step()
    assert counts(store)["assessed"] == 3


def test_a_judge_that_fails_is_no_end_of_the_worker(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    receive_answers(store, clock.at, range(3))
    settings = DEFAULTS.with_options(judges=("local:strings",), rate=1.0)
    worker = MonitorWorker(store, settings, now=clock)
    worker.step()
    clock.wait(11)
    worker.step()
    with monkeypatch.context() as patched:
        patched.setattr("ragstone.monitor.duties.judge_answers.judged_run", lambda *_: 1 / 0)
        worker.judge()
    with store.database.reading() as run:
        assert "ZeroDivisionError" in last_lines(run)[0][2]
    for _ in range(3):
        clock.wait(60)
        worker.judge()
    assert counts(store)["judged"] == 3


@pytest.mark.kill
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_worker_that_is_killed_in_any_transaction_loses_and_doubles_nothing(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    clock = Clock()
    folder = tmp_path / "store"
    place = str(folder)
    if kind == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        place, folder = server.schema(), tmp_path / "of another machine"
    with closing(open_store(place, folder=tmp_path / "store")) as store:
        receive_answers(store, clock.at, range(0, 30))
        receive_answers(store, clock.at, range(30, 60), answer=FALSE)
        later = clock.at + 20
        for transactions in (0, 1, 1, 1, 1, 1, 1, 1, 1):
            assert end_of(KILLED, place, folder, transactions, later) == -signal.SIGKILL
        clock.wait(20)
        settings = DEFAULTS.with_options(judges=("local:strings",), rate=1.0)
        worker = MonitorWorker(store, settings, now=clock)
        while worker.step() + worker.judge():
            pass
        found = rows(store, ALL)
        assert len(found) == 60
        assert {row[1] for row in found} == {1}
        assert {row[3] for row in found} == {1.0}
        assert len({row[4] for row in found}) == 1
        assert sum(row[2] for row in found) == 30
        assert {name: counts(store)[name] for name in DONE} == dict.fromkeys(DONE, 60)
        assert counts(store)["due"] == 60
        assert counts(store)["judged"] == 60
        judged = rows(store, "SELECT DISTINCT metric, count(*) FROM scores WHERE source = 'sample' "
                      "GROUP BY metric")  # fmt: skip
        assert {n for _, n in judged} == {60}
        assert list((tmp_path / "store" / "judging").iterdir()) == []


def test_a_worker_that_is_asked_to_end_folds_what_there_is(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    with closing(open_store(place)) as store:
        process = subprocess.Popen(worker_command(place, rate=0.5), stdin=subprocess.PIPE)
        until(lambda: rows(store, "SELECT 1 FROM kept WHERE name = ?", HEARTBEAT))
        receive_answers(store, time.time(), range(5))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert rows(store, "SELECT count(*) FROM examples WHERE settled = 1") == [(5,)]
        assert process.stdin is not None
        process.stdin.close()


def test_a_worker_ends_when_its_server_is_gone(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    process = subprocess.Popen(worker_command(place), stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0


def test_the_command_says_what_stands_in_the_place_of_the_file(tmp_path: Path) -> None:
    command = worker_command("s", rules=tmp_path / "r.toml", judges=["local"], rate=0.3)
    assert command[3] == "s"
    assert json.loads(command[4]) == {
        "rules": str(tmp_path / "r.toml"),
        "judges": ["local"],
        "rate": 0.3,
    }
